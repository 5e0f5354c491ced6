"""The course: its lessons in order, what each goes back to, and the way through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import streamlit as st

from pages.components.kit import drawing, markup
from pages.components.lessons import guess
from pages.components.lessons.topics import (
    budget,
    coin,
    definition,
    delta,
    difference,
    histogram,
    limits,
    membership,
    neighbours,
    noise,
    odds,
    reconstruction,
    sandbox,
    sensitivity,
)

_KEY = "lesson"


class Lesson(NamedTuple):
    """A lesson.

    Attributes
    ----------
    title : str
        Also its name in the address.
    render : callable
        Draws it.
    guess : str
        Name of what it asks first; empty for the sandbox, which asks nothing.
    sources : tuple of str
        Where it comes from, as docs/sources.md has it.
    """

    title: str
    render: Callable[[], None]
    guess: str
    sources: tuple[str, ...]


_DWORK_ROTH = "Dwork, Roth (2014). The algorithmic foundations of differential privacy."
_DMNS = "Dwork, McSherry, Nissim, Smith (2006). Calibrating noise to sensitivity in private data analysis."
_DINUR_NISSIM = "Dinur, Nissim (2003). Revealing information while preserving privacy."
_WASSERMAN_ZHOU = "Wasserman, Zhou (2010). A statistical framework for differential privacy."
_KIFER = "Kasiviswanathan, Smith (2014). On the 'semantics' of differential privacy: a Bayesian formulation."

LESSONS = (
    Lesson(
        "Everybody at once",
        reconstruction.render,
        "reconstruction",
        (
            _DINUR_NISSIM,
            "Garfinkel, Abowd, Martindale (2019). Understanding database reconstruction attacks on public data.",
        ),
    ),
    Lesson(
        "Two counts, one person",
        difference.render,
        "difference",
        ("Denning, Denning, Schwartz (1979). The tracker: a threat to statistical database security.",),
    ),
    Lesson(
        "Noise and counts",
        noise.render,
        "noise",
        (_DMNS, "Ghosh, Roughgarden, Sundararajan (2012). Universally utility-maximizing privacy mechanisms."),
    ),
    Lesson("Sensitivity", sensitivity.render, "sensitivity", (_DMNS, _DWORK_ROTH)),
    Lesson("Neighbours", neighbours.render, "neighbours", (_DMNS, _DWORK_ROTH)),
    Lesson("The definition", definition.render, "definition", (_DMNS, _WASSERMAN_ZHOU)),
    Lesson("Epsilon as odds", odds.render, "odds", (_KIFER, _WASSERMAN_ZHOU)),
    Lesson(
        "Who is in the data?",
        membership.render,
        "membership",
        (
            "Homer et al. (2008). Resolving individuals contributing trace amounts of DNA to highly complex mixtures.",
            "Kairouz, Oh, Viswanath (2017). The composition theorem for differential privacy.",
        ),
    ),
    Lesson(
        "A coin for everybody",
        coin.render,
        "coin",
        (
            "Warner (1965). Randomized response: a survey technique for eliminating evasive answer bias.",
            "Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith (2011). What can we learn privately?",
        ),
    ),
    Lesson(
        "Composition and the budget",
        budget.render,
        "budget",
        ("Bun, Steinke (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds.",),
    ),
    Lesson(
        "What delta is",
        delta.render,
        "delta",
        ("Balle, Wang (2018). Improving the Gaussian mechanism for differential privacy.", _KIFER),
    ),
    Lesson(
        "Many questions, one measurement",
        histogram.render,
        "histogram",
        ("Li, Miklau, Hay, McGregor, Rastogi (2015). The matrix mechanism: optimizing linear counting queries.",),
    ),
    Lesson("What privacy does not prevent", limits.render, "limits", (_DWORK_ROTH, _KIFER)),
    Lesson("Sandbox", sandbox.render, "", ()),
)
_BY_TITLE = {lesson.title: lesson for lesson in LESSONS}


def render() -> None:
    """The lesson that is chosen, with the way to the others."""
    chosen = _choose()
    _progress()
    with drawing.placeholder():
        chosen.render()
        _sources(chosen)
    _ways(chosen)


def _choose() -> Lesson:
    titles = list(_BY_TITLE)
    title = st.selectbox("Lesson", titles, key=_KEY, bind="query-params", format_func=str)
    return _BY_TITLE.get(title or titles[0], LESSONS[0])


def _progress() -> None:
    asked = [lesson for lesson in LESSONS if lesson.guess]
    done = [guess.made(lesson.guess) for lesson in asked]
    told = f"{sum(done)} of {len(asked)} answers seen"
    marks = "".join(f'<span class="{"done" if one else "open"}"></span>' for one in done)
    st.html(
        f'<div class="fg-steps"><div role="img" aria-label="{told}">{marks}</div>'
        f"<small>{told}. This is remembered until you close or reload the page.</small></div>"
    )


def _sources(lesson: Lesson) -> None:
    if lesson.sources and (not lesson.guess or guess.made(lesson.guess)):
        with st.expander("Sources", icon=":material/menu_book:"):
            markup.sentences(lesson.sources)


def _ways(lesson: Lesson) -> None:
    """Buttons to the lesson before and after, and back to the start."""
    place = LESSONS.index(lesson)
    with st.container(horizontal=True):
        if place:
            _way("Back", LESSONS[place - 1], "lesson-back", "secondary")
        if place + 1 < len(LESSONS):
            done = not lesson.guess or guess.made(lesson.guess)  # One main button: before that, the guess.
            _way("Next", LESSONS[place + 1], "lesson-next", "primary" if done else "secondary")
        st.button("Start the course again", key="lesson-restart", on_click=_restart, type="tertiary")


def _way(word: str, lesson: Lesson, key: str, kind: Literal["primary", "secondary"]) -> None:
    st.button(f"{word}: {lesson.title}", key=key, on_click=_go, args=(lesson.title,), type=kind)


def _go(title: str) -> None:
    st.session_state[_KEY] = title


def _restart() -> None:
    guess.forget()
    _go(LESSONS[0].title)
