"""The package as somebody installs it: a wheel in a fresh environment, away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dpcore

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCHEMA = """
name: people
max_rows: 400
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 4, view: left}
  - {name: dose, type: real, lower: 0, upper: 1, bins: 4, view: right}
  - {name: died, type: boolean, target: true, view: right}
"""
ESTIMATORS = """
import importlib.util, sys
import pandas as pd
import dpcore
from dpcore import (
    BudgetAccountant, DPEBMClassifier, DPEBMRegressor, DPForestClassifier, DPILPClassifier,
    DPRuleListClassifier, DPTreeClassifier, RedescriptionMiner, Schema,
)

assert dpcore.__file__.startswith(sys.prefix), dpcore.__file__
assert importlib.util.find_spec("streamlit") is None
schema, frame = Schema.from_file("people.yaml"), pd.read_csv("people.csv")
budget = BudgetAccountant(8)
given = {"epsilon": 1, "schema": schema, "accountant": budget}
classifiers = [
    DPRuleListClassifier(pool_size=100, **given), DPTreeClassifier(**given),
    DPForestClassifier(trees=2, **given), DPEBMClassifier(epochs=2, **given),
    DPILPClassifier(**given),
]
for target, models in (("died", classifiers), ("dose", [DPEBMRegressor(epochs=2, **given)])):
    for model in models:
        model.set_params(target=target).fit(frame.drop(columns=target), frame[target])
        assert len(model.predict(frame)) == len(frame)
        assert model.release_.certificate.private
miner = RedescriptionMiner(**given).fit(frame)
assert miner.transform(frame).shape[0] == len(frame)
assert 6 < budget.spent < 7  # The tree is made to compose.
print(miner.release_.certificate.engine_version)
"""
QUICK = """
import sys
import dpcore
heavy = {"numpy", "pandas", "numba", "sklearn", "opendp", "streamlit", "plotly"} & set(sys.modules)
assert not heavy, heavy
from dpcore import DPTreeClassifier
assert "streamlit" not in sys.modules and "plotly" not in sys.modules
"""


def test_every_name_is_loaded_when_it_is_asked_for():
    assert set(dpcore.__all__) <= set(dir(dpcore))
    for name in dpcore.__all__:
        assert getattr(dpcore, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        dpcore.nothing  # noqa: B018


def test_importing_the_package_is_quick():
    subprocess.run([sys.executable, "-c", QUICK], check=True, cwd=ROOT)


def pins(name: str) -> dict[str, str]:
    """Versions by package; each has hashes."""
    text = (ROOT / name).read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all("==" in line and " --hash=sha256:" in line for line in lines), name
    return {line.split("==")[0]: line.split("==")[1].split(" ")[0] for line in lines}


def test_the_application_is_pinned_to_what_the_package_asks_for():
    pinned = pins("requirements.txt")
    for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]:
        asked = Requirement(text)
        assert pinned[canonicalize_name(asked.name)] in asked.specifier
    assert "dp-accounting" not in pinned


@pytest.mark.parametrize("name", ["requirements-dev.txt", "requirements-docs.txt"])
def test_what_comes_on_top_changes_no_version_of_the_application(name: str):
    assert pins(name).items() >= pins("requirements.txt").items()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and what it asks for, and nothing else; its folder."""
    wheels, fresh = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("fresh")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = ["wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", wheels]
    subprocess.run([*pip, *build], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", fresh], check=True)
    (wheel,) = wheels.glob("frostglass-*.whl")
    into = ["--python", fresh / "bin" / "python", "install", "--no-deps", "--no-index", "--no-compile", wheel]
    subprocess.run([*pip, *into], check=True)
    (site,) = fresh.glob("lib/python*/site-packages")
    link_requirements(site)
    lend_compiled(site / "dpcore")
    return fresh


def lend_compiled(package: Path) -> None:
    """Lend it the kernels that tests have compiled so far; what is missing there compiles itself.

    Compiled code belongs to a file by its size and its time of change.
    """
    for source in Path(dpcore.__path__[0]).rglob("*.py"):
        copy = package / source.relative_to(dpcore.__path__[0])
        for compiled in source.parent.glob(f"__pycache__/{source.stem}.*.nb?"):
            (copy.parent / "__pycache__").mkdir(exist_ok=True)
            shutil.copy(compiled, copy.parent / "__pycache__")
            shutil.copystat(source, copy)


def link_requirements(site: Path) -> None:
    """Lend a fresh environment what the package asks for, from the environment of the tests."""
    for own in required(PROJECT["dependencies"]):
        for name in {Path(file).parts[0] for file in own.files or []} - {"..", "__pycache__"}:
            if not (site / name).exists():
                (site / name).symlink_to(str(own.locate_file(name)))


def required(texts: list[str]) -> list[Distribution]:
    """What requirements ask for, and what that asks for."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in texts]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        found[name] = distribution(name)
        waiting += map(Requirement, found[name].requires or [])
    return list(found.values())


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """A folder of somebody's with records and their schema."""
    (tmp_path / "people.yaml").write_text(SCHEMA)
    rows = range(300)
    columns = {"age": [20 + i % 80 for i in rows], "dose": [i % 7 / 7 for i in rows]}
    frame = pd.DataFrame({**columns, "died": [i % 80 > 40 for i in rows]})
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def run(program: Path, *arguments: object, folder: Path) -> str:
    """Output of a program of the fresh environment that knows nothing of the checkout."""
    left_out = {"PYTHONPATH", "FROSTGLASS_DATABASE_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    settings = {**kept, "FROSTGLASS_HOME": str(folder / "home")}
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, check=False, cwd=folder, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_estimators_work_where_only_the_package_is(installed, away):
    printed = run(installed / "bin" / "python", "-c", ESTIMATORS, folder=away)
    assert printed.splitlines()[-1] == dpcore.__version__


def test_the_command_works_where_only_the_package_is(installed, away):
    def frostglass(*arguments: object) -> str:
        return run(installed / "bin" / "frostglass", *arguments, folder=away)

    frostglass("data", "add", "people.csv", "--schema", "people.yaml", "--budget", 2)
    frostglass("fit", "tree", "people", "--target", "died", "--epsilon", 1)
    release = frostglass("release", "list").splitlines()[1].split()[0]
    frostglass("release", "html", release, "--output", "tree.html")
    assert "<h1>" in (away / "tree.html").read_text()


def test_types_and_data_are_in_the_package(installed):
    (package,) = installed.glob("lib/python*/site-packages/dpcore")
    files = [path for path in Path(dpcore.__path__[0]).rglob("*") if path.is_file()]
    data = [path for path in files if path.suffix != ".py" and path.parent.name != "__pycache__"]
    names = {str(path.relative_to(dpcore.__path__[0])) for path in data}
    assert {"py.typed", "demo/stroke.yaml", "workspace/database/migrations/script.py.mako"} <= names
    assert {f"intake/standards/{name}.csv" for name in ("measurements", "omop")} <= names
    assert [name for name in names if not (package / name).is_file()] == []
    assert not (package.parent / "pages").exists()
