"""The public API has types that help the programs that use it, wherever type checkers find the package.

`make check` checks the same program with the settings of this repository. These tests check it without them, as users
do: from a wheel, and from an editable install, whose `editable_mode=compat` makes setuptools name the directory in a
file that type checkers read. In its other modes the package is found by code that only runs in Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installation import build_wheel, copy_of_the_source, pip

PROGRAM = Path(__file__).parent / "public_interface.py"
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the package installed, and the dependencies of this one."""
    directory = tmp_path_factory.mktemp(request.param)
    source = copy_of_the_source(tmp_path_factory.mktemp("source"))
    made = directory / "venv"
    venv.create(made, symlinks=True)
    interpreter = made / "bin" / "python"
    (site,) = made.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text("\n".join(p for p in sys.path if p.endswith("site-packages")) + "\n")
    options = ("--no-deps", "--no-index", "--no-build-isolation")
    if request.param == "wheel":
        pip("--python", interpreter, "install", *options, build_wheel(source))
    else:
        pip("--python", interpreter, "install", *options, "--config-settings", "editable_mode=compat", "-e", source)
    return interpreter


def mypy(python: Path, directory: Path) -> str:
    """Errors inside of packages are not shown, as for a package that is installed."""
    options = ["--strict", "--python-executable", str(python), "--cache-dir", str(directory / "cache")]
    done = _run([sys.executable, "-m", "mypy", *options, str(directory / PROGRAM.name)], directory)
    return "" if done.returncode == 0 else done.stdout


def pyright(module: str) -> Callable[[Path, Path], str]:
    def check(python: Path, directory: Path) -> str:
        settings = {"include": [PROGRAM.name], "typeCheckingMode": "strict", "reportMissingTypeStubs": False}
        (directory / "pyrightconfig.json").write_text(json.dumps(settings))
        done = _run([sys.executable, "-m", module, "--pythonpath", str(python), "-p", str(directory)], directory)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    return check


CHECKERS: dict[str, Callable[[Path, Path], str]] = {
    "mypy": mypy,
    "pyright": pyright("pyright"),
    "basedpyright": pyright("basedpyright"),
}
"""The modules that run the checkers. basedpyright is pyright with its own Node."""


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_program_that_uses_the_public_interface_has_the_types_that_it_expects(
    python: Path, checker: str, tmp_path: Path
) -> None:
    pytest.importorskip(checker)
    (tmp_path / PROGRAM.name).write_text(PROGRAM.read_text())
    assert CHECKERS[checker](python, tmp_path) == ""


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_wrong_call_is_found(python: Path, checker: str, tmp_path: Path) -> None:
    pytest.importorskip(checker)
    wrong = "wrong: int = acidsql.connect(Path('warehouse'))"
    text = f"{PROGRAM.read_text()}\n{wrong}\n"
    (tmp_path / PROGRAM.name).write_text(text)
    assert f"{PROGRAM.name}:{text.splitlines().index(wrong) + 1}:" in CHECKERS[checker](python, tmp_path)


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
