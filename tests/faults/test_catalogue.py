"""The catalogue fits the source: each fault can still be put in, and gives a program that parses."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.catalogue import FAULTS, Fault

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_replaces_one_text_of_its_file_and_leaves_a_program(fault: Fault) -> None:
    text = (ROOT / fault.path).read_text(encoding="utf-8")
    assert text.count(fault.before) == 1
    changed = text.replace(fault.before, fault.after)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    assert [name for name in fault.first if not (ROOT / name).is_file()] == []


def test_faults_have_names_of_their_own() -> None:
    assert [name for name, count in Counter(fault.name for fault in FAULTS).items() if count > 1] == []
