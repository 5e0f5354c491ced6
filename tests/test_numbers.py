"""Numbers that readers see are written in one way, by `dpcore.numerals`."""

import ast
import re
from decimal import Decimal
from pathlib import Path

import numpy as np

from dpcore.numerals import (
    adding_up,
    hundredths,
    measured,
    minus,
    percent,
    percents,
    score,
    small,
    tenths,
    whole,
    within,
)
from tests.support.rows import for_each

ROOT = Path(__file__).parents[1]
#: Where text for readers is made.
SHOWN = ("pages", "dpcore/plots", "dpcore/report", "dpcore/commands", "dpcore/released", "dpcore/models/*/released")
#: Specs that `numerals` stands for: thousands, fixed digits, percent.
SHORT = frozenset("fFeEgG%")
_STYLE = "lengths in style sheets"
_LESSON = "ratios, means and tiny chances, whose digits are what a lesson is about"
_AXIS = "edges and ticks of an axis, as exact as they are"
_NOISE = "as many digits as the noise leaves"
_P_VALUE = "p-values"
_GAUSSIAN = "bounds in Gaussian DP, whose digits are read again"
_POINTS = "errors in percentage points"
#: Modules that write a number themselves, and why.
ALLOWED = {
    "dpcore/commands/readings.py": _POINTS,
    "dpcore/commands/operation/audits.py": "losses of an audit, with three decimals to compare them",
    "dpcore/commands/operation/machine.py": "measured times of a machine",
    "dpcore/models/ebm/released/ebm_model.py": _AXIS,
    "dpcore/models/ebm/released/ebm_words.py": _NOISE,
    "dpcore/models/redescriptions/released/reading.py": _P_VALUE,
    "dpcore/models/summaries/released/summary_words.py": _NOISE,
    "dpcore/plots/ebm/ebm_case.py": _AXIS,
    "dpcore/plots/ebm/ebm_details.py": _AXIS,
    "dpcore/plots/ebm/ebm_numbers.py": _AXIS,
    "dpcore/plots/lessons/lessons.py": _LESSON,
    "dpcore/plots/lessons/lessons_class.py": _LESSON,
    "dpcore/plots/lessons/lessons_definition.py": _LESSON,
    "dpcore/plots/printed/scales.py": _AXIS,
    "dpcore/plots/redescriptions/redescriptions_moved.py": _STYLE,
    "dpcore/plots/summaries/summaries.py": "widths of bins, as exact as they are",
    "dpcore/plots/ticks.py": _AXIS,
    "dpcore/released/derived.py": _GAUSSIAN,
    "dpcore/released/plan.py": _GAUSSIAN,
    "dpcore/released/quality.py": _AXIS,
    "dpcore/released/workload.py": "sizes of memory",
    "pages/components/custodian/intake/uploads.py": "sizes of files",
    "pages/components/families/redescriptions/nearest.py": _P_VALUE,
    "pages/components/families/shared/blocks.py": _STYLE,
    "pages/components/families/shared/inputs.py": "a value that the browser sends back",
    "pages/components/families/shared/evaluation.py": "people flagged for each one found, with one decimal",
    "pages/components/families/summaries/cards.py": _STYLE,
    "pages/components/families/summaries/summary_files.py": _POINTS,
    "pages/components/lessons/topics/budget.py": _LESSON,
    "pages/components/classroom/class_board.py": _LESSON,
    "pages/components/lessons/topics/coin.py": _LESSON,
    "pages/components/lessons/topics/definition.py": _LESSON,
    "pages/components/lessons/topics/delta.py": _LESSON,
    "pages/components/lessons/guess.py": _STYLE,
    "pages/components/lessons/topics/limits.py": _LESSON,
    "pages/components/lessons/topics/neighbours.py": _LESSON,
    "pages/components/lessons/topics/noise.py": _LESSON,
    "pages/components/run/meter.py": _STYLE,
    "pages/components/run/progress.py": "how far a run is, where 0% is true at first",
}


def test_counts_have_separators_and_a_proper_minus():
    assert [whole(number) for number in (0, 12_340, -3, -0.2, 999.6, np.int64(-1_200))] == [
        "0",
        "12,340",
        "−3",
        "0",
        "1,000",
        "−1,200",
    ]
    assert whole(10**400).startswith("10,000,")


