"""Random tables in a warehouse, each beside what it must hold: rows that were reckoned without reading it."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

from acidsql.acid.partition_names import DEFAULT_PARTITION
from acidsql.arrow.executor import ArrowExecutor, ArrowWrite, LeftToSpark
from acidsql.planner.plan import WritePlan
from acidsql.planner.write_strategy import STRATEGIES, ByDriver, StrategyKind
from acidsql.request import Request
from acidsql.session import Session
from acidsql.writing.outcomes import RowCounts
from acidsql.writing.statement_transactions import LateWork
from acidsql.writing.write_transaction import WriteTransaction
from tests.fuzz.answers import Answer, Outcome, Refused, Row, described, plain_rows, run
from tests.fuzz.dml import RID, SID, Change, Clause, Delete, Insert, Merge, Update
from tests.fuzz.tables import Column, Table, quoted


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be."""

    seed: int
    kind: str
    text: str
    detail: str
    history: tuple[str, ...] = ()

    def __str__(self) -> str:
        before = "".join(f"\n    {line}" for line in self.history)
        return f"FINDING {self.kind}, seed {self.seed}\n  {self.text}\n  {self.detail}\n  after:{before}"


@dataclass(slots=True)
class Live:
    """A table as it must be: its rows by their row ID."""

    table: Table
    number: int
    schema: StructType
    rows: dict[Row, Row] = field(default_factory=dict)
    used: set[Row] = field(default_factory=set)
    """Row IDs that name a row, or did once."""

    @property
    def name(self) -> str:
        return f"t{self.number}"


