"""MERGE, and whole histories of statements, against a model: tables as lists, the rules in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect

Number: TypeAlias = "int | None"
Truth: TypeAlias = "bool | None"


@dataclass(frozen=True, slots=True)
class Data:
    """A row of the target or the source: a key that may stand twice or be NULL, and a value."""

    k: Number
    v: Number

    @property
    def sql(self) -> str:
        return ", ".join("NULL" if item is None else str(item) for item in (self.k, self.v))


# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as SQL and as what it means, of a target and a source row (either may be missing)."""

    sql: str
    holds: Callable[[Data | None, Data | None], Truth]


@dataclass(frozen=True, slots=True)
class Value:
    """A value as SQL and as what it means."""

    sql: str
    of: Callable[[Data | None, Data | None], Number]


def compare(sign: str, left: Number, right: Number) -> Truth:
    if sign == "<=>":
        return left == right
    if left is None or right is None:
        return None
    return {"=": left == right, "<": left < right, ">": left > right, "<>": left != right}[sign]


def t_k(t: Data | None, s: Data | None) -> Number:
    assert t is not None
    return t.k


def t_v(t: Data | None, s: Data | None) -> Number:
    assert t is not None
    return t.v


def s_k(t: Data | None, s: Data | None) -> Number:
    assert s is not None
    return s.k


def s_v(t: Data | None, s: Data | None) -> Number:
    assert s is not None
    return s.v


TARGET = [Value("t.k", t_k), Value("t.v", t_v)]
SOURCE = [Value("s.k", s_k), Value("s.v", s_v)]


def constant(number: Number) -> Value:
    return Value("CAST(NULL AS int)" if number is None else str(number), lambda t, s: number)


def plus(left: Value, right: Value) -> Value:
    def total(t: Data | None, s: Data | None) -> Number:
        a, b = left.of(t, s), right.of(t, s)
        return None if a is None or b is None else a + b

    return Value(f"{left.sql} + {right.sql}", total)


def comparison(left: Value, sign: str, right: Value) -> Condition:
    return Condition(f"{left.sql} {sign} {right.sql}", lambda t, s: compare(sign, left.of(t, s), right.of(t, s)))


def either(left: Condition, right: Condition) -> Condition:
    """Without parentheses: where a planner glued texts together, AND would bind tighter."""

    def holds(t: Data | None, s: Data | None) -> Truth:
        truths = (left.holds(t, s), right.holds(t, s))
        return True if True in truths else None if None in truths else False

    return Condition(f"{left.sql} OR {right.sql}", holds)


def values(columns: list[Value]) -> st.SearchStrategy[Value]:
    simple = st.sampled_from(columns) | st.sampled_from([None, 0, 1, 7]).map(constant)
    return simple | st.builds(plus, st.sampled_from(columns), simple)


def conditions(columns: list[Value]) -> st.SearchStrategy[Condition]:
    signs = st.sampled_from(["=", "<", ">", "<>", "<=>"])
    simple = st.builds(comparison, st.sampled_from(columns), signs, values(columns))
    return simple | st.just(Condition("NULL", lambda t, s: None)) | st.builds(either, simple, simple)


# ------------------------------------------------------------------------------------------------ MERGE


@dataclass(frozen=True, slots=True)
class Clause:
    """A WHEN clause. `assigned` are the values of columns k and v that it writes; empty for DELETE."""

    kind: str
    condition: Condition | None
    assigned: dict[str, Value]

    @property
    def sql(self) -> str:
        extra = f" AND {self.condition.sql}" if self.condition else ""
        return f"WHEN {self.kind}{extra} THEN {self._action}"

    @property
    def _action(self) -> str:
        if self.kind == "NOT MATCHED":
            names, given_values = zip(*((n, v.sql) for n, v in self.assigned.items()), strict=True)
            return f"INSERT ({', '.join(names)}) VALUES ({', '.join(given_values)})"
        sets = ", ".join(f"{name} = {value.sql}" for name, value in self.assigned.items())
        return f"UPDATE SET {sets}" if sets else "DELETE"

    def acts(self, t: Data | None, s: Data | None) -> bool:
        return self.condition is None or self.condition.holds(t, s) is True

    def written(self, t: Data | None, s: Data | None) -> Data:
        new = {name: value.of(t, s) for name, value in self.assigned.items()}
        return replace(t or Data(None, None), **new)


def clauses_of(kind: str, columns: list[Value]) -> st.SearchStrategy[list[Clause]]:
    """Up to three clauses of a kind: only the last may lack a condition."""
    assigned = st.dictionaries(st.sampled_from(["k", "v"]), values(columns), min_size=1)
    action = assigned if kind == "NOT MATCHED" else st.just({}) | assigned
    one = st.builds(Clause, st.just(kind), conditions(columns), action)
    last = st.builds(Clause, st.just(kind), st.none(), action)
    return st.builds(lambda some, end: [*some, *end], st.lists(one, max_size=2), st.lists(last, max_size=1))


