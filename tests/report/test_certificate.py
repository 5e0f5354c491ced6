"""Certificates of records that are about pairs say what their promise leaves out."""

from __future__ import annotations

import pytest

from dpcore.domain.schemas.protected import shared_things
from dpcore.report.certificate import certificate_lines
from tests.support.results import reports


@pytest.mark.parametrize("entity", ["person", "pair"])
def test_what_is_not_protected_stands_beside_what_is(entity: str) -> None:
    release = reports.release("tree")
    domain = release.domain.model_copy(update={"entity": entity})
    lines = certificate_lines(release.model_copy(update={"domain": domain}))
    assert lines.get("Who is not", "") == shared_things(domain)
    assert ("Who is not" in lines) == (entity == "pair")
