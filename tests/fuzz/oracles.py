"""What must hold of queries: the same rows from an ACID table, a plain one and a frame; a predicate parts a table."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from pyspark.sql import SparkSession
from sqlglot import exp
from sqlglot.errors import OptimizeError

from acidsql.acid.hive_types import HiveType, parse_type
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.planner.expressions.expression_types import ExpressionTypes
from acidsql.planner.expressions.typed_rules import apply_rules
from acidsql.planner.plan import NO_SHORTCUTS, Shortcuts
from acidsql.planner.queries.query_normalization import normalized
from acidsql.session import Session
from acidsql.snapshot import key_ranges
from acidsql.spark import target_pruning
from acidsql.spark.frames.caller_frames import column_types
from acidsql.spark.scan import data_skipping, source_keys
from tests.fuzz.answers import Answer, Outcome, Refused, difference, run, run_in_spark
from tests.fuzz.queries import Partition, Queries, Query
from tests.fuzz.tables import Table, quoted
from tests.fuzz.world import World

_CHANCES: Final = {"plain": 0.25, "spark": 0.3, "unpruned": 0.1, "view": 0.25, "temporary view": 0.1}
"""How often a query is asked these ways too, besides of the ACID tables and of frames."""


class Oracles:
    """Checks of queries over a world's tables as they are now."""

    def __init__(self, world: World, spark: SparkSession, r: random.Random) -> None:
        self._world = world
        self._raw = plain_spark(spark)
        self._r = r
        self._queries = Queries(r, [live.table for live in world.lives])
        self._copy()

    def _copy(self) -> None:
        """A plain table and a view of Spark of what each table must hold, and a view of each table."""
        world = self._world
        for live in world.lives:
            number = live.number
            schema = live.schema
            view = self._raw.createDataFrame(list(live.rows.values()), schema, verifySchema=False)
            view.createOrReplaceTempView(f"v{number}")
            world.frame(number).createOrReplaceTempView(f"g{number}")
            name = f"p{number}"
            outcome = run(world.session, f"DROP TABLE IF EXISTS {name}")
            for text in (
                live.table.unbucketed().ddl(name),
                f"INSERT INTO {name} SELECT * FROM {{f}}",
                _view(live.table, number),
            ):
                outcome = run(world.session, text, {"f": world.frame(number)} if "{f}" in text else None)
                if isinstance(outcome, Refused):
                    world.found("plain copy", text, str(outcome))

    def check(self) -> None:
        if self._r.random() < 0.3:
            self.check_partition(self._queries.partition())
        else:
            self.check_query(self._queries.query())

    def check_query(self, query: Query) -> None:
        r, world = self._r, self._world
        expected = world.over_frames(query.text)
        ways = ["acid", *(way for way, chance in _CHANCES.items() if r.random() < chance)]
        for name in ways:
            outcome = self._ask(name, query.text)
            if name == "acid":
                self._leaks(query.text, outcome)
                world.done["queries refused"] += isinstance(outcome, Refused)
            told = difference(outcome, expected, exact=query.is_exact, ordered=query.is_total)
            if told is not None:
                self._report(f"{name} and frame", query, told)
            world.done[f"queries: {name} and frame"] += 1

    def _report(self, kind: str, query: Query, told: str) -> None:
        """With what the other ways give."""
        sizes = ", ".join(f"{n} {_size(self._ask(n, query.text))}" for n in ("acid", "frame", *_CHANCES))
        self._world.found(kind, re.sub(r"@(\d+)@", r"t\1", query.text), f"{told}\n  {sizes}")

    def check_partition(self, partition: Partition) -> None:
        whole = self._named("t", partition.whole.text)
        parts = [self._named("t", text) for text in partition.parts]
        for text, outcome in zip((partition.whole.text, *partition.parts), (whole, *parts), strict=True):
            self._leaks(text, outcome)
        self._world.done["partitions"] += 1
        if isinstance(whole, Refused) or any(isinstance(p, Refused) for p in parts):
            # A predicate that cannot be resolved fails in all three.
            if not all(isinstance(p, Refused) for p in parts):
                self._world.found("partition", "\n  ".join(partition.parts), f"only some fail: {parts}"[:1500])
            self._world.done["partitions refused"] += 1
            return
        rows = [p.rows for p in parts if isinstance(p, Answer)]
        if partition.adds_up:
            summed = Answer((tuple(sum(numbers) for numbers in zip(*(r[0] for r in rows), strict=True)),))
        else:
            summed = Answer(tuple(row for some in rows for row in some))
        told = difference(summed, whole)
        if told is not None:
            texts = (partition.whole.text, *partition.parts)
            shown = "\n  ".join(re.sub(r"@(\d+)@", r"t\1", text) for text in texts)
            self._world.found("partition", shown, told)

    def _leaks(self, text: str, outcome: Outcome) -> None:
        if isinstance(outcome, Refused) and not outcome.is_known:
            self._world.found("leaked exception", text, f"{outcome.condition}: {outcome.text}")

    def _named(self, prefix: str, text: str) -> Outcome:
        return run(self._world.session, re.sub(r"@(\d+)@", prefix + r"\1", text))

    def _ask(self, way: str, text: str) -> Outcome:
        match way:
            case "frame":
                return self._world.over_frames(text)
            case "plain":
                return self._named("p", text)
            case "spark":
                return run_in_spark(self._raw, self._in_spark_sql(re.sub(r"@(\d+)@", r"v\1", text)))
            case "view":
                return self._named("w", text)
            case "temporary view":
                return self._named("g", text)
            case "unpruned":
                with shortcuts(self._world.session, NO_SHORTCUTS):
                    return self._named("t", text)
            case _:
                return self._named("t", text)

    def _in_spark_sql(self, text: str) -> str:
        """A query over Spark's views as Spark SQL with Hive's meaning of types and of the order of NULLs."""
        try:
            statement = parse(text)
            assert isinstance(statement, s.Query)
            tree = normalized(statement.tree)
            apply_rules(tree, ExpressionTypes(tree, self._fields_of), {})
        except (AcidSqlError, OptimizeError):
            return text
        return to_spark(tree)

    def _fields_of(self, item: exp.Table) -> dict[str, HiveType | None] | None:
        if not isinstance(item.this, exp.Identifier):
            return None
        types = column_types(self._raw.table(item.name))
        return {name: None if kind is None else parse_type(kind) for name, kind in types.items()}


