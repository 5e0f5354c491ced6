"""What people write into a dossier. Everything here is their own text and is only shown."""

from __future__ import annotations

from dataclasses import dataclass, fields

from dpcore.errors import RequestError

#: Most releases of one dossier.
MOST_RELEASES = 30
#: Most characters of a line, and of a longer text.
LINE_LIMIT, TEXT_LIMIT = 200, 10_000
_LINES = frozenset({"title", "applicant", "curator", "region"})
_NAMES = {
    "title": "title",
    "applicant": "entry of the person who asks for access",
    "request": "text of what is asked for",
    "findings": "text of the findings",
    "hypotheses": "text of the hypotheses",
    "justification": "text of why this epsilon",
    "settings": "text of how settings were chosen",
    "curator": "entry of who holds the records",
    "region": "entry of the region",
}


@dataclass(frozen=True)
class Application:
    """Who asks for access, for what, and what they read out of the results."""

    title: str = ""
    """Of the dossier; empty: the name of the data set."""
    applicant: str = ""
    """Who asks."""
    request: str = ""
    """What is asked for and for which use."""
    findings: str = ""
    hypotheses: str = ""
    """``findings``, ``hypotheses``: one to a line."""
    justification: str = ""
    """Why these epsilons were chosen."""
    settings: str = ""
    """How the settings of the runs were chosen."""
    curator: str = ""
    region: str = ""
    """``curator``, ``region``: who holds the records, and which region they are about: a public registry asks for both.
    """

    def __post_init__(self) -> None:
        """Refuse what is too long. Raises ``RequestError``."""
        for field in fields(self):
            limit = LINE_LIMIT if field.name in _LINES else TEXT_LIMIT
            if len(getattr(self, field.name)) > limit:
                raise RequestError(f"The {_NAMES[field.name]} is too long: use at most {limit:,} characters.")


def paragraphs(text: str) -> list[str]:
    """The lines of a text that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]
