"""Texts in any common encoding, as UTF-8.

What marks itself, or is UTF-8, is read as what it is. Of other encodings a file shows only letters
that look likely: the likeliest is proposed in a sentence and never taken without the custodian's
word, as a wrong one would exchange letters silently.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import BinaryIO

from dpcore.errors import IngestError

#: Encodings that may be chosen, by Python's names, and what they are called.
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "cp1252": "Windows-1252 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "iso8859-1": "Latin-1 (ISO 8859-1)",
    "iso8859-2": "Latin-2 (ISO 8859-2)",
    "iso8859-15": "Latin-9 (ISO 8859-15)",
    "koi8-r": "KOI8-R (Russian)",
    "mac-roman": "Mac Roman",
    "cp437": "DOS 437",
    "cp850": "DOS 850 (Western Europe)",
    "cp852": "DOS 852 (Central Europe)",
    "cp932": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "euc_kr": "EUC-KR (Korean)",
}
#: Those in which files of SPSS, Stata and SAS can be read, by the names that their reader knows. It drops the last
#: letter of Vietnamese texts, and such files are never UTF-16.
OF_STATISTICS = {
    codec: {"mac-roman": "MACINTOSH", "euc_jp": "EUC-JP", "euc_kr": "EUC-KR"}.get(codec, codec)
    for codec in ENCODINGS
    if not codec.startswith("utf-16") and codec != "cp1258"
}
#: Encodings that are part of one of these.
_WIDER = {"ascii": "utf-8", "utf-8-sig": "utf-8", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}
#: The first bytes of a file that are looked at.
HEAD = 1 << 20
_GUESSED, _PROPOSED = 1 << 16, 3
_PIECE = 1 << 20
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROLS = re.compile("[\x80-\x9f]")

NOT_TEXT = (
    "The file is not UTF-8 text{guess}. Say its encoding (--encoding, on the page 'Encoding'), or save it as "
    "'CSV UTF-8', and read it again."
)
_NOT_THIS = "The file is not {label} text. Say another encoding, or save it as 'CSV UTF-8', and read it again."
_UNKNOWN = "'{name}' is no known encoding. Choose one of these: {known}."


def codec_of(name: str) -> str:
    """Python's name of an encoding that a person wrote, such as ``Latin-1`` or ``windows-1252``.

    Raises
    ------
    IngestError
        If it is none of :data:`ENCODINGS`.
    """
    try:
        plain = _plain(name.strip())
    except (LookupError, ValueError):
        plain = ""
    plain = _WIDER.get(plain, plain)
    found = next((codec for codec in ENCODINGS if _plain(codec) == plain), None)
    if found is None:
        raise IngestError(_UNKNOWN.format(name=name, known=", ".join(ENCODINGS)))
    return found


def encoding_of(head: bytes, stated: str | None = None) -> str:
    """How a file is written, from its first bytes: one of :data:`ENCODINGS`.

    Parameters
    ----------
    stated : str or None
        What the custodian said it is.

    Raises
    ------
    IngestError
        If it does not show by itself and is not stated, or is not what was stated.
    """
    said = None if stated is None else codec_of(stated)
    shown = _shown(head)
    if said is None and shown is None:
        raise IngestError(NOT_TEXT.format(guess=_guess(head)))
    if said is None or said == shown or (shown == "utf-8" and head.isascii()):
        return said or shown or ""
    if shown is not None and not (shown.startswith("utf-16") and said.startswith("utf-16")):
        raise IngestError(_NOT_THIS.format(label=f"{ENCODINGS[said]} but {ENCODINGS[shown]}"))
    return said


def _shown(head: bytes) -> str | None:
    marked = next((codec for mark, codec in _MARKS if head.startswith(mark)), None)
    if marked is not None:
        return marked
    if b"\0" in head:  # Half of the bytes of Western letters; else something that is no text.
        wide = (codec for codec in ("utf-16-le", "utf-16-be") if _looks_wide(head, codec))
        return next(wide, "utf-8")
    return "utf-8" if _fits(head, "utf-8") else None


def _fits(head: bytes, codec: str) -> bool:
    try:
        codecs.getincrementaldecoder(codec)().decode(head, final=len(head) < HEAD)
    except UnicodeDecodeError:
        return False
    return True


def _looks_wide(head: bytes, codec: str) -> bool:
    if not _fits(head, codec):
        return False
    text = head[: len(head) // 2 * 2].decode(codec, "ignore")
    return "\0" not in text and 2 * sum(sign.isascii() for sign in text) > len(text)


def _guess(head: bytes) -> str:
    """The likeliest of the other encodings, in words; several look alike where letters are few."""
    from charset_normalizer import from_bytes

    others = [codec for codec in ENCODINGS if not codec.startswith("utf")]
    found = from_bytes(head[:_GUESSED], cp_isolation=others)
    least = min((match.chaos for match in found), default=0)
    likely = {_plain(name) for match in found if match.chaos == least for name in match.could_be_from_charset}
    titles = [ENCODINGS[codec] for codec in others if _plain(codec) in likely][:_PROPOSED]
    return f"; it may be {' or '.join(titles)}: look whether its letters are right" if titles else ""


def _plain(name: str) -> str:
    return codecs.lookup(name).name


def as_utf8(raw: BinaryIO, stated: str | None = None) -> tuple[BinaryIO, str]:
    """The same text in UTF-8, and how it was written; read again and again as it is needed.

    Raises
    ------
    IngestError
        See :func:`encoding_of`; while reading, at the first letter that is not so written.
    """
    head = raw.read(HEAD)
    raw.seek(0)
    codec = encoding_of(head, stated)
    if codec == "utf-8":
        return raw, codec
    return io.BufferedReader(_Recoded(raw, codec), _PIECE), codec


class _Recoded(io.RawIOBase):
    """A text as UTF-8. Going back begins it anew, as in compressed files."""

    def __init__(self, raw: BinaryIO, codec: str) -> None:
        self._raw, self._codec = raw, codec
        self._begin()

    def _begin(self) -> None:
        self._raw.seek(0)
        self._decoder = codecs.getincrementaldecoder(self._codec)()
        self._ready, self._place, self._ended = memoryview(b""), 0, False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        assert whence == io.SEEK_SET
        if place < self._place:
            self._begin()
        while self._place < place and self.read(min(place - self._place, _PIECE)):
            pass
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            self._ready = memoryview(self._next().encode())
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready, self._place = self._ready[size:], self._place + size
        return size

    def _next(self) -> str:
        piece = self._raw.read(_PIECE)
        self._ended = not piece
        try:
            text = self._decoder.decode(piece, final=self._ended)
            text.encode()
        except UnicodeError:
            raise self._wrong() from None
        if self._codec.startswith("iso8859") and _CONTROLS.search(text):
            raise self._wrong()
        return text

    def _wrong(self) -> IngestError:
        return IngestError(_NOT_THIS.format(label=ENCODINGS[self._codec]))
