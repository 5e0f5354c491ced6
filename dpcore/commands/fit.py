"""Commands that spend part of a budget on a private model."""

from __future__ import annotations

from dpcore.commands.fit_ebm import ebm
from dpcore.commands.fit_ilp import ilp
from dpcore.commands.fit_redescriptions import redescriptions
from dpcore.commands.fit_rule_list import rule_list
from dpcore.commands.fit_tree import forest, tree
from dpcore.commands.shell import make_group

app = make_group("Spend part of a budget on a private model.")
app.command("rule-list")(rule_list)
app.command("tree")(tree)
app.command("forest")(forest)
app.command("ebm")(ebm)
app.command("redescriptions")(redescriptions)
app.command("ilp")(ilp)
