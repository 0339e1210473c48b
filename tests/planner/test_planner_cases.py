"""Golden cases: a statement in, its EXPLAIN text (or the error as the user sees it) out; no session, no Spark.

A file of `cases/` is blocks with an empty line between them. A block with a line `-->` is a case: the statement, the
arrow, what is expected; lines `--` before the statement say what is to be seen. A block without one sets the stage for
the cases after it: CREATE TABLE, CREATE VIEW (a view that Spark itself resolves), SET and USE, one or more.
With ACIDSQL_UPDATE_CASES=1 the expected parts are written anew: read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acidsql.acid.table import Check, Column, Constraints, Table
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.script_splitter import split_script
from acidsql.grammar.table_names import table_names
from acidsql.planner.explain import explain, explain_locks
from acidsql.planner.plan import Facts
from acidsql.planner.statement_planner import plan_statement

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.glob("*.sql"))
ARROW = "\n-->\n"


@dataclass
class Stage:
    """What the statements of a file may know of the world."""

    database: str = "default"
    tables: dict[str, Table] = field(default_factory=dict)
    views: set[str] = field(default_factory=set)
    settings: dict[str, str] = field(default_factory=dict)

    def set(self, block: str) -> None:
        for piece in split_script(block):
            match parse(piece.text):
                case s.CreateTable() as statement:
                    table = declared(statement, self.database)
                    self.tables[table.qualified] = table
                case s.CreateView() as statement:
                    self.views.add(statement.view.name)
                case s.SetSetting(_, str() as key, str() as value):
                    self.settings[key] = value
                case s.UseDatabase() as statement:
                    self.database = statement.database.value
                case other:
                    pytest.fail(f"no stage is set by {type(other).__name__}: does the block lack its arrow?")

    def facts(self, statement: s.Statement) -> Facts:
        """What a session would tell the planner: the tables that the statement names, near misses only if needed."""
        named = [f"{name.database or self.database}.{name.name}" for name in table_names(statement)]
        tables = {name: self.tables[name] for name in named if name in self.tables}
        if len(tables) == len(set(named)):
            return Facts(self.database, tables, settings=self.settings)
        near = tuple(sorted(t.name for t in self.tables.values() if t.database == self.database))
        return Facts(self.database, tables, frozenset(self.views), self.settings, near)


def declared(statement: s.CreateTable, database: str) -> Table:
    """The table that CREATE TABLE would make."""
    properties = dict(statement.properties)
    if statement.transactional:
        properties["transactional"] = "true"
    checks = [Check(c.name, to_spark(c.condition)) for c in statement.checks]
    checks += [Check(None, to_spark(c.check)) for c in statement.columns if c.check is not None]
    return Table(
        database=statement.table.database or database,
        name=statement.table.name,
        columns=tuple(Column(c.name.value, c.type) for c in statement.columns),
        partition_columns=tuple(Column(c.name.value, c.type) for c in statement.partition_columns),
        location=f"/warehouse/{statement.table.name}",
        sort_columns=tuple(c.value for c in statement.sort_columns),
        bucket_columns=tuple(c.value for c in statement.bucket_columns),
        bucket_count=statement.bucket_count,
        properties=properties,
        constraints=Constraints(
            frozenset(c.name.value for c in statement.columns if c.not_null),
            {c.name.value: to_spark(c.default) for c in statement.columns if c.default is not None},
            tuple(checks),
        ),
    )


def blocks(text: str) -> Iterator[tuple[str, str | None]]:
    """Each block as its statement and what is expected; None for one that sets the stage."""
    for block in filter(None, (b.strip("\n") for b in text.split("\n\n"))):
        statement, arrow, expected = f"{block}\n".partition(ARROW)
        yield statement.rstrip("\n"), expected.rstrip("\n") if arrow else None


def outcome(text: str, stage: Stage) -> str:
    """EXPLAIN's text for the statement of a case."""
    statement = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    try:
        parsed = parse(statement)
        inner = parsed.statement if isinstance(parsed, s.Explain) else parsed
        assert isinstance(inner, s.Query | s.Insert | s.MultiInsert | s.Update | s.Delete | s.Merge)
        plan = plan_statement(inner, stage.facts(inner))
    except AcidSqlError as error:
        return str(error)
    shown = explain_locks(plan.locks) if isinstance(parsed, s.Explain) and parsed.locks else explain(plan)
    return shown.rstrip("\n")


def rewritten(text: str) -> str:
    """The file with what its statements give now."""
    stage = Stage()
    written = []
    for statement, expected in blocks(text):
        if expected is None:
            stage.set(statement)
            written.append(statement)
        else:
            written.append(f"{statement}{ARROW}{outcome(statement, stage)}")
    return "\n\n".join(written) + "\n"


def cases() -> Iterator[tuple[str, str, str, Stage]]:
    """File and number, statement, expected text, and the stage as it is when the case is reached."""
    for path in FILES:
        stage = Stage()
        for number, (statement, expected) in enumerate(blocks(path.read_text(encoding="utf-8")), start=1):
            if expected is None:
                changed = Stage(stage.database, dict(stage.tables), set(stage.views), dict(stage.settings))
                changed.set(statement)
                stage = changed
            else:
                yield f"{path.stem}-{number}", statement, expected, stage


if os.environ.get("ACIDSQL_UPDATE_CASES"):
    for path in FILES:
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
ALL = list(cases())


@pytest.mark.parametrize(("statement", "expected", "stage"), [c[1:] for c in ALL], ids=[c[0] for c in ALL])
def test_a_statement_gives_the_plan_of_its_case(statement: str, expected: str, stage: Stage) -> None:
    assert outcome(statement, stage) == expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_expected_text_is_stale_and_no_block_is_skipped(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert rewritten(text) == text


def test_no_statement_stands_twice_on_one_stage() -> None:
    seen = [(name.rpartition("-")[0], statement, repr(stage)) for name, statement, _, stage in ALL]
    assert len(seen) == len(set(seen))


def test_every_kind_of_statement_has_cases() -> None:
    assert {path.stem for path in FILES} >= {"insert", "update", "delete", "merge", "select"}
