"""The command line: the same service as the application, without a browser."""

from __future__ import annotations

from dpcore.commands.groups import make_program


def _of(module: str, *names: str) -> dict[str, str]:
    """Where commands are whose functions are called as they are."""
    return {name: f"{module}.{name}" for name in names}


app = make_program(
    "Differentially private, interpretable models of a table.\n\n"
    "A custodian describes a data set publicly (schema) and stores it with a budget (data add); "
    "an analyst spends parts of the budget on models (fit) and reads them (release). All state "
    "lives in the folder FROSTGLASS_HOME; FROSTGLASS_DATABASE_URL puts the ledger elsewhere.\n\n"
    "To begin: 'demo', then 'fit rule-list stroke --target stroke_within_year --epsilon 0.5'.",
    {
        **_of("results", "report"),
        **_of("data", "demo"),
        **_of("operation.machine", "calibrate"),
        **_of("operation.audit", "audit"),
        "schema": (
            "Write and check the public description of a data set.",
            _of("files.drafting", "init", "template") | _of("files.schema", "export", "check"),
        ),
        "data": (
            "Store data sets, list and verify them, adopt and remove records.",
            _of("files.storing", "add", "append", "check")
            | _of("files.served", "source")
            | {"list": "data.list_datasets"}
            | _of("data", "orphans", "verify", "adopt", "remove", "rename", "describe", "chains", "retire"),
        ),
        "fit": ("Spend part of a budget on a private model.", "fit.app"),
        "release": (
            "Read what has been released; costs nothing.",
            {"list": "results.list_releases"}
            | _of("readings", "show", "redescriptions", "synthesize", "ask")
            | _of("results", "note")
            | {"html": "results.release_page"},
        ),
        "ledger": (
            "See what has been spent and by whom; decide who may spend how much.",
            _of("ledger", "show", "charge", "caps", "stranded", "end", "accounts")
            | _of("ledger", "grant", "freeze", "thaw", "requests", "answer", "log"),
        ),
        "installation": (
            "See whether home folder and database belong together; go on after a disaster.",
            _of("operation.installation", "show")
            | _of("operation.machine", "cluster")
            | _of("operation.recovery", "accept"),
        ),
    },
)