def joined(*lists: list[Clause]) -> list[Clause]:
    return [clause for some in lists for clause in some]


all_clauses = st.builds(
    joined,
    clauses_of("MATCHED", TARGET + SOURCE),
    clauses_of("NOT MATCHED", SOURCE),
    clauses_of("NOT MATCHED BY SOURCE", TARGET),
).filter(bool)
clauses_of_the_source = st.builds(joined, clauses_of("MATCHED", SOURCE), clauses_of("NOT MATCHED", SOURCE)).filter(bool)
keys = st.sampled_from([None, 0, 1, 2, 3])
rows = st.lists(st.builds(Data, keys, st.sampled_from([None, 0, 1, 5])), max_size=6)
distinct_rows = st.lists(st.builds(Data, keys, st.sampled_from([None, 0, 1, 5])), max_size=6, unique_by=lambda r: r.k)
on_equal_keys = comparison(TARGET[0], "=", SOURCE[0])
on_conditions = st.sampled_from(
    [
        on_equal_keys,
        comparison(TARGET[0], "<=>", SOURCE[0]),
        either(comparison(TARGET[0], "=", SOURCE[0]), comparison(TARGET[1], "<", SOURCE[1])),
    ]
)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a MERGE gives: the table, and rows updated, deleted, inserted."""

    rows: list[Data]
    counts: tuple[int, int, int]


class CardinalityError(Exception):
    """More than one source row would act on one target row."""


def first(clauses: Sequence[Clause], kind: str, t: Data | None, s: Data | None) -> Clause | None:
    return next((c for c in clauses if c.kind == kind and c.acts(t, s)), None)


def merge(target: list[Data], source: list[Data], on: Condition, clauses: list[Clause]) -> Merged:
    """MERGE by definition: every target row with every source row."""
    after: list[Data] = []
    updated = deleted = 0
    for t in target:
        partners = [s for s in source if on.holds(t, s) is True]
        acting = [(c, s) for s in partners if (c := first(clauses, "MATCHED", t, s)) is not None]
        if len(acting) > 1:
            raise CardinalityError
        missing = first(clauses, "NOT MATCHED BY SOURCE", t, None) if not partners else None
        clause, s = acting[0] if acting else (missing, None)
        if clause is None:
            after.append(t)
        elif clause.assigned:
            after.append(clause.written(t, s))
            updated += 1
        else:
            deleted += 1
    unmatched = [s for s in source if not any(on.holds(t, s) is True for t in target)]
    new = [c.written(None, s) for s in unmatched if (c := first(clauses, "NOT MATCHED", None, s)) is not None]
    return Merged(after + new, (updated, deleted, len(new)))


# ------------------------------------------------------------------------------------------------ the tests


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Session:
    place = tmp_path_factory.mktemp("model")
    return connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark)


numbers = itertools.count(1)
once = settings(
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],  # to shrink an example takes minutes, and these are small already
)


def new_table(session: Session, content: list[Data], split: bool) -> str:
    """A table with the rows, in one delta or in two."""
    name = f"m{next(numbers)}"
    session.execute(f"CREATE TRANSACTIONAL TABLE {name} (k int, v int)")
    for part in (content[::2], content[1::2]) if split else (content,):
        if part:
            session.execute(f"INSERT INTO {name} VALUES {', '.join(f'({row.sql})' for row in part)}")
    return name


def identified(session: Session, name: str) -> dict[tuple[int, int, int], Data]:
    """The rows by row ID."""
    rows = session.sql(f"SELECT row__id, k, v FROM {name}").collect()
    found = [((i.writeid, i.bucketid, i.rowid), Data(k, v)) for i, k, v in rows]
    assert len(dict(found)) == len(found), "a row ID stands twice"
    return dict(found)


def source_sql(source: list[Data]) -> str:
    rows_sql = ", ".join(f"({row.sql})" for row in source)
    typed = f"VALUES {rows_sql} AS r(k, v)" if source else "VALUES (0, 0) AS r(k, v) WHERE false"
    return f"(SELECT CAST(k AS int) AS k, CAST(v AS int) AS v FROM {typed})"


@pytest.mark.ci
@settings(once, max_examples=8)
@given(rows, rows | distinct_rows, on_conditions, all_clauses, st.booleans())
def test_merge_does_what_its_definition_says(
    tables: Session, target: list[Data], source: list[Data], on: Condition, clauses: list[Clause], split: bool
) -> None:
    check_merge(tables, target, source, on, clauses, split)


@pytest.mark.ci
@settings(once, max_examples=12)
@given(rows, distinct_rows, clauses_of_the_source, st.booleans())
def test_merge_by_the_source_alone_does_what_its_definition_says(
    tables: Session, target: list[Data], source: list[Data], clauses: list[Clause], split: bool
) -> None:
    """Spark joins none of these."""
    check_merge(tables, target, source, on_equal_keys, clauses, split)


def check_merge(
    tables: Session, target: list[Data], source: list[Data], on: Condition, clauses: list[Clause], split: bool
) -> None:
    name = new_table(tables, target, split)
    before = identified(tables, name)
    sql = f"MERGE INTO {name} t USING {source_sql(source)} s ON {on.sql} {' '.join(c.sql for c in clauses)}"
    try:
        expected = merge(target, source, on, clauses)
    except CardinalityError:
        with pytest.raises(AcidSqlError, match=r"Cardinality Violation in Merge statement: \{") as raised:
            tables.execute(sql)
        assert raised.value.condition == "CARDINALITY_VIOLATION"
        assert identified(tables, name) == before
        return
    counts = tables.execute(sql).counts
    assert counts is not None
    assert (counts.updated, counts.deleted, counts.inserted) == expected.counts
    assert counts.affected == sum(expected.counts)
    after = identified(tables, name)
    assert Counter(after.values()) == Counter(expected.rows)
    # A row that no clause acted on keeps its row ID, and an ID never comes to name another row.
    kept = {row_id: row for row_id, row in after.items() if row_id in before}
    assert all(before[row_id] == row for row_id, row in kept.items())
    assert len(kept) == len(before) - expected.counts[0] - expected.counts[1]


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of a history, and what it does to (key, value) rows by their row ID."""

    sql: str
    touches: Callable[[Data], bool]
    change: Callable[[Data], Data | None]
    adds: tuple[Data, ...] = ()


