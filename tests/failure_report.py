"""What a failed run says in its last lines: for each failed test the command that runs it alone, with the seed of the
run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

_MOST = 20
"""More failures than these have one cause, which the first ones show."""


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Writes the seed of the order, and for each failed test its command. pytest's own list of the failed tests and
    their messages follows, and its line of counts is the last one."""
    seed = config.getoption("randomly_seed", None)
    failed = _failed(terminalreporter)
    terminalreporter.ensure_newline()
    if not failed:
        terminalreporter.write_line(f"The tests ran in the order of --randomly-seed={seed}.")
        return
    terminalreporter.section("commands that run the failed tests alone")
    for name in failed[:_MOST]:
        terminalreporter.write_line(command_for(name, seed))
    if len(failed) > _MOST:
        terminalreporter.write_line(f".. and {len(failed) - _MOST} more")


def command_for(name: str, seed: object = None) -> str:
    """The command that runs one test, whatever marks it has.

    >>> command_for("tests/acid/test_layout.py::test_names[a b]", 7)
    ".venv/bin/python -m pytest -m '' --randomly-seed=7 'tests/acid/test_layout.py::test_names[a b]'"
    """
    python = Path(sys.executable)
    root = Path(__file__).parents[1]
    shown = python.relative_to(root) if python.is_relative_to(root) else python
    order = [] if seed is None else [f"--randomly-seed={seed}"]
    return shlex.join([str(shown), "-m", "pytest", "-m", "", *order, name])


def _failed(reporter: TerminalReporter) -> list[str]:
    """The names of tests that failed, or whose set-up or tear-down did, each once and in the order of their reports."""
    reports = [*reporter.getreports("failed"), *reporter.getreports("error")]
    return list(dict.fromkeys(report.nodeid for report in reports if isinstance(report, pytest.TestReport)))
