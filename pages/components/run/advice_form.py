"""The questions of the page 'Which method?', and the proposal with a button that sets it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

import streamlit as st

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.labels import called
from dpcore.privacy.budgets import percent, plain_epsilon
from dpcore.service import advice
from dpcore.service.advice import COUNT, DESCRIBE, PREDICT, RELATE, Advice, AdviceQuestion
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.families import registry
from pages.components.families.shared.inputs import KEEP, choose_target
from pages.components.families.summaries import summary_inputs as summaries
from pages.components.kit import drawing, epsilon, markup
from pages.components.run import ask
from pages.components.visitor import access, menu

_AIMS: Mapping[str, tuple[str, str]] = {
    COUNT: ("Count", "how many records have which value, column by column"),
    DESCRIBE: ("Describe", "which groups have an outcome, in rules to read aloud"),
    PREDICT: ("Predict", "an outcome of a person, as well as may be"),
    RELATE: ("Relate", "what on one side goes with what on the other"),
}
_GROUPS = {"0.1": "Large ones: 1 in 10", "0.03": "Medium ones: 1 in 30", "0.01": "Small ones: 1 in 100"}
_SIZES = {str(share): f"{size}: {percent(share)}" for size, share in epsilon.SIZES.items()}


def render(dataset: DatasetInfo) -> None:
    """Ask, and propose."""
    with st.container(border=True, key="card-wish"):
        question = _ask(dataset)
    with drawing.placeholder():
        _propose(dataset, question)


def _ask(dataset: DatasetInfo) -> AdviceQuestion:
    aim = str(
        st.radio(
            "What do you want to know?",
            list(_AIMS),
            format_func=lambda name: f"**{_AIMS[name][0]}**: {_AIMS[name][1]}",
            key="guide-aim",
            **KEEP,
        )
    )
    with drawing.placeholder():
        target = _target(dataset, aim)
    with drawing.placeholder():
        tables = aim == DESCRIBE and _tables(dataset)
    with drawing.placeholder():
        by_hand = aim == PREDICT and _by_hand()
    left, right = st.columns(2)
    with left:
        group = _choice("How small a group should stand out?", _GROUPS, "0.03", "guide-group")
    with right:
        part = _choice("How much of the budget may it take?", _SIZES, "0.05", "guide-size")
    return AdviceQuestion(aim, target, tables, by_hand, group, part)


def _choice(label: str, options: Mapping[str, str], first: str, key: str) -> Decimal:
    chosen = st.selectbox(
        label, list(options), list(options).index(first), format_func=options.__getitem__, key=key, **KEEP
    )
    return Decimal(str(chosen))


def _target(dataset: DatasetInfo, aim: str) -> str:
    """The outcome, or the groups to compare."""
    schema = dataset.schema
    if aim == RELATE:
        return ""
    numbers = aim == PREDICT
    names = [c.name for c in schema if len(c.classes) > 1 or (numbers and isinstance(c, NumericColumn))]
    marked = [name for name in schema.targets if name in names]
    label = "Which groups should be compared? (may stay empty)" if aim == COUNT else "Which column is the outcome?"
    chosen = st.selectbox(
        label,
        marked + [name for name in names if name not in marked],
        index=0 if marked and aim != COUNT else None,
        format_func=lambda name: called(schema, name),
        placeholder="No groups" if aim == COUNT else "Choose a column",
        key=f"guide-{aim}-{schema.hash[:8]}",
        **KEEP,
    )
    return "" if chosen is None else str(chosen)


def _tables(dataset: DatasetInfo) -> bool:
    if not dataset.schema.children:
        return False
    named = ", ".join(child.name for child in dataset.schema.children)
    return bool(st.toggle(f"Look into further tables, too ({markup.plain(named)})", True, key="guide-tables", **KEEP))


def _by_hand() -> bool:
    return bool(st.toggle("It must be possible to follow it by hand", key="guide-hand", **KEEP))


def _propose(dataset: DatasetInfo, question: AdviceQuestion) -> None:
    if question.aim in (DESCRIBE, PREDICT) and not question.target:
        st.info("Choose the column that is the outcome.")
        return
    counted = advice.released_row_count(access.service().releases(dataset.id))
    found, problem = access.attempt(
        lambda: advice.advise(question, dataset.schema, _priced(dataset, question), counted)
    )
    if found is None:
        st.warning(f"{problem} Choose something else above.")
        return
    with st.container(border=True, key="card-advice"):
        _tell(dataset, question, found)
    if found.quote.short:
        ask.offer(dataset)


def _priced(dataset: DatasetInfo, question: AdviceQuestion) -> Callable[[Decimal], Quote]:
    """What the run would cost at each epsilon."""
    family = registry.FAMILIES[advice.family_for(question, dataset.schema)]
    price = access.service().pricing(dataset.id)

    def at(epsilon: Decimal) -> Quote:
        return price(
            RunRequest(
                dataset_id=dataset.id,
                algorithm=family.name,
                target=question.target if family.targeted else "",
                epsilon=epsilon,
                parameters=advice.parameters_for(question, dataset.schema),
            )
        )

    return at


def _tell(dataset: DatasetInfo, question: AdviceQuestion, found: Advice) -> None:
    family = registry.FAMILIES[found.family]
    st.subheader(f"{family.title}, ε = {plain_epsilon(found.epsilon)}", anchor=False)
    markup.sentences(found.reasons)
    for caution in found.cautions:
        markup.notice("amber", "Mind this.", caution)
    if st.button("Set this run up", type="primary", key="guide-go"):
        _go(dataset, question, found.family, found.epsilon)
    st.caption("It opens the page of the method, filled in. Nothing is spent until you confirm a review there.")
    with drawing.placeholder():
        if found.others:
            _others(dataset, question, found)


def _others(dataset: DatasetInfo, question: AdviceQuestion, found: Advice) -> None:
    st.markdown("**These would answer it, too.**")
    markup.sentences(found.others.values())
    with st.container(horizontal=True):
        for name in found.others:
            if st.button(f"Set up: {registry.FAMILIES[name].title}", key=f"guide-go-{name}"):
                _go(dataset, question, name, found.epsilon)


def _go(dataset: DatasetInfo, question: AdviceQuestion, name: str, at: Decimal) -> None:
    """Open the page of a family with its form filled in."""
    family, schema = registry.FAMILIES[name], dataset.schema
    epsilon.enter(at)
    st.session_state[f"set-up-{name}"] = True
    if family.targeted:
        choose_target(schema, question.target)
    elif question.aim == COUNT:
        summaries.preset(schema, (), by=question.target or None)
    if menu.may_open(family.page):
        st.switch_page(family.page)
