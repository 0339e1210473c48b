"""Random MERGEs between columns of all types give the same rows, counts and errors with and without Spark's join."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from acidsql.arrow import executor
from acidsql.arrow.scan import live_rows
from acidsql.arrow.write import merged_rows, source_rows
from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.answers import rows
from tests.arrow.two_ways import ACID

TYPES: Final = (
    *("tinyint", "smallint", "int", "bigint", "string", "varchar(3)", "char(3)", "date", "timestamp", "boolean"),
    *("float", "double", "decimal(4,1)", "decimal(12,3)", "binary"),
)
VALUES: Final = {  # the last one is rare
    "string": ("'1'", "'a'", "'a '", "''", "'abcd'", "'2024-01-01'"),
    "date": ("DATE '2024-01-01'", "DATE '1970-01-02'", "DATE '1500-03-01'"),
    "timestamp": ("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '1960-01-01 12:00:00.5'"),
    "boolean": ("true", "false"),
    "binary": ("unhex('61')", "unhex('')"),
    "float": ("1.0", "0.5", "-0.0", "CAST('NaN' AS FLOAT)"),
    "double": ("1.0D", "0.1D", "-0.0D", "CAST('NaN' AS DOUBLE)"),
    "decimal(4,1)": ("1.0", "-999.9", "0.5"),
    "decimal(12,3)": ("1", "12345.678", "0.5"),
}
NUMBERS: Final = ("0", "1", "2", "3", "100", "127")


def value_of(kind: str, r: random.Random) -> str:
    if r.random() < 0.15:
        return f"CAST(NULL AS {kind})"
    of = "string" if kind.startswith(("varchar", "char")) else kind
    *plain, last = VALUES.get(of, NUMBERS)
    return f"CAST({last if r.random() < 0.04 else r.choice(plain)} AS {kind})"


class World:
    """A target and a source with random columns, and MERGEs between them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        first = self.random.choice(("int", "bigint", "string", "date"))
        self.target = [first, *self.random.choices(TYPES, k=3)]
        self.source = [self.random.choice((first, first, "string", "smallint")), *self.target[1:]]
        for place in range(1, 4):
            if self.random.random() < 0.15:
                self.source[place] = self.random.choice(TYPES)
        self.layout = self.random.choice(("", " CLUSTERED BY (c0) INTO 2 BUCKETS"))
        self.content: Sequence[Sequence[str]] = ()
        """The rows of the source, as SQL."""

    def rows(self, kinds: Sequence[str], count: int) -> Sequence[Sequence[str]]:
        return [[value_of(kind, self.random) for kind in kinds] for _ in range(count)]

    def source_item(self) -> str:
        """The source: rows that Spark computes, a table, a frame, parts of them, or rows that are written out."""
        r = self.random
        distinct = "(SELECT *, row_number() OVER (PARTITION BY c0 ORDER BY c1, c2, c3) n FROM s)"
        also = r.choice(("c0 IS NULL", "c1 IS NULL", "false"))
        relation = r.choice(("s", "{f}", "{f}"))
        names = r.choice(("*", "c0, c1, c2, c3", "c3, c2 AS c1, c1 AS c2, c0"))
        written = ", ".join(f"({', '.join(map(plain, row))})" for row in self.content)
        return r.choice(
            (
                f"(SELECT c0, c1, c2, c3 FROM {distinct} q WHERE n = 1 OR {also}) s",
                f"{relation} s",
                f"(SELECT {names} FROM {relation} x WHERE {self.condition('x')}) s",
                f"(SELECT {names} FROM {relation}) s",
                f"(VALUES {written}) AS s (c0, c1, c2, c3)",
                f"({' UNION ALL '.join(select(map(plain, row)) for row in self.content)}) s",
            )
        )

    def merge(self) -> str:
        r = self.random
        on = ["t.c0 = s.c0", *(["s.c1 = t.c1"] if r.random() < 0.3 else [])]
        sets = ", ".join(f"c{i} = {self.value(i)}" for i in sorted(r.sample((1, 2, 3), r.randint(1, 3))))
        clauses = [
            f"WHEN MATCHED AND {self.condition()} THEN DELETE",
            f"WHEN MATCHED{r.choice(('', f' AND {self.condition()}'))} THEN UPDATE SET {sets}",
            f"WHEN NOT MATCHED{r.choice(('', f' AND {self.condition()}'))} THEN INSERT VALUES (s.c0, s.c1, s.c2, s.c3)",
        ]
        chosen = [c for c in clauses if r.random() < 0.7] or clauses[1:]
        return f"MERGE INTO t USING {self.source_item()} ON {' AND '.join(on)} {' '.join(chosen)}"

    def value(self, place: int) -> str:
        return self.random.choice((f"s.c{place}", f"s.c{place}", "NULL", f"coalesce(s.c{place}, s.c{place})"))

    def condition(self, side: str = "s") -> str:
        r, place = self.random, self.random.randrange(4)
        value = plain(value_of(self.source[place], r))
        compared = f"s.c{place} {r.choice(('=', '<>', '<', '>='))} {value}"
        whole = ("s.c1 IS NULL", "s.c0 IS NOT NULL", "s.c2 = s.c2", "NOT (s.c3 <> s.c3)")
        return r.choice((*whole, compared, compared, f"{side}.c{place} IN ({value}, {value})")).replace(
            "s.c", f"{side}.c"
        )


