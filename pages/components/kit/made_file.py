"""Files that are made on the click that downloads them, and stay until they are fetched."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

from streamlit.runtime import Runtime

#: So many of the files made last are kept in memory, whoever made them.
KEPT = 16
_PLACES = cycle(range(KEPT))


def later(make: Callable[[], str | bytes], name: str, kind: str) -> Callable[[], bytes]:
    """What makes a file of a name and a type (MIME), for ``st.download_button``.

    Streamlit itself forgets such a file once two parts of anybody's pages have been drawn again,
    which takes less than a second where several people work: sooner than a browser may ask for it.
    """

    def made() -> bytes:
        told = make()
        content = told if isinstance(told, bytes) else told.encode()
        if Runtime.exists():
            Runtime.instance().media_file_mgr.add(
                content, kind, f"made-{next(_PLACES)}", name, is_for_static_download=True
            )
        return content

    return made
