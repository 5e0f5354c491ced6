"""What is to be stored: files, which a process of their own reads, or frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dpcore.domain.schemas.schema import Schema
from dpcore.intake.process.readers import Watch
from dpcore.intake.process.uploads import Incoming

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.intake.check.examination import AnyFinding
    from dpcore.intake.joins.relations import Source
    from dpcore.released.learning_plan import LearningPlan


def table_of(
    source: Source | pd.DataFrame,
    schema: Schema,
    right: str | Path | None,
    watch: Watch | None,
    *,
    accepted: Collection[str] = (),
    keep: bool = False,
    after: Path | None = None,
    plan: LearningPlan | None = None,
) -> Incoming | InMemory:
    """What becomes the table: files are read by a process of their own, frames by this one."""
    several = source if isinstance(source, list | tuple) else [source]
    files = list(source.values()) if isinstance(source, Mapping) else several
    if all(isinstance(file, str | Path) for file in files):
        files_alone = cast("Any", source)
        return Incoming(files_alone, schema, right, watch, accepted=accepted, keep=keep, after=after, plan=plan)
    return InMemory(source, schema, right, accepted=accepted, keep=keep, after=after, plan=plan)


class InMemory:
    """A table made of frames, in this process, when the store says where."""

    def __init__(
        self,
        source: Source | pd.DataFrame,
        schema: Schema,
        right: str | Path | None = None,
        *,
        accepted: Collection[str] = (),
        keep: bool = False,
        after: Path | None = None,
        plan: LearningPlan | None = None,
    ) -> None:
        self._source, self._schema, self._right = source, schema, right
        self._how: dict[str, Any] = {"accepted": accepted, "keep": keep, "after": after, "plan": plan}
        #: Once it is saved, what is to be known of further rows: see :func:`dpcore.intake.process.storing.store_table`.
        self.told = ""

    def examine(self) -> list[AnyFinding]:
        """How the values of each column, and the rows, fit. Raises ``IngestError``."""
        from dpcore.intake.process.storing import examine_table

        return examine_table(self._schema, self._source, self._right, after=self._how["after"])

    def save(self, directory: Path) -> None:
        """Encode the frames and write their table. Raises ``IngestError``."""
        from dpcore.intake.process.storing import store_table

        self.told = store_table(directory, self._schema, self._source, self._right, **self._how)
