"""The forms in which a dossier is handed on. Making any of them is free."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from dpcore.errors import RequestError
from dpcore.report.document import Document, Section
from dpcore.report.dossier import Dossier

_TIME: Final = (1980, 1, 1, 0, 0, 0)
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
    make: Callable[[Dossier], bytes]

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
    try:
        return FORMS[form].make(dossier)
    except ModuleNotFoundError as missing:
        if missing.name not in _OPTIONAL:
            raise
        raise RequestError(
            f"This form of a dossier needs the package {missing.name}: install Frostglass with its extra 'app'. "
            "The web page (html) and the registry entry (yaml) need nothing."
        ) from None


def _pdf(dossier: Dossier) -> bytes:
    from dpcore.report.forms.pdf import dossier_pdf

    return dossier_pdf(dossier.brief)


def _word(dossier: Dossier) -> bytes:
    from dpcore.report.forms.word import dossier_word

    return dossier_word(dossier.brief)


def _page(dossier: Dossier) -> bytes:
    from dpcore.report.forms.page import dossier_page

    return dossier_page(dossier.whole).encode()


def _markdown(dossier: Dossier) -> bytes:
    from dpcore.report.forms.markdown import dossier_markdown

    document = dossier.brief
    told = dossier_markdown(document, folder="figures/").encode()
    drawn = {f"figures/{name}": content for name, content in _figures(document).items()}
    return zipped({"dossier.md": told, **drawn})


def _registry(dossier: Dossier) -> bytes:
    from dpcore.report.forms.registry import registry_yaml

    return registry_yaml(dossier).encode()


def _package(dossier: Dossier) -> bytes:
    """Everything, flat, with what output checkers read."""
    from dpcore.report.forms.checking import sidecar
    from dpcore.report.forms.markdown import dossier_markdown

    document = dossier.brief
    files = {
        "dossier.pdf": _pdf(dossier),
        "dossier.docx": _word(dossier),
        "dossier.html": _page(dossier),
        "dossier.md": dossier_markdown(document).encode(),
        **({} if dossier.problems else {"registry.yaml": _registry(dossier)}),
    }
    belongs: dict[str, int] = {}
    for place, release in enumerate(dossier.releases, 1):
        name = f"result-{place}.json"
        files[name], belongs[name] = release.to_json().encode(), place
    drawn = _figures(document)
    belongs |= {name: int(name.split("-")[1]) for name in drawn}
    files |= drawn
    return zipped({**files, **sidecar(dossier, files, belongs)})


def _figures(document: Document) -> dict[str, bytes]:
    """Every figure twice: to be scaled (SVG), and to be put anywhere (PNG at 200 dots per inch)."""
    from dpcore.plots.figures import alt, on_paper

    found: dict[str, bytes] = {}
    for figure in document.figures:
        canvas, _ = on_paper(figure)
        found[f"{figure.name}.svg"] = canvas.svg(figure.title, alt(figure)).encode()
        found[f"{figure.name}.png"] = canvas.png()
    return found


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files in one archive, which is the same whenever it is made."""
    told = io.BytesIO()
    with zipfile.ZipFile(told, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    return told.getvalue()


def instead(form: str, sentence: str) -> bytes:
    """A file of a form that says only why the one that was asked for could not be made."""
    from dpcore.released.blocks import Paragraph
    from dpcore.report.forms.page import dossier_page
    from dpcore.report.forms.pdf import dossier_pdf
    from dpcore.report.forms.word import dossier_word

    title = "This file could not be made"
    document = Document(title, {}, (Section("Why", (Paragraph(sentence),)),))
    if form == "yaml":
        return f"# {title}. {sentence}\n".encode()
    if form in {"md", "zip"}:
        return zipped({"why.txt": f"{title}. {sentence}\n".encode()})
    if form == "html":
        return dossier_page(document).encode()
    return dossier_pdf(document) if form == "pdf" else dossier_word(document)


_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
#: By the ending by which people ask for them.
FORMS: Final[Mapping[str, Form]] = {
    "pdf": Form("PDF", "to print and to attach", ".pdf", "application/pdf", _pdf),
    "docx": Form("Word", "to edit, or to put into another document", ".docx", _DOCX, _word),
    "html": Form("Web page", "every number and the whole certificates", ".html", "text/html", _page),
    "md": Form("Markdown", "with the figures as SVG and PNG", "-markdown.zip", "application/zip", _markdown),
    "yaml": Form(
        "Registry entry",
        "for the public registry of differential privacy deployments",
        ".yaml",
        "application/yaml",
        _registry,
    ),
    "zip": Form(
        "Everything, for output checking",
        "all forms and results, with checksums and the guarantee of each (results.json)",
        ".zip",
        "application/zip",
        _package,
    ),
}
