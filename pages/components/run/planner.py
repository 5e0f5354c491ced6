"""How much of the budget an accuracy takes: rehearsals over a range of epsilons. Free."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.models.released import get_family
from dpcore.numerals import measured, percent, score
from dpcore.plots.methods import EpsilonCurve
from dpcore.plots.quality_forecast_figure import QualityForecastMarks, quality_forecast_alt, quality_forecast_figure
from dpcore.privacy.budgets import percent as share
from dpcore.privacy.budgets import plain_epsilon
from dpcore.rehearsal import epsilon_for
from dpcore.workspace.ledger.accounts import Hindrance
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.kit import epsilon, figure, markup
from pages.components.kit.markup import text
from pages.components.visitor import access, background
from pages.components.visitor.background import QueuedTask

if TYPE_CHECKING:
    from dpcore.plots.methods import EpsilonCurve
    from dpcore.plots.quality_forecast_figure import QualityForecastMarks
    from dpcore.rehearsal import QualityForecast
    from dpcore.service import Service

_KEY, _WANTED = "planner", "planner_wanted"
_FIRST_WANTED = 80.0
_IN_THE_WAY: dict[Hindrance, str] = {
    "budget": "more than is left",
    "one run": "more than one run may cost",
    "frozen": "your budget is frozen",
    "conditional": "Markov chains are not allowed",
    "over": "nothing more can be run",
}


@dataclass(frozen=True)
class Question:
    """What is planned: a request at any epsilon, and the quality that is wanted."""

    request: RunRequest
    wanted: float
    shaped: bool

    @property
    def subject(self) -> tuple[object, ...]:
        """What the work depends on: all but epsilon and what is wanted."""
        asked = self.request
        return asked.dataset_id, asked.algorithm, asked.target, asked.parameters, self.shaped


@dataclass
class QualityForecastTask(QueuedTask):
    """An outlook that is being made."""

    failed = "The answer could not be worked out. Try another method, or fewer columns."

    question: Question
    outlook: QualityForecast | None = None

    def make(self, service: Service) -> None:
        """Rehearse at every epsilon."""
        asked = self.question
        self.outlook = service.outlook(asked.request, self.tell, shaped=asked.shaped)


def render(quote: Quote | None, *, shaped: bool, number: Any = None) -> None:
    """An expander with the question and, once it was asked, the answer.

    ``number`` is the column that is predicted, if it is predicted as a number.
    """
    with st.expander("**How much budget for this accuracy?** (free)", icon=":material/query_stats:"):
        st.markdown(text("planner"))
        wanted = _wanted(number)
        asked = st.button("Work it out (free)", key=f"{_KEY}-ask", disabled=quote is None)
        if quote is None:
            return
        question = Question(quote.request, wanted, shaped)
        if asked:
            _start(question)
        work: QualityForecastTask | None = st.session_state.get(_KEY)
        if work is not None and work.question.subject == question.subject:
            _follow(work, question, quote)
        elif work is not None and _about(work.question) == _about(question):
            st.info("The settings have changed since. Work it out again to see their effect.")


def _about(question: Question) -> tuple[str, str]:
    return question.request.dataset_id, question.request.algorithm


def _wanted(number: Any) -> float:
    """What is wanted: a share; or a typical error, in units of the target."""
    if number is None:
        percent = st.number_input(
            "Accuracy wanted, in percent", 1.0, 100.0, _FIRST_WANTED, 1.0, format="%.0f", key=_WANTED
        )
        return float(percent) / 100
    span = float(number.upper - number.lower)
    return float(
        st.number_input(
            f"Typical error wanted (RMSE), in units of {markup.plain(number.name)}",
            0.0,
            span,
            span / 10,
            key=f"{_WANTED}-{number.name}",
        )
    )


def _start(question: Question) -> None:
    before: QualityForecastTask | None = st.session_state.get(_KEY)
    if before is not None:
        before.stop.set()
    st.session_state[_KEY] = QualityForecastTask(question)
    st.session_state[_KEY].start(access.service())


def _follow(work: QualityForecastTask, question: Question, quote: Quote) -> None:
    """Progress while there is some, then the answer."""
    if work.active:
        background.wait(work, "rehearsals", "Stop", f"{_KEY}-stop")
    elif work.problem:
        st.error(markup.plain(work.problem))
    elif work.outlook is not None:
        _answer(work.outlook, question, quote)
    else:
        st.info("Stopped. Press 'Work it out' to start again.")


def _answer(quality_forecast: QualityForecast, question: Question, quote: Quote) -> None:
    found = epsilon_for(quality_forecast, question.wanted)
    _say(quality_forecast, question, quote, found)
    line, marks = _line(quality_forecast), _marks(quality_forecast, question)
    figure.render(
        quality_forecast_figure(line, marks, quality_forecast.measure),
        key=f"{_KEY}-chart",
        alt=quality_forecast_alt(line, marks, quality_forecast.measure),
    )
    _table(quality_forecast, question)
    st.caption(_how_far_off(quality_forecast, question, found or question.request.epsilon))


def _needs_no_run(quality_forecast: QualityForecast, wanted: float) -> bool:
    """Whether the same answer for everybody is good enough already."""
    if quality_forecast.measure == "accuracy":
        return wanted <= quality_forecast.baseline
    return wanted >= quality_forecast.baseline


def _say(quality_forecast: QualityForecast, question: Question, quote: Quote, found: Decimal | None) -> None:
    wanted = _shown(question.wanted, quality_forecast)
    if _needs_no_run(quality_forecast, question.wanted):
        always = "most frequent value" if quality_forecast.measure == "accuracy" else "mean"
        markup.notice(
            "plain",
            f"{wanted} needs no run.",
            f"Always answering the {always} gives {_shown(quality_forecast.baseline, quality_forecast)} on invented "
            "records like these. Ask for more than that.",
        )
        return
    if found is None:
        best = quality_forecast.points[-1]
        markup.notice(
            "plain",
            f"Not even ε = {plain_epsilon(best.epsilon)} reaches {wanted}.",
            f"On invented records like these it reaches about {_shown(best.mean, quality_forecast)}. "
            "Ask for less, or choose another method.",
        )
        return
    then = _at(question, found)
    takes = "" if then is None else f", {share(then.share)} of the budget,"
    about = f"About ε = {plain_epsilon(found)}{takes} should reach {wanted}, on invented records like these."
    markup.notice("plain", about, _limits(then, quote))
    st.button(
        f"Use ε = {plain_epsilon(found)}",
        key=f"{_KEY}-use",
        on_click=epsilon.enter,
        args=(found,),
    )


def _limits(then: Quote | None, quote: Quote) -> str:
    """Whether a run would fit, and if not what is left."""
    if then is not None and then.affordable:
        return "Working it out spent nothing."
    if then is not None and not then.short:
        return then.refusal
    return f"That does not fit: {share(quote.balance.left, up=False)} of the budget is left."


def _at(question: Question, epsilon: Decimal) -> Quote | None:
    """What the request would cost at another epsilon now; ``None`` if it cannot be planned."""
    request = question.request.model_copy(update={"epsilon": epsilon})
    quote, _ = access.attempt(lambda: access.service().quote(request))
    return quote


def _within(quote: Quote | None) -> str:
    """Whether a run could be made, in a word; if not, why."""
    if quote is None:
        return "no"
    return "yes" if quote.hindrance is None else f"no: {_IN_THE_WAY[quote.hindrance]}"


def _shown(value: float, quality_forecast: QualityForecast) -> str:
    return percent(value) if quality_forecast.measure == "accuracy" else f"an RMSE of {measured(value)}"


def _line(quality_forecast: QualityForecast) -> EpsilonCurve:
    points = quality_forecast.points
    return EpsilonCurve(
        "Mean of the rehearsals",
        tuple(float(point.epsilon) for point in points),
        tuple(point.mean for point in points),
        tuple(point.low for point in points),
        tuple(point.high for point in points),
    )


def _marks(quality_forecast: QualityForecast, question: Question) -> QualityForecastMarks:
    name = "Always the most frequent" if quality_forecast.measure == "accuracy" else "Always the mean"
    return QualityForecastMarks(quality_forecast.baseline, name, question.wanted, float(question.request.epsilon))


def _table(quality_forecast: QualityForecast, question: Question) -> None:
    measure = quality_forecast.measure
    quotes = {point.epsilon: _at(question, point.epsilon) for point in quality_forecast.points}
    rows = (
        markup.row(
            [
                plain_epsilon(point.epsilon),
                f"<b>{score(point.mean, measure)}</b>",
                f"{score(point.low, measure)} to {score(point.high, measure)}",
                "" if (quote := quotes[point.epsilon]) is None else share(quote.share),
                _within(quote),
            ]
        )
        for point in quality_forecast.points
    )
    header = ["ε", "Mean", "Lowest to highest", "Takes", "Fits"]
    markup.table(f"{'Accuracy' if measure == 'accuracy' else 'RMSE'} on invented people", header, rows)


def _how_far_off(quality_forecast: QualityForecast, question: Question, at: Decimal) -> str:
    """How close this may come to the private run, as measured on public data sets."""
    number = quality_forecast.measure == "RMSE"
    if quality_forecast.ceiling is None and get_family(question.request.algorithm).relational:
        return text("planner_relational")
    if quality_forecast.paired:
        return text("planner_number_pairs" if number else "planner_pairs")
    if quality_forecast.ceiling is None:
        return text("planner_number_schema" if number else "planner_schema")
    if number:
        return text("planner_number")
    close = quality_forecast.close_from is not None and at >= quality_forecast.close_from
    return text("planner_close" if close else "planner_rough")
