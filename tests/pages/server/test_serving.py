"""A browser is told that the run of a part went well, whatever runs next; signs come with their numbers."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path, PurePosixPath
from threading import Event
from typing import cast
from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from streamlit import file_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dpcore.errors import InstallationError
from dpcore.service import Service
from pages.components.kit import made_file
from pages.components.kit.markup import ASSETS, unparted
from pages.components.server import shell, sweeping
from pages.components.server.delivery import Delivery
from tests.support.rows import for_each

ENDED, BROKEN_OFF = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN


def told(of: list[str], status: int, following: list[str] | None) -> int:
    """The end of a run that a browser hears of, if another run begins before it is sent."""
    queue, end = Delivery(), ForwardMsg()
    end.script_finished = status
    end.metadata.run.fragment_ids.extend(of)
    queue.enqueue(end)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=following)
    [message] = queue.flush()
    return message.script_finished


@for_each("following", [["picture"], ["meter", "picture"], None])
def test_what_is_drawn_anew_was_broken_off(following: list[str] | None) -> None:
    assert told(["picture"], ENDED, following) == BROKEN_OFF


PARTED = "At ε = 0.50 and δ = 5 · 10⁻⁷, ε 2.00 of ε ≤ ∞: ≈ 35% of e^ε"
#: An underscore stands for a space at which no browser breaks a line.
KEPT = "At ε_=_0.50 and δ_=_5_·_10⁻⁷, ε_2.00 of ε_≤_∞: ≈_35% of e^ε".replace("_", "\N{NO-BREAK SPACE}")


@for_each("kind", ["markdown", "html", "alert", "heading"])
def test_signs_are_sent_with_their_numbers(kind: str) -> None:
    queue, message = Delivery(), ForwardMsg()
    getattr(message.delta.new_element, kind).body = PARTED
    queue.enqueue(message)
    [sent] = queue.flush()
    assert getattr(sent.delta.new_element, kind).body == KEPT


def session(page: str, *parts: str) -> ForwardMsg:
    message = ForwardMsg()
    message.new_session.page_script_hash = page
    message.metadata.run.fragment_ids.extend(parts)
    return message


def test_the_run_of_a_part_is_on_the_page_that_was_drawn_last_whatever_its_browser_said() -> None:
    queue, drawn = Delivery(), ForwardMsg()
    queue.enqueue(session("unknown yet", "meter"))
    queue.enqueue(session("main"))
    drawn.navigation.page_script_hash = "rules"
    queue.enqueue(drawn)
    for page, parts in (("main", ["meter"]), ("", ["meter", "picture"]), ("elsewhere", [])):
        queue.enqueue(session(page, *parts))
    told = [message.new_session.page_script_hash for message in queue.flush() if message.HasField("new_session")]
    assert told == ["unknown yet", "main", "rules", "rules", "elsewhere"]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    """Streamlit's own keeper of files, as in a running server."""
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    running = type("Running", (), {"media_file_mgr": manager})
    monkeypatch.setattr(Runtime, "exists", lambda: True)
    monkeypatch.setattr(Runtime, "instance", lambda: running)
    return manager


def fetched(files: MediaFileManager, words: str, *, ours: bool = True) -> bytes | None:
    """What a browser gets after others have had parts of their pages drawn again and again."""
    make = made_file.later(lambda: words, "a.txt", "text/plain") if ours else lambda: words
    url = files.execute_deferred(files.add_deferred(make, "text/plain", "1.2", "a.txt"))
    for _ in range(5):
        files.remove_orphaned_files()
    kept = files.read_file(PurePosixPath(url).stem)
    return None if kept is None else kept.content


def test_a_file_stays_while_other_people_s_pages_are_drawn(files):
    assert fetched(files, "a dossier") == b"a dossier"


def test_streamlit_alone_forgets_it(files):
    assert fetched(files, "a dossier", ours=False) is None


def test_only_the_last_few_are_kept(files):
    for number in range(3 * made_file.KEPT):
        fetched(files, f"dossier {number}")
    assert len(files._file_metadata) == made_file.KEPT


with warnings.catch_warnings(record=True):  # It announces what a later version will import.
    from starlette.testclient import TestClient

PAGE = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
LINK = re.compile(r'<link rel="stylesheet" href="\./(style-[0-9a-f]{16}\.css)">')
SCRIPT = re.compile(r'<script src="\./(mend-[0-9a-f]{16}\.js)"></script>')