def insert_step(added: list[Data]) -> Step:
    sql = "INSERT INTO {t} VALUES " + ", ".join(f"({row.sql})" for row in added)
    return Step(sql, lambda row: False, lambda row: row, tuple(added))


def update_step(condition: Condition, column: str, value: Value) -> Step:
    def change(row: Data) -> Data:
        return replace(row, **{column: value.of(row, None)})

    sql = f"UPDATE {{t}} t SET {column} = {value.sql} WHERE {condition.sql}"
    return Step(sql, lambda row: condition.holds(row, None) is True, change)


def delete_step(condition: Condition) -> Step:
    return Step(
        f"DELETE FROM {{t}} t WHERE {condition.sql}", lambda r: condition.holds(r, None) is True, lambda r: None
    )


def merge_step(source: list[Data], delete_below: int) -> Step:
    """A MERGE on a source without NULL or repeated keys: what it does to a row depends on that row alone, but what it
    inserts depends on the table, so it inserts only keys that no other step makes."""
    by_key = {row.k: row for row in source}

    def change(row: Data) -> Data | None:
        if row.k in by_key and row.v is not None and row.v < delete_below:
            return None
        return Data(row.k, by_key[row.k].v)

    sql = (
        f"MERGE INTO {{t}} t USING {source_sql([*source, Data(-9, 0)])} s ON t.k = s.k"
        f" WHEN MATCHED AND t.v < {delete_below} THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v"
        " WHEN NOT MATCHED AND s.k = -9 THEN INSERT VALUES (NULL, s.k)"
    )
    return Step(sql, lambda row: row.k in by_key, change, (Data(None, -9),))


own = TARGET
steps = st.one_of(
    st.builds(insert_step, rows.filter(bool)),
    st.builds(update_step, conditions(own), st.sampled_from(["k", "v"]), values(own)),
    st.builds(delete_step, conditions(own)),
    st.builds(merge_step, distinct_rows.map(lambda some: [r for r in some if r.k is not None]), st.integers(0, 3)),
)


@pytest.mark.soak  # test_histories.py has the like of it on more kinds of tables
@settings(once, max_examples=3)
@given(st.lists(steps, min_size=6, max_size=8))
def test_a_history_leaves_the_rows_of_the_model_and_never_changes_the_id_of_an_untouched_row(
    tables: Session, history: list[Step]
) -> None:
    name = new_table(tables, [Data(k, v) for k in (None, 0, 1, 2) for v in (None, 1, 5)], split=True)
    used = set(identified(tables, name))
    for step in history:
        before = identified(tables, name)
        counts = tables.execute(step.sql.format(t=name)).counts
        after = identified(tables, name)
        touched = {row_id for row_id, row in before.items() if step.touches(row)}
        rewritten = [new for row_id in touched if (new := step.change(before[row_id])) is not None]
        assert counts is not None
        assert (counts.updated, counts.deleted, counts.inserted) == (
            len(rewritten),
            len(touched) - len(rewritten),
            len(step.adds),
        )
        untouched = {row_id: row for row_id, row in before.items() if row_id not in touched}
        fresh = {row_id: row for row_id, row in after.items() if row_id not in before}
        assert {row_id: row for row_id, row in after.items() if row_id in before} == untouched
        assert Counter(fresh.values()) == Counter([*rewritten, *step.adds])
        assert not used & set(fresh), "an ID that a row once had names another one"
        used |= set(fresh)
