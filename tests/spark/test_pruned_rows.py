"""Queries give the same rows over a table, whose scans skip data, and over a plain frame of the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from acidsql.acid.table import Column, Table
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Query
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.conditions.row_conditions import partition_filter, row_filter
from acidsql.planner.plan import Scan
from acidsql.session import Session, connect
from acidsql.snapshot.file_skipping import FileSkipping
from acidsql.snapshot.scan_binding import SourceFile
from acidsql.spark.scan import data_skipping
from acidsql.storage.footer_cache import read_file_tail
from tests.selection import every
from tests.spark_versions import since_spark

TURNED = "PIVOT (sum(b) FOR a IN (1, 5))"
EXPLODED = "LATERAL VIEW explode(array(5, b)) v"
QUERIES = (
    "SELECT * FROM {t} AS x(b, a, c, q) WHERE a = 105 AND q = 1",
    "SELECT * FROM {t} AS x(p, a, c, q) WHERE x.p = 5 AND q = 1",
    "SELECT * FROM {t} UNPIVOT (a FOR b IN (a, b)) WHERE a = 105 AND b = 'b'",
    "SELECT s.a FROM {t} AS s(s, b, a, p) WHERE s.a.b = 5 AND s.b > 0",
    "SELECT a FROM {t} WHERE a NOT IN (SELECT a FROM {u} AS y(p, a, q) WHERE a >= 8)",
    "SELECT a, x.p, y.p FROM {t} x FULL JOIN {u} y USING (a) WHERE a = 10",
    "SELECT a FROM {t} WHERE (p = 1 AND a = 5) OR (p = 2 AND a = 6) OR (a = 9 AND b > 200)",
    *since_spark(4, 0, "SELECT count(* EXCEPT (a)), count(*) FROM {t}"),
    "SELECT * FROM (SELECT b AS a, a AS b, p FROM {t}) x WHERE a = 105 AND p = 1",
    "SELECT * FROM (SELECT p AS q, count(*) AS n, max(b) FROM {t} GROUP BY p) x WHERE q = 2 AND n > 1",
)
MORE_QUERIES = (
    "SELECT * FROM (SELECT * FROM {t}) AS x(b, a, c, p) WHERE a = 105",
    "SELECT * FROM (SELECT a, b, p FROM {t}) AS x(b, a, q) WHERE a = 105 AND q = 1",
    "SELECT * FROM {u} y LEFT JOIN (SELECT a, b, p FROM {t}) x ON x.a = y.a AND x.p = 1",
    "SELECT * FROM {u} y LEFT JOIN (SELECT a, b, p FROM {t}) x ON x.a = y.a WHERE x.p = 1",
    "SELECT * FROM (SELECT x.a, y.b, y.p FROM {t} x LEFT JOIN {u} y ON x.a = y.b) z WHERE p = 1 OR b = 3",
    "SELECT * FROM (SELECT a, p FROM (SELECT a AS p, p AS a, b FROM {t}) k WHERE b > 102) x WHERE a = 1 AND p > 3",
    "SELECT * FROM (SELECT DISTINCT p, c FROM {t}) x WHERE p = 2",
    "SELECT * FROM (SELECT a, p FROM {t} ORDER BY a LIMIT 4) x WHERE p = 2",
    "SELECT * FROM (SELECT a, p, count(*) OVER () AS n FROM {t}) x WHERE p = 2",
    "SELECT * FROM (SELECT a, b, p FROM {t}) {turned} WHERE p = 1",
    "SELECT `5` FROM (SELECT a, b, p FROM {t} WHERE p < 3) {turned}",
    "SELECT a, e FROM {t} {exploded} AS e WHERE e = 5 AND a > 6",
    "SELECT v.e, p FROM {t} x {exploded} AS e WHERE x.p = 2 AND v.e > 5",
    "SELECT c.a FROM {t} WHERE c.a = 5 AND c.b = 5",
    "SELECT b.b FROM {t} AS b WHERE b.b = 105",
    "SELECT * FROM {t} x FULL JOIN {u} y ON x.a = y.b WHERE x.b > 103 OR y.a = 9",
    "SELECT x.a, y.b FROM {t} x FULL JOIN {u} y ON x.a = y.b AND x.p = 1 WHERE y.b > 3",
    "SELECT x.a, y.b FROM {t} x FULL JOIN {u} y ON x.a = y.b WHERE x.p = 1",
    "SELECT a, x.b FROM {t} x FULL JOIN {u} y USING (a) WHERE x.a = 9",
    "SELECT a, y.b FROM {t} x FULL JOIN {u} y USING (a) WHERE y.a < 4",
    "SELECT a, b, p FROM {t} NATURAL RIGHT JOIN (SELECT a, p FROM {u}) y WHERE p = 1",
    "SELECT x.a FROM {t} x LEFT ANTI JOIN {u} y ON x.a = y.a AND y.p = 1 AND x.b > 103",
    "SELECT a FROM {t} x LEFT SEMI JOIN {u} y ON x.a = y.b AND y.p = 1 WHERE b > 102",
    "SELECT x.a FROM {t} x LEFT JOIN {u} y ON x.a = y.a AND y.p = 1 WHERE y.a IS NULL",
    "SELECT a, (SELECT max(a) FROM {u} y WHERE p = x.p AND a < 5) FROM {t} x WHERE b > 101",
    "SELECT a FROM {t} x WHERE EXISTS (SELECT 1 FROM {u} WHERE a = 5 AND x.b = 105)",
    "SELECT a + 1 AS b, count(*) FROM {t} GROUP BY a HAVING b = 5",
    "SELECT * FROM (SELECT a, p, rank() OVER (PARTITION BY p ORDER BY a DESC) AS r FROM {t}) WHERE r = 2 AND a = 4",
    "WITH u AS (SELECT b AS a, a AS b FROM {t}) SELECT * FROM u WHERE a = 105",
    "SELECT a FROM {t} WHERE exists(array(1, b), a -> a = 105) AND p = 1",
    "SELECT * FROM (SELECT a, p FROM {t} UNION ALL SELECT p, a FROM {u}) AS x(p, a) WHERE a = 1",
)
COLUMNS = {
    "i": "int",
    "l": "bigint",
    "c": "decimal(38,10)",
    "m": "decimal(5,2)",
    "s": "string",
    "v": "varchar(5)",
    "y": "date",
}
ROWS = (
    ("-2147483648", "-9223372036854775808", "1", "1.50", "'5'", "'5'", "'0001-01-01'"),
    ("-1", "9007199254740992", "1.0000000001", "-0.01", "'5 '", "'5 '", "'1582-10-04'"),
    ("0", "9007199254740993", "-0.5", "999.99", "'2020-01-01'", "'05'", "'1582-10-15'"),
    ("5", "5", "9999999999999999999999999999.9999999999", "5", "'\U0001f600'", "'zzzzz'", "'1969-12-31'"),
    ("2147483647", "0", "5", "0", "'\uff21'", "'5.0'", "'2020-01-01'"),
)
NUMBERS = (
    *("5", "5.0", "0", "- 0.0", "-1", "5D", "0.1", "1E0", "5L", "2147483648", "-2147483649", "-0.0D"),
    *("9007199254740993", "9007199254740992D", "1.00000000005", "1.0000000001", "10000000000000000000000000000"),
    *("0.0000000000000000000000000001", "CAST(5 AS TINYINT)", "2 + 3", "- (1)"),
)
TEXTS = (
    *("''", "'5'", "'5 '", "' 5'", "'05'", "'5.7'", "'5.0'", "'-0'", "'2020-01-01'", "'2020-1-1'", "'zzzzz'", "'1.5'"),
    *("'\U0001f600'", "'\uff21'", "'20200101'", "'9007199254740993.0'", "'1e0'"),
)
DAYS = ("DATE'2020-01-01'", "DATE'1582-10-10'", "DATE'0001-01-01'", "DATE'1969-12-31'")
SHAPES = ("{c} = {l}", "{c} <> {l}", "{c} < {l}", "{l} <= {c}", "{c} IN ({l}, {l})", "{c} BETWEEN {l} AND {l}")


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """t and u of some files and partitions, with the same rows in the views plain_t and plain_u; k with a file for
    each of ROWS."""
    place = tmp_path_factory.mktemp("pruned")
    with connect(place / "warehouse", metastore=f"sqlite:///{place}/metastore.db", spark=spark) as session:
        session.execute("CREATE TRANSACTIONAL TABLE t (a int, b int, c struct<a: int, b: int>) PARTITIONED BY (p int)")
        session.execute("CREATE TRANSACTIONAL TABLE u (a int, b int) PARTITIONED BY (p int)")
        for i in (1, 4, 7):
            row = "id + {0}, nullif(id + {0} + 100, 109), named_struct('a', id + {0}, 'b', 5), id % 3"
            session.execute(f"INSERT INTO t SELECT {row.format(i)} FROM range(0, 3, 1, 1)")
            session.execute(f"INSERT INTO u SELECT id + {i} + 2, id + {i}, (id + {i}) % 3 FROM range(0, 3, 1, 1)")
        for name in ("t", "u"):
            frame = session.sql(f"SELECT * FROM {name}")
            session.spark.createDataFrame(frame.collect(), frame.schema).createOrReplaceTempView(f"plain_{name}")
        declared = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        session.execute(f"CREATE TRANSACTIONAL TABLE k (n int, {declared})")
        for number, values in enumerate(ROWS):
            session.execute(f"INSERT INTO k VALUES ({number}, {', '.join(values)})")
        yield session
        for name in ("t", "u"):
            spark.catalog.dropTempView(f"plain_{name}")


@pytest.fixture(autouse=True)
def always_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_skipping, "_WORTH", 0)


def found(session: Session, query: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in session.sql(query).collect()), key=repr)


@pytest.mark.ci
@pytest.mark.parametrize("query", every(3, [*QUERIES, *MORE_QUERIES]))
def test_a_query_gives_the_rows_that_it_gives_over_a_plain_frame(tables: Session, query: str) -> None:
    text = query.replace("{turned}", TURNED).replace("{exploded}", EXPLODED)
    plain = found(tables, text.format(t="plain_t", u="plain_u"))
    assert plain
    assert found(tables, text.format(t="t", u="u")) == plain


@pytest.mark.ci
def test_a_write_with_renamed_columns_finds_the_rows_that_it_names(tables: Session) -> None:
    tables.execute("START TRANSACTION")
    tables.execute("DELETE FROM u WHERE b NOT IN (SELECT a FROM t AS x(b, a, c, p) WHERE a >= 105 UNION ALL SELECT 1)")
    assert found(tables, "SELECT b FROM u") == [(1,)]
    tables.execute(
        "MERGE INTO t USING t AS s(b, a, c, p) ON t.b = s.a AND s.a = 104 WHEN MATCHED THEN UPDATE SET b = -1"
        " WHEN NOT MATCHED AND s.a = 104 THEN INSERT VALUES (0, 0, NULL, 0)"
    )
    assert found(tables, "SELECT a, b FROM t WHERE b < 101") == [(4, -1)]
    tables.execute("ROLLBACK")


def conditions(kind: str) -> list[str]:
    """Comparisons of a column `c` of the type with literals that Spark can compare it with."""
    literals = {"date": (*DAYS, *TEXTS), "string": (*NUMBERS, *TEXTS, *DAYS), "varchar(5)": (*NUMBERS, *TEXTS, *DAYS)}
    alone = [shape.replace("{l}", text) for text in literals.get(kind, (*NUMBERS, *TEXTS)) for shape in SHAPES]
    mixed = ["{c} IN ('5.0', 1)", "{c} IN ('05', 0.5)", "{c} IN (5, 'x')", "{c} IN (1.5, 1)"] if kind != "date" else []
    return [*alone, *mixed, "({c} = '5' AND {c} = '7') OR {c} = '2020-01-01'"]


def scan_of(table: Table, condition: str) -> Scan:
    statement = parse(f"SELECT 1 FROM k WHERE {condition}")
    assert isinstance(statement, Query)
    item = statement.tree.find(exp.Table)
    assert item is not None
    by_value, by_row = (said(statement.tree, item, table) for said in (partition_filter, row_filter))
    return Scan("k@1", table, partition_filter=by_value, row_filter=by_row)


def files_of(session: Session, table: Table) -> list[SourceFile]:
    """The files of the table's single rows, in the order of ROWS."""
    paths = sorted(Path(table.location).rglob("bucket_*"))
    files = session._files.of(table.location)
    tails = [read_file_tail(files, str(path), path.stat().st_size) for path in paths]
    return [SourceFile(t.path, t.size, 0, True, t.row_names, tail=t) for t in tails]


