"""Signs stay on one line with their number: ``ε = 0.50`` never ends a line with ``ε`` or with ``=``.

So do digits and the power of ten behind them.
"""

from __future__ import annotations

import re

#: A sign, perhaps what compares it, and a number; digits and the power of ten behind them.
_SIGN_AND_NUMBER = re.compile(r"([εδρ]) (?:([=≤≥]) )?(?=[\d∞])|[≈×] (?=\d)|(?<=\d) · (?=10⁻)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


def unparted(words: str) -> str:
    """The same words with spaces at which no browser breaks a line, wherever a sign and a number stand together."""
    return _SIGN_AND_NUMBER.sub(lambda found: found[0].replace(" ", _NO_BREAK), words)
