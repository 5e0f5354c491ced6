"""What the tests of pages share: a folder per test, invented patients, ways to look at a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from streamlit.testing.v1 import AppTest

from dpcore.workspace.runs import worker
from pages.components.custodian.intake import upload_reading
from pages.components.visitor import access, menu

#: What keeps texts from becoming links on a page, and is not seen there: see ``markup.plain``.
APART = ":small[]"
#: What :func:`fill` sets.
_ENTRIES = ("text_input", "number_input", "selectbox", "multiselect", "radio", "checkbox")
#: The way to describe a data set by a text.
WRITTEN = "Write or bring a schema (YAML or JSON)"
ROOT = Path(__file__).resolve().parents[3]


class _Compiled(dict[Any, Any]):
    """Compiled statements, by the kind of the database and what they say."""

    def get(self, key: Any, default: Any = None) -> Any:
        dialect, *said = key
        return super().get((dialect.name, *said), default)

    def __setitem__(self, key: Any, statement: Any) -> None:
        dialect, *said = key
        super().__setitem__((dialect.name, *said), statement)


_COMPILED = _Compiled()


def _share(connection: Connection) -> None:
    """A database takes over the statements that others have compiled."""
    connection.execution_options(compiled_cache=_COMPILED)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own for each test; runs are executed in this process, and nobody follows them."""
    monkeypatch.setenv("FROSTGLASS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FROSTGLASS_WORKERS", "0")
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    monkeypatch.setattr(upload_reading, "PATIENCE", 120.0)
    monkeypatch.setattr(worker, "PROGRESS_WRITES", 1)
    sa.event.listen(Engine, "engine_connect", _share)
    yield
    sa.event.remove(Engine, "engine_connect", _share)
    access.installation().close()
    access.forget()


def open_page(name: str = "data_sets", state: Mapping[str, object] | None = None, **address: str) -> AppTest:
    """A page as somebody finds it at its address who began on the first page, where the tour is open.

    ``state`` is what they have chosen before.
    """
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    app.query_params.update(address)
    for key, value in (state or {}).items():
        app.session_state[key] = value
    if name == "data_sets":
        return checked(app.run())
    app.session_state[menu._TOUR] = menu._FIRST
    checked(app.switch_page(f"{name}.py").run())
    return app.switch_page(f"{name}.py")  # It fails if the visitor may not open this page.


def at_run(page: str, run_id: str, state: Mapping[str, object] | None = None) -> AppTest:
    """A page with a run in its address."""
    return open_page(page, state, run=run_id)


def spent_on(app: AppTest, dataset_id: str) -> dict[str, object]:
    """Parameters of the run that the form now describes, after spending on it."""
    button(checked(app), "Review and spend").click().run()
    app.button(key="spend").click().run()
    [release] = access.service().releases(dataset_id)
    return release.parameters


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [item.message for item in app.exception]
    return app


def words(app: AppTest) -> str:
    """All the text of a page, dialogs included, or of a part of it."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "text", "html")
    kinds += ("error", "warning", "info", "success")
    parts: dict[str, list[str]] = {kind: [] for kind in kinds}
    for item in getattr(app, "_tree", app):
        if item.type in parts:
            parts[item.type].append(str(item.value))
    return "\n".join(chain.from_iterable(parts.values())).replace(APART, "")


def errors(app: AppTest) -> str:
    return "\n".join(item.value for item in app.error).replace(APART, "").replace("\\", "")


def figures(app: AppTest) -> list[str]:
    """The specifications of all plotly charts, as JSON."""
    return [item.proto.spec for item in app.get("plotly_chart")]


def links(app: AppTest) -> dict[str, str]:
    return {item.proto.label: item.proto.page for item in app.get("page_link")}


def button(app: AppTest, label: str):
    return next(item for item in app.button if item.label.startswith(label))


def press(app: AppTest, label: str = "", *, key: str = "") -> AppTest:
    """Press the button whose label begins so, or of this key; the page as it is drawn then."""
    (app.button(key=key) if key else button(app, label)).click()
    return checked(app.run())


def fill(app: AppTest, chosen: Mapping[str, Any]) -> AppTest:
    """Choose so in the widgets of these keys, a ``*`` standing for the rest of one; the page is drawn after each."""
    for key, value in chosen.items():
        widgets = (one for kind in _ENTRIES for one in app.get(kind))
        next(one for one in widgets if fnmatchcase(str(one.key), key)).set_value(value)
        checked(app.run())
    return app


def by_text(app: AppTest, schema: str | None = None) -> AppTest:
    """The custodian's form as the text of a schema, which may be typed over."""
    checked(app.segmented_control(key="intake-way").set_value(WRITTEN).run())
    return app if schema is None else checked(app.text_area(key="intake-yaml").set_value(schema).run())


def store_all_the_same(app: AppTest) -> AppTest:
    """Say yes to the one loss that a custodian is asked about, and store."""
    [asked] = [box for box in app.checkbox if box.label == "Store it all the same"]
    asked.set_value(True)
    checked(app.run())
    return press(app, "Check again and store")


def bring(app: AppTest, label: str, name: str, content: bytes) -> AppTest:
    """Upload a file where the page asks for one."""
    uploader = next(item for item in app.file_uploader if item.label.startswith(label))
    uploader.upload(name, content, "application/octet-stream")
    return checked(app.run())


def remove(app: AppTest, name: str) -> AppTest:
    """Take a file off the custodian's desk."""
    [file] = [file for file in access.service().staging_area().files() if file.name == name]
    return press(app, key=f"remove-{file.file_id}")


def look_at(app: AppTest, column: str, types: str = "") -> AppTest:
    """Let the custodian's form fill in the columns of this name from their values."""
    tables = app.session_state["intake"].tables
    ident = next(table.ident for table in tables if column in table.columns or column in set(table.now["Column"]))
    app.text_input(key=f"intake-find-{ident}").set_value(column).run()
    if types:
        app.radio(key=f"intake-look-types-{ident}").set_value(types)
    press(app, key=f"press-look-{ident}")
    return checked(app.text_input(key=f"intake-find-{ident}").set_value("").run())


def options(app: AppTest, label: str) -> list[str]:
    """What a box offers."""
    return next(box for box in (*app.selectbox, *app.multiselect) if box.label == label).options


def entry(app: AppTest, label: str) -> Any:
    """The box of this label in which something is typed."""
    return next(item for item in (*app.text_input, *app.text_area) if item.label == label)


def view(name: str) -> AppTest:
    """A view of the page Custodian."""
    app = open_page("custodian")
    return checked(app.segmented_control(key="custodian-view").set_value(name).run())


def plain_words(app: AppTest) -> str:
    """All the text of a page, without the marks that keep it from being read as Markdown or HTML."""
    return unescape(words(app)).replace("\\", "")
