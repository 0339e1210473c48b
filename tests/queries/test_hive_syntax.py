"""Queries that Hive's parser takes and Spark's refuses or reads in another way: the rows that Hive gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from tests.selection import every

TABLES = """
CREATE TRANSACTIONAL TABLE u (id int, name string, v int);
CREATE TRANSACTIONAL TABLE p (id int) PARTITIONED BY (d string);
INSERT INTO u VALUES (1, 'a', 10), (2, 'b', NULL), (3, 'c', 30);
INSERT INTO p VALUES (1, 'x'), (2, 'y');
"""

VALUES = (None, 1, 2, 3)
LISTS: tuple[tuple[int | None, ...], ...] = ((), (1,), (None,), (2, 2), (1, 3), (1, None), (3, None, 2))
OPERATORS = ("=", "<>", "<", "<=", ">", ">=")

QUERIES = [
    # query, the rows
    ("SELECT id FROM u WHERE id <> ALL (SELECT id FROM u WHERE id > 1)", [(1,)]),
    ("SELECT id FROM u WHERE id > SOME (SELECT id FROM u WHERE id < 3)", [(2,), (3,)]),
    ("SELECT id FROM u WHERE v >= ALL (SELECT v FROM u WHERE v IS NOT NULL)", [(3,)]),
    ("SELECT id FROM u WHERE id < ANY (SELECT v FROM u x WHERE x.id = u.id)", [(1,), (3,)]),
    ("SELECT name FROM u GROUP BY name HAVING sum(v) >= ALL (SELECT v FROM u WHERE v IS NOT NULL)", [("c",)]),
    ("SELECT id FROM u WHERE name IN (SELECT 'a')", [(1,)]),
    ("SELECT (SELECT 'a')", [("a",)]),
    ("SELECT id FROM u WHERE (id IN (SELECT v FROM u)) IS NULL", [(1,), (2,), (3,)]),
    ("SELECT id FROM u WHERE NOT (id > 1 AND id IN (SELECT v FROM u))", [(1,)]),
    ("SELECT `_c1` FROM (SELECT id, id + 1 FROM u) x", [(2,), (3,), (4,)]),
    ("SELECT x._c0 FROM (SELECT count(*) FROM u) x", [(3,)]),
    ("WITH c AS (SELECT id, v + 1 FROM u) SELECT _c1 FROM c WHERE id = 1", [(11,)]),
    ("SELECT _c0 FROM (SELECT 1 + 1 UNION ALL SELECT 3) x", [(2,), (3,)]),
    ("SELECT pos, val FROM (SELECT posexplode(array('z')) AS (pos, val)) x", [(0, "z")]),
    ("SELECT col FROM (SELECT explode(array(7)) ) x", [(7,)]),
    ("SELECT map('a', 1, 'b', 3, 'a', 2)['a'], size(map('a', 1, 'a', 2))", [(2, 1)]),
    ("SELECT str_to_map('a:1,a:2')['a']", [("2",)]),
    (
        "SELECT CAST(date '2024-01-01' + INTERVAL (id + 1) DAY AS date) = date '2024-01-03' FROM u WHERE id = 1",
        [(True,)],
    ),
    ("SELECT add_months('2024-01-31', 1) = CAST(date '2024-01-31' + INTERVAL (1) MONTH AS string)", [(True,)]),
    ("SELECT struct(1, 'b').col2", [("b",)]),
    ("SELECT id + 1, count(*) FROM u GROUP BY id + 1 GROUPING SETS (id + 1)", [(2, 1), (3, 1), (4, 1)]),
    ("SELECT count(*) < 4 FROM u TABLESAMPLE (BUCKET 1 OUT OF 2 ON rand()) s", [(True,)]),
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with connect(tmp_path_factory.mktemp("hive_syntax"), spark=spark) as session:
        for _ in session.script(TABLES):
            pass
        yield session


@pytest.mark.ci
@pytest.mark.parametrize(("query", "expected"), every(3, QUERIES))
def test_a_query_gives_hives_rows(tables: Session, query: str, expected: list[tuple[object, ...]]) -> None:
    assert sorted(map(tuple, tables.sql(query).collect())) == expected


def compared(left: int | None, operator: str, right: int | None) -> bool | None:
    if left is None or right is None:
        return None
    return {"=": left == right, "<>": left != right, "<": left < right, "<=": left <= right, ">": left > right}.get(
        operator, left >= right
    )


def quantified(left: int | None, operator: str, quantifier: str, rights: tuple[int | None, ...]) -> bool | None:
    """The truth value by the definition: ANY is the OR of the comparisons, ALL their AND."""
    values = [compared(left, operator, right) for right in rights]
    decisive = quantifier == "ANY"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def rows_of(numbers: tuple[int | None, ...]) -> str:
    listed = ", ".join(f"({'CAST(NULL AS int)' if n is None else n})" for n in numbers) or "(1)"
    return f"(SELECT n FROM (VALUES {listed}) AS r(n){'' if numbers else ' WHERE n = 0'})"


@pytest.mark.nightly
def test_quantifiers_have_sqls_three_truth_values(tables: Session) -> None:
    cases = list(product(OPERATORS, ("ANY", "ALL"), LISTS))
    columns = ", ".join(f"x {o} {q} {rows_of(numbers)} AS c{i}" for i, (o, q, numbers) in enumerate(cases))
    source = ", ".join(f"({'CAST(NULL AS int)' if v is None else v})" for v in VALUES)
    found = tables.sql(f"SELECT x, {columns} FROM (VALUES {source}) AS t(x)").collect()
    assert len(found) == len(VALUES)
    for row in found:
        wanted = [quantified(row[0], o, q, numbers) for o, q, numbers in cases]
        assert list(row)[1:] == wanted


@pytest.mark.ci
def test_quantifiers_in_conditions_keep_the_rows_where_they_are_true(tables: Session) -> None:
    source = ", ".join(f"({'CAST(NULL AS int)' if v is None else v})" for v in VALUES)
    chosen = list(product(OPERATORS, ("ANY", "ALL"), LISTS))[::5]
    for operator, quantifier, numbers in chosen:
        text = f"SELECT x FROM (VALUES {source}) AS t(x) WHERE x {operator} {quantifier} {rows_of(numbers)}"
        kept = {row[0] for row in tables.sql(text).collect()}
        assert kept == {v for v in VALUES if quantified(v, operator, quantifier, numbers)}, text


def test_dml_takes_quantifiers(tables: Session) -> None:
    tables.sql("CREATE TRANSACTIONAL TABLE w (id int, top boolean)")
    tables.sql("INSERT INTO w SELECT id, id >= ALL (SELECT id FROM u) FROM u")
    assert sorted(map(tuple, tables.sql("SELECT * FROM w").collect())) == [(1, False), (2, False), (3, True)]
    tables.sql("DELETE FROM w WHERE id < ANY (SELECT id FROM u)")
    assert [tuple(r) for r in tables.sql("SELECT id FROM w").collect()] == [(3,)]


def test_partition_clauses_take_two_equals_signs(tables: Session) -> None:
    tables.sql("INSERT INTO p PARTITION (d == 'z') VALUES (9)")
    assert [tuple(r) for r in tables.sql("SELECT id FROM p WHERE d == 'z'").collect()] == [(9,)]
    tables.sql("ALTER TABLE p DROP PARTITION (d == 'z')")
    assert [r[0] for r in tables.sql("SHOW PARTITIONS p").collect()] == ["d=x", "d=y"]


def test_samples_of_buckets_are_refused_by_name(tables: Session) -> None:
    for clause in ("BUCKET 1 OUT OF 2", "BUCKET 1 OUT OF 2 ON id"):
        with pytest.raises(AcidSqlError) as raised:
            tables.sql(f"SELECT * FROM u TABLESAMPLE ({clause})")
        assert raised.value.condition == "NOT_YET_SUPPORTED"