class World:
    """Makes changes to tables and to what they must hold; keeps what it finds."""

    def __init__(
        self, session: Session, spark: SparkSession, seed: int, tell: Callable[[Finding], None] = lambda _: None
    ) -> None:
        self._tell = tell
        self.session = session
        self.seed = seed
        self.lives: list[Live] = []
        self.findings: list[Finding] = []
        self.done: Counter[str] = Counter()
        """How many statements of each kind were held against their model."""
        self.history: list[str] = []
        self._spark = spark
        self._frames: dict[int, DataFrame] = {}

    # -- tables

    def create(self, table: Table) -> Live:
        number = len(self.lives)
        ddl = table.ddl(f"t{number}", ("transactional", "true"))
        self.history.append(ddl)
        self.session.execute(ddl)
        schema = self.session.sql(f"SELECT * FROM t{number}").schema
        live = Live(table, number, schema)
        self.lives.append(live)
        return live

    def frame(self, number: int) -> DataFrame:
        """A Spark frame of what a table must hold."""
        if number not in self._frames:
            live = self.lives[number]
            self._frames[number] = self._frame(list(live.rows.values()), live.schema)
        return self._frames[number]

    def _frame(self, rows: Sequence[Row], schema: StructType) -> DataFrame:
        return self._spark.createDataFrame(list(rows), schema, verifySchema=False)

    def frames(self) -> dict[str, object]:
        return {f"f{n}": self.frame(n) for n in range(len(self.lives))}

    def over_frames(self, text: str, **frames: DataFrame) -> Outcome:
        """Runs a query in which `@0@` and so on stand for frames."""
        named = re.sub(r"@(\w+)@", lambda m: "{f" + m[1] + "}", text)
        given: Mapping[str, object] = self.frames() | {f"f{name}": frame for name, frame in frames.items()}
        return run(self.session, named, {n: f for n, f in given.items() if "{" + n + "}" in named})

    def found(self, kind: str, text: str, detail: str) -> None:
        finding = Finding(self.seed, kind, text, detail, tuple(self.history))
        self.findings.append(finding)
        self._tell(finding)

    # -- changes

    def fill(self, live: Live, inserts: Sequence[Insert]) -> None:
        """The first rows of a table."""
        new: list[Row] = []
        for insert in inserts:
            model = self.over_frames(insert.models[0])
            outcome = self._execute(insert.text, ByDriver if len(new) % 2 else None)
            if isinstance(outcome, Refused) or isinstance(model, Refused):
                if not (isinstance(outcome, Refused) and isinstance(model, Refused)):
                    self.found("insert", insert.text, f"{outcome} but the model says {model}")
                continue
            new += [_as_read(row, live.table) for row in model.rows]
        before = len(self.findings)
        self.settle(live, {}, new, f"filling {live.name}")
        if len(self.findings) > before:
            self.resync(live)

    def apply(self, change: Change, path: StrategyKind | None) -> None:
        """Runs a statement and holds what it does against its model. `path` is how it is written if it can be; None
        leaves the choice to acidsql, which may do it without Spark."""
        kind = type(change).__name__.lower()
        before = len(self.findings)
        match change:
            case Update():
                self._update(change, path)
            case Delete():
                self._delete(change, path)
            case Insert():
                self._insert(change, path)
            case Merge():
                self._merge(change, path)
        self.done[f"{kind} {_label(path)}"] += 1
        if len(self.findings) > before:
            for live in self.lives:
                self.resync(live)

    def compact(self, live: Live, kind: str) -> None:
        """Compacts the table, or all of its partitions: rows and row IDs stay."""
        places = run(self.session, f"SHOW PARTITIONS {live.name}") if live.table.keys else Answer(((None,),))
        if isinstance(places, Refused):
            return self.found("compaction", live.name, str(places))
        for (place,) in places.rows:
            clause = ""
            if place is not None:
                items = (item.partition("=") for item in place.split("/"))
                if "%" in place or DEFAULT_PARTITION in place:
                    continue
                listed = ", ".join(f"{quoted(n)}='{v}'" for n, _, v in items)
                clause = f" PARTITION ({listed})"
            outcome = self._execute(f"ALTER TABLE {live.name}{clause} COMPACT '{kind}' AND WAIT", ByDriver)
            if isinstance(outcome, Refused) or outcome.rows[0][1] not in ("succeeded", "refused"):
                self.found("compaction", self.history[-1], str(outcome))
        self.done["compactions"] += 1
        before = len(self.findings)
        self.settle(live, live.rows, [], self.history[-1])
        return self.resync(live) if len(self.findings) > before else None

    def _update(self, change: Update, path: StrategyKind | None) -> None:
        live = self.lives[change.target]
        model = self.over_frames(change.model, rows=self._numbered(live))
        outcome = self._execute(change.text, path)
        if isinstance(model, Refused) or isinstance(outcome, Refused):
            return self._refused(change.text, model, outcome)
        ids = list(live.rows)
        kept = {rid: row for rid, row in live.rows.items() if rid not in {ids[row[0]] for row in model.rows}}
        new = [_as_read(row[1:], live.table) for row in model.rows]
        self._count(change.text, outcome, (len(new), 0, 0))
        return self.settle(live, kept, new, change.text)

    def _delete(self, change: Delete, path: StrategyKind | None) -> None:
        live = self.lives[change.target]
        model = self.over_frames(change.model, rows=self._numbered(live))
        outcome = self._execute(change.text, path)
        if isinstance(model, Refused) or isinstance(outcome, Refused):
            return self._refused(change.text, model, outcome)
        ids = list(live.rows)
        gone = {ids[row[0]] for row in model.rows}
        self._count(change.text, outcome, (0, len(gone), 0))
        return self.settle(live, {rid: row for rid, row in live.rows.items() if rid not in gone}, [], change.text)

    def _insert(self, change: Insert, path: StrategyKind | None) -> None:
        models = [self.over_frames(model) for model in change.models]
        static = self.over_frames(change.static) if change.static is not None else None
        outcome = self._execute(change.text, path)
        failed = next((m for m in (*models, static) if isinstance(m, Refused)), models[0])
        if isinstance(failed, Refused) or isinstance(outcome, Refused):
            return self._refused(change.text, failed, outcome)
        new: dict[int, list[Row]] = defaultdict(list)
        for number, model in zip(change.targets, models, strict=True):
            assert isinstance(model, Answer)
            new[number] += [_as_read(row, self.lives[number].table) for row in model.rows]
        self._count(change.text, outcome, (0, 0, sum(map(len, new.values()))))
        for number, rows in new.items():
            live = self.lives[number]
            kept = live.rows
            if change.overwrites:
                named = static.rows[0] if isinstance(static, Answer) else None
                kept = _not_replaced(live, rows, named)
            self.settle(live, kept, rows, change.text)
        return None

    def _merge(self, change: Merge, path: StrategyKind | None) -> None:
        live = self.lives[change.target]
        source = self.over_frames(change.source)
        expected = source if isinstance(source, Refused) else self._merged(change, live, source)
        outcome = self._execute(change.text, path)
        if isinstance(expected, Refused) or isinstance(outcome, Refused):
            if isinstance(expected, _Merged) and expected.is_ambiguous and isinstance(outcome, Refused):
                if outcome.condition != "CARDINALITY_VIOLATION":
                    self.found("merge", change.text, f"fails, but not as CARDINALITY_VIOLATION: {outcome}")
                self.done["cardinality violations"] += 1
                return self.settle(live, live.rows, [], change.text)
            return self._refused(change.text, expected, outcome)
        if expected.is_ambiguous:
            return self.found("merge", change.text, f"CARDINALITY_VIOLATION does not come: {outcome.counts}")
        self._count(change.text, outcome, expected.counts)
        return self.settle(live, expected.kept, expected.new, change.text)

    def _merged(self, change: Merge, live: Live, source: Answer) -> _Merged | Refused:
        """MERGE by definition."""
        schema = self._schema_of(change)
        numbered = [(n, *row) for n, row in enumerate(source.rows)]
        typed = StructType([StructField(SID, IntegerType()), *schema.fields])
        frames = {"rows": self._numbered(live), "source": self._frame(numbered, typed)}
        answers = [self.over_frames(q, **frames) for q in (change.pairs, change.only_source, change.only_target)]
        for answer in answers:
            if isinstance(answer, Refused):
                return answer
        pairs, only_source, only_target = (a.rows for a in answers if isinstance(a, Answer))
        matched, not_matched, not_by_source = change.clauses
        met_rows, met_source = {row[0] for row in pairs}, {row[1] for row in pairs}
        acting = [(row[0], row[2], row[3:], matched) for row in pairs if row[2] >= 0]
        twice = [n for n, count in Counter(a[0] for a in acting).items() if count > 1]
        acting += [
            (row[0], row[1], row[2:], not_by_source) for row in only_target if row[1] >= 0 and row[0] not in met_rows
        ]
        inserted = [_made(not_matched, r[1], r[2:]) for r in only_source if r[1] >= 0 and r[0] not in met_source]
        changed = [_made(clauses, place, values) for _, place, values, clauses in acting]
        updated = [row for row in changed if row is not None]
        ids = list(live.rows)
        touched = {ids[a[0]] for a in acting}
        new = [_as_read(row, live.table) for row in (*updated, *inserted) if row is not None]
        counts = (len(updated), len(changed) - len(updated), len(inserted))
        return _Merged({i: row for i, row in live.rows.items() if i not in touched}, new, counts, bool(twice))

    def _schema_of(self, change: Merge) -> StructType:
        named = re.sub(r"@(\w+)@", lambda m: "{f" + m[1] + "}", change.source)
        frames = {n: f for n, f in self.frames().items() if "{" + n + "}" in named}
        return self.session.execute(named, frames=frames).frame().schema

    # -- checks

    def settle(self, live: Live, kept: Mapping[Row, Row], new: Sequence[Row], text: str) -> None:
        """Reads the table: the rows that were kept have their row IDs, the others are the new ones."""
        outcome = run(self.session, f"SELECT row__id, * FROM {live.name}")
        self._frames.pop(live.number, None)
        if isinstance(outcome, Refused):
            return self.found("reading", text, f"the table cannot be read any more: {outcome}")
        read = {tuple(row[0]): row[1:] for row in outcome.rows}
        if len(read) != len(outcome.rows):
            return self.found("row IDs", text, f"{live.name} has one row ID twice")
        a = plain_rows((rid, *row) for rid, row in read.items() if rid in kept)
        b = plain_rows((rid, *row) for rid, row in kept.items())
        if sorted(a) != sorted(b):
            return self.found("kept rows", text, f"{live.name}, read and model: {described(a, b)}")
        fresh = {rid: row for rid, row in read.items() if rid not in kept}
        a, b = plain_rows(fresh.values()), plain_rows(new)
        if Counter(a) != Counter(b):
            return self.found("new rows", text, f"{live.name}, read and model: {described(a, b)}")
        if live.used & set(fresh):
            return self.found("row IDs", text, f"{live.name} uses a row ID again: {live.used & set(fresh)}")
        by_text = defaultdict(list)
        for key, row in zip(b, new, strict=True):
            by_text[key].append(row)
        live.rows = {**kept, **{rid: by_text[key].pop() for key, rid in zip(a, fresh, strict=True)}}
        live.used |= set(fresh)
        return None

    def resync(self, live: Live) -> None:
        """After a finding: what the table holds now is taken for right."""
        outcome = run(self.session, f"SELECT row__id, * FROM {live.name}")
        self._frames.pop(live.number, None)
        if isinstance(outcome, Answer):
            live.rows = {tuple(row[0]): _trimmed(row[1:], live.table) for row in outcome.rows}
            live.used |= set(live.rows)

    def _refused(self, text: str, model: Outcome | _Merged, outcome: Outcome) -> None:
        """A statement that fails must fail in the model too, and must change nothing."""
        if isinstance(outcome, Refused) and isinstance(model, Refused):
            self.done["refused, as its model"] += 1
            for live in self.lives:
                self.settle(live, live.rows, [], text)
            return
        self.found("refusal", text, f"the statement: {outcome}\n  its model: {model}"[:2500])

    def _count(self, text: str, outcome: Answer, expected: tuple[int, int, int]) -> None:
        if outcome.counts != expected:
            self.found("counts", text, f"updated, deleted, inserted: {outcome.counts}, the model: {expected}")

    # -- statements

    def _execute(self, text: str, path: StrategyKind | None) -> Outcome:
        named = re.sub(r"@(\d+)@", r"t\1", text)
        self.history.append(f"{named}  -- {_label(path)}")
        with write_path(self.session, path), _counted_without_spark(self.done):
            outcome = run(self.session, named)
        if isinstance(outcome, Refused) and not outcome.is_known:
            self.found("leaked exception", named, f"{outcome.condition}: {outcome.text}")
        return outcome

    def _numbered(self, live: Live) -> DataFrame:
        rows = [(*row, n) for n, row in enumerate(live.rows.values())]
        return self._frame(rows, StructType([*live.schema.fields, StructField(RID, IntegerType())]))


