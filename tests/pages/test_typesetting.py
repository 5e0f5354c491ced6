"""Signs and their numbers stay on one line."""

from __future__ import annotations

from pages.components.kit.markup import unparted
from tests.support.rows import for_each


@for_each(
    ("words", "kept"),
    [
        ("ε = 0.50", "ε_=_0.50"),
        ("at δ ≤ 1", "at δ_≤_1"),
        ("ε ∞", "ε_∞"),
        ("× 4.72; noise alone × 2.29 to × 9.72", "×_4.72; noise alone ×_2.29 to ×_9.72"),
        ("≈ 30", "≈_30"),
        ("ε of a run, sex × age, ≈ few", "ε of a run, sex × age, ≈ few"),
    ],
)
def test_no_line_ends_between_a_sign_and_its_number(words: str, kept: str) -> None:
    assert unparted(words).replace("\N{NO-BREAK SPACE}", "_") == kept
