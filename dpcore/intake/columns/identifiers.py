"""Columns that identify somebody or something, as far as their names and their values tell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Final

#: What a column says of itself: that it identifies a person, that it identifies, nothing, or that it is about a thing.
PERSON, KEY, UNNAMED, THING = 3, 2, 1, 0

#: Columns by which REDCap tells rows of repeating instruments from those of records.
REPEATS: Final = ("redcap_repeat_instrument", "redcap_repeat_instance")
_PEOPLE: Final = (
    "patient|patienten|patientin|pat|person|personen|subject|subj|participant|proband|probanden|versuchsperson|"
    "teilnehmer|versicherten|versicherter|member|beneficiary|bene|customer|client|resident|respondent|donor|individual|"
    "paciente|persona|sujeto|participante|asegurado|malade|sujet|assure|paziente|soggetto|assistito|pessoa|utente|"
    "deelnemer|persoon|deltaker|deltagare|patientti|pasient|pacjent|osoba|pacient|hasta|пациент|患者|病人"
)
#: People only where a word for a number follows: alone, such a name may be that of a property.
_ROLES: Final = (
    "user|account|employee|student|pupil|athlete|subscriber|enrollee|volunteer|insured|infant|child|kunden|klienten|"
    "bewohner|mitarbeiter|schueler|alumno|cliente|usuario"
)
_WORDS: Final = (
    "id|ids|nr|nbr|no|num|number|nummer|numero|numer|key|code|kode|codigo|uuid|guid|uid|hash|pseudonym|kennung|"
    "kennzeichen|schluessel|identifier|identificador|identifiant|token|identity"
)
#: Numbers that people go by, and those of their records.
_NUMBERS: Final = (
    "mrn|ssn|pid|empi|mpi|nhs_(number|no|nr)|nhc|npi_patient|usubjid|subjid|medicare_(id|number|no)|mbi|hicn|dni|nie|"
    "curp|rut|cpf|cns|bsn|cpr|pesel|nir|ipp|nip|chi_number|personnummer|personnr|personal_?(number|no|id|code)|"
    "fodselsnummer|fnr|hetu|henkilotunnus|codice_fiscale|tc_?kimlik(_no)?|rodne_cislo|egn|jmbg|aadhaar|passport"
    "(_?(no|nr|number|num|id))?|reisepass(_?(nr|nummer))?|ausweis(_?(nr|nummer))?|pasaporte|passeport|"
    "social_security(_(number|no))?|sozialversicherungs(nr|nummer)|krankenversicherten(nr|nummer)|kvnr|"
    "numero_?(de_)?historia(_clinica)?|historia_clinica|expediente|prontuario|dossier"
)
_PERSON: Final = re.compile(
    rf"(^|_)({_PEOPLE}|{_ROLES})_?({_WORDS})$|^({_WORDS})_(of_|de_|del_|do_|du_)?({_PEOPLE})$|^((national|patient|health)_)?({_NUMBERS})$"
)
_PERSON_ALONE: Final = re.compile(rf"^({_PEOPLE})$")
_KEY: Final = re.compile(rf"(^|_)({_WORDS}|rowid|rownum|mail|email|e_mail)$|(nummer|kennung|uuid|guid)$")
#: Names of which nothing says what they identify.
_BARE: Final = re.compile(
    r"((record|study|case|pseudo|anon|unique|main|master|global|enrol\w*|registration|registry|internal|external|screening|"
    r"randomi[sz]ation|new|old|my)_?)*(id|ids|uid|uuid|guid|hash|pseudonym|kennung|kennzeichen|identifier|identificador|"
    r"identifiant|schluessel|nr|nbr)"
)
_THING: Final = re.compile(
    r"visit|encounter|admission|episode|(^|_)stay|hospital|appointment|(^|_)order|sample|specimen|(^|_)lab|(^|_)test|"
    r"result|device|(^|_)site|cent(er|re)|clinic|klinik|(^|_)ward|(^|_)unit|department|abteilung|provider|physician|"
    r"doctor|nurse|practitioner|(^|_)arzt|medico|medecin|organi[sz]ation|payer|insurer|(^|_)plan|family|famil|household|"
    r"school|class|batch|(^|_)plate|(^|_)trial|protocol|product|drug|medication|(^|_)item|event|"
    r"transaction|invoice|claim|location|(^|_)room|zimmer|(^|_)bed|station|(^|_)fall|aufenthalt|besuch|aufnahme|"
    r"auftrag|(^|_)probe(n|$|_)|sejour|visite|consult|ingreso|episodio|(^|_)cita|muestra|(^|_)centro|opname|bezoek|"
    r"^(row|line|index|zeile)|ticket|cabin|postal|postcode|zip|type|status|category|group|reason|concept|country|"
    r"region|city|(^|_)(point|grid|cell|plot|tract|area|zone)|coord|species|taxon|version|phone_type|diag|icd|atc|loinc|snomed|procedure|ops|drg|cpt"
)
#: Names by which a column holds the name of somebody, or a way to reach or to prove them.
_NAMED: Final = re.compile(
    r"^((first|last|sur|fore|family|given|full|middle|maiden|patient|person|nick|birth|vor|nach|familien|geburts)_?)?"
    r"names?$|^(nom|prenom|apellidos?|nombre|cognome|naam|voornaam|achternaam|efternavn|fornavn|etternavn)$|"
    r"(^|_)(e_?mail|phone|telephone|telefon|mobile|passport|address|adresse|street|strasse|signature)"
    r"(_?(no|nr|number|nummer|address|adresse))?\d?$"
)
_SURE: Final = tuple(
    re.compile(form)
    for form in (
        r"\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?",
        r"(urn:)?(uuid|oid):\S+",
        r"(0x)?[0-9a-f]{24}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{128}",
        r"[^@\s]+@[^@\s]+\.[a-z]{2,}",
        r"\d{3}-\d{2}-\d{4}|\d{6,8}[-+a]\d{3}[0-9a-z]|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{8}-?[a-z]",
        r"[a-z]{6}\d{2}[a-z]\d{2}[a-z]\d{3}[a-z]|[a-z]{4}\d{6}[a-z]{6}[0-9a-z]\d|[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d]",
    )
)
_NUMBERED: Final = re.compile(r"([^\W\d_]{1,8})(?:[-_/.: ]*\d+)*[-_/.: ]*\d+", re.UNICODE)
_DAY: Final = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")
_PASSPORT: Final = re.compile(r"[a-z]{1,2}\d{6,8}")
#: Share of the values that have to be of one form.
_MOST: Final = 0.95
_FEW_PREFIXES: Final = 3
#: Digits of a number behind letters, and of one without any, from which on it looks like one of an identifier.
_DIGITS, _LONG = 4, 6
#: Different values below which values alone say nothing; beyond which numbered texts are no list of categories.
_LEAST, _MANY = 10, 20


def snake(name: str) -> str:
    """The words of a name in small letters without accents, joined by ``_``."""
    apart = re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).lower().strip("_")
    return "".join(sign for sign in unicodedata.normalize("NFKD", apart) if not unicodedata.combining(sign))


def rank(name: str) -> int:
    """What a name says: :data:`PERSON`, :data:`KEY`, :data:`UNNAMED` or :data:`THING`."""
    plain = snake(name)
    if _PERSON.search(plain) or _PERSON_ALONE.search(plain):
        return PERSON
    if _THING.search(plain):
        return THING
    return KEY if _KEY.search(plain) else UNNAMED


def suggest_person(names: Sequence[str]) -> str | None:
    """The first name that says best that it identifies a person, if there is one."""
    kinds: tuple[Callable[[str], object], ...] = (_PERSON.search, _PERSON_ALONE.search, _BARE.fullmatch)
    return next((name for kind in kinds for name in names if kind(snake(name))), None)


def is_bare(name: str) -> bool:
    """Whether a name says that a column identifies, and of what it says nothing."""
    return _BARE.fullmatch(snake(name)) is not None


def names_people(name: str) -> bool:
    """Whether a column holds, by its name, what people are called, or how they are reached."""
    return _NAMED.search(snake(name)) is not None


def is_identifying(texts: Mapping[str, int]) -> bool:
    """Whether values are by their form alone those of identifiers: UUIDs, hashes, numbers of persons or of records.

    Parameters
    ----------
    texts : mapping of str to int
        Different values, and how often each occurs.
    """
    if len(texts) < _LEAST:
        return len(texts) > 1 and _share(texts, lambda text: _SURE[0].fullmatch(text.lower()) is not None) >= _MOST
    lower = {text: text.lower() for text in texts}
    if any(_share(texts, lambda text: form.fullmatch(lower[text]) is not None) >= _MOST for form in _SURE):  # noqa: B023
        return True
    spread = len(texts) > _MANY or len(texts) >= 0.1 * sum(texts.values())
    return spread and (_are_numbered(texts) or _are_passports(lower, texts) or _are_long_numbers(texts))


def _are_numbered(texts: Mapping[str, int]) -> bool:
    """Numbers behind the same letters, such as ``P100007`` or ``SITE01-0007``.

    Short ones may be codes, as of diagnoses: they count where hardly one comes twice, or hardly one is left out.
    """
    prefixes: dict[str, int] = {}
    numbers: list[int] = []
    for text, count in texts.items():
        digits = "".join(sign for sign in text if sign.isdecimal())
        found = _NUMBERED.fullmatch(text)
        if found is not None and len(digits) >= _DIGITS:
            prefixes[found[1].lower()] = prefixes.get(found[1].lower(), 0) + count
            numbers.append(int(digits))
    common, total = sorted(prefixes.values())[-_FEW_PREFIXES:], sum(texts.values())
    if sum(common) < _MOST * total:
        return False
    long = sorted(numbers)[len(numbers) // 2] >= 10**_DIGITS
    dense = 2 * len(numbers) > max(numbers) - min(numbers)
    return long or (len(prefixes) == 1 and (dense or 2 * len(texts) > total))


def _are_passports(lower: Mapping[str, str], texts: Mapping[str, int]) -> bool:
    """Long numbers behind one or two letters, hardly one of which comes twice."""
    alone = len(texts) > 0.5 * sum(texts.values())
    return alone and _share(texts, lambda text: _PASSPORT.fullmatch(lower[text]) is not None) >= _MOST


def _are_long_numbers(texts: Mapping[str, int]) -> bool:
    """Whole numbers of as many digits, not round, and hardly one that is much more frequent than others."""
    lengths: dict[int, int] = {}
    for text, count in texts.items():
        if text.isdigit() and len(text) >= _LONG:
            lengths[len(text)] = lengths.get(len(text), 0) + count
    total = sum(texts.values())
    if max(lengths.values(), default=0) < _MOST * total or len(texts) < 0.1 * total:
        return False
    round_ones = _share(texts, lambda text: text.endswith("00"))
    return round_ones < 0.1 and not _are_days(texts)


def _are_days(texts: Mapping[str, int]) -> bool:
    return _share(texts, lambda text: _DAY.fullmatch(text) is not None) > 0.9


def _share(texts: Mapping[str, int], fits: Callable[[str], bool]) -> float:
    return sum(count for text, count in texts.items() if fits(text)) / max(1, sum(texts.values()))
