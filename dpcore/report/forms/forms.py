"""The forms in which a dossier is handed on. Making any of them is free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from dpcore.errors import RequestError
from dpcore.released.blocks import Paragraph
from dpcore.report.document import Document, Section
from dpcore.report.dossier import Dossier
from dpcore.report.forms.markdown import zipped

#: What the extra ``app`` brings.
_OPTIONAL: Final = frozenset({"docx", "matplotlib", "typst"})


@dataclass(frozen=True)
class Form:
    """A form of a dossier."""

    title: str
    lead: str
    """``title``, ``lead``: what it is called, and what it is for."""
    ending: str
    """Of the name of its file, with a dot."""
    mime: str
    """Its type."""
    writer: str
    """Module of this package and its function that writes it, loaded when the form is wanted: most need a library."""
    part: str = ""
    """Document of a dossier that the function takes; empty for the dossier itself."""

    def written(self, content: Any) -> bytes:
        """What the function makes of a dossier or a document."""
        module, _, name = self.writer.partition(".")
        made: str | bytes = getattr(import_module(f"dpcore.report.forms.{module}"), name)(content)
        return made.encode() if isinstance(made, str) else made

    def file_name(self, dataset: str) -> str:
        """Name of a file about a data set; the registry wants small letters, digits and underscores."""
        if self.ending == ".yaml":
            return re.sub(r"[^a-z0-9]+", "_", f"{dataset} dossier".lower()).strip("_") + self.ending
        return f"frostglass-dossier-{dataset}{self.ending}"


def made(dossier: Dossier, form: str) -> bytes:
    """A dossier in a form.

    Raises
    ------
    RequestError
        If there is no such form, if a result without a guarantee is to be registered, or if what makes the form is not
        installed.
    """
    if form not in FORMS:
        raise RequestError(f"A dossier has one of the forms {', '.join(FORMS)}.")
    part = FORMS[form].part
    try:
        return FORMS[form].written(getattr(dossier, part) if part else dossier)
    except ModuleNotFoundError as missing:
        if missing.name not in _OPTIONAL:
            raise
        raise RequestError(
            f"This form of a dossier needs the package {missing.name}: install Frostglass with its extra 'app'. "
            "The web page (html) and the registry entry (yaml) need nothing."
        ) from None


def instead(form: str, sentence: str) -> bytes:
    """A file of a form that says only why the one that was asked for could not be made."""
    title = "This file could not be made"
    document = Document(title, {}, (Section("Why", (Paragraph(sentence),)),))
    if form == "yaml":
        return f"# {title}. {sentence}\n".encode()
    if form in {"md", "zip"}:
        return zipped({"why.txt": f"{title}. {sentence}\n".encode()})
    return FORMS[form].written(document)


_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_REGISTRY, _ALL = "for the public registry of differential privacy deployments", "Everything, for output checking"
_CHECKED = "all forms and results, with checksums and the guarantee of each (results.json)"
_DRAWN = "with the figures as SVG and PNG"
#: By the ending by which people ask for them.
FORMS: Final[Mapping[str, Form]] = {
    "pdf": Form("PDF", "to print and to attach", ".pdf", "application/pdf", "pdf.dossier_pdf", "brief"),
    "docx": Form("Word", "to edit, or to put into another document", ".docx", _DOCX, "word.dossier_word", "brief"),
    "html": Form(
        "Web page", "every number and the whole certificates", ".html", "text/html", "page.dossier_page", "whole"
    ),
    "md": Form("Markdown", _DRAWN, "-markdown.zip", "application/zip", "markdown.dossier_folder", "brief"),
    "yaml": Form("Registry entry", _REGISTRY, ".yaml", "application/yaml", "registry.registry_yaml"),
    "zip": Form(_ALL, _CHECKED, ".zip", "application/zip", "checking.dossier_package"),
}
