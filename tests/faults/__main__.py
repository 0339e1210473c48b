"""`python -m tests.faults`: puts each fault of the catalogue into a copy of the checkout, and tells what test finds it.

The arguments behind `--` are those of pytest, by default those of `make test-ci`: so a selection of tests shows
whether it still protects what matters. Exits with 1 if it does not find a fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from tests.faults.catalogue import FAULTS, Fault

ROOT: Final = Path(__file__).parents[2]
_SELECTED: Final = re.compile(r"^OF_CI := (.+)$", re.MULTILINE)
"""The Makefile's marker expression for `make test-ci`. A copy here could name markers that are gone."""
_NOT_COPIED: Final = {".git", "build", "dist", "warehouse", "spark-warehouse", "metastore_db"}
_CACHES: Final = re.compile(r"\.venv|\.\w+_cache$|\.hypothesis$|.*\.egg-info$")
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", re.MULTILINE)
_TIMEOUT: Final = "+++ Timeout +++"
"""What pytest-timeout writes before it ends the process."""
_NO_TESTS: Final = 5
"""pytest's exit status where the arguments select no test."""


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    split = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="only faults whose names have this in them")
    parser.add_argument("--list", action="store_true", help="print the faults and their files")
    parser.add_argument("--first-only", action="store_true", help="run only the files that should find a fault soon")
    parser.usage = f"{parser.format_usage().removeprefix('usage: ').strip()} [-- pytest arguments]"
    options = parser.parse_args(given[:split])
    faults = [fault for fault in FAULTS if options.only.lower() in fault.name.lower()]
    if not faults:
        parser.error(f"no fault has {options.only!r} in its name")
    if options.list:
        for fault in faults:
            _tell(f"{fault.path}: {fault.name}")
        return 0
    selection = given[split + 1 :] or _of_ci()
    found: dict[str, str | None] = {}
    for number, fault in enumerate(faults, 1):
        _tell(f"{number}/{len(faults)} {fault.name}")
        found[fault.name] = _tried(fault, selection, first_only=options.first_only)
        _tell(f"    {found[fault.name] or 'NOT FOUND'}")
    width = max(map(len, found))
    _tell("\n".join(f"{name:{width}}  {test or 'NOT FOUND'}" for name, test in found.items()))
    return 0 if all(found.values()) else 1


def _of_ci() -> list[str]:
    """The arguments by which `make test-ci` selects tests, for two processes."""
    selected = _SELECTED.search((ROOT / "Makefile").read_text(encoding="utf-8"))
    if selected is None:
        raise SystemExit("The Makefile has no line OF_CI := .. with the marker expression of `make test-ci`.")
    return ["-n", "2", "--dist", "loadscope", "--no-loadscope-reorder", "-m", selected[1]]


def _tried(fault: Fault, selection: Sequence[str], *, first_only: bool) -> str | None:
    """The first test that fails with the fault; None if none does."""
    with tempfile.TemporaryDirectory(prefix="acidsql-fault-") as directory:
        copy = Path(directory, "checkout")
        _copy(copy)
        _put_in(fault, copy)
        environment = {**os.environ, "PYTHONPATH": str(copy)}
        _tell(f"    in {_imported(copy, environment)}")
        # Files that are not among those of the selection prove nothing for it.
        attempts = [] if _names_tests(selection) else [[*selection, "-n", "0", file] for file in fault.first]
        attempts += [] if first_only else [[*selection]]
        found = (_first_failure(copy, environment, arguments) for arguments in attempts)
        return next((test for test in found if test is not None), None)


def _copy(copy: Path) -> None:
    """Copies the checkout without what is installed or cached, and without the faults, whose own test would find
    each."""

    def left_out(directory: str, names: list[str]) -> Collection[str]:
        if Path(directory) == ROOT:
            return [name for name in names if name in _NOT_COPIED or _CACHES.match(name)]
        is_tests = Path(directory) == ROOT / "tests"
        return [name for name in names if name == "__pycache__" or (is_tests and name == "faults")]

    shutil.copytree(ROOT, copy, symlinks=True, ignore=left_out)


def _put_in(fault: Fault, copy: Path) -> None:
    path = copy / fault.path
    text = path.read_text(encoding="utf-8")
    count = text.count(fault.before)
    if count != 1:
        raise SystemExit(f"{fault.path} has the text of the fault {fault.name!r} {count} times:\n{fault.before}")
    path.write_text(text.replace(fault.before, fault.after), encoding="utf-8")


def _imported(copy: Path, environment: dict[str, str]) -> str:
    """The file of the package that programs import which start in the copy: it must be the copy's."""
    program = "import acidsql, acidsql.planner; print(acidsql.__file__); print(acidsql.planner.__file__)"
    done = _run([sys.executable, "-c", program], copy, environment)
    files = done.stdout.splitlines()
    if not files or not all(Path(file).is_relative_to(copy) for file in files):
        raise SystemExit(f"The copy in {copy} is not what is imported:\n{done.stdout}{done.stderr}")
    return files[0]


def _names_tests(selection: Sequence[str]) -> bool:
    """Whether the arguments select tests by paths."""
    return any((ROOT / argument.partition("::")[0]).exists() for argument in selection if argument)


def _first_failure(copy: Path, environment: dict[str, str], arguments: Sequence[str]) -> str | None:
    """The ID of the first test that fails; None if all pass."""
    options = ["-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    done = _run([sys.executable, "-m", "pytest", *options, *arguments], copy, environment)
    failed = _FAILED.search(done.stdout)
    if failed is not None:
        return failed[1]
    if _TIMEOUT in done.stderr:
        return "a test that ran into its timeout"
    if done.returncode not in (0, _NO_TESTS):
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return None


def _run(command: Sequence[str], directory: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def _tell(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
