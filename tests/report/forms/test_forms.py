"""Dossiers in every form: each says the same, is safe to open, and carries its guarantee."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import docx
import plotly.graph_objects as go
import pytest
import yaml
from markdown_it import MarkdownIt
from pydantic import ValidationError

from dpcore.domain.schemas.protected import protected_thing, shared_things
from dpcore.domain.schemas.schema import PrivacyUnit
from dpcore.errors import RequestError
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.plots.figures import alt
from dpcore.plots.printed.figure import printed
from dpcore.plots.style import WIDTH
from dpcore.privacy.budgets import format_epsilon, plain_epsilon
from dpcore.released.blocks import Bullets, Facts, Figure, Paragraph, Table
from dpcore.released.release import make_release
from dpcore.report.document import Document, Section
from dpcore.report.dossier import Dossier
from dpcore.report.forms import pdf
from dpcore.report.forms.checking import RESULTS, sidecar
from dpcore.report.forms.forms import FORMS, instead, made
from dpcore.report.forms.markdown import escaped
from dpcore.report.forms.pdf import dossier_pdf
from dpcore.report.forms.registry import registry_form, registry_yaml
from dpcore.report.forms.registry_form import RegistryForm
from dpcore.service import Service
from dpcore.workspace.files.descriptions import ReleaseNote
from dpcore.workspace.results.dossier import Application
from tests.support.results import reports
from tests.support.rows import for_each
from tests.support.workspaces.fake_learner import small_frame, small_schema

CHOSEN = ("rule list", "tree of three classes", "shapes", "first look")


@cache
def hostile() -> Dossier:
    """Four results without a guarantee, among names and words that try to break out."""
    chosen = [reports.release(case) for case in CHOSEN]
    notes = {release.id: reports.note(release) for release in chosen}
    return Dossier(reports.dataset(), chosen, notes, reports.balance("20"), reports.WRITTEN)


@cache
def file(form: str) -> bytes:
    return made(hostile(), form)


def short() -> Document:
    return hostile().brief


def said(document: Document) -> Iterator[str]:
    """Every text of a document, in pieces."""
    for section in document.sections:
        yield section.title
        for block in section.blocks:
            match block:
                case Paragraph(words, lead):
                    yield from (part for part in (lead, words) if part)
                case Bullets(entries):
                    yield from (part for entry in entries for part in entry if part)
                case Facts(values):
                    yield from values.values()
                case Table(head=head):
                    yield from (cell for row in (head, *block.texts) for cell in row if cell)


def inside(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def letters(words: str) -> str:
    return "".join(words.split())


# PDF


def objects(pdf: bytes) -> bytes:
    """Everything in a PDF, its compressed parts too."""
    found = [pdf]
    for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            found.append(zlib.decompress(part))
        except zlib.error:
            continue
    return b"\n".join(found)


def test_a_pdf_is_tagged_and_archival() -> None:
    told = objects(file("pdf"))
    for mark in (b"/StructTreeRoot", b"/Lang", b"pdfuaid:part>1<", b"pdfaid:part>2<", b"/TH", b"/H1", b"/H2"):
        assert mark in told, mark
    assert told.count(b"/Alt") >= len(short().figures)
    for active in (b"/JavaScript", b"/JS", b"/Launch", b"/URI", b"/OpenAction", b"/EmbeddedFile"):
        assert active not in told, active


def test_a_pdf_of_four_results_has_few_pages() -> None:
    told = objects(file("pdf"))
    # Names as long as these take more room than those of any hospital.
    assert 4 <= len(re.findall(rb"/Type ?/Page\b(?!s)", told)) <= 7


def test_what_is_written_is_never_markup() -> None:
    """Typst would compute it, show it in bold, or read a file."""
    words = '#panic("x") *bold* $x^2$ #include "/etc/passwd" ]{ \\ // <label> @ref'
    application = Application(title=words, findings=words, hypotheses=words)
    chosen = [reports.release("rule list")]
    made(Dossier(reports.dataset(), chosen, {}, reports.balance(), application), "pdf")


#: A mark of byte order, and signs that mean something in one font alone, as those of lists pasted from Word.
PASTED = "a\ufeffb \ue000 \uf0b7 \U000f0000 \ufffe"


@pytest.mark.filterwarnings("ignore:Glyph")
def test_what_was_pasted_stands_in_a_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = go.Figure(go.Bar(x=[PASTED], y=[1]), {"title": {"text": PASTED}})
    blocks = (
        Paragraph(PASTED, lead=PASTED),
        Bullets.of(PASTED),
        Table.pairs(PASTED, {PASTED: PASTED}),
        Figure("pasted", PASTED, ()),
    )
    monkeypatch.setattr(pdf, "alt", lambda _: PASTED)
    monkeypatch.setattr(pdf, "on_paper", lambda _: (printed(drawn, WIDTH), 1.0))
    told = objects(dossier_pdf(Document(PASTED, {PASTED: PASTED}, (Section(PASTED, blocks),))))
    assert b"/Alt" in told


def test_a_pasted_sign_stops_no_form() -> None:
    release = reports.release("rule list")
    note = ReleaseNote(release.id, PASTED, PASTED, "ann", reports.NOTE_TIME)
    application = Application(title=PASTED, findings=PASTED)
    assert made(Dossier(reports.dataset(), [release], {release.id: note}, reports.balance(), application), "zip")


def test_what_the_typesetter_refuses_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.report.forms.pdf._archival", str)
    with pytest.raises(RequestError, match="cannot be made as a PDF"):
        dossier_pdf(Document("secret \ue000", {}, (Section("Why", (Paragraph("x"),)),)))


# Word


def test_word_has_the_headings_the_tables_and_the_figures() -> None:
    word, document = docx.Document(io.BytesIO(file("docx"))), short()
    headings = [p.text for p in word.paragraphs if p.style.name == "Heading 1"]
    assert headings == [section.title for section in document.sections]
    grids = [block for section in document.sections for block in section.blocks if isinstance(block, Table)]
    assert len(word.tables) == len(grids)
    for table, grid in zip(word.tables, grids, strict=True):
        told = [tuple(cell.text for cell in row.cells) for row in table.rows]
        assert told == [grid.head, *grid.texts]
        assert "tblHeader" in table.rows[0]._tr.xml
    alts = [shape._inline.docPr.get("descr") for shape in word.inline_shapes]
    assert alts == [alt(figure) for figure in document.figures]
    assert word.core_properties.title == document.title


def test_word_says_everything_and_fetches_nothing() -> None:
    parts = inside(file("docx"))
    told = letters("".join(ET.fromstring(parts["word/document.xml"]).itertext()))
    for words in said(short()):
        assert letters(words) in told, words
    for name, content in parts.items():
        if name.endswith(".rels"):
            assert b'TargetMode="External"' not in content


def test_signs_that_xml_cannot_hold_do_not_break_word() -> None:
    application = Application(title="a\x0bb\x00c", findings="x\x01y\ufffe")
    dossier = Dossier(reports.dataset(), [reports.release("forest")], {}, reports.balance(), application)
    word = docx.Document(io.BytesIO(made(dossier, "docx")))
    assert word.paragraphs[0].text == "abc"


# Markdown


def test_markdown_says_everything_and_has_no_mark_of_others() -> None:
    parts = inside(file("md"))
    document = short()
    read = MarkdownIt("commonmark").enable("table").parse(parts["dossier.md"].decode())
    every = list(read) + [child for token in read for child in token.children or []]
    assert not {token.type for token in every} & {"html_block", "html_inline", "link_open", "code_inline"}
    told = letters("".join(child.content for token in read for child in token.children or []))
    for words in said(document):
        assert letters(words) in told, words
    images = [token for token in every if token.type == "image"]
    assert [image.attrs["src"] for image in images] == [f"figures/{d.name}.svg" for d in document.figures]
    assert set(parts) - {"dossier.md"} == {
        f"figures/{d.name}.{kind}" for d in document.figures for kind in ("svg", "png")
    }
    headings = [read[place + 1].content for place, token in enumerate(read) if token.type == "heading_open"]
    assert len(headings) == 1 + len(document.sections)


@for_each("words", ["1. x", "- x", "+ x", "# x", "> x", "a | b", "`x", "![x](y)", "<b>", "~~x~~", "&amp;"])
def test_words_stay_words_in_markdown(words: str) -> None:
    [opened, inline, closed] = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(escaped(words))
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert "".join(child.content for child in inline.children or []) == words


@pytest.mark.parametrize("form", ["pdf", "docx", "html", "md"])
def test_signs_that_no_file_can_hold_break_no_form(form: str) -> None:
    application = Application(title="a\x00b \ud800", findings="\x1b[31m \u202e \ufeff x\ty")
    dossier = Dossier(reports.dataset(), [reports.release("forest")], {}, reports.balance(), application)
    assert dossier.title == "ab ?"
    assert made(dossier, form)


# Figures and what is said of them


def test_short_dossiers_are_short() -> None:
    whole, brief = (sum(map(len, said(told))) for told in (hostile().whole, hostile().brief))
    assert brief < 0.7 * whole
    drawn = [block for section in short().sections if section.result for block in section.blocks]
    assert len([block for block in drawn if isinstance(block, Figure)]) <= 2 * len(CHOSEN)
    for section in short().sections:
        if section.result:
            assert all(len(b.rows) <= 10 for b in section.blocks if isinstance(b, Table))


# Output checking


def checked(archive: bytes) -> dict[str, Any]:
    """The entries of ``results.json``, once every checksum fits and every file has its place."""
    parts = inside(archive)
    told = json.loads(parts["results.json"])
    assert set(told) == {"version", "results"}
    listed = [entry for result in told["results"].values() for entry in result["files"]]
    content = {name for name in parts if name != "results.json" and not name.startswith("checksums/")}
    assert sorted(entry["name"] for entry in listed) == sorted(content), "each file stands once"
    for entry in listed:
        assert entry["sha256"] == hashlib.sha256(parts[entry["name"]]).hexdigest()
    for name in (*content, "results.json"):
        assert parts[f"checksums/{name}.txt"].decode() == hashlib.sha256(parts[name]).hexdigest()
    found: dict[str, Any] = told["results"]
    return found


def test_what_has_no_guarantee_fails_for_output_checkers() -> None:
    results = checked(file("zip"))
    assert {result["status"] for result in results.values()} == {"fail"}
    assert "registry.yaml" not in inside(file("zip"))
    assert all(g["problems"] for result in results.values() for g in result["properties"]["guarantees"])


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str, list[str]]]:
    """Two results with a guarantee."""
    from dpcore.workspace.ledger.requests import RunRequest

    with Service(tmp_path_factory.mktemp("private"), workers=0) as service:
        info = service.add_dataset(small_frame(), small_schema(), budget=Decimal(9))
        ids = []
        for epsilon in ("0.123456789", "0.300000001"):
            chosen = {"algorithm": "tree", "target": "ill", "epsilon": Decimal(epsilon)}
            status = service.run(service.submit(RunRequest(dataset_id=info.id, **chosen), epsilon))
            assert status.release_id is not None, status.message
            ids.append(status.release_id)
        yield service, info.id, ids


WRITTEN = Application(applicant="Ann, Ward 3", request="For a study.", curator="Hospital", region="Europe")


def test_output_checkers_read_each_guarantee(private: tuple[Service, str, list[str]]) -> None:
    service, dataset, ids = private
    results = checked(service.dossier(dataset, ids, WRITTEN, "zip"))
    assert list(results) == ["result_1", "result_2", "dossier"]
    for place, number in enumerate(ids, 1):
        [told] = results[f"result_{place}"]["properties"]["guarantees"]
        card = service.release(number).certificate
        assert (Decimal(told["epsilon"]), Decimal(told["delta"]), Decimal(told["rho"])) == (
            card.epsilon,
            card.delta,
            card.rho,
        )
        assert (told["number"], told["private"], told["problems"]) == (number, True, [])
        assert results[f"result_{place}"]["status"] == "review", "a person decides"
        assert f"result-{place}.json" in {entry["name"] for entry in results[f"result_{place}"]["files"]}


def test_a_dossier_says_each_epsilon_in_one_way(private: tuple[Service, str, list[str]]) -> None:
    service, dataset, ids = private
    page = reports.read(service.dossier(dataset, ids, WRITTEN, "html").decode()).text
    markdown = inside(service.dossier(dataset, ids, WRITTEN, "md"))["dossier.md"].decode()
    amounts = [service.release(number).certificate.epsilon for number in ids]
    assert all(plain_epsilon(amount) != format_epsilon(amount) for amount in amounts)
    for told in (page, markdown.replace("\\", "")):
        for amount in amounts:
            exact, near = plain_epsilon(amount), re.escape(format_epsilon(amount))
            assert exact in told
            assert len(re.findall(near, told.replace(exact, ""))) == len(re.findall(rf"rounds it to {near}\)", told))


# The registry


def test_the_registry_entry_is_complete_and_exact(private: tuple[Service, str, list[str]]) -> None:
    service, dataset, ids = private
    told = yaml.safe_load(service.dossier(dataset, ids, WRITTEN, "yaml"))
    RegistryForm.model_validate(told)
    loss = told["deployment"]["privacy_loss"]["privacy_parameters"]
    cards = [service.release(number).certificate for number in ids]
    epsilon, delta = (Decimal(str(loss[name])) for name in ("epsilon", "delta"))
    balance = service.total_balance(dataset)
    assert epsilon <= min(sum(card.epsilon for card in cards), balance.epsilon)
    assert delta in (sum(card.delta for card in cards), balance.delta)
    basic = told["deployment"]["basic"]
    assert (basic["data_curators"], basic["data_product_region"]) == (["Hospital"], "Europe")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", basic["publication_date"])
    assert told["url_slug"].endswith(f"-hospital-{basic['publication_date'][:4]}")


def test_a_person_is_protected_where_a_column_names_them() -> None:
    stays = small_schema().model_copy(update={"entity": "stay"})
    assert protected_thing(stays) == "stay"
    named = stays.model_copy(update={"privacy_unit": PrivacyUnit(column="patient", max_rows_per_person=3)})
    assert protected_thing(named) == "person"


@pytest.mark.parametrize("entity", ["person", "interaction"])
def test_every_form_says_who_is_protected_and_who_is_not(entity: str) -> None:
    """A guarantee of the classes of a table of pairs is none of the people who are in many of them."""
    known = reports.dataset()
    schema = small_schema().model_copy(update={"entity": entity})
    plan = LEARNERS["tree"].plan(schema, "ill", Decimal(1), {})
    release = make_release("tree", plan, parse_model(reports.release("tree")), secure=True, dataset_id=known.id)
    dossier = Dossier(replace(known, schema=schema), [release], {}, reports.balance(), Application())
    warned = shared_things(schema)
    assert bool(warned) == (entity == "interaction")
    assert dossier.statement.get("Who is not protected", "") == warned
    form = registry_form(dossier).deployment
    assert form.privacy_loss.privacy_unit == entity
    assert form.dp_variant.unprotected_quantities.endswith(warned or "settings.")
    RegistryForm.model_validate(yaml.safe_load(registry_yaml(dossier)))
    results = json.loads(sidecar(dossier, {}, {})[RESULTS])["results"]
    assert f"private per {entity}: " in results["dossier"]["summary"]
    [guarantee] = results["result_1"]["properties"]["guarantees"]
    assert guarantee["not_protected"] == warned


def without(form: dict[str, Any], *path: str) -> None:
    *way, last = path
    for step in way:
        form = form[step]
    del form[last]


def test_the_form_refuses_what_the_registry_would(private: tuple[Service, str, list[str]]) -> None:
    service, dataset, ids = private
    text = service.dossier(dataset, ids, WRITTEN, "yaml")
    wrong: list[dict[str, Any]] = [yaml.safe_load(text) for _ in range(6)]
    without(wrong[0], "deployment", "basic", "description")
    without(wrong[1], "deployment", "administrative", "registry_authors")
    wrong[2]["deployment"]["basic"]["data_product_type"] = "Rules"
    wrong[3]["deployment"]["dp_variant"]["variant_name"] = "pure"
    wrong[4]["deployment"]["more"] = "x"
    wrong[5]["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] = "a lot"
    for form in wrong:
        with pytest.raises(ValidationError):
            RegistryForm.model_validate(form)


def test_nothing_without_a_guarantee_is_registered() -> None:
    with pytest.raises(RequestError, match="has none"):
        made(hostile(), "yaml")


# Refusals


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_each_form_can_say_why_it_was_not_made(form: str) -> None:
    told = instead(form, "There is no such release.")
    if form == "docx":
        told = inside(told)["word/document.xml"]
    elif form in {"md", "zip"}:
        told = inside(told)["why.txt"]
    elif form == "pdf":
        assert told.startswith(b"%PDF")
        return
    assert b"There is no such release." in told


def test_there_is_no_other_form() -> None:
    with pytest.raises(RequestError, match="one of the forms pdf, docx"):
        made(hostile(), "exe")


def test_without_the_typesetter_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "dpcore.report.forms.pdf", raising=False)
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(RequestError, match="needs the package typst"):
        made(hostile(), "pdf")


def test_names_of_files_are_those_that_the_registry_wants() -> None:
    assert FORMS["yaml"].file_name("My Data-Set") == "my_data_set_dossier.yaml"
    assert FORMS["pdf"].file_name("stroke") == "frostglass-dossier-stroke.pdf"
