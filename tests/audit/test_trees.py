"""Whole fits of trees, as black boxes."""

from dataclasses import replace

import pytest

from dpcore.audit.fits import adaptive_tree_audit, lookahead_tree_audit


@pytest.mark.slow
def test_audit_of_whole_fits_of_an_exact_tree():
    """One control here; all of them in the suite's long form, see ``tests/audit/test_suite.py``.

    Its draws are replayed in the short form, with mutants, see ``tests/audit/test_replay.py``.
    """
    audit = lookahead_tree_audit()
    name = "block drawn with 8 times the weight"
    assert set(audit.controls) == {"budget spent 8 times", "contribution bound removed", name}
    result = replace(audit, controls={name: audit.controls[name]}).run(6000)
    assert result.holds, result
    assert result.caught, result


@pytest.mark.slow
def test_audit_of_whole_fits_of_an_adaptive_tree():
    """Its budget is replayed in the short form, with mutants, see ``tests/audit/test_replay.py``."""
    audit, name = adaptive_tree_audit(), "budget spent 8 times"
    assert set(audit.controls) == {name, "contribution bound removed"}
    result = replace(audit, controls={name: audit.controls[name]}).run(3000)
    assert result.holds, result
    assert result.caught, result
