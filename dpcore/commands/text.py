"""Releases, data sets and budgets as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from dpcore.audit.replay.run import Summary
from dpcore.audit.suite import AuditResult
from dpcore.commands.text_ilp import theory_rows
from dpcore.commands.text_redescriptions import redescriptions_text
from dpcore.domain.origins import words_of
from dpcore.models.ebm.released.model import EBMModel
from dpcore.models.ebm.released.words import EBMWords
from dpcore.models.ilp.released.model import ILPModel
from dpcore.models.redescriptions.released.model import RedescriptionModel
from dpcore.models.released import parse_model
from dpcore.models.rules.released.model import RuleListModel
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.privacy.budgets import delta_sentence, format_epsilon
from dpcore.released.evaluation import Evaluation, Figure
from dpcore.released.noisy_counts import percent
from dpcore.released.plan import guaranteed_odds
from dpcore.released.regression_evaluation import RegressionEvaluation
from dpcore.released.release import Certificate, Release
from dpcore.report.timing import time_sentence
from dpcore.workspace.requests import Balance, Quote


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to equal width, two spaces between them."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    padded = ("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def release_text(release: Release) -> str:
    """A release for reading: title, model, its quality and its certificate."""
    model = parse_model(release)
    write = _WRITERS[release.kind]
    title, body = write(release, model)
    what = f"{title} for '{release.target}'" if release.target else title
    parts = [
        f"{what} on '{release.dataset_name}'  (release {release.id})",
        body,
        f"Counts are noisy: within ±{model.count_margin} of the truth with 95% confidence, and "
        "so may be negative. Ranges in brackets show the noise alone.",
    ]
    if release.target and model.evaluation is not None:
        parts.append(_evaluation(model.evaluation))
    return "\n\n".join([*parts, certificate_text(release.certificate)])


def _rule_list(_: Release, model: RuleListModel) -> tuple[str, str]:
    return "Rule list", _rules(model)


def _tree(release: Release, model: TreeModel) -> tuple[str, str]:
    """One line per node, indented by depth; what pruning folded is left out."""
    shown = {position for final in model.finals for position in model.path(final)}
    head = ["group", "predicted", "noisy counts", "noisy share of the prediction"]
    head[2] += f" ({', '.join(model.classes)})"
    lines = [position for position in _outline(model, 0) if position in shown]
    rows = []
    for position in lines:
        node = model.nodes[position]
        low, high = node.intervals[node.label]
        share = f"{percent(node.estimates[node.label])} ({percent(low)} to {percent(high)})"
        rows.append(
            [
                "  " * model.depth(position) + node.text,
                f"{release.target} = {model.classes[node.label]}" if node.final else "",
                ", ".join(str(count) for count in node.noisy_counts),
                share if node.final else "",
            ]
        )
    return "Tree", text_table(head, rows)


def _outline(model: TreeModel, position: int) -> list[int]:
    """Nodes below one, each before its children."""
    below = (_outline(model, child) for child in model.nodes[position].children)
    return [position, *(deeper for branch in below for deeper in branch)]


def _forest(release: Release, model: ForestModel) -> tuple[str, str]:
    use = [[name, f"{share:.0%}"] for name, share in model.attribute_use().items()]
    table = text_table(["column", "share of the splits"], use)
    return "Forest", "\n\n".join(["\n".join(model.reading(release.target)), table])


def _ebm(release: Release, model: EBMModel) -> tuple[str, str]:
    """One line per term, the most important first, then what the shapes say."""
    words = EBMWords(model, release.domain, release.target)
    rows = [
        [
            term.name,
            words.amount(term.importance).lstrip("+"),
            words.amount(term.noise_size).lstrip("+"),
            "" if term.clear else "within the noise",
        ]
        for term in model.ranked()
    ]
    table = text_table(["column", "adds or takes on average", "noise alone", ""], rows)
    return "Shape functions", "\n\n".join([table, "\n".join(words.reading())])


def _redescriptions(release: Release, model: RedescriptionModel) -> tuple[str, str]:
    """The best redescriptions under the usual constraints; others are free to try."""
    return "Redescriptions", redescriptions_text(model.extract(release.domain))


def _ilp(release: Release, model: ILPModel) -> tuple[str, str]:
    """The theory in Prolog, one line per group of people, and the same in words."""
    program = model.prolog(release.domain, release.target)
    words = "\n".join(model.reading(release.domain, release.target))
    return "Relational rules", "\n\n".join([program, text_table(*theory_rows(model)), words])


_WRITERS: dict[str, Callable[[Release, Any], tuple[str, str]]] = {
    "rule_list": _rule_list,
    "tree": _tree,
    "forest": _forest,
    "ebm": _ebm,
    "redescriptions": _redescriptions,
    "ilp": _ilp,
}


def _rules(model: RuleListModel) -> str:
    shown = range(len(model.classes)) if len(model.classes) > 2 else [1]
    head = ["", "condition"]
    head += [f"noisy {model.classes[code]}" for code in shown]
    head += [f"noisy counts ({', '.join(model.classes)})"]
    rows = []
    for position, rule in enumerate(model.rules):
        word = "IF" if position == 0 else "ELSE IF"
        row = [word if rule.conditions else "ELSE", rule.text]
        for code in shown:
            low, high = rule.intervals[code]
            row.append(f"{percent(rule.estimates[code])} ({percent(low)} to {percent(high)})")
        rows.append([*row, ", ".join(str(count) for count in rule.noisy_counts)])
    return text_table(head, rows)


def _evaluation(evaluation: Evaluation | RegressionEvaluation) -> str:
    named: tuple[tuple[str, Figure | None], ...]
    if isinstance(evaluation, RegressionEvaluation):
        named = (
            ("RMSE", evaluation.rmse),
            ("RMSE of one number for everyone", evaluation.constant_rmse),
        )
    else:
        named = (("accuracy", evaluation.accuracy), ("AUC", evaluation.auc))
    shown = [f"{name} {_figure(figure)}" for name, figure in named if figure is not None]
    listed = ", ".join(shown) or "noise drowns the counts: no figure can be given"
    return f"On people held out of the fit: {listed}."


def _figure(figure: Figure) -> str:
    return (
        f"{figure.value:.3f} (noise ±{figure.noise_margin:.3f}, "
        f"sampling ±{figure.sampling_margin:.3f})"
    )


def certificate_text(certificate: Certificate) -> str:
    """What a release promises, line by line."""
    split = ", ".join(
        f"{step} {format_epsilon(part)}" for step, part in certificate.budget_split.items()
    )
    delta = f", delta = {certificate.delta:f}" if certificate.delta else ""
    protects = "protects" if certificate.private else "would protect"
    lines = [
        *_not_private(certificate.problems),
        f"epsilon = {format_epsilon(certificate.epsilon)}{delta} ({split})",
        f"{protects} {certificate.privacy_unit}: {certificate.neighboring_relation}; "
        f"at most {certificate.max_rows_per_person} rows each, {certificate.max_rows} in all",
        f"guarantee: {certificate.guarantee}; sampler: {certificate.sampler}; "
        f"randomness: {certificate.randomness}",
        f"bounds and categories: {words_of(certificate.origins)}",
        f"time that the run took: {time_sentence(certificate)}",
        guaranteed_odds(certificate.epsilon, certificate.delta, certificate.guarantee),
    ]
    if certificate.delta and certificate.private:
        lines.append(delta_sentence(certificate.delta))
    if certificate.composition:
        lines.append(certificate.composition)
    return "Certificate\n" + "\n".join(f"  {line}" for line in lines)


def _not_private(problems: Sequence[str]) -> list[str]:
    return [f"NOT PRIVATE: {' '.join(problems)}"] if problems else []


def quote_text(quote: Quote) -> str:
    """What a run would cost and promise."""
    margin = quote.plan.count_margin()
    delta = f" and delta = {quote.plan.delta:f}" if quote.plan.delta else ""
    lines = [
        f"This run would cost epsilon = {format_epsilon(quote.cost)}{delta}; nothing has been "
        "spent.",
        f"Left now {_left(quote.balance_before.left)}, afterwards {_left(quote.left_after)} "
        f"(then {quote.runs_like_this_left} more runs like this one).",
        f"Noise on each printed count: ±{margin} with 95% confidence.",
        quote.guarantee,
        quote.odds,
        *([delta_sentence(quote.plan.delta)] if delta and quote.plan.promised != "none" else []),
    ]
    return "\n".join([*lines, quote.refusal] if quote.refusal else lines)


def balance_text(balance: Balance) -> str:
    """A budget in one line: costs rounded up, what is left rounded down."""
    cap, spent = _left(balance.cap), format_epsilon(balance.spent)
    reserved = f", reserved {format_epsilon(balance.reserved)}" if balance.reserved else ""
    most = f", at most {_left(balance.run_cap)} per run" if balance.run_cap is not None else ""
    return f"budget {cap}, spent {spent}{reserved}, left {_left(balance.left)}{most}"


def audit_text(results: Sequence[AuditResult]) -> str:
    """What each audit claims, proves and catches."""
    rows = [
        [
            result.name,
            f"{result.epsilon:.3g}" + (f", delta {result.delta:.1g}" if result.delta else ""),
            f"{result.lower_bound:.3f}",
            ", ".join(f"{broken} {bound:.3f}" for broken, bound in result.controls.items()),
            "passed" if result.passed else "FAILED",
        ]
        for result in results
    ]
    head = ["mechanism", "claims epsilon", "proved at least", "broken versions (must exceed)", ""]
    return text_table(head, rows)


def replay_text(results: Sequence[Summary]) -> str:
    """For each method how much of its certificate was reached, and every violation."""
    rows = [
        [
            result.method.family,
            result.method.name,
            str(result.configurations),
            f"{result.attained:.3f}",
            f"{result.evaluated:.3f}" if result.evaluated else "",
            str(len(result.violations)),
        ]
        for result in results
    ]
    head = ["family", "method", "replays", "share of epsilon", "of people set aside", "violations"]
    broken = [f"{own.method.name}, {text}" for own in results for text in own.violations]
    return "\n".join([text_table(head, rows), *broken])


def _left(amount: Decimal) -> str:
    return format_epsilon(amount, up=False)