def test_shares_never_round_to_nobody_or_everybody():
    shares = (0.0, 0.0003, 0.031, 0.0994, 0.0996, 0.42, 0.994, 0.997, 0.9996, 1.0, 1 - 1e-12)
    told = ["0.0%", "below 0.1%", "3.1%", "9.9%", "10%", "42%", "99%", "99.7%", "above 99.9%", "100%", "100%"]
    assert [percent(share) for share in shares] == told
    assert [tenths(share) for share in (0.8144, -0.05, -1e-9)] == ["81.4%", "−5.0%", "0.0%"]
    assert [within(margin) for margin in (0.023, 0.12, 1e-5)] == ["±2.3%", "±12%", "±0.1%"]


def test_different_shares_read_differently():
    assert percents([0.05, 0.25, 0.5]) == [percent(share) for share in (0.05, 0.25, 0.5)]
    assert percents([0.25, 0.2512]) == ["25.0%", "25.1%"]
    assert percents([0.0012, 0.00121, 0.25]) == ["0.120%", "0.121%", "25.000%"]
    assert percents([]) == []


def test_shares_of_one_whole_add_up_and_none_reads_0():
    assert adding_up([0.472, 0.473, 0.055]) == ["47.2%", "47.3%", "5.5%"]
    assert adding_up([1 / 3, 1 / 3, 1 / 3]) == ["33%", "34%", "33%"]
    assert adding_up([0.9997, 0.0003]) == ["99.97%", "0.03%"]
    assert adding_up([1.0]) == ["100%"]


def test_errors_keep_three_digits_without_powers_of_ten():
    values = (0, 12_345.6, 1234.5, 45.67, 0.5, 0.012349, 0.00001234, -2.5, 9.999, float("inf"))
    told = ["0", "12,300", "1,230", "45.7", "0.5", "0.0123", "0.0000123", "−2.5", "10", "inf"]
    assert [measured(value) for value in values] == told


@for_each(
    ("delta", "shown"),
    [
        ("0", "0"),
        ("0.010", "0.01"),
        ("0.001", "0.001"),
        ("0.0001", "10⁻⁴"),
        ("1E-15", "10⁻¹⁵"),
        ("0.00000005", "5 · 10⁻⁸"),
        ("0.00001230", "1.23 · 10⁻⁵"),
        ("0.000010000000001", "1.0000000001 · 10⁻⁵"),
    ],
)
def test_a_small_delta_is_a_power_of_ten_to_its_last_digit(delta, shown):
    assert small(Decimal(delta)) == shown


def test_a_score_is_written_as_its_measure_asks():
    assert [score(0.8146, measure) for measure in ("accuracy", "AUC", "Jaccard index", "RMSE")] == [
        "81.5%",
        "0.81",
        "0.81",
        "0.815",
    ]
    assert hundredths(-0.001) == "0.00"
    assert minus("-3") == "−3"


def written_by_hand(source):
    """Lines of Python source with a number that is formatted where it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant))
            if "," in spec or ("." in spec and spec[-1] in SHORT) or spec.endswith("%"):
                yield node.lineno


def formatted_by_plotly(source):
    """Lines of Python source with a template in which plotly is to format a number."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"%\{[^}]*:", node.value):
            yield node.lineno


def shown_modules():
    files = {path for folder in SHOWN for place in ROOT.glob(folder) for path in place.rglob("*.py")}
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def test_no_other_module_formats_numbers_for_readers():
    found = {name: list(written_by_hand((ROOT / name).read_text())) for name in shown_modules()}
    stray = {name: lines for name, lines in found.items() if lines and name not in ALLOWED}
    assert not stray, "Write these numbers with dpcore.numerals, or say in ALLOWED why not."
    assert sorted(name for name in ALLOWED if not found.get(name)) == [], "These need no exception any more."


def test_no_figure_leaves_the_writing_of_its_numbers_to_plotly():
    found = {name: list(formatted_by_plotly((ROOT / name).read_text())) for name in shown_modules()}
    assert not {name: lines for name, lines in found.items() if lines}, "Write these numbers into hovertext or text."


@for_each("template", ["'told %{x:.1%}'", "'%{customdata[0]:,}'", "f'ε %{{x:g}}: {name}'"])
def test_a_number_formatted_by_plotly_is_found(template):
    assert list(formatted_by_plotly(f"name = 'here'\nhovertemplate = {template}\n")) == [2]


@for_each("spec", [",", ".2f", ".0%", ",.0f", ".3g", "%"])
def test_a_number_formatted_by_hand_is_found(spec):
    assert list(written_by_hand(f"told = 'here'\nshown = f'about {{number:{spec}}} people'\n")) == [2]


def test_what_is_no_number_for_readers_is_not_found():
    assert not list(written_by_hand("f'{name:<20} {name!r} {epsilon:g} {when:%H}'"))
    assert not list(formatted_by_plotly("'%{y}: %{hovertext}<extra></extra>, 10%: {x}'"))
