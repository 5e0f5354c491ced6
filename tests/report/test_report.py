"""Files to read anywhere: complete, exact, and safe to open whatever anybody wrote."""

from __future__ import annotations

import re
from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest

from dpcore.commands.text import certificate_text
from dpcore.errors import NotFoundError, RequestError
from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.numerals import small
from dpcore.plots.printed.figure import printed
from dpcore.plots.style import WIDTH
from dpcore.privacy.budgets import exact_amount, percent, plain_epsilon
from dpcore.released.release import make_release
from dpcore.report.certificate import certificate_lines
from dpcore.report.dossier import Dossier
from dpcore.report.forms.page import dossier_page, release_page
from dpcore.service import Service
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.results.dossier import Application
from tests.support.results import reports, small_redescriptions
from tests.support.results.content import content
from tests.support.rows import for_each
from tests.support.texts import lacking
from tests.support.workspaces.fake_learner import (
    FakePairLearner,
    FakePairModel,
    register_pairs,
    small_frame,
    small_schema,
)

#: Elements and attributes that make a browser fetch something, or leave the page.
FETCHING = {"img", "iframe", "link", "object", "embed", "base", "form", "a", "audio", "video"}
ADDRESSES = {"src", "href", "action", "data", "srcset", "poster", "background"}


def harmless(html: str) -> reports.Read:
    """What a browser reads, after making sure that nothing in it fetches or runs foreign code."""
    read = reports.read(html)
    names = {name for name, _ in read.tags}
    assert not names & FETCHING
    for name, attributes in read.tags:
        assert not set(attributes) & ADDRESSES, (name, attributes)
        handlers = {key for key in attributes if key.startswith("on")}
        assert handlers <= ({"onclick"} if name == "button" else set())
    [policy] = [a for a in read.named("meta") if a.get("http-equiv")]
    assert "default-src 'none'" in str(policy["content"])
    assert not re.search(r"url\(|@import", html.partition("</style>")[0].partition("<style>")[2])
    drawings = [script for script in read.scripts if "alert(1)" in script]
    assert not any("<" in line for s in drawings for line in s.splitlines() if "alert(1)" in line)
    return read


def dossier(*parts: Any) -> str:
    """The whole dossier as a page."""
    return dossier_page(Dossier(*parts).whole)


def test_a_family_without_figures_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    register_pairs(monkeypatch)
    plan = FakePairLearner().plan(small_schema(), "", Decimal(1), {})
    release = make_release("fake_pairs", plan, FakePairModel(rows=3), secure=False)
    told = content(release)
    assert (told.sentences, told.pictures, told.tables) == (["Rows"], [], [])
    assert "Fake pairs" in harmless(release_page(release)).text


def test_redescriptions_that_are_all_set_aside_are_shown_as_such() -> None:
    release = small_redescriptions.release_of(small_redescriptions.noisy_pairs())
    told = content(release)
    assert "All 4 that were found are set aside: none has a noisy support of 3,200 or more." in told.sentences
    assert told.sentences[0].endswith(" people: 0 kept, 4 set aside for holding for few people.")
    [picture] = told.pictures
    assert "Of 4 redescriptions, 0 have a noisy support of 3,200 or more" in picture.alt
    assert told.tables == []
    assert printed(picture.figure, WIDTH)
    none = content(small_redescriptions.release_of(small_redescriptions.nothing_in_common()))
    assert none.sentences == ["No two conditions fulfil these constraints. Trying others is free."]


def test_redescriptions_that_are_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_redescriptions.noisy_pairs()
    release = small_redescriptions.release_of(model)
    monkeypatch.setattr(RedescriptionSet, "pruned", lambda found, _: found.found)
    for limit in ("_BEST", "_FEW", "_MOST_DRAWN"):
        monkeypatch.setattr(f"dpcore.models.redescriptions.released.reading.{limit}", 2)
    for short in (False, True):
        told = content(release, short=short)
        [table], [picture] = told.tables, told.pictures
        assert table.remark.startswith("The first 2 of 4 rows;")
        assert told.sentences[-1] == "These are the first 2 of 4 that are kept."
        assert picture.title.endswith(", first 2 of 4")
        assert picture.alt.startswith("Only the first 2 of 4 are drawn and counted here. ")


