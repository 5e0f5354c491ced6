"""What is true of public data sets: exact counts, and methods measured on their records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcore.errors import RequestError
from dpcore.privacy.budgets import parse_epsilon
from dpcore.released.release import Release
from dpcore.service.base import ServiceBase
from dpcore.workspace.files.descriptions import DatasetInfo

if TYPE_CHECKING:
    from dpcore.arrays import Ints
    from dpcore.domain.schemas.schema import Part
    from dpcore.models.comparison import Measure, MethodScore
    from dpcore.models.convergence import ChainCourse


class PublicTruth(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    def true_counts(self, release: Release) -> tuple[tuple[int, ...], ...]:
        """Exact counterparts of a release's counts, on the records that it was learned from.

        Raises
        ------
        RequestError
            If the data set is not marked public.
        """
        release, model, records = self._with_records(release)
        counts: tuple[tuple[int, ...], ...] = model.count_records(records, release.domain, release.target)
        return counts

    def true_tables(self, release: Release) -> list[Ints]:
        """Exact counterparts of the tables of redescriptions, one for each pair of trees.

        Raises
        ------
        RequestError
            If the data set is not marked public.
        """
        release, model, frame = self._with_records(release)
        tables: list[Ints] = model.exact_tables(frame, release.domain)
        return tables

    def true_cells(self, release: Release) -> list[Ints]:
        """Exact counts of every column of a first look, in its order.

        Raises
        ------
        RequestError
            If the data set is not marked public.
        """
        release, model, records = self._with_records(release)
        return [model.exact_table(records, release.domain, (place,)) for place in range(len(model.axes))]

    def chain_courses(self, release: Release) -> list[ChainCourse]:
        """How the Markov chains of a release go on its records, several of each.

        Raises
        ------
        RequestError
            If the data set is not marked public, or the release has no chain.
        """
        from dpcore.models.convergence import chain_courses

        release = release.stored
        return chain_courses(release, self._store.table(self._public(release.dataset_id).id))

    def compare_methods(
        self,
        dataset_id: str,
        target: str,
        methods: Sequence[tuple[str, Mapping[str, object]]],
        epsilons: Sequence[str],
        repeats: int,
        progress: Callable[[int, int], None],
        measure: Measure = "accuracy",
    ) -> list[MethodScore]:
        """Exact quality of methods over epsilons. Free: nothing of a public data set is secret.

        Raises
        ------
        RequestError
            If the data set is not marked public, or a method cannot be used.
        """
        from dpcore.models.comparison import compare_methods

        table = self._store.table(self._public(dataset_id).id)
        wanted = [parse_epsilon(epsilon) for epsilon in epsilons]
        return compare_methods(table, target, methods, wanted, repeats, progress, measure)

    def compare_redescriptions(
        self,
        dataset_id: str,
        methods: Sequence[Mapping[str, object]],
        epsilons: Sequence[str],
        repeats: int,
        progress: Callable[[int, int], None],
    ) -> list[MethodScore]:
        """What methods of redescriptions find over epsilons, judged by exact records. Free, on public data.

        Raises
        ------
        RequestError
            If the data set is not marked public, or a method cannot be used.
        """
        from dpcore.models.comparison import compare_redescriptions

        table = self._store.table(self._public(dataset_id).id)
        return compare_redescriptions(table, methods, [parse_epsilon(e) for e in epsilons], repeats, progress)

    def commonest_share(self, dataset_id: str, target: str) -> float:
        """How often always saying the commonest class is right; public data sets only."""
        from dpcore.models.comparison import commonest_share

        return commonest_share(self._store.table(self._public(dataset_id).id), target)

    def plain_tree_accuracy(self, dataset_id: str, target: str) -> float | None:
        """Accuracy of a tree that is not private, as a ceiling; public data sets only.

        ``None`` if there is no column but the target in the main table, all that the tree sees.
        """
        from dpcore.models.comparison import plain_tree_accuracy

        return plain_tree_accuracy(self._store.table(self._public(dataset_id).id), target)

    def _with_records(self, release: Release) -> tuple[Release, Any, Any]:
        """A release as it was stored, its model, and the records that it was learned from, if they are public."""
        from dpcore.models.registry import public_records
        from dpcore.models.released import family_of, parse_model

        stored = release.stored
        table = self._store.table(self._public(stored.dataset_id).id)
        part: Part = "train" if stored.certificate.parallel_split else "all"
        return stored, parse_model(stored), public_records(family_of(stored), table, part)

    def _public(self, dataset_id: str) -> DatasetInfo:
        dataset = self._visible(dataset_id)
        if not dataset.public:
            raise RequestError("The records of this data set are private: nobody may see them.")
        return dataset
