"""Files that are made on a click: they are there when the browser comes for them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from pages.components.kit import made_file


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
