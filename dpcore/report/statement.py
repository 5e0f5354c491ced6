"""The privacy statement of a dossier: the questions of an evaluation, each with its answer.

The questions are those that NIST SP 800-226 asks of a differential privacy guarantee, and those
that a public registry of chosen epsilons asks of a deployment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpcore.domain.schemas.origins import words_of
from dpcore.domain.schemas.protected import shared_things
from dpcore.numerals import whole
from dpcore.privacy.budgets import delta_sentence
from dpcore.released.release import SECURE, Certificate, Release
from dpcore.report.names import sampler_name
from dpcore.report.timing import time_sentence
from dpcore.report.totals import Total
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.results.dossier import Application

NOT_STATED = "not stated"
#: The question whose answer warns of what the promise leaves out; only asked where there is something.
UNPROTECTED = "Who is not protected"
#: The question whether a promise may rest on what nobody can check.
CONDITIONAL = "Runs whose guarantee is conditional (Markov chains)"


def statement(
    dataset: DatasetInfo,
    releases: Sequence[Release],
    sums: Sequence[Total],
    application: Application,
) -> dict[str, str]:
    """Name and answer of every question."""
    cards = [release.certificate for release in releases]
    chosen, every = sums
    return {
        "Use case": application.request.strip() or NOT_STATED,
        "Data": _data(dataset),
        "Unit of privacy": _unit(dataset, cards[0].privacy_unit),
        **({UNPROTECTED: shared} if (shared := shared_things(dataset.schema)) else {}),
        "Model": "central: one trusted server holds the records, and only noisy results leave it",
        "Neighbouring data sets": _all(card.neighboring_relation for card in cards),
        "Kind of definition": _all(map(_definition, cards)),
        "ε of the results in this dossier, together": chosen.epsilon,
        "δ of the results in this dossier, together": chosen.delta,
        "ε of everything spent on the data set": every.epsilon,
        "δ of everything spent on the data set": every.delta,
        **({"Other data sets in the same account": dataset.sharing} if dataset.sharing else {}),
        "Composition": f"{_across(every)}, in a ledger that reserves before records are read; {_inside(releases)}",
        "Mechanisms and samplers": _all(sampler_name(card.sampler) for card in cards) + ", with exact discrete noise",
        "Kind of guarantee": _all(card.guarantee for card in cards),
        CONDITIONAL: _conditional(dataset, cards),
        "Randomness": _all(_randomness(card.randomness) for card in cards),
        "Time that runs take": time_sentence(*cards),
        "Bounds and public assumptions": _assumptions(dataset),
        "Settings of the methods (hyperparameters)": _settings(dataset, application),
        "Why this ε": application.justification.strip() or NOT_STATED,
        "Number of results": f"{len(releases)} in this dossier",
        "Program": "Frostglass " + _all(card.engine_version for card in cards),
    }


def _conditional(dataset: DatasetInfo, cards: Sequence[Certificate]) -> str:
    """Whether Markov chains may be run on the data set."""
    if dataset.public:
        return "free, as the records are public"
    if dataset.allowance:
        return dataset.allowance.removesuffix(".")
    before = any(card.conditional_allowed for card in cards)
    return "not allowed on this data set" + (" now; allowed when some of these results were made" if before else "")


def _all(values: Iterable[str]) -> str:
    """Every different value once."""
    return "; ".join(dict.fromkeys(values))


def _data(dataset: DatasetInfo) -> str:
    told = dataset.description.strip() or "no description"
    public = " Public demonstration data: anybody may see the records." if dataset.public else ""
    return f"{dataset.title}: {told}{public}"


def _unit(dataset: DatasetInfo, unit: str) -> str:
    rows = dataset.schema.privacy_unit.max_rows_per_person
    return f"{unit}; at most {rows} row{'' if rows == 1 else 's'} of the main table each"


def _definition(card: Certificate) -> str:
    if not card.private:
        return "none: " + " ".join(card.problems)
    if card.definition == "pure":
        return "pure (ε, no δ)"
    return f"approximate (ε and δ). {delta_sentence(card.delta)}"


def _across(every: Total) -> str:
    """How everything spent follows from the runs."""
    if every.delta == "0":
        return "the ε of all runs add up (basic composition; no run has a δ)"
    return (
        "everything spent is bounded at the δ of the budget by a filter for runs that are chosen one after the other "
        "by what earlier ones released: in zero-concentrated differential privacy, or by adding up where that is less"
    )


def _inside(releases: Sequence[Release]) -> str:
    told = _all(card.composition for card in (r.certificate for r in releases) if card.composition)
    return "inside a run its parts add up" + (f", except: {told}" if told else "")


def _randomness(source: str) -> str:
    return "the operating system's secure source" if source == SECURE else source


def _assumptions(dataset: DatasetInfo) -> str:
    schema = dataset.schema
    learned = f" {schema.learned.words}" if schema.learned else ""
    return (
        f"columns, possible values, bounds, bins and the row limit of {whole(schema.max_rows)} are "
        f"public: {words_of(schema.origins)}. Values beyond the bounds are moved to them.{learned}"
    )


def _settings(dataset: DatasetInfo, application: Application) -> str:
    seen = (
        "The records of this data set are public, so they may have been looked at."
        if dataset.public
        else "Rehearsals use invented records, and earlier results that may have guided a choice "
        "are paid for in everything spent."
    )
    told = application.settings.strip()
    own = f"{told} " if told else "Not stated by the analyst. "
    return f"{own}The settings of each run were fixed before it read a record. {seen}"
