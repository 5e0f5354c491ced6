"""What leaves the private side: a model with a certificate of what it cost and promises."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, model_validator

from dpcore.domain.schemas.origins import DECLARED, INFERRED, Origin, problem_of
from dpcore.domain.schemas.schema import INFERRED_NAME, Schema
from dpcore.errors import RequestError
from dpcore.frozen import FrozenModel
from dpcore.privacy.budgets import Definition
from dpcore.released.plan import Guarantee, RunPlan, protected_unit
from dpcore.version import __version__

NOT_PRIVATE: Final = "not private: seeded"
SECURE: Final = "operating system"
#: Data set of a release that an estimator made.
IN_MEMORY: Final = "in-memory"
_LEARNED: dict[Guarantee, str] = {
    "unconditional": "with differential privacy",
    "conditional on convergence": "with differential privacy, if its random walk has converged",
    "none": "without a guarantee of privacy",
}
#: What is wrong with a release whose noise was seeded.
SEEDED: Final = "Its noise is repeatable: it was not drawn from the operating system's secure source."


class Certificate(FrozenModel):
    """The guarantee of one release. Holds public values only."""

    definition: Definition
    epsilon: Decimal
    delta: Decimal
    rho: Decimal | None = None
    """Bound on its loss in zero-concentrated differential privacy, by which it is composed with others. ``None`` if
    nothing is known, as of a Markov chain, or in releases of versions that did not say."""
    neighboring_relation: str = "one person added or removed"
    privacy_unit: str
    max_rows_per_person: int
    max_rows: int
    budget_split: dict[str, Decimal]
    parallel_split: dict[str, Decimal]
    composition: str = ""
    """How the parts of ``budget_split`` compose; empty if they simply add up."""
    sampler: str
    guarantee: Guarantee
    """What holds. It is "none" whenever the release is not private."""
    randomness: Literal["operating system", "not private: seeded"]
    schema_hash: str
    origins: tuple[Origin, ...] = Field(default=(DECLARED,), min_length=1)
    """Where the facts of its schema come from, each origin once."""
    asked: Decimal | None = None
    """Epsilon that was chosen, in releases of earlier versions where it is less than ``epsilon``."""
    conditional_allowed: bool = False
    """Whether the custodian of private records allowed runs on them whose guarantee has a condition, when it was made.
    """
    cuts_from: str = Field(default="", max_length=64)
    """Id of the release whose counts told where columns of numbers may be cut. It is empty if these are all of the
    schema's cut points, or some that were chosen by hand."""
    engine_version: str
    created: datetime

    @model_validator(mode="before")
    @classmethod
    def _kept_by_noise_alone(cls, content: object) -> object:
        """Read certificates of seeded noise from before they said "none"."""
        if isinstance(content, dict) and content.get("randomness") == NOT_PRIVATE:
            return content | {"guarantee": "none"}
        return content

    @model_validator(mode="after")
    def _nothing_without_privacy(self) -> Self:
        if self.private == (self.guarantee == "none"):
            raise ValueError("a certificate promises something if it is private, and else nothing")
        return self

    @property
    def private(self) -> bool:
        """Whether the noise came from the secure source, and no public fact from the records."""
        return not self.problems

    @property
    def learned(self) -> str:
        """How the result was learned, in a few words."""
        return _LEARNED[self.guarantee]

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it is not private, one sentence each."""
        seeded = "" if self.randomness == SECURE else SEEDED
        return tuple(filter(None, (seeded, problem_of(self.origins))))


class Release(FrozenModel):
    """A frozen, self-contained result: everything after it is post-processing."""

    format: Literal[1] = 1
    id: str = Field(min_length=8, max_length=64, pattern=r"^[!-~]+$")
    kind: str
    """Name of the learner; tells how to read ``model``."""
    dataset_id: str
    dataset_name: str
    target: str
    parameters: dict[str, Any]
    model: dict[str, Any]
    """The released model, in the form of its family's pydantic model."""
    certificate: Certificate
    domain: Schema
    """Public schema, so that a release can be read and used without the data set."""
    _stored: Release | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _with_origin(cls, content: Any) -> object:
        return _marked(content) if _inferred_before_origins(content) else content

    @model_validator(mode="after")
    def _one_schema(self) -> Self:
        if self.domain.hash != self.certificate.schema_hash:
            raise ValueError("the schema of a release is not the one its certificate names")
        if self.domain.origins != self.certificate.origins:
            raise ValueError("a certificate names other origins than the schema it is about")
        return self

    @property
    def stored(self) -> Release:
        """The release as it is stored, which is itself unless it was put into the words of people."""
        return self if self._stored is None else self._stored

    def reworded(self, **changes: object) -> Self:
        """The same release in other words, to be shown; as a file, it stays what it is."""
        shown = self.model_copy(update=changes)
        shown._stored = self.stored
        return shown

    def to_json(self) -> str:
        """JSON text of the whole release, as it is stored."""
        return self.stored.model_dump_json(indent=2)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release back.

        Raises
        ------
        RequestError
            If the text is not a release of this format.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            raise RequestError("This is not a release that this version can read.") from None


