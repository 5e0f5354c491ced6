"""Data sets that are there: renamed, described, retired; folders that nobody entered, records that go."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from dpcore.errors import RequestError
from dpcore.service.datasets import SHARED, Datasets
from dpcore.workspace.files.descriptions import DatasetInfo, Orphan


class DatasetUpkeep(Datasets):
    """Part of :class:`dpcore.service.Service`."""

    def rename_dataset(self, dataset_id: str, name: str) -> DatasetInfo:
        """Custodian: give a data set another name; results keep the one they were made under.

        Raises
        ------
        SchemaError
            If no schema could have this name.
        ConflictError
            If another data set has it.
        """
        self._require("custodian")
        found = self._visible(dataset_id).id
        self._upkeep.rename(found, name, actor=self._user.name)
        return self._store.dataset(found)

    def describe_dataset(self, dataset_id: str, description: str) -> DatasetInfo:
        """Custodian: say anew who the people of a data set are. Raises ``SchemaError``.

        What its columns mean stays: for that, add a new version.
        """
        self._require("custodian")
        found = self._visible(dataset_id).id
        self._upkeep.describe(found, description, actor=self._user.name)
        return self._store.dataset(found)

    def allow_conditional(self, dataset_id: str, allowed: bool, *, note: str = "") -> DatasetInfo:
        """Custodian: allow runs whose guarantee has a condition (Markov chains) on one private data set, or no longer.

        Neither data sets about the same people nor later versions are allowed with it.

        Raises
        ------
        RequestError
            If the records are public, or there is no reason to allow them.
        ConflictError
            If it is so already.
        """
        self._require("custodian")
        found = self._visible(dataset_id).id
        self._upkeep.allow_conditional(found, allowed, note=note, actor=self._user.name)
        return self._store.dataset(found)

    def retire_dataset(self, dataset_id: str, *, note: str) -> DatasetInfo:
        """Custodian: let nobody run anything more on a data set. Records and results stay.

        Raises
        ------
        ConflictError
            If it is retired already.
        """
        self._require("custodian")
        found = self._visible(dataset_id).id
        self._upkeep.retire(found, note=note, actor=self._user.name)
        return self._store.dataset(found)

    def orphans(self) -> list[Orphan]:
        """Custodian: folders that the database does not know, and data sets without a folder."""
        self._require("custodian")
        return self._orphans.all()

    def damaged(self) -> list[Orphan]:
        """Custodian: data sets and stray folders whose files are not what was written; reads them all."""
        self._require("custodian")
        return self._orphans.damaged()

    def adopt(
        self,
        dataset_id: str,
        *,
        name: str | None = None,
        budget: Decimal = Decimal(0),
        spent: Decimal = Decimal(0),
        delta: Decimal = Decimal(0),
        same_people_as: str | None = None,
        replaces: str | None = None,
        accepted: Collection[str] = (),
        note: str,
    ) -> DatasetInfo:
        """Custodian: enter records that the database does not know, as a private data set.

        Parameters
        ----------
        name : str, optional
            Default: that of their schema.
        budget : Decimal
            All that may ever be spent on them, their past included. Default: nothing.
        spent, delta : Decimal
            What is known to have been spent on them before, and is in no ledger.
        same_people_as, replaces : str, optional
            A data set whose budget they share, or whose next version they are: see
            :meth:`add_dataset`. What was spent is then entered there.
        accepted : collection of str
            ``different-people``: that the two define a person differently.

        Raises
        ------
        NotFoundError
            If there are no such records, or the database knows them.
        ConflictError
            If the name is taken, or they are being stored just now.
        SchemaError
            If they are damaged.
        LossError
            If a person is defined differently there, and nobody has accepted that.
        """
        self._require("custodian")
        related = self._related(same_people_as, replaces, accepted)
        if related is not None and budget:
            raise RequestError(SHARED)
        return self._orphans.adopt(
            dataset_id,
            name=name,
            cap=budget,
            spent=spent,
            delta=delta,
            related=related,
            note=note,
            actor=self._user.name,
        )

    def remove_records(self, dataset_id: str, *, note: str) -> None:
        """Custodian: remove the records of a data set, or a stray folder, for good.

        The entry of a data set, its ledger and its releases stay.

        Raises
        ------
        ConflictError
            If runs on it are under way.
        """
        self._require("custodian")
        self._orphans.remove(dataset_id, note=note, actor=self._user.name)
