"""Methods side by side on public data: quality against epsilon, without spending anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.numerals import percent, score, tenths
from dpcore.plots.methods import EpsilonCurve, methods_alt, methods_figure
from dpcore.workspace.files.descriptions import DatasetInfo
from pages.components.families import registry
from pages.components.families.redescriptions.redescription_inputs import SIDES
from pages.components.families.registry import Family
from pages.components.families.shared import inputs
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.visitor import access, background
from pages.components.visitor.background import QueuedTask

if TYPE_CHECKING:
    from dpcore.domain.schemas.schema import Schema
    from dpcore.plots.methods import EpsilonCurve
    from dpcore.service import Service

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")
FIRST_EPSILONS = ("0.1", "0.5", "2")
FIRST_METHODS = 3
Measure = Literal["accuracy", "AUC", "Jaccard index"]
ACCURACY: Final = "accuracy"
AUC: Final = "AUC"
JACCARD: Final = "Jaccard index"
#: The family that predicts nothing, and is compared by what it finds.
_RELATING: Final = "redescriptions"
#: With a commonest class of this share and more, accuracy says little.
_SKEWED = 0.75
#: With fewer people set aside, the reader is told what chance does.
_MANY = 400


@dataclass(frozen=True)
class Question:
    """What is compared. Methods are pairs of machine names: family, method."""

    dataset_id: str
    target: str
    methods: tuple[tuple[str, str], ...]
    epsilons: tuple[str, ...]
    repeats: int
    measure: Measure = ACCURACY
    sides: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass
class Comparing(QueuedTask):
    """A comparison that is being made."""

    failed = (
        "The comparison could not be made, by a fault of this program. Nothing was "
        "spent. Try the methods one by one, and please tell the custodian which one fails."
    )

    question: Question
    schema: Schema
    scores: Sequence[Any] | None = None
    ceiling: float | None = None
    floor: float | None = None

    @property
    def measure(self) -> str:
        """What is compared."""
        return str(self.scores[0].measure) if self.scores else ACCURACY

    @property
    def people(self) -> str:
        """Whose records judge."""
        several = counted(self.schema).several
        return f"all {several}" if self.measure == JACCARD else f"{several} set aside"

    def make(self, service: Service) -> None:
        """Fit every method at every epsilon."""
        asked = self.question
        epsilons, repeats = list(asked.epsilons), asked.repeats
        ways = [(family, {registry.FAMILIES[family].way: name}) for family, name in asked.methods]
        if asked.measure == JACCARD:
            sides = {side: list(columns) for side, columns in asked.sides}
            searches = [{**way, **sides} for _, way in ways]
            self.scores = service.compare_redescriptions(asked.dataset_id, searches, epsilons, repeats, self.tell)
            return
        self.scores = service.compare_methods(
            asked.dataset_id, asked.target, ways, epsilons, repeats, self.tell, asked.measure
        )
        if self.measure == ACCURACY:
            self.ceiling = service.plain_tree_accuracy(asked.dataset_id, asked.target)
            self.floor = service.commonest_share(asked.dataset_id, asked.target)
        elif self.measure == AUC:
            self.floor = 0.5


def render(dataset: DatasetInfo, family: Family) -> None:
    """An expander with the form and, once it was sent, the chart."""
    st.divider()
    with st.expander("**Compare methods on these public data** (free)", icon=":material/query_stats:"):
        st.markdown(text("compare_methods"))
        key = f"methods-{family.name}"
        asked = _ask(dataset, family)
        if asked is not None:
            _stop(st.session_state.get(key))
            st.session_state[key] = Comparing(asked, dataset.schema)
            st.session_state[key].start(access.service())
        work: Comparing | None = st.session_state.get(key)
        if work is not None and work.question.dataset_id == dataset.id:
            _follow(key)


def offered(family: Family) -> bool:
    """Whether there is more than one way to learn, and a measure for all of them."""
    return bool(family.compared) and (family.targeted or family.name == _RELATING)


def _stop(work: Comparing | None) -> None:
    if work is not None:
        work.stop.set()


def titles(*, targeted: bool = True) -> dict[tuple[str, str], str]:
    """Every method of every family that predicts, with a title; or of those that relate two sides."""
    return {
        (family.name, name): f"{family.title}: {title.removesuffix(' (recommended)')}"
        for family in registry.FAMILIES.values()
        if (family.targeted if targeted else family.name == _RELATING)
        for name, title in family.compared.items()
    }


def _ask(dataset: DatasetInfo, family: Family) -> Question | None:
    names = titles(targeted=family.targeted)
    with st.form(f"compare-{family.name}", border=False):
        left, right = st.columns(2)
        with left:
            target = inputs.target(dataset.schema, f"compare-{family.name}-") if family.targeted else ""
            measure = _measure(family)
            repeats = st.number_input(
                "Repetitions", 1, 20, family.repeats, key=f"compare-repeats-{family.name}", help=text("repetitions")
            )
        with right:
            methods = st.multiselect(
                "Methods",
                list(names),
                [n for n in names if n[0] == family.name][:FIRST_METHODS],
                format_func=names.__getitem__,
                key=f"compare-methods-{family.name}",
            )
            epsilons = st.multiselect("Values of ε", EPSILONS, FIRST_EPSILONS, key=f"compare-epsilons-{family.name}")
        asked = st.form_submit_button("Compare methods", type="primary")
    if not asked:
        return None
    if target is None or not methods or not epsilons:
        st.error("Choose what should be predicted, at least one method and at least one ε.")
        return None
    sides = () if family.targeted else _sides(dataset)
    if not all(columns for _, columns in sides):
        st.error("Choose columns for both sides in the form above first.")
        return None
    order = tuple(sorted(epsilons, key=float))
    return Question(dataset.id, target, tuple(methods), order, int(repeats), measure, sides)


def _measure(family: Family) -> Measure:
    """By what methods are compared; redescriptions by how well both sides agree."""
    if not family.targeted:
        return JACCARD
    told: dict[Measure, str] = {
        ACCURACY: "Accuracy: how often the label is right",
        AUC: "AUC: how well chances rank people",
    }
    key = f"compare-measure-{family.name}"
    return st.selectbox("Compare by", list(told), format_func=told.__getitem__, key=key)


def _sides(dataset: DatasetInfo) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Columns of both sides, as the form of a run has them."""
    schema, state = dataset.schema, st.session_state
    own = {side: state.get(f"set-{side}-{schema.hash[:8]}") or schema.view(side) for side in SIDES}
    return tuple((side, tuple(columns)) for side, columns in own.items())


