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
        "report": ("dpcore.commands.results:report", "Put releases of a data set together into one file, to hand on."),
        "demo": ("dpcore.commands.data:demo", "Prepare the public demonstration data sets."),
        "calibrate": ("dpcore.commands.operation.installation:calibrate", "Measure again what this machine can do."),
        "audit": ("dpcore.commands.operation.audit:audit", "Attack the guarantees on this machine."),
        "schema": ("dpcore.commands.files.schema:app", "Write and check the public description of a data set."),
        "data": ("dpcore.commands.data:app", "Store data sets, list and verify them, adopt and remove records."),
        "fit": ("dpcore.commands.fit:app", "Spend part of a budget on a private model."),
        "release": ("dpcore.commands.results:releases", "Read what has been released; costs nothing."),
        "ledger": (
            "dpcore.commands.ledger:ledger",
            "See what has been spent and by whom; decide who may spend how much.",
        ),
        "installation": (
            "dpcore.commands.operation.installation:app",
            "See whether home folder and database belong together; go on after a disaster.",
        ),
    },
)

__all__ = ["OneLineErrors", "app"]