@pytest.mark.nightly
def test_no_row_is_skipped_whose_comparison_with_a_literal_is_true(tables: Session) -> None:
    """Of each column Spark says which of the rows fulfil which condition; no file and no partition of such a row may
    seem to be without it."""
    table = tables.catalog.table("default", "k")
    files = files_of(tables, table)
    assert len(files) == len(ROWS)
    left_out = 0
    for place, (name, kind) in enumerate(COLUMNS.items()):
        asked = [text.replace("{c}", name) for text in conditions(kind)]
        answers = tables.sql(f"SELECT array({', '.join(asked)}) FROM k ORDER BY n").collect()
        by_value = replace(table, columns=table.columns[:1], partition_columns=(Column(name, kind),))
        for at, text in enumerate(asked):
            rows = {number for number, (answer,) in enumerate(answers) if answer[at]}
            of_files, of_values = scan_of(table, text), scan_of(by_value, text).partition_filter
            kept = {number for number, file in enumerate(files) if FileSkipping(of_files).files([file])}
            assert rows <= kept, f"{kind}: {text}"
            values = [(row[place].strip("'"),) for row in ROWS]
            kept_values = {number for number, value in enumerate(values) if keeps(of_values, by_value)(value)}
            assert rows <= kept_values, f"{kind} as partition: {text}"
            left_out += 2 * len(ROWS) - len(kept) - len(kept_values)
    assert left_out > 1000
