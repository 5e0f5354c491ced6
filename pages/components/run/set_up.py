"""Setting up a run: what it does, what it costs, a free rehearsal, and on to the review."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpcore.domain.columns import NumericColumn
from dpcore.errors import RequestError
from dpcore.numerals import adding_up, whole
from dpcore.privacy.budgets import parse_epsilon
from dpcore.rehearsal import usable
from dpcore.report import spending
from dpcore.report.names import step_name
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.families.registry import Family
from pages.components.families.shared import inputs
from pages.components.families.shared.inputs import FormContext
from pages.components.kit import drawing, epsilon, markup
from pages.components.kit.epsilon import Preset
from pages.components.kit.markup import text
from pages.components.releases import result
from pages.components.run import ask, planner, review
from pages.components.visitor import access

if TYPE_CHECKING:
    from dpcore.rehearsal import Rehearsal

#: In a few words, why a run is refused.
_REFUSED = {
    "over": "No run is possible now",
    "frozen": "Budget frozen",
    "conditional": "Not allowed on this data set",
    "one run": "More than one run may cost",
    "budget": "Over budget",
}


def render(context: FormContext, family: Family) -> None:
    """The form of a run, its price, and the two ways to go on."""
    dataset = context.dataset
    with st.container(border=True, key="card-what"):
        target = _target(dataset, family)
        parameters, fault = access.attempt(lambda: family.parameters(context))
    with st.container(border=True, key="card-epsilon"):
        request, problem = None, fault
        entry = epsilon.choose(_presets(dataset, family, target, parameters))
        if parameters is not None:
            request, problem = access.attempt(lambda: _request(dataset, family, target, entry, parameters))
        with drawing.placeholder():
            quote = _quote(request, problem)
        with drawing.placeholder():
            if quote is not None and quote.balance.run_delta and not family.released.needs_delta:
                with st.expander("Advanced"):
                    st.checkbox("Pure: no δ", key=_pure_key(family), help=text("pure"), **inputs.KEEP)
        with drawing.placeholder():
            if quote is not None and quote.hindrance in ("budget", "frozen"):
                ask.offer(dataset, quote.short_by if quote.short_by.is_finite() else None)
        if quote is not None and family.hint is not None:
            family.hint(quote)
    with drawing.placeholder():
        shaped = _shaped(context)
    _buttons(dataset, request, quote, shaped=shaped)
    if family.targeted:
        planner.render(quote, shaped=shaped, number=_number(dataset, family, target))
    _rehearsal(request)


def _target(dataset: DatasetInfo, family: Family) -> str | None:
    """The column to predict; empty for a family that predicts none."""
    if not family.targeted:
        return ""
    return inputs.target(dataset.schema, numbers=family.numbers)


def _request(
    dataset: DatasetInfo,
    family: Family,
    target: str | None,
    entry: str,
    parameters: dict[str, Any],
) -> RunRequest:
    if target is None:
        raise RequestError("Choose what should be predicted.")
    return RunRequest(
        dataset_id=dataset.id,
        algorithm=family.name,
        target=target,
        epsilon=parse_epsilon(entry),
        parameters=parameters,
        pure=bool(st.session_state.get(_pure_key(family))),
    )


def _presets(
    dataset: DatasetInfo, family: Family, target: str | None, parameters: dict[str, Any] | None
) -> dict[str, Preset]:
    """What each size comes to on a data set, with the noise that it means for the run that is set up.

    Whoever has no budget yet is shown sizes of that of the data set.
    """
    service, balance = access.service(), access.balance(dataset.id)
    price, budget = service.pricing(dataset.id), balance if balance.cap else service.total_balance(dataset.id)

    def preset(share: Decimal) -> Preset:
        value = budget.epsilon_of(share)
        if parameters is None or not value:
            return Preset(value, None)
        quote, _ = access.attempt(lambda: price(_request(dataset, family, target, str(value), parameters)))
        return Preset(value, None if quote is None else quote.plan.count_margin())

    return {size: preset(share) for size, share in epsilon.SIZES.items()}


def _pure_key(family: Family) -> str:
    """Each family has its own: in some, no run is free of δ."""
    return f"pure-{family.name}"


def _quote(request: RunRequest | None, problem: str | None) -> Quote | None:
    quote = None
    if request is not None:
        quote, problem = access.attempt(lambda: access.service().quote(request))
    if quote is None:
        st.error(problem)
        return None
    access.show_cost_of_this_run(quote)
    first, *_ = quote.plan.count_noise
    margin = first.margin()
    noise = f"Noise on {first.what}: ±{whole(margin)}, 95%." if margin else "Every count is as good as exact."
    markup.notice("plain", noise, _meaning(quote))
    if quote.share.is_finite():
        st.markdown(f"**{markup.plain(f'It takes {spending.price(quote)}.')}**")
    if not quote.affordable:
        _refused(quote)
    return quote


def _refused(quote: Quote) -> None:
    """Why the run cannot be made now; nobody is over a budget that they were never given."""
    whole, _ = access.attempt(lambda: access.service().total_balance(quote.request.dataset_id))
    if quote.short and whole is not None and spending.none_yet(quote.balance, whole):
        st.info(text("no_budget_yet"), title="No budget yet")
        return
    st.error(markup.plain(quote.refusal), title=_REFUSED[quote.hindrance or "budget"])


def _meaning(quote: Quote) -> str:
    first, *others = quote.plan.count_noise
    more = "".join(f" Noise on {kind.what}: ±{whole(kind.margin())}." for kind in others)
    clear = 3 * first.margin()
    stand_out = f"Counts of {whole(clear)} and more stand out clearly." if clear else ""
    return f"{stand_out}{more} Of this run, {_split(quote)}.".strip()


def _split(quote: Quote) -> str:
    """The share of each step."""
    parts = {step: part for step, part in quote.plan.split.parts.items() if part}
    told = adding_up([float(part / quote.plan.epsilon) for part in parts.values()])
    *some, last = [f"{amount} is for {step_name(step)}" for step, amount in zip(parts, told, strict=True)]
    return f"{', '.join(some)} and {last}" if some else last


def _number(dataset: DatasetInfo, family: Family, target: str | None) -> Any:
    """The column that is predicted, if it is predicted as a number."""
    column = dataset.schema.column(target) if target and family.numbers else None
    return column if isinstance(column, NumericColumn) else None


def _shaped(context: FormContext) -> bool:
    """Whether earlier results shape what is invented: asked only if there are any."""
    if not usable(context.schema, context.releases):
        return False
    return st.toggle(
        "Use what earlier results revealed",
        value=True,
        key=f"shaped-{context.dataset.id}",
        help=text("shaped"),
    )


def _buttons(dataset: DatasetInfo, request: RunRequest | None, quote: Quote | None, *, shaped: bool) -> None:
    left, right = st.columns(2)
    with left:
        if st.button("Rehearse (free)", disabled=quote is None, width="stretch") and request:
            _rehearse(request, shaped=shaped)
        st.caption(text("rehearsal_shaped" if shaped else "rehearsal"))
    with right:
        st.button(
            "Review and spend …",
            type="primary",
            disabled=quote is None or not quote.affordable,
            on_click=review.open_review,
            args=(request, dataset.name),
            width="stretch",
        )
        st.caption("Opens a summary. Nothing is spent until you confirm there.")


def _rehearse(request: RunRequest, *, shaped: bool) -> None:
    with st.spinner("Rehearsing on synthetic data …"):
        release, problem = access.attempt(lambda: access.service().rehearse(request, shaped=shaped))
    if problem:
        st.error(problem)
    st.session_state[access.REHEARSAL_KEY] = (request, release)


def _rehearsal(request: RunRequest | None) -> None:
    rehearsed, release = st.session_state.get(access.REHEARSAL_KEY, (None, None))
    if release is None or request is None or not _alike(rehearsed, request):
        return
    st.divider()
    st.header("Rehearsal", anchor=False)
    with drawing.placeholder():
        if rehearsed != request:
            st.info("The settings have changed since. Rehearse again to see their effect.")
    st.caption(markup.plain(_shape_sentence(release)))
    result.render(release, key="rehearsal", rehearsal=True)


def _shape_sentence(release: Rehearsal) -> str:
    """What the invented records were drawn from."""
    used = release.shaped_by
    if not used:
        return "The records were invented from the schema alone, with an invented effect."
    names = ", ".join(identifier[:8] for identifier in used)
    results = "this earlier result" if len(used) == 1 else f"these {len(used)} earlier results"
    return f"The records were invented to fit {results}: {names}."


def _alike(one: RunRequest, other: RunRequest) -> bool:
    return one.dataset_id == other.dataset_id and one.algorithm == other.algorithm
