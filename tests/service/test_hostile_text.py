"""Whatever text people and programs send, the service does what was asked or says in a sentence why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError
from dpcore.service import Service
from dpcore.workspace.results.dossier import Application
from dpcore.workspace.results.drafts import Draft
from tests.support.rows import for_each
from tests.support.servers.databases import KINDS, ready_url
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema

register()
TEXTS = {
    "nothing": "",
    "null": "a\0b",
    "null alone": "\0" * 20,
    "half a character": "half \ud800 of one",
    "right to left": "\u202eabc \u0627\u0644",
    "quotes": "'; DROP TABLE datasets; -- \"`\\",
    "lines": "one\r\ntwo\u2028three",
    "long": "x" * 200_000,
    "wide": "\U0001f469\u200d\U0001f680" * 700,
}
_Call = Callable[[Service, str, str], object]
#: Every text that somebody can send, by what it is.
CALLS: dict[str, _Call] = {
    "nonce": lambda s, data, text: s.submit(fake_request(data), text),
    "data set": lambda s, data, text: s.balance(text),
    "name of a data set": lambda s, data, text: s.dataset(text),
    "description": lambda s, data, text: s.describe_dataset(data, text),
    "rename": lambda s, data, text: s.rename_dataset(s.add_dataset(small_frame(), _named()).id, text),
    "new data set": lambda s, data, text: s.add_dataset(small_frame(), _named(text), budget=Decimal(1)),
    "note of a cap": lambda s, data, text: s.raise_caps(data, run_cap=Decimal(400), note=text),
    "analyst of a grant": lambda s, data, text: s.grant(data, text, Decimal(1), "because"),
    "reason of a grant": lambda s, data, text: s.grant(data, "ann", Decimal(1), text),
    "reason to freeze": lambda s, data, text: s.freeze(data, "ann", text),
    "analyst to thaw": lambda s, data, text: s.thaw(data, text, "because"),
    "reason to ask": lambda s, data, text: s.ask(data, Decimal(1), text),
    "run": lambda s, data, text: s.run(text),
    "run to stop": lambda s, data, text: s.cancel(text),
    "reason to end a run": lambda s, data, text: s.end_run(text, text),
    "release": lambda s, data, text: s.release(text),
    "release to share": lambda s, data, text: s.share(text),
    "name of a release": lambda s, data, text: s.note_release(text, text, text),
    "import to forget": lambda s, data, text: s.forget_import(text),
    "mark": lambda s, data, text: (s.note_seen(text), s.has_seen(text)),
    "draft": lambda s, data, text: (s.save_draft(data, _draft(text)), s.draft(data)),
    "token": lambda s, data, text: s.acting_by(text),
    "note of the end": lambda s, data, text: s.retire_dataset(s.add_dataset(small_frame(), _named()).id, note=text),
    "code of a room": lambda s, data, text: s.board(text),
    "name in a room": lambda s, data, text: s.join_room(s.open_room(Decimal(1))[0].code, text),
    "key of a place": lambda s, data, text: s.seat(s.open_room(Decimal(1))[0].code, text),
    "key of a room": lambda s, data, text: s.steer_room(s.open_room(Decimal(1))[0].code, text, full=True),
    "analyst of a request": lambda s, data, text: s.submit(fake_request(data, note=text), "nonce"),
}
_made = iter(range(10**6))


def _named(name: str | None = None) -> Schema:
    content = small_schema().model_dump(mode="json", exclude_none=True)
    return Schema.from_mapping(content | {"name": f"set {next(_made)}" if name is None else name})


def _draft(text: str) -> Draft:
    return Draft(releases=(text,), application=Application(title=text))


@pytest.fixture(scope="module", params=KINDS)
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    home = tmp_path_factory.mktemp("home")
    with Service(home, ready_url(request.param, home), workers=0) as service:
        yield service, service.add_dataset(small_frame(), small_schema(), budget=Decimal(500)).id


def refused(call: _Call, *details: Any) -> str | None:
    """Why something is refused; ``None`` if it is done."""
    try:
        call(*details)
    except FrostglassError as refusal:
        return str(refusal)
    return None


@for_each("text", TEXTS)
@for_each("name", CALLS)
def test_any_text_is_taken_or_refused_in_a_sentence(house: tuple[Service, str], name: str, text: str) -> None:
    (service, dataset), call, text = house, CALLS[name], TEXTS[text]
    spent = amounts(service.balance(dataset)).spent
    refusal = refused(call, service, dataset, text)
    if refusal is not None:
        assert refusal.endswith((".", "?"))
        assert "\n" not in refusal.replace(text, "")
        assert amounts(service.balance(dataset)).spent == spent, "nothing was done"
    assert [info.id for info in service.datasets() if info.id == dataset] == [dataset]


@for_each("pages", range(9))
def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, pages: int) -> None:
    """However much room is left when a run is asked for."""
    with Service(tmp_path, workers=0) as service:
        dataset = service.add_dataset(small_frame(), small_schema(), budget=Decimal(5)).id
        with limited(service, pages):
            refusal = refused(lambda: service.submit(fake_request(dataset, note="x" * 9000), "first"))
        assert refusal is None or "full" in refusal
        run = service.submit(fake_request(dataset, note="x" * 9000), "first")
        assert service.run(run).state == "done"
        assert amounts(service.balance(dataset)).spent == Decimal("0.5"), "once"


@contextmanager
def limited(service: Service, pages: int) -> Iterator[None]:
    """As if the disk of the database had room for so many pages more."""
    engine = service._engine

    def limit(connection: Any, *_: object) -> None:
        [[used]] = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {used + pages}")

    engine.dispose()
    sa.event.listen(engine, "connect", limit)
    try:
        yield
    finally:
        sa.event.remove(engine, "connect", limit)
        engine.dispose()