@dataclass(frozen=True, slots=True)
class _Merged:
    """What a MERGE must do."""

    kept: Mapping[Row, Row]
    new: Sequence[Row]
    counts: tuple[int, int, int]
    is_ambiguous: bool
    """Whether more than one row of the source would act on one row."""


@contextmanager
def write_path(session: Session, path: StrategyKind | None) -> Iterator[None]:
    """Statements inside are written so, where they can be."""
    steering = session._engines.steering
    steering.preferred = path
    try:
        yield
    finally:
        steering.preferred = None


@contextmanager
def _counted_without_spark(done: Counter[str]) -> Iterator[None]:
    """Counts the statements inside that needed no Spark."""
    prepared = ArrowExecutor.prepared

    def counted(self: ArrowExecutor, plan: WritePlan, request: Request) -> ArrowWrite | LeftToSpark:
        write = prepared(self, plan, request)
        if isinstance(write, LeftToSpark):
            return write

        def counting(txn: WriteTransaction, work: LateWork) -> RowCounts | None:
            counts = write.run(txn, work)
            done[f"{plan.operation.lower()} without Spark"] += counts is not None
            return counts

        return replace(write, run=counting)

    ArrowExecutor.prepared = counted  # type: ignore[method-assign]
    try:
        yield
    finally:
        ArrowExecutor.prepared = prepared  # type: ignore[method-assign]


