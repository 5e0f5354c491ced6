"""The command line: the same service as the application, without a browser."""

from __future__ import annotations

from dpcore.commands import data, fit, installation, report, results, schema
from dpcore.commands.shell import OneLineErrors, make_group

app = make_group(
    "Differentially private, interpretable models of a table.\n\n"
    "A custodian describes a data set publicly (schema) and stores it with a budget (data add); "
    "an analyst spends parts of the budget on models (fit) and reads them (release). All state "
    "lives in the folder FROSTGLASS_HOME; FROSTGLASS_DATABASE_URL puts the ledger elsewhere.\n\n"
    "To begin: 'demo', then 'fit rule-list stroke --target stroke_within_year --epsilon 0.5'."
)
app.add_typer(schema.app, name="schema")
app.add_typer(data.app, name="data")
app.add_typer(fit.app, name="fit")
app.add_typer(results.releases, name="release")
app.add_typer(results.ledger, name="ledger")
app.add_typer(installation.app, name="installation")
app.command("report")(report.report)
app.command("demo")(data.demo)
app.command("calibrate")(installation.calibrate)
app.command("audit")(results.audit)

__all__ = ["OneLineErrors", "app"]