def _follow(key: str) -> None:
    """Progress while there is some, then the result."""
    work: Comparing = st.session_state[key]
    if work.active:
        background.wait(work, "runs", "Stop comparing", f"{key}-stop")
    elif work.problem:
        st.error(markup.plain(work.problem))
    elif work.scores is not None:
        _result(work, key)
    else:
        st.info("Stopped. Press 'Compare methods' to start again.")


def _result(work: Comparing, key: str) -> None:
    lines, measure = _lines(work), work.measure
    asked = work.question
    figure.render(
        methods_figure(lines, work.ceiling, measure, floor=work.floor, people=work.people),
        key=f"{key}-chart",
        alt=methods_alt(lines, work.ceiling, measure, floor=work.floor, people=work.people),
    )
    if measure == ACCURACY and work.floor is not None and work.floor >= _SKEWED:
        st.info(
            f"Always saying the commonest value is right for {percent(work.floor)}. Compare by AUC to see who tells "
            "more."
        )
    times = "once" if asked.repeats == 1 else f"{asked.repeats} times"
    target = registry.column_label(asked.dataset_id, asked.target) if asked.target else ""
    st.caption(
        markup.plain(
            f"Each method {'predicts ' + target if target else 'searches'} {times} for each ε. Points are means, "
            f"bars reach from the lowest to the highest repetition. {_meaning(work)} {_certainty(work)}"
        )
    )
    header = ["Method", *(f"ε {epsilon}" for epsilon in asked.epsilons)]
    title = f"{measure[0].upper()}{measure[1:]} on {work.people}"
    markup.table(title, header, (_row(line, measure) for line in lines))


def _meaning(work: Comparing) -> str:
    if work.measure == "RMSE":
        return (
            "The RMSE is the typical error, in units of what is predicted: the less the better. It "
            "is exact, because the records are public."
        )
    if work.measure == JACCARD:
        return (
            "It is the mean exact Jaccard index of the ten best redescriptions that are kept; one that is not found "
            "counts as 0."
        )
    if work.measure == AUC:
        return "The AUC is exact, because the records are public. The dashed line is a coin."
    exact = "The accuracy is exact, because the records are public. The dashed line always says the commonest value."
    if work.ceiling is None:
        return exact
    sees = " that sees the main table alone" if work.schema.children else ""
    return (
        f"{exact} The dotted line is an ordinary tree without privacy{sees}, of at most 64 groups: "
        f"{tenths(work.ceiling)}. It may do worse than a private one, because it takes accidents of "
        "these records for rules."
    )


def _certainty(work: Comparing) -> str:
    """On how many people it was measured, and what so few cannot show."""
    people = work.scores[0].people if work.scores else 0
    aside = "" if work.measure == JACCARD else " set aside"
    told = f"It was measured on {counted(work.schema).number(people)}{aside}"
    if people >= _MANY:
        return f"{told}."
    if work.measure != ACCURACY:
        return f"{told}: so few that small differences between methods may be chance."
    # Two standard errors of a share of one half.
    least = percent(people**-0.5)
    return f"{told}: so few that methods whose accuracies are less than {least} apart may be equally good."


def _lines(work: Comparing) -> list[EpsilonCurve]:
    names, lines = titles() | titles(targeted=False), []
    for place, method in enumerate(work.question.methods):
        own = sorted(
            (score for score in work.scores or () if score.method == place),
            key=lambda score: float(score.epsilon),
        )
        lines.append(
            EpsilonCurve(
                names[method],
                tuple(float(score.epsilon) for score in own),
                tuple(float(score.mean) for score in own),
                tuple(float(score.low) for score in own),
                tuple(float(score.high) for score in own),
            )
        )
    return lines


def _row(line: EpsilonCurve, measure: str) -> str:
    figures = (
        f"<b>{score(mean, measure)}</b> <small>{score(low, measure)} to {score(high, measure)}</small>"
        for mean, low, high in zip(line.means, line.lows, line.highs, strict=True)
    )
    return markup.row([escape(line.name), *figures])