def _label(path: StrategyKind | None) -> str:
    return "as it comes" if path is None else path.label


def _made(clauses: Sequence[Clause], place: int, values: Row) -> Row | None:
    """The values of one clause among those of all; None for DELETE."""
    clause = clauses[place]
    if clause.values is None:
        return None
    first = sum(len(c.values or ()) for c in clauses[:place])
    return values[first : first + len(clause.values)]


def _as_read(row: Row, table: Table) -> Row:
    """A new row as it will be read: NULL and '' in a partition column of text are Hive's name for it."""
    keys = table.partition_columns
    first = len(row) - len(keys)
    return (*row[:first], *(_key_as_read(c, v) for c, v in zip(keys, row[first:], strict=True)))


def _key_as_read(column: Column, value: Any) -> Any:
    """A VARCHAR that is too short for the name is NULL instead. The name of an empty CHAR consists of its blanks."""
    if column.type.family == "text":
        return value or (DEFAULT_PARTITION if column.type.sql == "string" else None)
    return value


def _trimmed(row: Row, table: Table) -> Row:
    """Without the blanks that a query gives with the values of a CHAR."""
    return tuple(
        v.rstrip(" ") if c.type.family == "char" and isinstance(v, str) else v
        for c, v in zip(table.columns, row, strict=True)
    )


def _not_replaced(live: Live, new: Sequence[Row], named: Row | None) -> dict[Row, Row]:
    """The rows that INSERT OVERWRITE leaves: those of other partitions."""
    keys = live.table.keys
    if not keys:
        return {}
    if named is not None:
        named = _as_read(named, live.table) if len(named) == keys else named
    places = {repr(row[len(row) - keys :]) for row in new} if named is None else {repr(named)}
    return {rid: row for rid, row in live.rows.items() if repr(row[len(row) - keys :]) not in places}


def random_path(r: random.Random) -> StrategyKind:
    return r.choice(STRATEGIES)
