"""What columns are, as far as their values tell: any number of columns, in one pass over a table.

For the custodian alone. Whoever confirms what is found here makes it public: see ``PUBLICATION_WARNING``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import pandas as pd

from dpcore.arrays import Floats, Values
from dpcore.domain.codes import group_of, groups_of
from dpcore.domain.columns import MAX_CATEGORIES, RESERVED, folded, format_number
from dpcore.domain.dates import EARLIEST, LATEST, moment_of
from dpcore.domain.encoding import MISSING_WORDS, NO_WORDS, YES_WORDS, texts_of
from dpcore.domain.schemas.names import is_name
from dpcore.domain.schemas.origins import LOOKED_UP, STANDARD
from dpcore.errors import IngestError
from dpcore.intake.columns.corrections import NOTHING, first_number
from dpcore.intake.columns.guesses import LEFT_OUT, guess, is_code
from dpcore.intake.columns.identifiers import PERSON, is_bare, is_identifying, names_people, rank
from dpcore.intake.joins.joining import joint_columns
from dpcore.intake.joins.relations import Source, read_table
from dpcore.intake.sources.decimal_commas import as_numbers, as_texts, comma_in
from dpcore.intake.sources.files import has_commas, read_chunks, read_header
from dpcore.intake.sources.parts import Files

PUBLICATION_WARNING = (
    "This reads the values of the column. If you confirm the suggestion, the categories, bounds "
    "or edges become public: anybody who sees the schema learns them."
)
#: Different texts of a column that are told apart, and categories that are listed unasked.
_MOST_KINDS, _MOST_LISTED = 20_000, 100
#: Different values of a column of keys up to which they may be codes of few things.
_FEW_KEYS: Final = 20
#: Numbers of a column that are held, to find its limits and cut points.
_MOST_HELD = 200_000
#: Share of the values that a type must fit, and that a code for missing values has at least.
_FITS, _NOT_RARE = 0.95, 0.002
#: Numbers by which files say that there is none.
_STAND_INS: Final = (
    *(*range(-9, 0), -77, -88, *range(-99, -96), *range(-999, -996), -9999),
    *(9, 77, 88, *range(96, 100), 777, 888, *range(996, 1000), 7777, *range(9996, 10_000)),
)
_NUMBER = r"\s*\d+(\.\d+)?\s*"
_RANGE = re.compile(rf"[\[(]{_NUMBER}(,|-|–|to){_NUMBER}[\])]|{_NUMBER}(-|–|to){_NUMBER}|[<>]=?{_NUMBER}|\d+\s*\+")
_ATC = re.compile(r"[A-Z][0-9]{2}[A-Z]{2}[0-9]{2}")
_DIAGNOSIS = re.compile(r"(^|_)(diag|diagnosis|diagnoses|icd|icd9|icd10|icd_9|icd_10|dx)(_|$|\d)", re.IGNORECASE)
_DAYS: Final = ("", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d")
_TIMES: Final = ("", " %H:%M", " %H:%M:%S")
_YEAR = re.compile(r"(?<!\d)(\d{4})(\d{4})?(?!\d)")
#: Cut points between years that are proposed at most.
_MOST_EDGES = 30
_FORMATS: Final = ("", *(day + time for day in _DAYS[1:] for time in _TIMES))


#: Passes rows on.
_Counted = Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]


@dataclass
class ColumnProfiles:
    """What was found."""

    columns: list[dict[str, Any]] = field(default_factory=list)
    """Fields of columns of a schema; the type is ``"leave out"`` where nothing is to be learned, or where a column of
    another name, which comes next, is made of it."""
    notes: list[str] = field(default_factory=list)
    """Why columns are left out, or cannot be what is wanted."""


def profile_columns(
    source: Source,
    kinds: Mapping[str, str | None],
    *,
    table: str | None = None,
    right: Path | None = None,
    key: str = "",
    counted: _Counted = iter,
) -> ColumnProfiles:
    """Drafts of columns, by the values of all rows.

    Parameters
    ----------
    kinds : mapping of str to (str or None)
        The type that is wanted of each column; ``None`` lets the values decide.
    table : str, optional
        One of several tables.
    right : Path, optional
        A second file that is joined on ``key``; the columns then have their joined names.
    counted : callable
        Passes rows on, and tells how far they are read.

    Raises
    ------
    IngestError
        If the table or a column cannot be read.
    """
    if right is not None:
        return _look_at_joint(Path(str(source)), right, key, kinds, counted)
    if table is None:
        files = cast("Files", source)
        lacking = [name for name in kinds if name not in read_header(files)]
        if lacking:
            raise IngestError(f"The file has no column '{lacking[0]}'.")
        return drafts_of(counted(read_chunks(files, list(kinds), numbers=None)), kinds, commas=has_commas(files))
    commas = isinstance(source, Mapping) and has_commas(cast("Path", source[table]))
    return drafts_of(counted(read_table(source, table, list(kinds), numbers=None)), kinds, commas=commas)


def _look_at_joint(
    left: Path, right: Path, key: str, kinds: Mapping[str, str | None], counted: _Counted
) -> ColumnProfiles:
    columns = joint_columns(left, right, key)
    places = {name: columns.place(name) for name in kinds}
    both = ColumnProfiles()
    for view, file in (("left", left), ("right", right)):
        names = {inside: name for name, (side, inside) in places.items() if side == view}
        if names:
            rows = (chunk.rename(columns=names) for chunk in counted(read_chunks(file, list(names), numbers=None)))
            wanted = {name: kinds[name] for name in names.values()}
            found = drafts_of(rows, wanted, {name: inside for inside, name in names.items()}, commas=has_commas(file))
            both.columns += [column | {"view": view} for column in found.columns]
            both.notes += found.notes
    order = list(kinds)
    both.columns.sort(key=lambda column: order.index(column.get("derive", {}).get("of", column["name"])))
    return both


def drafts_of(
    chunks: Iterable[pd.DataFrame],
    kinds: Mapping[str, str | None],
    called: Mapping[str, str] | None = None,
    *,
    commas: bool = False,
) -> ColumnProfiles:
    """Drafts of columns from rows: see :func:`profile_columns`.

    Parameters
    ----------
    called : mapping of str to str, optional
        What a column is called in its file, if that is another name.
    commas : bool
        Whether numbers have a decimal comma, as they stand in the rows.
    """
    looks = {name: _Look(name, (called or {}).get(name, name), commas=commas) for name in kinds}
    for chunk in chunks:
        for name, look in looks.items():
            look.add(chunk[name])
    found = ColumnProfiles()
    for name, kind in kinds.items():
        try:
            draft = {"name": name} | _draft(looks[name], kind)
            found.columns += [draft] if draft["name"] == name else [{"name": name, "type": LEFT_OUT}, draft]
        except IngestError as reason:
            found.notes.append(str(reason))
            if kind is None:
                found.columns.append({"name": name, "type": LEFT_OUT})
    return found


class _Look:
    """Values of one column: the texts that differ, and its numbers. What they tell is asked when all are there.

    Of texts beyond those that are told apart, the years are held, in case they are dates.
    """

    def __init__(self, name: str, called: str, *, commas: bool) -> None:
        self.name, self.called, self._commas = name, called, commas
        self.rows, self.numeric, self.known = 0, 0, 0
        self.texts: Counter[str] = Counter()
        self.further_years: Counter[int] = Counter()
        self.many = self.nested = False
        self._held: list[Floats] = []
        self._every = 1

    def add(self, values: Values) -> None:
        try:
            places, distinct = pd.factorize(values)
        except TypeError:  # Lists, and what else holds values of its own.
            self.nested = True
            return
        written = pd.Series(texts_of(pd.Series(distinct, dtype=object)), dtype=object)
        texts = (as_texts(written) if self._commas else written).tolist()
        counts = np.bincount(places[places >= 0], minlength=len(texts))
        known = np.asarray([text.lower() not in MISSING_WORDS for text in texts], dtype=np.bool_)
        self.rows += len(values)
        self.known += int(counts[known].sum())
        as_read = as_numbers(written) if self._commas else written
        numbers = pd.to_numeric(as_read, errors="coerce").to_numpy(np.float64)
        self._hold(np.repeat(numbers, counts)[np.repeat(known & np.isfinite(numbers), counts)])
        for text, count in zip(np.asarray(texts, dtype=object)[known], counts[known].tolist(), strict=True):
            if text in self.texts or len(self.texts) < _MOST_KINDS:
                self.texts[text] += count
            else:
                self.many = True
                if found := _YEAR.search(text):
                    self.further_years[int(found[1])] += count

    def _hold(self, numbers: Floats) -> None:
        """Hold every so many-th number, fewer as more come."""
        self.numeric += len(numbers)
        self._held.append(numbers[:: self._every])
        while sum(map(len, self._held)) > _MOST_HELD:
            self._held = [np.concatenate(self._held)[::2]]
            self._every *= 2

    @property
    def numbers(self) -> Floats:
        """Some of the numbers, as many of each size as there are."""
        return np.concatenate(self._held) if self._held else np.zeros(0)

    def share(self, fits: Callable[[str], bool]) -> float:
        """Share of the values whose text fits, values that say that there is none aside."""
        return sum(count for text, count in self.told.items() if fits(text)) / max(1, sum(self.told.values()))

    @cached_property
    def absent(self) -> list[str]:
        """Texts that say that there is none."""
        return [text for text, _ in self.texts.most_common() if text.lower() in NOTHING and not _is_number(text)][:10]

    @cached_property
    def told(self) -> dict[str, int]:
        """The other texts that may be categories, and how often each occurs, the most frequent first."""
        aside = {*self.absent, *RESERVED}
        return {text: count for text, count in self.texts.most_common() if text not in aside and is_name(text)}


def _draft(look: _Look, kind: str | None) -> dict[str, object]:
    if look.nested:
        raise IngestError(f"'{look.name}' holds lists, not one value in each row: it is left out.")
    if not look.told:
        raise IngestError(f"Every value of '{look.name}' is missing, or unreadable: leave the column out.")
    known = look.known - sum(look.texts[text] for text in look.absent)
    if look.numeric < _FITS * known and (wrong := comma_in(look.told)):
        raise IngestError(f"'{look.name}' {wrong}.")
    if kind not in {"boolean", "integer", "real"} and _identifies(look):
        raise IngestError(f"'{look.name}' holds what identifies people or records, not categories: it is left out.")
    kept = sum(look.told.values()) >= _FITS * known
    if kind is None and not kept and not look.many:
        raise IngestError(
            f"'{look.name}' holds texts that are too long, or unreadable, to be categories: it is left out."
        )
    draft = _of_kind(look, kind) if kind else next(filter(None, (way(look) for way in _WAYS)))
    codes = [*look.absent, *draft.pop("missing_codes", [])]
    if not codes or draft["type"] == LEFT_OUT:
        return draft
    return {"origin": LOOKED_UP, **draft, "missing_codes": codes}


def _identifies(look: _Look) -> bool:
    """Whether a column is there to tell people or things apart, by its name or by its values."""
    if rank(look.called) == PERSON or names_people(look.called):
        return True
    if is_bare(look.called) and (look.many or len(look.told) > _FEW_KEYS):
        return True
    known = guess(look.called)["type"] in {"integer", "real"} or _DIAGNOSIS.search(look.called)
    return not known and is_identifying(look.told)


def _of_kind(look: _Look, kind: str) -> dict[str, Any]:
    if kind == "boolean":
        return {"type": kind}
    if kind in {"integer", "real"}:
        return _numeric(look, kind)
    return _listed(look, kind, MAX_CATEGORIES)


def _boolean(look: _Look) -> dict[str, object] | None:
    return {"type": "boolean"} if {text.lower() for text in look.told} <= YES_WORDS | NO_WORDS else None


def _number(look: _Look) -> dict[str, object] | None:
    known = look.known - sum(look.texts[text] for text in look.absent)
    if look.numeric < _FITS * known or _many_signs(look):
        return None
    named = guess(look.called)
    if named["type"] == LEFT_OUT and (look.many or len(look.texts) > 0.5 * known):
        return {"type": LEFT_OUT}
    few = len(look.told) <= 5 and named["type"] not in {"integer", "real"}
    if few or (named["type"] in {"categorical", "ordinal"} and is_code(look.called) and len(look.told) <= _MOST_LISTED):
        return None
    numbers, stand_ins = _without_stand_ins(look.numbers)
    kind = "integer" if (numbers == np.floor(numbers)).all() else "real"
    within = "upper" in named and np.mean((numbers >= named["lower"]) & (numbers <= named["upper"])) >= _FITS
    if within and kind in {named["type"], "integer"}:
        fields = {name: value for name, value in named.items() if name != "name"}
        return fields | ({"missing_codes": stand_ins} if stand_ins else {})
    return _numeric(look, kind)


def _many_signs(look: _Look) -> bool:
    """Whether these are days without signs between, such as 20240131, or codes with zeros before them."""
    return look.share(lambda text: len(text) > 1 and text[0] == "0" and text.isdigit()) > 0.02 or bool(
        look.share(lambda text: len(text) == 8 and _day(text, "%Y%m%d") is not None) >= _FITS
    )


def _date(look: _Look) -> dict[str, object] | None:
    some = list(look.told)[:2000]
    texts = [text for text in some if any(sign.isdigit() for sign in text)]
    if len(texts) < _FITS * len(some):
        return None
    formats = [form for form in _FORMATS if np.mean([_day(text, form) is not None for text in texts]) >= _FITS]
    if not formats:
        return None
    if len(formats) > 1 and formats[0]:
        raise IngestError(
            f"'{look.name}' holds dates, but not which of their numbers is the day: it is left out. "
            f"Say so in the schema: 'derive: {{part: year, of: {look.name}, format: \"{formats[0]}\"}}'."
        )
    return _made_of_date(look, formats[0])


def _made_of_date(look: _Look, form: str) -> dict[str, object]:
    """The month, or the year where there are several; days that count as missing have no part in it."""
    year_of = {text: day.year for text in look.told if (day := _day(text, form)) is not None}
    years = look.further_years.copy()
    for text, year in year_of.items():
        years[year] += look.told[text]
    met = sorted(year for year in years if EARLIEST.year <= year <= LATEST.year)
    if not met:
        raise IngestError(
            f"Every date of '{look.name}' lies before {EARLIEST.year} or after {LATEST.year}, which counts as missing: "
            "leave the column out."
        )
    weights = [years[year] for year in met]
    first, last = map(int, np.quantile(met, [0.005, 0.995], weights=weights, method="inverted_cdf"))
    part = "month" if last - first < 2 else "year"
    made = {"part": part, "of": look.name, **({"format": form} if form else {})}
    draft: dict[str, object] = {
        "name": f"{look.name} {part}",
        "type": "integer" if part == "year" else "ordinal",
        "derive": made,
    }
    least = _NOT_RARE * years.total()
    absent = [text for text, year in year_of.items() if year not in met and look.told[text] >= least]
    if absent:
        draft["missing_codes"] = absent[:10]
    if part == "month":
        return draft | {"origin": STANDARD}
    step = -(-(last - first) // _MOST_EDGES)
    limits = {"lower": first, "upper": last, "edges": list(range(first + step - 1, last, step))}
    return draft | limits | {"origin": LOOKED_UP}


def _day(text: str, form: str) -> date | None:
    return moment_of(text, form)


def _code(look: _Look) -> dict[str, object] | None:
    """Codes of a classification whose groups everybody can look up."""
    systems = ["icd10", *(["icd9"] if _DIAGNOSIS.search(look.called) else [])]
    if look.share(lambda text: _ATC.fullmatch(text.upper()) is not None) >= _FITS:
        systems = ["atc"]
    for system in systems:
        level = "1" if system == "atc" else "chapter"
        if look.share(lambda text: _is_code(text, system, level)) >= _FITS:  # noqa: B023
            return {"type": "categorical", "derive": {"code": look.name, "system": system, "level": level}}
    return None


def _is_code(text: str, system: str, level: str) -> bool:
    """Whether a text has the form of a code, and a group: ``II`` alone is a stage rather than a disease."""
    formed = system != "icd10" or (text[:1].isalpha() and text[1:2].isdigit())
    return formed and group_of(system, level, text) in groups_of(system, level)


def _ranges(look: _Look) -> dict[str, object] | None:
    """Ranges of numbers as text, in their order."""
    if look.share(lambda text: _RANGE.fullmatch(text) is not None) < _FITS:
        return None
    return _listed(look, "ordinal", _MOST_LISTED, first_number)


def _words(look: _Look) -> dict[str, object]:
    return _listed(look, "categorical", _MOST_LISTED)


#: What values may be, in the order in which it is tried.
_WAYS: tuple[Callable[[_Look], dict[str, Any] | None], ...] = (_boolean, _number, _date, _code, _ranges, _words)


def _listed(look: _Look, kind: str, most: int, order: Callable[[str], Any] | None = None) -> dict[str, Any]:
    spelled: dict[str, str] = {}
    for text in look.told:
        spelled.setdefault(folded(text), text)
    exact = len(look.told) == len(spelled)
    if look.many or len(spelled) > most or (most < MAX_CATEGORIES and _is_prose(look, len(spelled))):
        raise IngestError(
            f"'{look.name}' holds free text, numbers of things or very many codes ({len(spelled):,}"
            f"{' or more' if look.many else ''} different values): it is no category, and left out. "
            "Give a mapping file, or make groups of its values first, to keep it."
            if most < MAX_CATEGORIES
            else f"'{look.name}' has more than {most} different values: it is not a category. "
            "Leave it out, or group its values first."
        )
    order = order or (first_number if all(map(_is_number, spelled.values())) else str)
    found = {"type": kind, "categories": sorted(spelled.values(), key=order), "origin": LOOKED_UP}
    return found if exact else found | {"matching": "loose"}


def _is_prose(look: _Look, kinds: int) -> bool:
    """Whether hardly a value occurs twice."""
    return kinds > 20 and sum(look.told.values()) < 3 * kinds


def _numeric(look: _Look, kind: str) -> dict[str, object]:
    if not len(look.numbers):
        raise IngestError(f"'{look.name}' holds no numbers: choose another type.")
    numbers, stand_ins = _without_stand_ins(look.numbers)
    low = _two_digits(float(np.quantile(numbers, 0.005, method="lower")), up=False)
    high = _two_digits(float(np.quantile(numbers, 0.995, method="higher")), up=True)
    if kind == "integer":
        low, high = float(np.floor(low)), float(np.ceil(high))
    if low >= high:
        high = low + 1
    deciles = np.quantile(numbers, np.arange(0.1, 0.95, 0.1))
    rounded = (np.floor(d) if kind == "integer" else float(f"{d:.3g}") for d in deciles)
    edges = [float(format_number(edge)) for edge in sorted(set(rounded)) if low <= edge < high]
    shape: dict[str, object] = {"edges": edges} if edges else {"bins": 8}
    found = {"type": kind, "lower": low, "upper": high, **shape, "origin": LOOKED_UP}
    return found | ({"missing_codes": stand_ins} if stand_ins else {})


def _without_stand_ins(numbers: Floats) -> tuple[Floats, list[str]]:
    """Numbers without those far off that stand for none, and these."""
    values, counts = np.unique(numbers, return_counts=True)
    usual = np.isin(values, _STAND_INS)
    plain, wanted = values[~usual], values[usual & (counts >= _NOT_RARE * len(numbers))]
    if not len(plain):
        return numbers, []
    # As far as half of the others' width; and further than among numbers of that size, such as 95 to 99.
    apart = np.maximum(max(plain[-1] - plain[0], 1.0) / 2, wanted / 10)
    far = [*_below(wanted[wanted < 0], plain), *wanted[wanted > plain[-1] + apart]]
    return numbers[~np.isin(numbers, far)], [format_number(value) for value in far]


def _below(negative: Floats, plain: Floats) -> Floats:
    """Those of some negative numbers that stand for none: no scale goes through zero on to them without a hole."""
    if not len(negative) or plain[0] < 0:
        return negative[:0]
    hole = np.diff([*negative, plain[0]]).max() > 1
    return negative if hole or 2 * -negative[0] <= plain[-1] else negative[:0]


def _two_digits(value: float, *, up: bool) -> float:
    """Round outward to two significant digits, so that no record's own value is a bound."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - 1)
    return float((np.ceil if up else np.floor)(value / unit) * unit)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
