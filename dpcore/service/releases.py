"""Releases: reading, naming, sharing, exporting. All of it is free."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.errors import NotFoundError
from dpcore.released.release import Release
from dpcore.report.totals import Total, totals, weakest
from dpcore.service.base import ServiceBase, check_id
from dpcore.workspace.files.descriptions import ReleaseNote, Sharing
from dpcore.workspace.people.users import ROLES
from dpcore.workspace.results.dossier import Application
from dpcore.workspace.results.drafts import Draft, SavedDraft, read_draft, write_draft
from dpcore.workspace.results.notes import read_notes, write_note

_NO_RELEASE = "There is no such release."


class Releases(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    def release(self, release_id: str) -> Release:
        """One release by its id. Raises ``NotFoundError`` unless the caller may read it."""
        self._require(*ROLES)
        check_id(release_id, _NO_RELEASE)
        found = self._released.release(release_id, reader=self._reader())
        if not self._sees(self._store.dataset(found.dataset_id)):
            raise NotFoundError(_NO_RELEASE)
        return found

    def releases(self, dataset_id: str | None = None) -> list[Release]:
        """Releases that the caller may read, newest first: their own, and those shared."""
        return self._released.releases(self._seen(dataset_id), reader=self._reader())

    def sharing(self, dataset_id: str | None = None) -> dict[str, Sharing]:
        """Owners of the releases that the caller may read, and whether they are shared."""
        return self._released.sharing(self._seen(dataset_id), reader=self._reader())

    def share(self, release_id: str, shared: bool = True) -> Sharing:
        """Let everybody who sees the data set read a release of the caller's; or no longer."""
        found = self._own(release_id)
        return self._released.share(found.id, shared, owner=self._user.name)

    def note_release(self, release_id: str, name: str, note: str) -> ReleaseNote:
        """Name a release of the caller's and write a note beside it: free, to be changed any time.

        Raises
        ------
        RequestError
            If the name or the note is too long.
        NotFoundError
            If the caller has no such release.
        """
        return write_note(self._engine, self._own(release_id).id, name, note, self._user.name)

    def release_notes(self, dataset_id: str | None = None) -> dict[str, ReleaseNote]:
        """Names and notes by release; releases without any are left out."""
        seen = self._seen(dataset_id)
        readable = self._released.sharing(seen, reader=self._reader())
        notes = read_notes(self._engine, seen)
        return {key: note for key, note in notes.items() if key in readable}

    def release_page(self, release_id: str) -> str:
        """One release as a file of HTML that opens anywhere, with its name and note."""
        from dpcore.report.forms.page import release_page

        found = self.release(release_id)
        return release_page(found, read_notes(self._engine, {found.dataset_id}).get(found.id))

    def dossier(self, dataset_id: str, release_ids: Sequence[str], application: Application, form: str) -> bytes:
        """Chosen releases of one data set as a file, with all that was spent on it.

        Parameters
        ----------
        form : str
            One of ``dpcore.report.forms.forms.FORMS``, such as ``"pdf"``.

        Raises
        ------
        RequestError
            If no release is chosen, too many are, or one is of another data set; and for what
            ``dpcore.report.forms.forms.made`` refuses.
        NotFoundError
            If there is no such data set or release.
        """
        from dpcore.report.dossier import Dossier
        from dpcore.report.forms.forms import made

        dataset = self._visible(dataset_id)
        chosen = [self.release(release_id) for release_id in release_ids]
        runs = self._queue.statuses({release.dataset_id for release in chosen})
        dossier = Dossier(
            dataset,
            chosen,
            read_notes(self._engine, {dataset.id}),
            self._ledger.balance(dataset.id),
            application,
            self._everybodys(dataset.id),
            asked={run.release_id: run.request for run in runs if run.release_id and run.release_id in release_ids},
        )
        return made(dossier, form)

    def dossier_totals(self, dataset_id: str, release_ids: Sequence[str]) -> list[Total]:
        """What a dossier of these releases says about their cost, and about all that was spent.

        Raises
        ------
        NotFoundError
            If there is no such data set or release.
        """
        dataset = self._visible(dataset_id)
        chosen = [self.release(release_id) for release_id in release_ids]
        every = weakest(self._everybodys(dataset.id))
        return totals(chosen, self._ledger.balance(dataset.id), every)

    def draft(self, dataset_id: str) -> SavedDraft | None:
        """What the caller has written and chosen for a report on a data set, if anything.

        Raises
        ------
        RequestError
            If what was kept can no longer be read.
        """
        return read_draft(self._engine, self._visible(dataset_id).id, self._user.name)

    def save_draft(self, dataset_id: str, draft: Draft | None) -> None:
        """Keep the caller's draft of a report in place of the last; ``None`` throws it away.

        Raises
        ------
        RequestError
            If too many releases are chosen.
        """
        write_draft(self._engine, self._visible(dataset_id).id, self._user.name, draft)

    def _own(self, release_id: str) -> Release:
        """A release of the caller's: who may only read it may not change what stands beside it."""
        found = self.release(release_id)
        sharing = self._released.sharing({found.dataset_id}, reader=self._reader())
        if sharing[found.id].owner != self._user.name:
            raise NotFoundError("This result is somebody else's: you may read it, not change it.")
        return found

    def _everybodys(self, dataset_id: str) -> list[Release]:
        """Releases of all: only to tell what kind of guarantee holds for the whole account."""
        return self._released.releases(self._people(dataset_id), reader=None)
