"""Many visitors at once, and visitors who send what no page offers: against a running app."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from threading import Barrier

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from tests.support.browsers.app_server import SCHEMA_TEXT, Server, invented, serve
from tests.support.browsers.identity_provider import Provider, cookies_of
from tests.support.browsers.streamlit_client import Session
from tests.support.texts import lacking

#: What a visitor enters.
COST = Decimal("0.5")
PAGE = "rule_list"
ROLES = '[analyst]\nemails = ["*@example.org"]'
#: Visitors come with the cookie of their login, so the app never asks its provider.
NOT_ASKED = Provider("http://localhost:9")
FAULT = "This page could not be shown"
REFUSAL = "Not enough budget"
RULES, SHARE = "Number of rules", "Choosing the list"
WAIT = 180.0


def _with_data(folder: Path, affordable: int) -> Path:
    """A folder of the app with one data set, which can pay for some of the visitors."""
    home = folder / "home"
    with Service(home=home, workers=0) as service:
        schema = Schema.from_text(SCHEMA_TEXT)
        service.add_dataset(invented(), schema, budget=affordable * COST, delta=Decimal(0))
    return home


@pytest.mark.parametrize(("visitors", "affordable"), [(3, 2), pytest.param(50, 30, marks=pytest.mark.slow)])
def test_visitors_at_once_spend_what_there_is_and_no_more(tmp_path: Path, visitors: int, affordable: int) -> None:
    together = Barrier(visitors, timeout=WAIT)
    home = _with_data(tmp_path, affordable)
    with serve(home, **NOT_ASKED.guard(tmp_path, ROLES)) as server:
        with ThreadPoolExecutor(visitors) as crowd:
            visits = [crowd.submit(_visit, server.url, together, n) for n in range(visitors)]
            ends = [visit.result() for visit in visits]
        assert (ends.count("done"), ends.count("refused")) == (affordable, visitors - affordable)
        assert _runs(server) == ["done"] * affordable
        assert _most_ever_promised(server) == affordable * COST
        assert _meter(server.url) == {"Spent": "100 %", "Left": "0 %"}


def _visit(url: str, together: Barrier, number: int) -> str:
    """Open a page and its review, press the button when everybody does, see what comes of it."""
    with Session(url, cookies_of(url, _address(number))) as visitor:
        visitor.open(PAGE)
        visitor.set("text_input", "Exact ε", str(COST))
        visitor.press("Review and spend")
        together.wait()
        visitor.press("Run and spend", times=1 + number % 2, wait=False)
        visitor.wait(lambda: "run=" in visitor.query or _refused(visitor), WAIT)
        end = "refused" if _refused(visitor) else "done"
        if end == "done":
            visitor.wait(lambda: visitor.has("html", "Finished."), WAIT)
        assert visitor.tracebacks() == []
        assert FAULT not in visitor.words()
        return end


def _address(number: int) -> str:
    return f"analyst{number}@example.org"


def _refused(visitor: Session) -> bool:
    return REFUSAL in visitor.words("dialog")


def _runs(server: Server) -> list[str]:
    with server.service() as service:
        (dataset,) = service.datasets()
        return [run.state for run in service.runs(dataset.id)]


def _most_ever_promised(server: Server) -> Decimal:
    """The ledger, added up line by line: the highest that spent and reserved ever were."""
    with server.service() as service:
        (dataset,) = service.datasets()
        lines = service.ledger_entries(dataset.id)
    signs = {"reserve": 1, "refund": -1}
    total = highest = Decimal(0)
    for line in lines:
        total += signs.get(line.kind, 0) * line.epsilon
        highest = max(highest, total)
    return highest


def _meter(url: str) -> dict[str, str]:
    """What the meter says to somebody who comes new."""
    with Session(url, cookies_of(url, _address(0))) as newcomer:
        newcomer.open(PAGE)
        meter = newcomer.html("Privacy budget")
    told = dict(re.findall(r"<span>([^<]+)</span><b>([^<]+)</b>", meter))
    return {name: share for name, share in told.items() if name != "This run"}


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An app for one local user, whose budget nobody may touch: it needs no workers."""
    with serve(_with_data(tmp_path_factory.mktemp("open"), 30), FROSTGLASS_WORKERS="0") as running:
        yield running


@pytest.fixture
def visitor(open_server: Server) -> Iterator[Session]:
    """Somebody on the page, who in the end has spent nothing and seen no traceback."""
    before = _runs(open_server)
    with Session(open_server.url) as somebody:
        somebody.open(PAGE)
        yield somebody
        assert somebody.tracebacks() == []
    assert _runs(open_server) == before