def make_release(
    kind: str,
    plan: RunPlan,
    model: BaseModel,
    *,
    secure: bool,
    dataset_id: str = IN_MEMORY,
    dataset_name: str = "",
    conditional_allowed: bool = False,
) -> Release:
    """Wrap a released model with the certificate that its plan implies."""
    unit = plan.schema.privacy_unit
    guarantee = plan.promised if secure else "none"
    stated = plan.loss.rho.is_finite() and not plan.loss.without_rho
    certificate = Certificate(
        definition=plan.definition,
        epsilon=plan.epsilon,
        delta=plan.delta,
        rho=plan.loss.rho if stated else None,
        privacy_unit=unit_words(plan.schema),
        max_rows_per_person=unit.max_rows_per_person,
        max_rows=plan.schema.max_rows,
        budget_split=dict(plan.split.parts),
        parallel_split=dict(plan.parallel),
        composition=plan.composition,
        sampler=plan.sampler,
        guarantee=guarantee,
        randomness=SECURE if secure else NOT_PRIVATE,
        schema_hash=plan.schema.hash,
        origins=plan.schema.origins,
        conditional_allowed=conditional_allowed,
        cuts_from=getattr(plan.parameters, "cuts_from", ""),
        engine_version=__version__,
        created=datetime.now(UTC).replace(microsecond=0),
    )
    return Release(
        id=uuid.uuid4().hex,
        kind=kind,
        dataset_id=dataset_id,
        dataset_name=dataset_name or plan.schema.name,
        target=plan.target,
        parameters=plan.parameters.model_dump(mode="json"),
        model=model.model_dump(mode="json"),
        certificate=certificate,
        domain=plan.schema,
    )


def _inferred_before_origins(content: object) -> bool:
    """Whether this was written with an inferred schema before schemas said where they come from.

    Its schema then has a name that estimators without a schema give, and they alone.
    """
    if not isinstance(content, dict):
        return False
    card, domain = content.get("certificate"), content.get("domain")
    return (
        isinstance(card, dict)
        and "origins" not in card
        and isinstance(domain, dict)
        and "origin" not in domain
        and domain.get("name") == INFERRED_NAME
    )


def _marked(content: dict[str, Any]) -> dict[str, object]:
    """The same release, whose schema and certificate say that it is not private."""
    before = Schema.model_validate(content["domain"] | {"origin": DECLARED})
    after = before.model_copy(update={"origin": INFERRED})
    card = content["certificate"] | {"origins": [INFERRED], "guarantee": "none"}
    if card.get("schema_hash") == before.hash:
        card["schema_hash"] = after.hash
    return content | {"domain": after.model_dump(mode="json"), "certificate": card}


def unit_words(schema: Schema) -> str:
    """Who or what is protected, as certificates say it."""
    words = protected_unit(schema)
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}"


class Imported(Release):
    """A release whose certificate nobody here can vouch for."""


def imported(text: str) -> Imported:
    """Read an import back. Raises ``RequestError`` if it is no release of this format."""
    try:
        return Imported.model_validate_json(text)
    except ValidationError:
        raise RequestError("An imported result can no longer be read.") from None
