"""Golden cases: a statement in, its typed Statement as a short text (or the error as the user sees it) out.

A case in `cases/*.sql` is the statement, a line `-->`, and what is expected; an empty line ends it. With
ACIDSQL_UPDATE_CASES=1 the expected parts are written anew: read the diff.
"""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path

import pytest
from sqlglot import exp

from acidsql.errors import AcidSqlError
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse, table_names
from acidsql.grammar.statements import Default, Name, TableName

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.glob("*.sql"))


@dataclass(frozen=True, slots=True)
class Case:
    statement: str
    expected: str


def read_cases(path: Path) -> list[Case]:
    blocks = [block for block in path.read_text(encoding="utf-8").strip().split("\n\n") if block]
    parts = [block.partition("\n-->\n") for block in blocks]
    return [Case(statement, expected) for statement, _, expected in parts]


def outline(value: object) -> str:
    """A value of a statement in short: fields that have their default are left out, expressions are Spark SQL."""
    match value:
        case Name():
            return value.value
        case TableName():
            return str(value)
        case Default():
            return "DEFAULT"
        case exp.Expr():
            return to_spark(value)
        case Enum():
            return str(value.value)
        case tuple():
            return f"[{', '.join(outline(item) for item in value)}]"
        case str():
            return repr(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            shown = [
                f"{field.name}={outline(getattr(value, field.name))}"
                for field in fields(value)
                if field.name != "source"
                and field.compare
                and (field.default is MISSING or getattr(value, field.name) != field.default)
            ]
            return f"{type(value).__name__}({', '.join(shown)})"
        case _:
            return str(value)


def outcome(statement: str) -> str:
    try:
        parsed = parse(statement)
    except AcidSqlError as error:
        return str(error)
    tables = " ".join(str(name) for name in table_names(parsed))
    return outline(parsed) + (f"\ntables: {tables}" if tables else "")


def test_there_are_cases() -> None:
    assert len(FILES) >= 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_statement_becomes_what_its_case_says(path: Path) -> None:
    cases = read_cases(path)
    if os.environ.get("ACIDSQL_UPDATE_CASES"):
        text = "\n\n".join(f"{case.statement}\n-->\n{outcome(case.statement)}" for case in cases)
        path.write_text(text + "\n", encoding="utf-8")
        cases = read_cases(path)
    assert cases
    for case in cases:
        assert outcome(case.statement) == case.expected, case.statement
