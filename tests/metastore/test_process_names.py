"""The names of processes, by which a metastore knows that a process of this machine has ended."""

from __future__ import annotations

import subprocess
import sys

from acidsql.metastore.process_identity import is_named_gone, process_name

PRINTED = "from acidsql.metastore.process_identity import process_name; print(process_name())"


def ended() -> str:
    """The name of a process that has ended."""
    return subprocess.run([sys.executable, "-c", PRINTED], capture_output=True, text=True, check=True).stdout.strip()


def test_a_process_that_runs_is_not_gone() -> None:
    assert not is_named_gone(f"a-host-{process_name()}.12.0")


def test_a_process_that_has_ended_is_gone() -> None:
    assert is_named_gone(f"a-host-{ended()}.12.0")


def test_a_later_process_with_the_same_number_has_another_name() -> None:
    pid, started, machine = process_name().split(".")
    assert is_named_gone(f"{pid}.{int(started or 0) - 1}.{machine}") == bool(started)


def test_a_process_of_another_machine_is_never_known_to_have_ended() -> None:
    pid, started, machine = ended().split(".")
    assert not is_named_gone(f"{pid}.{started}.{machine[::-1]}")
    assert not is_named_gone("a-host-w1")
