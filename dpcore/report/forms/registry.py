"""A dossier as an entry of the public registry of differential privacy deployments, to be completed and sent there."""

from __future__ import annotations

import re

import yaml

from dpcore.domain.schemas.origins import words_of
from dpcore.domain.schemas.protected import protected_thing
from dpcore.errors import RequestError
from dpcore.numerals import whole
from dpcore.privacy.budgets import exact_amount, plain_epsilon
from dpcore.report.dossier import Dossier
from dpcore.report.forms.registry_form import (
    Accounting,
    Administrative,
    Basic,
    Deployment,
    Implementation,
    Loss,
    Model,
    Parameters,
    RegistryForm,
    Variant,
)
from dpcore.report.statement import CONDITIONAL, NOT_STATED, UNPROTECTED
from dpcore.report.totals import cost_together

_AFTERWARDS = (
    "Estimates, intervals, figures, sentences and files are made from the noisy results alone. Noisy counts below zero "
    "stay as they are and count as zero in shares."
)


def registry_form(dossier: Dossier) -> RegistryForm:
    """The form, filled in.

    Raises
    ------
    RequestError
        If a result has no guarantee: an entry would promise one.
    """
    if dossier.problems:
        raise RequestError(
            "The registry lists results with a guarantee, and at least one of these has none: "
            f"{' '.join(dossier.problems)} Choose others."
        )
    basic = _basic(dossier)
    parts = (basic.name, "-".join(basic.data_curators), str(basic.publication_date.year))
    return RegistryForm(
        url_slug="_".join(re.sub(r"\W+", "_", part.lower()) for part in parts).replace("_", "-"),
        deployment=Deployment(
            basic=basic,
            dp_variant=_variant(dossier),
            privacy_loss=_loss(dossier),
            deployment_model=_model(dossier),
            accounting=Accounting(post_processing=_AFTERWARDS, composition=dossier.statement["Composition"]),
            implementation=_implementation(dossier),
            administrative=Administrative(
                notes=f"Kind of guarantee: {dossier.statement['Kind of guarantee']}. {CONDITIONAL}: "
                f"{dossier.statement[CONDITIONAL]}. Filled in by Frostglass from the "
                f"certificates of the results: {', '.join(release.id for release in dossier.releases)}.",
                registry_authors=(dossier.application.applicant.strip() or NOT_STATED,),
            ),
        ),
    )


def registry_yaml(dossier: Dossier) -> str:
    """The form as the registry stores it."""
    told = registry_form(dossier).model_dump(mode="json", exclude_none=True)
    written: str = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100)
    return written


def _basic(dossier: Dossier) -> Basic:
    counted = all(release.kind == "summaries" for release in dossier.releases)
    names = "; ".join(dossier.name_of(release) for release in dossier.releases)
    return Basic(
        name=dossier.title,
        data_curators=(dossier.application.curator.strip() or NOT_STATED,),
        intended_use=dossier.statement["Use case"],
        data_product_type="Summary statistics" if counted else "Machine learning model",
        data_product_region=dossier.application.region.strip() or NOT_STATED,
        description=f"{names}. Data: {dossier.statement['Data']}",
        publication_date=dossier.made.date(),
    )


def _variant(dossier: Dossier) -> Variant:
    schema = dossier.dataset.schema
    _, delta = cost_together(dossier.releases, dossier.balance)
    return Variant(
        variant_name="Approximate DP" if delta else "Pure DP",
        data_domain=f"Tables of at most {whole(schema.max_rows)} rows that fit the public schema of "
        f"{len(schema.columns)} columns. Of it, {dossier.statement['Bounds and public assumptions']}",
        unprotected_quantities=f"No number from the records. Public are the schema ({words_of(schema.origins)}), the "
        "row limit, budgets, and which methods ran with which settings. "
        f"{dossier.statement.get(UNPROTECTED, '')}".strip(),
    )


def _loss(dossier: Dossier) -> Loss:
    statement, (epsilon, delta) = dossier.statement, cost_together(dossier.releases, dossier.balance)
    chosen, _ = dossier.sums
    return Loss(
        privacy_unit=protected_thing(dossier.dataset.schema),
        privacy_unit_details=f"{statement['Unit of privacy']}. Neighbouring data sets: "
        f"{statement['Neighbouring data sets']}, with all its rows.",
        privacy_parameters=Parameters(epsilon=float(epsilon), delta=float(delta) if delta else None),
        privacy_parameters_details=f"Exact: ε = {plain_epsilon(epsilon)}, δ = {exact_amount(delta)} for these results "
        f"together; ε = {plain_epsilon(dossier.balance.epsilon)}, δ = {exact_amount(dossier.balance.delta)} for "
        f"everything that was spent on the data set, by anybody. Guarantee of these results: {chosen.guarantee}.",
    )


def _model(dossier: Dossier) -> Model:
    several = len(dossier.releases) > 1
    return Model(
        model_name="Central",
        model_name_details=dossier.statement["Model"],
        actors="The custodian holds the records, describes them publicly and sets budgets. Analysts see released "
        "results only; they may be curious, and all of them together. People in the records trust the custodian.",
        release_type="Many releases" if several else "One release",
        release_type_details=f"{dossier.statement['Number of results']}. The budget of the data set never "
        "refills; when it is spent, nothing more is released about the same people.",
        data_source_type="Static",
        data_source_type_details="The records were stored once. Other data sets about the same people share their "
        f"account. {dossier.dataset.sharing}".strip(),
        access_type="Interactive",
        access_type_details="Analysts ask for one run after the other. Budgets are granted per person; their sum over "
        "all analysts is bounded by the total of the data set, so that analysts may collude.",
    )


def _implementation(dossier: Dossier) -> Implementation:
    statement = dossier.statement
    return Implementation(
        preprocessing_and_hyperparameter_tuning=statement["Settings of the methods (hyperparameters)"],
        mechanisms=f"{statement['Mechanisms and samplers']}, from the OpenDP library: noise is drawn on whole numbers, "
        f"so that floating point leaks nothing. Randomness: {statement['Randomness']}. Time of runs: "
        f"{statement['Time that runs take']}. Program: {statement['Program']}.",
        justification=statement["Why this ε"],
    )