@pytest.mark.parametrize("case", reports.CASES)
def test_every_family_makes_a_page_that_is_safe_to_open(case: str) -> None:
    release = reports.release(case)
    read = harmless(release_page(release, reports.note(release)))
    for text in (f"Name {reports.SCRIPT}", f"Note {reports.IMAGE}", f"ann {reports.LINK}"):
        assert text in read.text
    for sentence in content(release).sentences[:3]:
        assert sentence in read.text
    assert release.id in read.text
    assert len([s for s in read.scripts if "Plotly.newPlot" in s]) >= 1
    assert all("aria-label" in a for a in read.named("div") if a.get("role") == "img")


def test_every_family_is_tried() -> None:
    assert {kind for kind, _, _ in reports.CASES.values()} == {kind for kind in LEARNERS if not kind.startswith("fake")}


def test_plotly_is_there_once() -> None:
    html = dossier(
        reports.dataset(), [reports.release(c) for c in ("tree", "forest")], {}, reports.balance(), Application()
    )
    read = reports.read(html)
    assert len([script for script in read.scripts if len(script) > 1_000_000]) == 1


def test_long_tables_say_that_they_are_cut() -> None:
    forest = reports.release("forest")
    groups = sum(len(tree.finals) for tree in parse_model(forest).trees)
    cut = f"The first 12 of {groups:,} rows" in reports.read(release_page(forest)).text
    assert cut == (groups > 12)


def test_a_rehearsal_says_so() -> None:
    release = reports.release("tree")
    assert "invented records" in release_page(release, stored=False)
    assert "learned from invented" not in release_page(release)
    assert "Not private." in release_page(release)


# Dossiers


def test_a_hostile_dossier_is_safe_and_complete() -> None:
    chosen = [reports.release(case) for case in ("rule list", "redescriptions")]
    notes = {release.id: reports.note(release) for release in chosen}
    read = harmless(dossier(reports.dataset(), chosen, notes, reports.balance(), reports.WRITTEN, chosen))
    for field in fields(Application):
        for line in getattr(reports.WRITTEN, field.name).splitlines():
            assert line in read.text
    for text in (reports.SCHEMA.description, reports.SCHEMA.name, *reports.HOSTILE):
        assert text in read.text
    for column in reports.SCHEMA.columns:
        assert column.name in read.text


def test_the_statement_answers_every_question() -> None:
    chosen = [reports.release("tree")]
    text = reports.read(dossier(reports.dataset(), chosen, {}, reports.balance(), Application(), chosen)).text
    questions = (
        *("Use case", "Data", "Unit of privacy", "Model", "Neighbouring data sets", "Kind of definition"),
        *("ε of the results", "δ of the results", "ε of everything spent", "δ of everything spent", "Composition"),
        *("Mechanisms and samplers", "Randomness", "Bounds and public assumptions"),
        *("hyperparameters", "Why this ε"),
    )
    for question in questions:
        assert question in text
    assert not lacking(text, "Causes.", "Single people.", "What was not asked.", "Chance in who is in")
    assert "Not private." in text, "rehearsals are seeded"


def test_what_cannot_be_in_a_dossier_is_refused_in_words() -> None:
    info, chosen = reports.dataset(), reports.release("tree")
    foreign = chosen.model_copy(update={"dataset_id": "elsewhere"})
    many = [chosen.model_copy(update={"id": f"{n:032x}"}) for n in range(31)]
    for releases, sentence in (([], "at least one"), ([foreign], "another data set"), (many, "at most 30")):
        with pytest.raises(RequestError, match=sentence):
            dossier(info, releases, {}, reports.balance(), Application())


@for_each("field", [field.name for field in fields(Application)])
def test_texts_have_limits(field: str) -> None:
    limit = 200 if field in {"title", "applicant", "curator", "region"} else 10_000
    Application(**{field: "x" * limit})
    with pytest.raises(RequestError, match=f"at most {limit:,} characters"):
        Application(**{field: "x" * (limit + 1)})


# Sums


@pytest.fixture
def info(service: Service) -> DatasetInfo:
    return service.add_dataset(small_frame(), small_schema(), budget=Decimal(9))


def run(service: Service, info: DatasetInfo, algorithm: str, epsilon: str) -> str:
    parameters = {"pool_size": 200} if algorithm == "rule_list" else {}
    request = RunRequest(
        dataset_id=info.id, algorithm=algorithm, target="ill", epsilon=Decimal(epsilon), parameters=parameters
    )
    status = service.run(service.submit(request, f"{algorithm}-{epsilon}"))
    assert status.release_id is not None, status.message
    return status.release_id