async def _page(request: Request) -> Response:
    """As Streamlit does: a browser that has kept the page need not get it again."""
    if request.headers.get("if-none-match") == "kept":
        return Response(status_code=304)
    return HTMLResponse(PAGE, headers={"etag": "kept", "last-modified": "yesterday", "cache-control": "no-cache"})


async def _other(_request: Request) -> Response:
    return JSONResponse({"text": '<div id="root">'}, headers={"etag": "kept"})


@pytest.fixture(scope="module")
def client() -> TestClient:
    routes = [Route("/data.json", _other), Route("/health", _other), Route("/{path:path}", _page)]
    return TestClient(shell.Shell(Starlette(routes=routes)))


@for_each(
    "path", ["/", "/rule_list", "/releases?dataset=a.b", "/below/rule_list", "/ward-0.1/", "/apis/media-2.0/rule_list"]
)
@for_each("headers", [{}, {"if-none-match": "kept"}, {"range": "bytes=0-9"}])
def test_every_page_names_the_sheet_behind_the_styles_of_its_head(client, path, headers) -> None:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    [found] = LINK.finditer(answer.text)
    head, root = answer.text.index("</head>"), answer.text.index('<div id="root">')
    assert head < found.start() < root
    assert "<title>Frostglass</title>" in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert not {"etag", "last-modified"} & set(answer.headers)
    assert answer.headers["cache-control"] == "no-cache"
    sheet = client.get(urljoin(path, found[1]))
    assert sheet.text == (ASSETS / "style.css").read_text(encoding="utf-8")
    assert sheet.headers["content-type"].startswith("text/css")
    assert "immutable" in sheet.headers["cache-control"]
    [named] = SCRIPT.findall(answer.text)
    script = client.get(urljoin(path, named))
    assert script.text == (ASSETS / "mend.js").read_text(encoding="utf-8")
    assert script.headers["content-type"].startswith("text/javascript")


@for_each("path", ["/data.json", "/health"])
def test_what_is_no_page_stays_as_it_is(client, path: str) -> None:
    answer = client.get(path)
    assert answer.json() == {"text": '<div id="root">'}
    assert answer.headers["etag"] == "kept"


class Hours(Event):
    """So many hours pass at once, then the application ends."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.waited: list[float | None] = []
        self._count = count

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        return len(self.waited) > self._count


class Sweeper:
    """In place of the service: some of its sweeps fail."""

    def __init__(self, faults: dict[int, Exception]) -> None:
        self.begun = 0
        self._faults = faults

    def sweep(self) -> None:
        self.begun += 1
        if self.begun in self._faults:
            raise self._faults[self.begun]


def test_one_error_does_not_end_the_sweeps(caplog: pytest.LogCaptureFixture) -> None:
    service, hours = Sweeper({1: OSError("/home/secret"), 3: ValueError("Ann")}), Hours(4)
    with caplog.at_level(logging.ERROR, "frostglass.app"):
        sweeping.sweep(hours, lambda: cast(Service, service))
    assert service.begun == 4
    assert hours.waited == [3600] * 5
    told = [record.getMessage() for record in caplog.records]
    assert told == [f"old uploads could not be removed: {kind}" for kind in ("OSError", "ValueError")]


def test_an_installation_that_is_away_for_an_hour_is_swept_in_the_next() -> None:
    service, opened = Sweeper({}), iter([False, True])

    def installation() -> Service:
        if not next(opened):
            raise InstallationError("The database cannot be reached.")
        return cast(Service, service)

    sweeping.sweep(Hours(2), installation)
    assert service.begun == 1


@for_each(
    ("words", "kept"),
    [
        ("ε = 0.50", "ε_=_0.50"),
        ("at δ ≤ 1", "at δ_≤_1"),
        ("ε ∞", "ε_∞"),
        ("× 4.72; noise alone × 2.29 to × 9.72", "×_4.72; noise alone ×_2.29 to ×_9.72"),
        ("≈ 30", "≈_30"),
        ("ε of a run, sex × age, ≈ few", "ε of a run, sex × age, ≈ few"),
    ],
)
def test_no_line_ends_between_a_sign_and_its_number(words: str, kept: str) -> None:
    assert unparted(words).replace("\N{NO-BREAK SPACE}", "_") == kept
