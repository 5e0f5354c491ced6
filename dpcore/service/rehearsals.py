"""Rehearsals: the same run on invented records, and what to expect at each epsilon. Free."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dpcore.released.release import Release
from dpcore.service.releases import Releases
from dpcore.service.runs import Runs
from dpcore.workspace.ledger.requests import RunRequest

if TYPE_CHECKING:
    from dpcore.rehearsal import QualityForecast, Rehearsal


class Rehearsals(Runs, Releases):
    """Part of :class:`dpcore.service.Service`."""

    def rehearse(self, request: RunRequest, *, shaped: bool = True) -> Rehearsal:
        """Run a request on invented records: free, not stored, seeded.

        Parameters
        ----------
        shaped : bool
            Whether earlier releases that the caller may read shape the records; or the schema
            alone does.
        """
        from dpcore.models.registry import get_learner
        from dpcore.rehearsal import rehearse

        plan = self.quote(request).plan
        return rehearse(get_learner(request.algorithm), plan.schema, plan, releases=self._shaping(request, shaped))

    def outlook(
        self,
        request: RunRequest,
        progress: Callable[[int, int], None],
        *,
        shaped: bool = True,
    ) -> QualityForecast:
        """Say how well a request may do at other epsilons, on invented records. Free.

        Raises
        ------
        RequestError
            If the request predicts nothing, or cannot be honoured.
        """
        from dpcore.models.registry import get_learner
        from dpcore.rehearsal import forecast_quality

        quote = self.quote(request)
        return forecast_quality(
            get_learner(request.algorithm),
            quote.plan.schema,
            request.target,
            quote.request.parameters,
            delta=quote.plan.delta,
            releases=self._shaping(request, shaped),
            progress=progress,
        )

    def shaping_releases(self, dataset_id: str) -> list[Release]:
        """Releases that the caller may read and that would shape invented records."""
        from dpcore.rehearsal import usable

        dataset = self._visible(dataset_id)
        return usable(dataset.schema, self.releases(dataset.id))

    def _shaping(self, request: RunRequest, shaped: bool) -> list[Release]:
        return self.shaping_releases(request.dataset_id) if shaped else []