def table_rows(html: str, caption: str) -> list[list[str]]:
    """Cells of the table with a caption, without any library of the program."""
    body = html.partition(f"<caption>{caption}</caption>")[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body.partition("<tbody>")[2], re.DOTALL)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]


def test_sums_are_the_ledgers_to_the_last_digit(service: Service, info: DatasetInfo) -> None:
    first = run(service, info, "rule_list", "0.123456789")
    second = run(service, info, "ebm", "0.300000001")
    run(service, info, "tree", "1.000000007")
    html = service.dossier(info.name, [first, second, first], Application(), "html").decode()
    entries = service.ledger_entries(info.id)
    charged = [entry for entry in entries if entry.kind == "commit"]
    assert len(charged) == 3
    own = [entry for entry in charged if entry.release_id in {first, second}]
    [of_chosen, of_all] = table_rows(html, "Privacy budget, exact")
    balance = service.total_balance(info.id)
    assert Decimal(of_chosen[1]) <= min(sum(entry.epsilon for entry in own), balance.epsilon)
    assert of_chosen[2] in {small(sum(entry.delta for entry in own)), "10⁻⁵"}
    assert of_all[1:3] == [plain_epsilon(balance.epsilon), "10⁻⁵"]
    assert of_chosen[0] == "The 2 results in this dossier, together"
    account = dict(table_rows(html, "Budget of the data set, all analysts together"))
    assert account == {
        "Budget": "ε = 9.00 at δ = 10⁻⁵",
        "Spent": percent(balance.spent),
        "Reserved": "0 %",
        "Left": percent(balance.left, up=False),
    }
    assert not lacking(html, "The 2 results in this dossier, together", "by a filter for runs")
    assert service.total_balance(info.id) == balance, "it cost nothing"


def test_without_a_delta_everything_is_a_sum(service: Service) -> None:
    info = service.add_dataset(small_frame(), small_schema(), budget=Decimal(9), delta=Decimal(0))
    first = run(service, info, "rule_list", "0.123456789")
    run(service, info, "tree", "1.000000007")
    html = service.dossier(info.name, [first], Application(), "html").decode()
    [of_chosen, of_all] = table_rows(html, "Privacy budget, exact")
    assert of_chosen[1:3] == ["0.123456789", "0"]
    assert of_all[1:3] == ["1.123456796", "0"]
    account = dict(table_rows(html, "Budget of the data set, all analysts together"))
    assert (account["Left"], account["Budget"]) == ("87.5171 %", "ε = 9.00")
    assert "the ε of all runs add up" in html


def test_names_and_notes_stand_in_the_files(service: Service, info: DatasetInfo) -> None:
    release = run(service, info, "tree", "0.5")
    before = service.release(release)
    service.note_release(release, "First look", "Ask again with more.")
    assert service.release_notes(info.name)[release].name == "First look"
    assert service.release(release) == before
    for html in (service.release_page(release), service.dossier(info.id, [release], Application(), "html").decode()):
        assert not lacking(html, "First look", "Ask again with more.")


def test_unknown_and_foreign_releases_are_refused(service: Service, info: DatasetInfo) -> None:
    release = run(service, info, "tree", "0.5")
    other = service.add_dataset(small_frame(), small_schema("other"), budget=Decimal(1))
    with pytest.raises(RequestError, match="belongs to another data set"):
        service.dossier(other.id, [release], Application(), "pdf")
    for ids, dataset in ((["nothing"], info.id), ([release], "nothing")):
        with pytest.raises(NotFoundError, match="There is no such"):
            service.dossier(dataset, ids, Application(), "pdf")
    with pytest.raises(NotFoundError, match="no such release"):
        service.note_release("nothing", "A name", "")


# Rho


def test_a_certificate_says_by_what_it_is_counted_where_that_is_known(service: Service, info: DatasetInfo) -> None:
    release = service.release(run(service, info, "tree", "0.1"))
    card = release.certificate
    line = f"ρ = {exact_amount(card.rho)} (zero-concentrated"
    assert line in certificate_lines(release)["Beside other results"]
    assert line in certificate_text(release)
    assert line in service.release_page(release.id)
    old = release.model_copy(update={"certificate": card.model_copy(update={"rho": None})})
    assert "Beside other results" not in certificate_lines(old)
    assert "ρ" not in certificate_text(old)
