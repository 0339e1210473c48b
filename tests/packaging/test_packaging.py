"""What is installed, under which names, and what an import costs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import pytest

import acidsql
from tests.installation import LINKED, ROOT, build_wheel, copy_of_the_source, pip

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEAVY = ("pyspark", "py4j", "pyarrow", "pandas", "numpy", "sqlglot", "lark", "prompt_toolkit", "IPython", "rich")


def packages_on_disk() -> set[str]:
    """Every package below acidsql/ by its dotted name, the two links followed."""
    found = {"acidsql"}
    for directory in (ROOT / "acidsql", *(ROOT / name for name in LINKED)):
        for init in directory.rglob("__init__.py"):
            path = init.parent.relative_to(ROOT)
            parts = path.parts if path.parts[0] == "acidsql" else ("acidsql", *path.parts)
            found.add(".".join(parts))
    return found


def test_pyproject_lists_every_package_on_disk() -> None:
    assert sorted(PYPROJECT["tool"]["setuptools"]["packages"]) == sorted(packages_on_disk())


@pytest.mark.parametrize(("name", "target"), LINKED.items())
def test_the_top_level_folders_are_linked_into_the_package(name: str, target: str) -> None:
    link = ROOT / "acidsql" / name
    assert link.is_symlink()
    assert os.readlink(link) == target
    assert (link / "__init__.py").is_file()
    assert PYPROJECT["tool"]["setuptools"]["package-dir"][f"acidsql.{name}"] == name


def test_every_module_has_its_layer_and_its_side_of_the_engine() -> None:
    contracts = {c["name"]: c for c in PYPROJECT["tool"]["importlinter"]["contracts"]}
    layered = {name.strip() for layer in contracts["Imports run one way"]["layers"] for name in layer.split("|")}
    modules = {p.stem for p in (ROOT / "acidsql").glob("*.py")} - {"__init__"}
    modules |= {name.split(".")[1] for name in packages_on_disk() if name.count(".") == 1}
    assert layered == modules
    engine = contracts["Only acidsql.spark imports pyspark, and for their types those that give DataFrames"]
    without_engine = {name.split(".")[1] for name in engine["source_modules"]}
    pure = {
        name.split(".")[1] for name in contracts["The pure core touches no engine, file or database"]["source_modules"]
    }
    gives_frames = {"connection", "dbapi", "session", "streaming"}
    assert without_engine | pure | gives_frames | {"spark", "errors"} == modules


LONG: Final = {
    "acidsql/session.py": "the public methods with their documentation",
    "grammar/dialect.py": "the classes that sqlglot wants in one dialect",
}
"""Files that may be longer than one sitting, and why."""


def test_a_file_of_the_package_is_for_one_sitting() -> None:
    files = [path for folder in ("acidsql", "grammar", "planner") for path in (ROOT / folder).rglob("*.py")]
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name for name, length in lengths.items() if length > 460} == LONG.keys()


# ------------------------------------------------------------------------------------------------ the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(copy_of_the_source(tmp_path_factory.mktemp("source")))


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """A directory with the wheel installed and nothing else; the dependencies are this interpreter's."""
    site = wheel.parent / "site"
    pip("install", "--no-deps", "--no-index", "--quiet", "--target", site, wheel)
    return site


def run_installed(site: Path, *arguments: str | Path) -> str:
    """Runs Python on the installed package, far from the checkout; gives its output."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=site.parent, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_every_source_file_and_nothing_generic(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {"acidsql", f"acidsql-{acidsql.__version__}.dist-info"}
    sources = {
        p.relative_to(ROOT).as_posix() for p in (ROOT / "acidsql").rglob("*") if p.suffix in (".py", ".typed", ".txt")
    }
    for name in LINKED:
        files = [p for p in (ROOT / name).rglob("*") if p.suffix in (".py", ".lark")]
        sources |= {f"acidsql/{p.relative_to(ROOT).as_posix()}" for p in files}
    assert {name for name in names if name.startswith("acidsql/")} == sources


@pytest.mark.ci
def test_the_installed_package_parses_and_plans(site: Path) -> None:
    for module in ("acidsql", "acidsql.grammar.parser", "acidsql.planner.plan"):
        file = run_installed(site, "-c", f"import {module} as m; print(m.__file__)").strip()
        assert Path(file).is_relative_to(site)
    shown = run_installed(site, "-m", "acidsql", "shell", "--dry-run", "-e", "SELECT 40 + 2 AS answer")
    assert "reads no table" in shown


@pytest.mark.ci
def test_the_command_is_installed(site: Path) -> None:
    assert run_installed(site, site / "bin" / "acidsql", "--version") == f"acidsql {acidsql.__version__}\n"


def test_sqlalchemy_finds_the_dialect_by_the_entry_point_of_the_wheel(site: Path) -> None:
    """The entry points are read from the wheel's metadata: the checkout may be installed in this interpreter, too."""
    pytest.importorskip("sqlalchemy")
    code = (
        "import importlib.metadata as m, inspect, sqlalchemy as sa\n"
        "for url in ('acidsql:///warehouse', 'acidsql+dbapi:///warehouse'):\n"
        "    kind = sa.make_url(url).get_dialect()\n"
        "    print(kind.name, kind.driver, inspect.getfile(kind))\n"
        f"(wheel,) = m.distributions(name='acidsql', path=[{str(site)!r}])\n"
        "print(*sorted(e.name for e in wheel.entry_points if e.group == 'sqlalchemy.dialects'))\n"
    )
    *found, names = run_installed(site, "-c", code).splitlines()
    file = site / "acidsql" / "sqlalchemy_dialect" / "engine_dialect.py"
    assert found == [f"acidsql dbapi {file}"] * 2
    assert names == "acidsql acidsql.dbapi"


# ------------------------------------------------------------------------------------------------ imports, versions


def test_importing_acidsql_imports_no_engine_and_no_parser() -> None:
    """In a process of its own: this one has imported them all."""
    code = f"import sys, acidsql; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_the_changelog_s_newest_version_is_the_package_s() -> None:
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == PYPROJECT["project"]["version"] == acidsql.__version__


def test_the_oldest_python_is_the_same_everywhere() -> None:
    assert PYPROJECT["project"]["requires-python"] == ">=3.11"
    assert PYPROJECT["tool"]["mypy"]["python_version"] == "3.11"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == "py311"


def test_completion_of_the_package_offers_its_public_names_alone() -> None:
    assert [name for name in dir(acidsql) if not name.startswith("__")] == sorted(
        set(acidsql.__all__) - {"__version__"}
    )