def plain(value: str) -> str:
    """A value without its cast, as people write literals."""
    found = re.fullmatch(r"CAST\((.*) AS [a-z0-9(),]+\)", value)
    return value if found is None or "CAST" in found[1] else found[1]


def select(values: Iterable[str]) -> str:
    return "SELECT " + ", ".join(f"{value} AS c{i}" for i, value in enumerate(values))


def outcome(session: Session, statement: str, frame: object) -> object:
    try:
        return session.execute(statement, frames={"f": frame} if "{f}" in statement else None).counts
    except AcidSqlError as error:
        return error.condition


def state(session: Session) -> list[str]:
    return sorted(map(str, rows(session, "SELECT * FROM t")))


def run_world(pair: Sequence[Session], seed: int) -> None:
    world = World(seed)
    for table, kinds in (("t", world.target), ("s", world.source)):
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
        layout = world.layout if table == "t" else ""
        world.content = world.rows(kinds, 6 if table == "t" else world.random.choice((1, 2, 4, 6)))
        content = " UNION ALL ".join(f"SELECT {', '.join(row)}" for row in world.content)
        for session in pair:
            session.execute(f"DROP TABLE IF EXISTS {table}")
            session.execute(f"CREATE TABLE {table} ({columns}){layout} {ACID}")
            session.execute(f"INSERT INTO {table} {content}")
    frame = pair[0].read_arrow("s").read_all()
    for _ in range(3):
        statement = world.merge()
        found = [outcome(session, statement, frame) for session in pair]
        assert found[0] == found[1], (seed, world.target, world.source, statement)
        assert state(pair[0]) == state(pair[1]), (seed, world.target, world.source, statement)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "seeds",
    [
        range(8),
        pytest.param(range(8, 16), marks=pytest.mark.nightly),
        *(pytest.param(range(n, n + 50), marks=pytest.mark.soak) for n in range(100, 500, 50)),
    ],
    ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}",
)
def test_random_merges_do_the_same_in_both_ways(
    spark: SparkSession, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, seeds: range
) -> None:
    done: list[bool] = []
    merged = merged_rows.merged

    def noted(*arguments: Any, **named: Any) -> Any:
        events = merged(*arguments, **named)
        done.append(events is not None)
        return events

    here: list[bool] = []

    def found_here(source: Any) -> Any:
        def found(*arguments: Any) -> Any:
            table = source(*arguments)
            here.append(table is not None)
            return table

        return found

    monkeypatch.setattr(merged_rows, "merged", noted)
    monkeypatch.setattr(executor, "rows_of_call", found_here(source_rows.rows_of_call))
    monkeypatch.setattr(executor, "rows_of_table", found_here(source_rows.rows_of_table))
    with connect(tmp_path / "direct", spark=spark) as direct, connect(tmp_path / "spark", spark=spark) as by_spark:
        by_spark._engines.steering.may_use_arrow = False
        for seed in seeds:
            with monkeypatch.context() as patch:
                if seed % 2:  # as in a large target, with rows that are looked up one by one
                    patch.setattr(merged_rows, "_LARGE", 0)
                    patch.setattr(live_rows, "ROWS_PER_LOOKUP", 0)
                run_world((direct, by_spark), seed)
    assert sum(done) >= len(seeds) / 2
    assert sum(here) >= len(seeds) / 4
