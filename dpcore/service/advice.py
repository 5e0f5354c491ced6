"""Which method answers a question, and at which epsilon: from public facts alone.

These are the schema, the budget, and the number of rows: as a first look told it, with noise, else the row limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.reading import total_of
from dpcore.numerals import whole
from dpcore.privacy.budgets import USUAL_EPSILONS, percent, plain_epsilon, row_epsilon
from dpcore.released.noisy_counts import sum_tail
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release
from dpcore.report.spending import price
from dpcore.workspace.ledger.requests import Quote

COUNT, DESCRIBE, PREDICT, RELATE = "count", "describe", "predict", "relate"
#: A count that is so many times its margin stands out clearly; in a group so many times as large as the margin of
#: both sides of a chance, noise moves the chance by no more than 5 points.
_CLEAR: Final = 3
_CHANCE: Final = 20
#: Epsilon times rows below which forests told people apart better than shape functions (``docs/benchmarks.md``).
_FEW: Final = 100
#: A number of rows is told well if its interval is narrower than this share of it.
_WELL: Final = 0.5
#: A row limit that is more than so many times the number of rows makes methods ask too much.
_FAR: Final = 5
_WHY: Final = {
    "summaries": "A first look counts every column once, and whatever you ask of it later is free.",
    "rule_list": "A rule list is read aloud from the top: each rule names a group and its noisy chance.",
    "ilp": "Relational rules look into all tables: who has a prescription, a visit or a measurement of some kind.",
    "tree": "A tree can be followed by hand, question by question, and its groups add up to everybody.",
    "forest": "A forest averages many small trees: often better at small ε or with few records, and harder to follow.",
    "ebm": "Shape functions show what each column adds to the prediction.",
    "redescriptions": "Redescriptions find two descriptions, one from each side, of nearly the same records.",
}


@dataclass(frozen=True)
class AdviceQuestion:
    """What somebody wants.

    Attributes
    ----------
    aim : str
        To count, to describe who has an outcome, to predict one, or to relate two sides.
    target : str
        The outcome, or the groups to compare; may be empty when counting.
    tables : bool
        Whether further tables count, too.
    by_hand : bool
        Whether a prediction must be followed by hand.
    group : Decimal
        The smallest group that should stand out, as a share of all rows.
    part : Decimal
        Share of the budget that the run may take.
    """

    aim: str
    target: str = ""
    tables: bool = False
    by_hand: bool = False
    group: Decimal = Decimal("0.01")
    part: Decimal = Decimal("0.05")


@dataclass(frozen=True)
class Advice:
    """A method with an epsilon, and why.

    Attributes
    ----------
    reasons, cautions : tuple of str
        Sentences.
    others : mapping of str to str
        Further families that would do, with what speaks for each.
    """

    family: str
    target: str
    epsilon: Decimal
    quote: Quote
    reasons: tuple[str, ...]
    cautions: tuple[str, ...]
    others: Mapping[str, str] = field(default_factory=dict)


def released_row_count(releases: Sequence[Release]) -> int | None:
    """Rows as the most exact of some first looks tells them; ``None`` if none tells them well."""
    looks = [one for one in releases if one.kind == "summaries"]
    if not looks:
        return None
    total = total_of(parse_model(max(looks, key=lambda one: one.certificate.epsilon)))
    return round(total.value) if total.high - total.low < _WELL * total.value else None


def limit_far_above(releases: Sequence[Release], schema: Schema) -> str:
    """What follows from a row limit that is far above the rows that a first look told; empty if it is not."""
    rows = released_row_count(releases)
    if rows is None or _FAR * rows >= schema.max_rows:
        return ""
    return (
        f"A first look told about {whole(rows)} rows, and the row limit is {whole(schema.max_rows)}. Methods choose by "
        "the limit how much they ask, which may be more than so few can answer: choose fewer or smaller steps yourself "
        "where the method offers that, such as fewer blocks or rules."
    )


def family_for(question: AdviceQuestion, schema: Schema) -> str:
    """The family that answers a question."""
    if question.aim == COUNT:
        return "summaries"
    if question.aim == RELATE:
        return "redescriptions"
    if question.tables and schema.children:
        return "ilp"
    if question.aim == PREDICT:
        return "ebm" if not question.by_hand or _is_number(question, schema) else "tree"
    return "rule_list"


def others_for(question: AdviceQuestion, schema: Schema) -> dict[str, str]:
    """Further families that would answer it, and what each is good for."""
    found: list[str] = []
    if question.aim in (DESCRIBE, PREDICT) and not _is_number(question, schema):
        found = ["rule_list", "tree", "ebm", "forest"]
    own = family_for(question, schema)
    return {name: _WHY[name] for name in found if name != own}


def parameters_for(question: AdviceQuestion, schema: Schema) -> dict[str, Any]:
    """What its form will hold, as far as it has no default."""
    if question.aim == RELATE:
        return {"left": list(schema.view("left")), "right": list(schema.view("right"))}
    if question.aim == COUNT and question.target:
        return {"by": question.target}
    return {}


def advise(
    question: AdviceQuestion, schema: Schema, quoted: Callable[[Decimal], Quote], counted: int | None = None
) -> Advice:
    """Propose a method, and the smallest epsilon that shows the groups that are wanted: a usual one, or all allowed.

    Parameters
    ----------
    quoted : callable
        Price of the run at an epsilon. It may raise ``FrostglassError``.
    counted : int or None
        Rows as a first look told them, with noise.
    """
    rows = schema.max_rows if counted is None else max(1, min(counted, schema.max_rows))
    family = family_for(question, schema)
    prices: dict[Decimal, Quote] = {}

    def price(epsilon: Decimal) -> Quote:
        if epsilon not in prices:
            prices[epsilon] = quoted(epsilon)
        return prices[epsilon]

    usual = [Decimal(stop) for stop in USUAL_EPSILONS]
    largest = price(usual[0]).balance.epsilon_of(question.part)
    stops = sorted({*usual, max(largest, usual[0])})

    def shows(epsilon: Decimal) -> bool:
        return group_needed(question, family, price(epsilon).plan) <= question.group * rows

    def allowed(epsilon: Decimal) -> bool:
        found = price(epsilon)
        return found.affordable and found.share <= question.part

    enough = _first(stops, shows)
    most = _last(stops, allowed)
    chosen = stops[min(enough, max(most, 0), len(stops) - 1)]
    quote = price(chosen)
    cautions = []
    if enough > most:
        wanted = price(stops[enough]) if enough < len(stops) else None
        if not quote.affordable:
            cautions.append(_none_fits(quote))
        elif most < 0:
            cautions.append(_none_allowed(quote, wanted))
        else:
            larger = price(stops[most + 1]) if most + 1 < len(stops) else None
            seen = None if family == "ebm" else group_needed(question, family, quote.plan)
            cautions.append(_not_enough(seen, rows, quote, larger, wanted))
    if family == "ilp":
        cautions += _too_few(quote, rows)
    if family == "ebm" and not _is_number(question, schema) and _signal(quote.plan, rows) < _FEW:
        cautions.append("With so few records at this ε, a forest ranks them better than shape functions do.")
    about = (*_about(question, schema, family), _rows(rows, counted))
    reasons = (_WHY[family], *about, _shown(question, family, rows, quote), _costs(quote))
    target = question.target if family not in ("summaries", "redescriptions") else ""
    return Advice(family, target, chosen, quote, reasons, tuple(cautions), others_for(question, schema))


def _first(stops: list[Decimal], holds: Callable[[Decimal], bool]) -> int:
    """Place of the first that holds, where all after it do; the number of all if none does."""
    low, high = 0, len(stops)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(stops[middle]) else (middle + 1, high)
    return low


def _last(stops: list[Decimal], holds: Callable[[Decimal], bool]) -> int:
    """Place of the last that holds, where all before it do; -1 if none does."""
    return _first(stops, lambda stop: not holds(stop)) - 1


def _is_number(question: AdviceQuestion, schema: Schema) -> bool:
    """Whether an outcome is a number to be predicted as such."""
    return (
        question.aim == PREDICT and bool(question.target) and isinstance(schema.column(question.target), NumericColumn)
    )


def _about(question: AdviceQuestion, schema: Schema, family: str) -> list[str]:
    """What the schema says for the method."""
    told = []
    if _is_number(question, schema):
        told.append(f"'{called(schema, question.target)}' is a number: shape functions alone predict it as one.")
    if schema.children and family not in ("ilp", "summaries"):
        told.append("It looks at the main table alone.")
    return told


def group_needed(question: AdviceQuestion, family: str, plan: RunPlan) -> int:
    """Least size of a group that is told from the noise, with those of it who are set aside.

    The chance of an outcome is told there if the interval that will be printed is at most 5 points wide on each side.
    Shape functions print no count of a group: of them it is what the count of a category says, for a rule of thumb.
    """
    if question.aim not in (DESCRIBE, PREDICT):
        learned = _CLEAR * plan.count_margin()
    elif family == "ebm":
        learned = _CHANCE * plan.count_margin()
    else:
        noise, classes = plan.count_noise[0], len(plan.classes)
        # Either side of a chance at half the failure probability, and a person of each class that estimates begin with.
        learned = _CHANCE * (sum_tail(noise.scale, classes - 1, 0.975, gaussian=noise.gaussian) + classes)
    return -(-100 * learned // _learned_percent(plan))


def _learned_percent(plan: RunPlan) -> int:
    """Of 100 people, those who are not set aside for checking the result."""
    return 100 - (plan.schema.holdout_percent if plan.part == "train" else 0)


def _signal(plan: RunPlan, rows: int) -> float:
    """How many rows the noise of the whole budget, spent on one count, is told from."""
    each = row_epsilon(plan.strength, plan.schema.privacy_unit.max_rows_per_person)
    return float(each) * rows * _learned_percent(plan) / 100


def _rows(rows: int, counted: int | None) -> str:
    if counted is None:
        return f"There are at most {whole(rows)} rows, which is public."
    return f"There are about {whole(rows)} rows, as a first look told."


def _shown(question: AdviceQuestion, family: str, rows: int, quote: Quote) -> str:
    plan = quote.plan
    start = f"At ε = {plain_epsilon(quote.epsilon)} the noise on {plan.count_noise[0].what}"
    start += f" is ±{whole(plan.count_margin())} (95%)"
    if family == "ebm":
        return f"{start}."
    clear = group_needed(question, family, plan)
    share = f", 1 in {whole(rows // clear)} rows" if 0 < 2 * clear <= rows else ""
    if question.aim not in (DESCRIBE, PREDICT):
        return f"{start}, so groups of {whole(clear)} and more stand out{share}."
    aside = " (those set aside among them)" if _learned_percent(plan) < 100 else ""
    return (
        f"{start}: in a group of {whole(clear)}{aside}{share}, the noise moves the chance by no more than 5 "
        "points; sampling variation comes on top."
    )


def _costs(quote: Quote) -> str:
    time = f"It runs for {quote.forecast.text}."
    return f"It takes {price(quote)}. {time}" if quote.affordable or quote.short else time


def _none_fits(quote: Quote) -> str:
    """Why not even the least that is proposed can be spent."""
    return "Not even a small run fits into what is left: ask for more budget." if quote.short else quote.refusal


def _none_allowed(least: Quote, wanted: Quote | None) -> str:
    """That the least that is proposed takes more than the share of the budget that it may."""
    told = f"Even ε = {plain_epsilon(least.epsilon)}, the smallest proposed here, takes more: choose a larger size."
    if wanted is None:
        return f"{told} No usual ε shows groups as small as yours."
    return told if wanted == least else f"{told} Your groups need {_priced(wanted)}."


def _priced(quote: Quote) -> str:
    return f"ε = {plain_epsilon(quote.epsilon)}, {percent(quote.share)} of the budget"


def _not_enough(seen: int | None, rows: int, quote: Quote, larger: Quote | None, wanted: Quote | None) -> str:
    """Which groups stand out at the most that can be spent, and what would show smaller ones.

    Parameters
    ----------
    seen : int or None
        The least size of these groups; ``None`` where no counts of groups are printed.
    larger : Quote or None
        Price at the next of the usual epsilons, which is too much; ``None`` if there is none.
    wanted : Quote or None
        Price at the epsilon that shows the groups that are wanted, if a usual one does.
    """
    most, more = _limit(larger)
    chosen = plain_epsilon(quote.epsilon)
    if seen is None:
        told = f"At ε = {chosen}, {most}, noise may hide what distinguishes groups as small as yours"
    elif seen > rows:
        told = f"At ε = {chosen}, {most}, noise hides every group"
    else:
        told = f"At ε = {chosen}, {most}, only groups of {whole(seen)} and more stand out"
    if wanted is None:
        return f"{told}, and no usual ε shows smaller ones: choose larger groups."
    return f"{told}. Yours need {_priced(wanted)}: {more}, or choose larger groups."


def _limit(larger: Quote | None) -> tuple[str, str]:
    """What keeps a run from costing more, and what would allow it to."""
    if larger is None:
        return "the largest that is proposed", "enter it on the page of the method"
    if larger.hindrance == "one run":
        return "the most that one run may cost here", "ask the custodian to allow more for one run"
    if larger.hindrance is not None:
        return "the most that is left", "ask for more budget"
    return "the most at this size", "enter it on the page of the method"


def _too_few(quote: Quote, rows: int) -> list[str]:
    """What relational rules need of people, if there may be fewer."""
    from dpcore.models.ilp.language.hypotheses import hypotheses

    space = hypotheses(quote.plan)
    people = min(space.people, rows * _learned_percent(quote.plan) // 100)
    if people >= space.enough:
        return []
    number = f"{'about' if people < space.people else 'at most'} {whole(people)}"
    return [
        f"To choose among {whole(space.clauses)} possible clauses, {whole(space.enough)} records are enough; there are "
        f"{number}. Leave out conditions on the page, or allow a larger ε."
    ]
