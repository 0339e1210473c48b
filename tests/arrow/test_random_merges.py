"""Random MERGEs between columns of all types give the same rows, counts and errors with and without Spark's join."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from acidsql.arrow.scan import live_rows
from acidsql.arrow.write import merged_rows
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

    def rows(self, kinds: Sequence[str], count: int) -> str:
        made = (f"SELECT {', '.join(value_of(kind, self.random) for kind in kinds)}" for _ in range(count))
        return " UNION ALL ".join(made)

    def merge(self) -> str:
        r = self.random
        on = ["t.c0 = s.c0", *(["s.c1 = t.c1"] if r.random() < 0.3 else [])]
        distinct = "(SELECT *, row_number() OVER (PARTITION BY c0 ORDER BY c1, c2, c3) n FROM s)"
        also = r.choice(("c0 IS NULL", "c1 IS NULL", "false"))
        source = f"(SELECT c0, c1, c2, c3 FROM {distinct} q WHERE n = 1 OR {also})"
        sets = ", ".join(f"c{i} = {self.value(i)}" for i in sorted(r.sample((1, 2, 3), r.randint(1, 3))))
        clauses = [
            f"WHEN MATCHED AND {self.condition()} THEN DELETE",
            f"WHEN MATCHED{r.choice(('', f' AND {self.condition()}'))} THEN UPDATE SET {sets}",
            f"WHEN NOT MATCHED{r.choice(('', f' AND {self.condition()}'))} THEN INSERT VALUES (s.c0, s.c1, s.c2, s.c3)",
        ]
        chosen = [c for c in clauses if r.random() < 0.7] or clauses[1:]
        return f"MERGE INTO t USING {source} s ON {' AND '.join(on)} {' '.join(chosen)}"

    def value(self, place: int) -> str:
        return self.random.choice((f"s.c{place}", f"s.c{place}", "NULL", f"coalesce(s.c{place}, s.c{place})"))

    def condition(self) -> str:
        return self.random.choice(("s.c1 IS NULL", "s.c0 IS NOT NULL", "s.c2 = s.c2", "NOT (s.c3 <> s.c3)"))


def outcome(session: Session, statement: str) -> object:
    try:
        return session.execute(statement).counts
    except AcidSqlError as error:
        return error.condition


def state(session: Session) -> list[str]:
    return sorted(map(str, rows(session, "SELECT * FROM t")))


def run_world(pair: Sequence[Session], seed: int) -> None:
    world = World(seed)
    for table, kinds in (("t", world.target), ("s", world.source)):
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
        layout = world.layout if table == "t" else ""
        content = world.rows(kinds, 6 if table == "t" else world.random.choice((1, 2, 4, 6)))
        for session in pair:
            session.execute(f"DROP TABLE IF EXISTS {table}")
            session.execute(f"CREATE TABLE {table} ({columns}){layout} {ACID}")
            session.execute(f"INSERT INTO {table} {content}")
    for _ in range(3):
        statement = world.merge()
        found = [outcome(session, statement) for session in pair]
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

    monkeypatch.setattr(merged_rows, "merged", noted)
    with connect(tmp_path / "direct", spark=spark) as direct, connect(tmp_path / "spark", spark=spark) as by_spark:
        by_spark._engines.steering.may_use_arrow = False
        for seed in seeds:
            with monkeypatch.context() as patch:
                if seed % 2:  # as in a large target, with rows that are looked up one by one
                    patch.setattr(merged_rows, "_LARGE", 0)
                    patch.setattr(live_rows, "ROWS_PER_LOOKUP", 0)
                run_world((direct, by_spark), seed)
    assert sum(done) >= len(seeds) / 2
