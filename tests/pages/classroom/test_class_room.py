"""The page of classrooms: join, open, ask, look at the board; two visitors in one room."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, errors, open_page, press, words
from tests.support.pages.page_visitors import ANN, OFFICE, TEACHER, person
from tests.support.pages.places import moved, places
from tests.support.pages.ward_runs import add_ward
from tests.support.texts import lacking

PAGE = "class_room"


@pytest.fixture
def teacher():
    app = open_page(PAGE)
    return press(app, key="class-open")


def code(app):
    return re.search(r"<b>([A-Z0-9]{6})</b>", words(app)).group(1)


def student(room, name=""):
    app = open_page(PAGE)
    app.text_input(key="class-code").set_value(room.lower())
    app.text_input(key="class-name").set_value(name)
    return press(app, key="class-join")


def ask(app, question=2, epsilon="0.2"):
    app.selectbox(key="class-question").set_value(question)
    app.select_slider(key="class-epsilon").set_value(epsilon)
    return press(app, key="class-ask")


def picture(app):
    return [str(item.proto.alt) for item in app.get("plotly_chart")]


def inputs(app):
    """Where everything stands that can be typed in, chosen or pressed: not pictures."""
    return {name: place for name, place in places(app).items() if place.kind != "plotly_chart"}


def set_to(app, setting):
    return press(app, key=f"class-{setting}")


def test_a_class_sees_everybody_s_answers_and_the_truth_once_it_is_revealed(teacher):
    room = code(teacher)
    ann, other = student(room, "Ann"), student(room)
    ask(ann)
    ask(ann)
    ask(other)
    board = access.service().board(room)
    assert [answer.name for answer in board.answers] == ["Ann", "Ann", ""]
    checked(teacher.run())
    for app in (teacher, checked(ann.run()), other):
        assert not lacking(words(app), "In the room: Ann, student 2", "Answers: <b>3</b>, students: <b>2</b>")
        assert picture(app)[0].startswith("3 answers, from")
        assert "true count" not in picture(app)[0]
    assert 'aria-label="Spent 40 %; Left 60 %"' in words(ann)
    assert 'aria-label="Spent 20 %; Left 80 %"' in words(other)
    set_to(teacher, "revealed")
    for app in (teacher, checked(ann.run())):
        assert "true count is 123" in picture(app)[0]
        assert "within their own 95% margin" in words(app)
    assert not lacking(words(teacher), "would cost ε 0.60", "more than ε 0.40")
    set_to(teacher, "revealed")
    assert "true count is" not in picture(teacher)[0]


def test_a_toy_budget_refuses_and_touches_no_ledger(teacher):
    dataset_id = add_ward()
    ann = ask(student(code(teacher)), epsilon="2")
    assert "costs ε 2.00, but ε 1.00 is left" in ann.warning[0].value
    ask(ann, epsilon="1")
    assert not ann.warning
    assert not [entry for entry in access.service().ledger_entries(dataset_id) if entry.kind == "reserve"]
    assert access.service().balance(dataset_id).spent == 0


def test_a_closed_room_asks_nothing_more(teacher):
    ann = ask(student(code(teacher), "Ann"))
    set_to(teacher, "closed")
    assert checked(ann.run()).button(key="class-ask").disabled
    assert "closed this room" in words(ann)
    late = open_page(PAGE)
    late.text_input(key="class-code").set_value(code(teacher))
    assert "This room is closed" in errors(press(late, key="class-join"))
    set_to(teacher, "closed")
    assert not checked(ann.run()).button(key="class-ask").disabled


def test_places_of_the_silent_are_freed_and_they_are_told(teacher):
    ann, other = student(code(teacher), "Ann"), student(code(teacher), "Bob")
    ask(ann)
    assert "1 student removed" in words(press(teacher, key="class-free"))
    assert "In the room: Ann<" in words(teacher)
    assert "given it away" in errors(press(other, key="class-ask"))
    assert button(other, "Join")
    assert ann.run().button(key="class-ask")


def test_a_reload_keeps_the_place_and_leaving_gives_it_up(teacher):
    ann = student(code(teacher), "Ann")
    again = open_page(PAGE)
    for name, value in ann.query_params.items():
        again.query_params[name] = value
    assert "You are Ann" in words(checked(again.run()))
    assert button(press(again, key="class-leave"), "Join")
    assert "key" not in again.query_params
    assert "You are Ann" in words(checked(ann.run()))


def test_a_student_cannot_steer_the_room_by_its_address(teacher):
    ann = student(code(teacher), "Ann")
    ann.query_params["as"] = "teacher"
    checked(ann.run())
    assert not [one for one in ann.button if one.key == "class-closed"]


def test_names_are_shown_as_they_are_typed(teacher):
    ask(student(code(teacher), "<img src=x> **Ann** [a](b)"))
    said = words(checked(teacher.run()))
    assert "&lt;img src=x&gt; **Ann** [a](b)" in said
    assert "<img src=x>" not in said


def test_nothing_of_a_form_moves_while_a_class_is_at_work(teacher):
    """Typed text and what was chosen stay where they are, whatever the others do."""
    ann, other = student(code(teacher), "Ann"), student(code(teacher))
    for happens in (lambda: ask(other), lambda: set_to(teacher, "revealed"), lambda: set_to(teacher, "closed")):
        before, above = inputs(ann), inputs(teacher)
        happens()
        assert moved(before, checked(ann.run())) == []
        assert moved(above, checked(teacher.run())) == []
    door = open_page(PAGE)
    before = places(door)
    assert moved(before, press(door, key="class-join")) == []


def test_students_need_a_login_but_no_role(visit):
    visit(TEACHER)
    app = open_page(PAGE)
    room = code(press(app, key="class-open"))
    visit(person("pupil"))
    pupil = ask(student(room, "Pia"))
    assert not lacking(words(pupil), "You have no role here.", "In the room: Pia")
    assert [answer.name for answer in access.service().board(room).answers] == ["Pia"]


def test_with_a_login_teachers_open_rooms_and_find_them_again(visit):
    visit(ANN)
    assert not [one for one in open_page(PAGE).button if one.key == "class-open"]
    visit(OFFICE)
    assert not [one for one in open_page(PAGE).button if one.key == "class-open"]
    visit(TEACHER)
    app = open_page(PAGE)
    room = code(press(app, key="class-open"))
    again = open_page(PAGE)
    button(again, f"Back to room {room}").click().run()
    set_to(again, "closed")
    assert access.service().board(room).room.closed
    visit(ANN)
    assert "You are Ann" not in words(again.run()), "another login steers nothing by this address"
    assert not [one for one in again.button if one.key == "class-closed"]


def test_whoever_joins_twice_comes_back_and_can_be_removed(teacher, visit):
    room = code(teacher)
    ann = student(room, "Ann")
    ask(ann)
    ann.button(key="class-leave").click().run()
    ann.text_input(key="class-code").set_value(room)
    assert "You are Ann" in words(press(ann, key="class-join"))
    student(room, "Bob")
    assert access.service().board(room).students == ((1, "Ann"), (2, "Bob"))
    checked(teacher.run()).selectbox(key="class-student").set_value(1)
    assert "1 student removed" in words(press(teacher, key="class-remove-one"))
    assert access.service().board(room).students == ((2, "Bob"),)
    assert access.service().board(room).answers == ()
    assert "given it away" in errors(press(ann, key="class-ask"))


def test_with_a_login_nobody_takes_two_places(visit):
    visit(TEACHER)
    room = access.service().open_room(Decimal(1))[0].code
    for name in ("pupil", "pupil", "other"):
        visit(person(name))
        student(room, name)
    assert access.service().board(room).students == ((1, "pupil"), (2, "other"))
