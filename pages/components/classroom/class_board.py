"""The board of a classroom: everybody's answers to one question. It draws itself again by itself."""

from __future__ import annotations

import math
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.lessons import COUNTS, class_cost, pool_answers
from dpcore.lessons.toy import DELTA
from dpcore.numerals import minus, small, whole
from dpcore.plots.lessons.lessons_class import class_alt, class_figure
from dpcore.privacy.budgets import format_epsilon
from dpcore.workspace.people.class_rooms import Board, Room
from pages.components.kit import drawing, figure, markup
from pages.components.visitor import access, login

if TYPE_CHECKING:
    from dpcore.lessons.pooled_answers import PooledAnswers

SECONDS = 3
#: Far more than what floating point adds to a margin, far less than what is shown of it.
_ROUNDING = 1e-9
#: Rows of the list; older answers are in the picture only.
_ROWS = 30
_QUESTION = "class-board-question"


def render(code: str, room: Room) -> None:
    """The board, with the question that it shows; ``room`` as it is drawn above."""
    st.subheader("The board", anchor=False)
    question = st.selectbox(
        "Answers to: how many patients are there …",
        range(len(COUNTS)),
        2,
        key=_QUESTION,
        format_func=lambda number: COUNTS[number].question,
    )
    with st.container():
        _follow(code, room, question)


@drawing.every(SECONDS)
def _follow(code: str, room: Room, question: int) -> None:
    login.follow()
    try:
        board = access.service().board(code)
    except FrostglassError:
        st.rerun()  # The room has ended: the page says what to do.
    if board.room != room:
        drawing.again()
    _draw(board, question)


def _draw(board: Board, question: int) -> None:
    answers = tuple(answer for answer in board.answers if answer.asked == COUNTS[question])
    _people(board)
    if not answers:
        markup.empty("No answers to this question yet", "They appear here as soon as somebody asks.")
        return
    found, revealed = pool_answers(answers), board.room.revealed
    truth = f" · true count: <b>{whole(COUNTS[question].people)}</b>" if revealed else ""
    st.html(
        f'<p class="fg-noise">Answers: <b>{found.answers}</b>, students: <b>{found.students}</b> · mean: '
        f"<b>{_decimal(found.mean)}</b> {reach_words(found)}{truth}</p>"
    )
    figure.render(
        class_figure(answers, found, revealed=revealed),
        key="class-board-chart",
        alt=class_alt(answers, found, revealed=revealed),
    )
    if revealed:
        st.markdown(
            f"{found.within} of {found.answers} answers are within their own 95% margin of the true count. "
            "An answer with less noise counts for more in the mean."
        )
    _cost(board)
    with st.expander("The latest answers as a table"):
        _table(board, question)


def _people(board: Board) -> None:
    names = ", ".join(escape(called(student, name)) for student, name in board.students) or "nobody yet"
    st.html(f'<p class="fg-note">In the room: {names}</p>')


def _cost(board: Board) -> None:
    """What everybody's answers, to all questions, would cost together."""
    added, counted = class_cost([answer.epsilon for answer in board.answers])
    most = max(
        sum((answer.epsilon for answer in board.answers if answer.student == student), Decimal(0))
        for student, _ in board.students
    )
    composed = "" if counted == added else f", or ε {format_epsilon(counted)} at δ = {small(DELTA)} if composed"
    markup.notice(
        "amber",
        "All answers together.",
        f"About real people, everything the class has asked would cost ε {format_epsilon(added)}{composed}. No student "
        f"has spent more than ε {format_epsilon(most)}.",
    )


def _table(board: Board, question: int) -> None:
    chosen = [answer for answer in board.answers if answer.asked == COUNTS[question]]
    shown = chosen[-_ROWS:][::-1]
    rows = [
        markup.row(
            [
                markup.roomy(called(answer.student, answer.name)),
                epsilon,
                whole(answer.noisy),
                *([whole(answer.noisy - answer.asked.people)] if board.room.revealed else []),
            ]
        )
        for answer, epsilon in zip(shown, [format_epsilon(answer.epsilon) for answer in shown], strict=True)
    ]
    header = ["Student", "ε", "Noisy answer", *(["Noise"] if board.room.revealed else [])]
    markup.table("Latest first", header, rows)


def called(student: int, name: str) -> str:
    """A student in words."""
    return name or f"student {student}"


def reach_words(found: PooledAnswers) -> str:
    """How far the mean may be from the truth: rounded up, so that it covers what it says."""
    return f"± {math.ceil(10 * found.margin - _ROUNDING) / 10:,.1f} ({'' if found.exact else 'about '}95%)"


def _decimal(number: float) -> str:
    return minus(f"{number:,.1f}")
