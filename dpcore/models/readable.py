"""Releases in the words of people, and all that is said of them. Free, as it is post-processing."""

from __future__ import annotations

from dpcore.domain.schemas.labels import Labels, called, has_labels
from dpcore.models.released import family_of, parse_model
from dpcore.released.blocks import Block, Bullets, Groups, Table
from dpcore.released.quality import quality_table, verdict
from dpcore.released.release import Release

#: Sentences that are printed of one result; on one page, and rows of each table there.
_MOST_SENTENCES, _FEW_SENTENCES, _FEW_ROWS = 60, 4, 10


def readable(release: Release) -> Release:
    """The same release with labels for columns and categories, to be shown; never to be stored.

    Its schema is not the one that its certificate names, but stands for the same cells.
    """
    if release.stored is not release or not has_labels(release.domain):
        return release
    labels = Labels(release.domain)
    content = _relabelled(release.model, labels, release.target)
    model = family_of(release).model.model_validate(content)
    if hasattr(model, "worded"):
        model = model.worded(labels.schema)
    return release.reworded(
        domain=labels.schema, target=labels.column(release.target), model=model.model_dump(mode="json")
    )


def blocks_of(release: Release, *, short: bool = False) -> tuple[Block, ...]:
    """Everything that is said of a release, and its quality on people set aside, whatever the form.

    Parameters
    ----------
    short : bool
        What fits on a page: the verdict, a few sentences, the main figures and the most important rows of tables.
    """
    release = readable(release)
    model = parse_model(release)
    found = [_cut(block, short=short) for block in family_of(release).read(release, model, short)]
    checked = getattr(model, "evaluation", None)
    if checked is None:
        return tuple(found)
    told = verdict(checked, called(release.domain, release.target), getattr(model, "classes", ()))
    return (told, *found, quality_table(checked))


def _cut(block: Block, *, short: bool) -> Block:
    """A block with no more sentences, and in short no more rows, than anybody reads."""
    if isinstance(block, Bullets):
        return block.cut(_FEW_SENTENCES if short else _MOST_SENTENCES)
    return block.cut(_FEW_ROWS) if short and isinstance(block, Table | Groups) else block


def heading(release: Release) -> str:
    """What a result is called if nobody has named it."""
    title, target = family_of(release).title, called(release.domain, release.target)
    return f"{title} for {target}" if target else title


def _relabelled(content: object, labels: Labels, target: str) -> object:
    """A model whose columns and classes are called by their labels."""
    if isinstance(content, list):
        return [_relabelled(item, labels, target) for item in content]
    if not isinstance(content, dict):
        return content
    told = {name: _relabelled(value, labels, target) for name, value in content.items()}
    if told.get("column"):
        told["column"] = labels.column(content["column"], content.get("table", ""))
    if isinstance(told.get("alike"), str):  # Of a clause: a column whose value two rows share.
        told["alike"] = labels.column(content["alike"], content["table"])
    for name in ("left_columns", "right_columns"):
        if name in told:
            told[name] = [labels.column(column) for column in content[name]]
    if told.get("classes"):
        told["classes"] = [labels.cell(target, each) for each in content["classes"]]
    return told