Forgery = Callable[[Session], None]
NOT_OFFERED: dict[str, Forgery] = {
    "a number above its limit": lambda it: it.set("number_input", RULES, 10**6),
    "a number below its limit": lambda it: it.set("number_input", RULES, -5),
    "no number": lambda it: it.set("number_input", SHARE, float("nan")),
    "an unknown column": lambda it: it.set("selectbox", "What should be predicted?", "name"),
    "an unknown data set": lambda it: it.set("selectbox", "Data set", "../../other"),
    "an unknown way": lambda it: it.set("radio", "How the list is chosen", "exact"),
    "an unknown button": lambda it: it.force("$$ID-0123456789abcdef-spend", "trigger_value", True),
}
WRONG_KIND: dict[str, Forgery] = {
    "a text for a number": lambda it: it.force(
        it.find("number_input", RULES).proto.id, "string_value", "a-forged-text"
    ),
    "numbers for a text": lambda it: it.force(
        it.find("text_input", "Exact ε").proto.id, "double_array_value", [987654321.0]
    ),
}


@pytest.mark.parametrize("forge", NOT_OFFERED.values(), ids=NOT_OFFERED)
def test_values_that_no_page_offers_change_nothing(visitor: Session, forge: Forgery) -> None:
    before = visitor.words()
    forge(visitor)
    assert visitor.errors() == []
    assert visitor.words() == before


@pytest.mark.parametrize("forge", WRONG_KIND.values(), ids=WRONG_KIND)
def test_values_of_a_wrong_kind_get_a_sentence(visitor: Session, open_server: Server, forge: Forgery) -> None:
    forge(visitor)
    assert not lacking(visitor.words(), FAULT, "Your data and budgets are safe")
    for trace in ("forged", "987654321", "Traceback"):
        assert trace not in visitor.words()
        assert trace not in open_server.log.read_text()
    visitor.open(PAGE)
    with Session(open_server.url) as newcomer:
        newcomer.open(PAGE)
        assert newcomer.has("button", "Review and spend")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("-1", "Epsilon must be above 0"),
        ("0", "Epsilon must be above 0"),
        ("NaN", "Epsilon must be a finite number"),
        ("1e999", "Epsilon must be at most 1000"),
        ("9" * 5000, "Epsilon must be at most 1000"),
        ("<script>", "Epsilon must be a number"),
        ("1000", REFUSAL),
    ],
)
def test_epsilons_that_cannot_be_spent_get_a_sentence_and_no_review(
    visitor: Session, entry: str, sentence: str
) -> None:
    visitor.set("text_input", "Exact ε", entry)
    (error,) = visitor.errors()
    assert sentence in error
    assert visitor.find("button", "Review and spend").proto.disabled
    visitor.press("Review and spend")  # Pressed all the same.
    visitor.rerun()
    assert not visitor.has("button", "Run and spend")


def test_the_button_that_spends_does_nothing_without_a_review(visitor: Session, open_server: Server) -> None:
    with Session(open_server.url) as other:
        other.open(PAGE)
        other.press("Review and spend")
        other.wait(lambda: other.has("button", "Run and spend"))
        button = other.find("button", "Run and spend")
    for fragment in ("", button.fragment):
        pressed = WidgetState(id=button.proto.id, trigger_value=True)
        visitor.rerun(pressed, wait=False, fragment_id=fragment)
    visitor.rerun()
    assert visitor.has("button", "Review and spend")


def test_nonsense_on_the_wire_ends_only_its_own_session(visitor: Session, open_server: Server) -> None:
    with Session(open_server.url) as other:
        other.send(b"\xff\xff\xff nonsense")
        assert other.hangs_up()
    visitor.rerun()
    assert visitor.has("button", "Review and spend")


def test_a_refresh_from_before_the_page_was_drawn_again_counts_no_more(visitor: Session) -> None:
    """Else it may come between the end of the drawing and its delivery, which is then dropped."""
    (meter,) = visitor.refreshing
    visitor.rerun(fragment_id=meter)
    drawn = visitor.times_drawn(meter)
    assert drawn
    visitor.rerun()
    (renewed,) = visitor.refreshing
    visitor.rerun(fragment_id=meter, wait=False)
    visitor.rerun(fragment_id=renewed)
    assert visitor.times_drawn(renewed)
    assert visitor.times_drawn(meter) == drawn


def test_forged_numbers_reach_no_run(open_server: Server) -> None:
    with Session(open_server.url) as forger:
        forger.open(PAGE)
        forger.set("number_input", RULES, 10**6)
        forger.set("number_input", SHARE, float("nan"))
        forger.set("number_input", "Most candidates", 250)  # Offered: this one counts.
        forger.set("selectbox", "What should be predicted?", "diabetes")
        forger.press("Review and spend")
        forger.wait(lambda: forger.has("button", "Run and spend"))
        forger.press("Run and spend")
        forger.wait(lambda: "run=" in forger.query)
    with open_server.service() as service:
        run = service.run(forger.query.partition("run=")[2].partition("&")[0])
    assert run.request.target == "diabetes"
    used = {name: run.request.parameters[name] for name in ("rules", "shares", "max_antecedents")}
    assert used == {"rules": None, "shares": None, "max_antecedents": 250}
