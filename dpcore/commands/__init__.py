"""The command line: the same service as the application, without a browser."""

from __future__ import annotations

from dpcore.commands.shell import OneLineErrors, make_program

app = make_program(
    "Differentially private, interpretable models of a table.\n\n"
    "A custodian describes a data set publicly (schema) and stores it with a budget (data add); "
    "an analyst spends parts of the budget on models (fit) and reads them (release). All state "
    "lives in the folder FROSTGLASS_HOME; FROSTGLASS_DATABASE_URL puts the ledger elsewhere.\n\n"
    "To begin: 'demo', then 'fit rule-list stroke --target stroke_within_year --epsilon 0.5'.",
    {
        "report": "dpcore.commands.report:report",
        "demo": "dpcore.commands.data:demo",
        "calibrate": "dpcore.commands.installation:calibrate",
        "audit": "dpcore.commands.audit:audit",
        "schema": "dpcore.commands.schema:app",
        "data": "dpcore.commands.data:app",
        "fit": "dpcore.commands.fit:app",
        "release": "dpcore.commands.results:releases",
        "ledger": "dpcore.commands.results:ledger",
        "installation": "dpcore.commands.installation:app",
    },
)

__all__ = ["OneLineErrors", "app"]