def _view(table: Table, number: int) -> str:
    """A view with the columns of a table. Its query renames them in between, each by the name of another one."""
    names = [quoted(c.name) for c in table.columns]
    turned = [*names[1:], names[0]]
    inner = f"SELECT * FROM t{number} AS x({', '.join(turned)})"
    return f"CREATE OR REPLACE VIEW w{number} ({', '.join(names)}) AS SELECT {', '.join(turned)} FROM ({inner}) AS y"


def _size(outcome: Outcome) -> str:
    return f"{len(outcome.rows)} rows" if isinstance(outcome, Answer) else f"fails ({outcome.condition})"


def plain_spark(spark: SparkSession) -> SparkSession:
    """A session of Spark's own, with the settings that Hive's expressions need."""
    session: SparkSession = spark.newSession()
    for key, value in {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.sql.variable.substitute": "false",
    }.items():
        session.conf.set(key, value)
    return session


@contextmanager
def shortcuts(session: Session, allowed: Shortcuts) -> Iterator[None]:
    """Statements inside leave no more unread than this allows."""
    kept = session._plans.shortcuts
    session._plans.shortcuts = allowed
    try:
        yield
    finally:
        session._plans.shortcuts = kept


@contextmanager
def shortcuts_on_little() -> Iterator[None]:
    """Statements inside take shortcuts on little data too, where they save nothing."""
    chosen: list[tuple[Any, str]] = [
        *((data_skipping, "_WORTH"), (source_keys, "_LEAST"), (source_keys, "_MUCH")),
        *((target_pruning, "_LARGE"), (key_ranges, "_MANY_PARTITIONS")),
    ]
    kept = [getattr(module, name) for module, name in chosen]
    for module, name in chosen:
        setattr(module, name, 0)
    try:
        yield
    finally:
        for (module, name), value in zip(chosen, kept, strict=True):
            setattr(module, name, value)
