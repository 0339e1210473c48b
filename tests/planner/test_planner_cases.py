"""Golden cases: a statement in, what matters of its plan (or the error as the user sees it) out; no session, no Spark.

A file of `cases/` is blocks with an empty line between them. A block with an arrow `-->` is a case: the statement, the
arrow, the expected text; lines `--` before the statement say what the case shows. The arrow names the aspects of the
plan that the case is about (projection.py); without a name, the case shows the whole text of EXPLAIN EXTENDED, or of
the EXPLAIN that it is.
A block without an arrow sets the stage for the cases after it: CREATE TABLE, CREATE VIEW (a view that Spark itself
resolves), SET and USE, one or more.
With ACIDSQL_UPDATE_CASES=1 the expected parts are written anew: read the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from acidsql.acid.table import Check, Column, Constraints, Table
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.script_splitter import split_script
from acidsql.grammar.table_names import table_names
from acidsql.planner.explain import Detail, explain, explain_locks
from acidsql.planner.plan import Facts
from acidsql.planner.statement_planner import plan_statement
from tests.planner.projection import project

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.glob("*.sql"))
ARROW = re.compile(r"\n-->(.*)\n")


@dataclass
class Stage:
    """The tables, views and settings that the cases of a file use."""

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
        """The facts that a session collects: the tables of the statement, and names to suggest if one is missing."""
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


@dataclass(frozen=True, slots=True)
class Block:
    """A case, or the statements of a stage, whose `expected` is None."""

    statement: str
    aspects: tuple[str, ...] = ()
    expected: str | None = None

    def __str__(self) -> str:
        arrow = f"--> {', '.join(self.aspects)}".rstrip()
        return self.statement if self.expected is None else f"{self.statement}\n{arrow}\n{self.expected}"


def blocks(text: str) -> Iterator[Block]:
    for block in filter(None, (b.strip("\n") for b in text.split("\n\n"))):
        arrow = ARROW.search(f"{block}\n")
        if arrow is None:
            yield Block(block)
        else:
            aspects = tuple(arrow[1].replace(",", " ").split())
            yield Block(block[: arrow.start()], aspects, block[arrow.end() :])


def outcome(case: Block, stage: Stage) -> str:
    """The error of a case's statement, or the part of its plan that the case is about."""
    statement = "\n".join(line for line in case.statement.splitlines() if not line.startswith("--"))
    try:
        parsed = parse(statement)
        inner = parsed.statement if isinstance(parsed, s.Explain) else parsed
        assert isinstance(inner, s.RowStatement)
        plan = plan_statement(inner, stage.facts(inner))
    except AcidSqlError as error:
        return str(error)
    if case.aspects:
        return project(plan, case.aspects)
    if isinstance(parsed, s.Explain) and parsed.locks:
        return explain_locks(plan.locks).rstrip("\n")
    detail = Detail.of(parsed.detail) if isinstance(parsed, s.Explain) else Detail.EXTENDED
    return explain(plan, detail).rstrip("\n")


def rewritten(text: str) -> str:
    """The file with the current outcomes of its cases."""
    stage = Stage()
    written = []
    for block in blocks(text):
        if block.expected is None:
            stage.set(block.statement)
            written.append(block)
        else:
            written.append(replace(block, expected=outcome(block, stage)))
    return "\n\n".join(map(str, written)) + "\n"


def cases() -> Iterator[tuple[str, Block, Stage]]:
    """The file and number of each case, the case, and its stage."""
    for path in FILES:
        stage = Stage()
        for number, block in enumerate(blocks(path.read_text(encoding="utf-8")), start=1):
            if block.expected is None:
                changed = Stage(stage.database, dict(stage.tables), set(stage.views), dict(stage.settings))
                changed.set(block.statement)
                stage = changed
            else:
                yield f"{path.stem}-{number}", block, stage


if os.environ.get("ACIDSQL_UPDATE_CASES"):
    for path in FILES:
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
ALL = list(cases())


@pytest.mark.parametrize(("case", "stage"), [c[1:] for c in ALL], ids=[c[0] for c in ALL])
def test_a_statement_gives_the_plan_of_its_case(case: Block, stage: Stage) -> None:
    assert outcome(case, stage) == case.expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_rewriting_a_file_of_cases_does_not_change_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert rewritten(text) == text


def test_no_case_is_repeated_on_the_same_stage() -> None:
    seen = [(name.rpartition("-")[0], case.statement, repr(stage)) for name, case, stage in ALL]
    assert len(seen) == len(set(seen))


def test_every_kind_of_plan_has_a_case_with_its_whole_text() -> None:
    kinds = ("DELETE", "FROM", "INSERT", "MERGE", "SELECT", "UPDATE")
    first_words = {re.split(r"\s", case.expected or "")[0] for _, case, _ in ALL if not case.aspects}
    assert first_words >= set(kinds)
