"""The command line: the same service as the application, without a browser."""

from __future__ import annotations

from dpcore.commands.groups import make_program

app = make_program(
    "Differentially private, interpretable models of a table.\n\n"
    "A custodian describes a data set publicly (schema) and stores it with a budget (data add); "
    "an analyst spends parts of the budget on models (fit) and reads them (release). All state "
    "lives in the folder FROSTGLASS_HOME; FROSTGLASS_DATABASE_URL puts the ledger elsewhere.\n\n"
    "To begin: 'demo', then 'fit rule-list stroke --target stroke_within_year --epsilon 0.5'.",
    {
        "report": "results.report",
        "demo": "data.demo",
        "calibrate": "operation.machine.calibrate",
        "audit": "operation.audit.audit",
        "schema": (
            "Write and check the public description of a data set.",
            {
                "init": "files.drafting.init",
                "template": "files.drafting.template",
                "export": "files.schema.export",
                "check": "files.schema.check",
            },
        ),
        "data": (
            "Store data sets, list and verify them, adopt and remove records.",
            {
                "add": "files.storing.add",
                "append": "files.storing.append",
                "source": "files.served.source",
                "check": "files.storing.check",
                "list": "data.list_datasets",
                "orphans": "data.orphans",
                "verify": "data.verify",
                "adopt": "data.adopt",
                "remove": "data.remove",
                "rename": "data.rename",
                "describe": "data.describe",
                "chains": "data.chains",
                "retire": "data.retire",
            },
        ),
        "fit": ("Spend part of a budget on a private model.", "fit.app"),
        "release": (
            "Read what has been released; costs nothing.",
            {
                "list": "results.list_releases",
                "show": "readings.show_release",
                "redescriptions": "readings.redescriptions",
                "note": "results.note",
                "html": "results.release_page",
                "synthesize": "readings.synthesize",
                "ask": "readings.ask",
            },
        ),
        "ledger": (
            "See what has been spent and by whom; decide who may spend how much.",
            {
                "show": "ledger.show_ledger",
                "charge": "ledger.charge",
                "caps": "ledger.caps",
                "stranded": "ledger.stranded",
                "end": "ledger.end",
                "accounts": "ledger.accounts",
                "grant": "ledger.grant",
                "freeze": "ledger.freeze",
                "thaw": "ledger.thaw",
                "requests": "ledger.requests",
                "answer": "ledger.answer",
                "log": "ledger.log",
            },
        ),
        "installation": (
            "See whether home folder and database belong together; go on after a disaster.",
            {
                "show": "operation.installation.show",
                "cluster": "operation.machine.cluster",
                "accept": "operation.recovery.accept",
            },
        ),
    },
)
