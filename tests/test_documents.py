"""What the pages say can be found: the tests that they name, the figures of the README, the samplers of a run."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import get_args

import pytest

from dpcore.models.registry import LEARNERS
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import NOTHING, run_loss

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: A share with three decimals or more, and its standard error if it has one.
FIGURE = re.compile(r"(?<![\d.,])0?(\.\d{3,4})(?: ± 0?(\.\d{3,4}))?(?!\d)")


def page(name: str) -> str:
    """Text of a page."""
    return (ROOT / name).read_text(encoding="utf-8")


def figures(text: str) -> set[tuple[Decimal, ...]]:
    """Figures with their standard errors, if they have one, to three decimals."""
    return {tuple(map(rounded, filter(None, found.groups()))) for found in FIGURE.finditer(text)}


def rounded(figure: str) -> Decimal:
    """A figure to three decimals."""
    return Decimal(figure).quantize(Decimal("0.001"), ROUND_HALF_UP)


def test_tests_that_are_named_exist() -> None:
    files = list((ROOT / "tests").rglob("test_*.py"))
    functions = set(re.findall(r"def (test_\w+)", "\n".join(file.read_text(encoding="utf-8") for file in files)))
    names = {file.name for file in files}
    for own in PAGES:
        words = own.read_text(encoding="utf-8")
        assert set(re.findall(r"\btest_\w+\.py", words)) <= names, own
        assert [path for path in re.findall(r"`(tests/[\w/]+\.py)`", words) if not (ROOT / path).exists()] == [], own
        assert set(re.findall(r"`(test_\w+)`", words)) <= functions, own


def test_figures_of_the_readme_are_those_of_the_benchmarks() -> None:
    table = page("README.md").partition("## Figures")[2].partition("## Read on")[0]
    told, measured = figures(table), figures(page("docs/benchmarks.md"))
    assert len(told) > 8
    assert told <= measured | {figure[:1] for figure in measured}


@pytest.mark.parametrize(("family", "rows"), [("rule_list", "Rule lists"), ("redescriptions", "Redescriptions")])
def test_reports_of_every_sampler_are_told(family: str, rows: str) -> None:
    lines = page("docs/privacy/time.md").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {rows} |"))
    own = [lines[start]]
    for line in lines[start + 1 :]:
        if not line.startswith("| |"):
            break
        own.append(line)
    for sampler in get_args(LEARNERS[family].parameters.model_fields["sampler"].annotation):
        assert f"`{sampler}`" in "\n".join(own)


def test_the_guide_says_how_many_fits_a_budget_holds() -> None:
    cap = BudgetAccountant(5).filter
    loss = cap.priced(run_loss(Decimal("0.5"), cap.run_delta, largest_rho(Decimal("0.5"), cap.run_delta)))
    assert cap.fitting(NOTHING, loss) == 70
    for document in ("README.md", "docs/guide.md"):
        assert re.search(r"70 (fits|runs) at\s+ε = 0\.5", page(document))
