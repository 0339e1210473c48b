"""What the scans and the locks of a plan may leave out: only rows and partitions that the statement certainly does not
need."""

from __future__ import annotations

import pytest

from acidsql.grammar import statements as s
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.planner.conditions.partition_pruning import keeps
from acidsql.planner.lock_requests import on_partitions
from acidsql.planner.plan import NO_SHORTCUTS, Facts, MultiWritePlan, Plan, Scan, Shortcuts
from acidsql.planner.statement_planner import plan_statement
from tests.planner.test_planner_cases import Stage

STAGE = Stage()
STAGE.set(
    "CREATE TRANSACTIONAL TABLE t (a int, b int) PARTITIONED BY (p int);"
    "CREATE TRANSACTIONAL TABLE u (a int, b int) PARTITIONED BY (p int);"
    "CREATE TRANSACTIONAL TABLE y (code string) PARTITIONED BY (d string);"
    "CREATE TRANSACTIONAL TABLE n (d decimal(38,10), i bigint);"
)


def plan_of(sql: str, shortcuts: Shortcuts | None = None) -> Plan:
    statement = parse(sql)
    assert isinstance(statement, s.Query | s.Insert | s.MultiInsert | s.Update | s.Delete | s.Merge)
    facts = STAGE.facts(statement)
    return plan_statement(
        statement, Facts(facts.database, facts.tables, facts.views, shortcuts=shortcuts or Shortcuts())
    )


def conditions_of(scan: Scan) -> tuple[str, ...]:
    conditions = (*scan.partition_filter, *scan.row_filter)
    return (*map(to_spark, conditions), *(["counted"] if scan.counted else []))


def test_a_plan_without_shortcuts_skips_nothing() -> None:
    merge = "MERGE INTO t USING {} ON t.a = x.a WHEN NOT MATCHED THEN INSERT VALUES (x.a, x.b, 1)"
    for sql in (
        "SELECT * FROM t WHERE a = 5 AND p = 1",
        "SELECT COUNT(*) FROM t",
        merge.format("(VALUES (1, 2)) AS x(a, b)"),
        merge.format("u AS x").replace("WHEN NOT", "WHEN MATCHED THEN DELETE WHEN NOT"),
    ):
        used, unused = plan_of(sql), plan_of(sql, NO_SHORTCUTS)
        assert any(map(conditions_of, used.scans)) or getattr(used, "narrowing", None) is not None, sql
        assert not any(map(conditions_of, unused.scans)), sql
        assert getattr(unused, "narrowing", None) is None, sql


LATERAL = "FROM t LATERAL VIEW explode(array(1, 5)) v"
TURNED = "PIVOT (sum(b) FOR a IN (1, 2))"
CASES = {
    # The table's own columns, by any of its names
    "SELECT * FROM t WHERE a = 5 AND b > 6 AND p IN (1, 2)": {"t": ["p IN (1, 2)", "a = 5", "b > 6"]},
    "SELECT * FROM t AS x WHERE X.A = 5 AND `P` = 1": {"t": ["p = 1", "a = 5"]},
    "SELECT * FROM default.t WHERE default.t.a = 5": {"t": ["a = 5"]},
    "SELECT * FROM t WHERE 5 < a AND a BETWEEN 1 AND 9": {"t": ["5 < a", "a BETWEEN 1 AND 9"]},
    # Columns that the FROM item renames: by their place, not by their name
    "SELECT * FROM t AS x(b, a, q) WHERE a = 5 AND q = 1 AND p = 2": {"t": ["p = 1", "b = 5"]},
    "SELECT * FROM t AS x(p, q, a) WHERE a = 5 AND x.p > 6": {"t": ["p = 5", "a > 6"]},
    "SELECT * FROM t AS x(c, c, d) WHERE c = 5": {"t": []},
    "SELECT * FROM t AS x(b, a) WHERE a = 5": {"t": []},
    "SELECT * FROM (SELECT * FROM t) AS x(b, a, p) WHERE a = 5": {"t": []},
    "SELECT * FROM (SELECT b AS a, a AS b, p FROM t WHERE a = 6) x WHERE a = 5": {"t": ["a = 6", "b = 5"]},
    # FROM items that make other rows or columns
    f"SELECT * FROM t {TURNED} WHERE p = 1": {"t": []},
    f"SELECT * FROM t JOIN u ON t.a = u.a {TURNED} WHERE p = 1": {"t": [], "u": []},
    f"SELECT * FROM t, u {TURNED} WHERE t.p = 1": {"t": [], "u": []},
    "SELECT * FROM t UNPIVOT (a FOR b IN (a, b)) WHERE a = 5 AND p = 1": {"t": []},
    "SELECT * FROM t TABLESAMPLE (3 ROWS) WHERE a = 5 AND p = 1": {"t": []},
    "SELECT * FROM (SELECT * FROM t LIMIT 3) x WHERE a = 5": {"t": []},
    "SELECT * FROM (SELECT *, rank() OVER (ORDER BY b) AS r FROM t) x WHERE a = 5 AND r = 1": {"t": []},
    f"SELECT * {LATERAL} AS e WHERE e = 5 AND a = 6 AND t.p = 1": {"t": ["p = 1", "a = 6"]},
    f"SELECT * {LATERAL} AS a WHERE v.a = 5": {"t": []},
    # Names of other relations
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE a = 5 AND t.b = 6)": {"t": [], "u": ["a = 5"]},
    "SELECT (SELECT max(a) FROM u WHERE p = t.p AND a < 9) FROM t WHERE a = 5": {"t": ["a = 5"], "u": ["a < 9"]},
    "WITH t AS (SELECT b AS a FROM u) SELECT * FROM t WHERE a = 5": {"u": []},
    "SELECT * FROM t WHERE exists(array(1, b), a -> a = 5)": {"t": []},
    "SELECT a.b FROM t AS a WHERE a.b = 5 AND b.a = 6": {"t": ["b = 5"]},
    "SELECT a + 1 AS b, count(*) AS n FROM t GROUP BY a HAVING b = 5 ORDER BY b": {"t": []},
    # Joins: WHERE, and ON where it drops the row; no NULL of an outer join may be needed
    "SELECT * FROM t FULL JOIN u ON t.a = 5 WHERE t.b = 6": {"t": ["b = 6"], "u": []},
    "SELECT * FROM t LEFT JOIN u ON t.a = 5 AND u.a = 6": {"t": [], "u": ["a = 6"]},
    "SELECT * FROM t RIGHT JOIN u ON t.a = 5 AND u.a = 6 WHERE u.p = 1": {"t": ["a = 5"], "u": ["p = 1"]},
    "SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.b IS NULL OR u.b = 5": {"t": [], "u": []},
    "SELECT * FROM t LEFT SEMI JOIN u ON t.a = 5 AND u.a = 6 WHERE a = 7": {"t": ["a = 5", "a = 7"], "u": ["a = 6"]},
    "SELECT * FROM t LEFT ANTI JOIN u ON t.a = 5 AND u.a = 6 WHERE a = 7": {"t": ["a = 7"], "u": ["a = 6"]},
    "SELECT * FROM t FULL JOIN u USING (a) WHERE a = 5": {"t": [], "u": []},
    "SELECT * FROM t FULL JOIN u USING (a) WHERE t.a = 5": {"t": ["a = 5"], "u": []},
    "SELECT * FROM t NATURAL LEFT JOIN u WHERE p = 1": {"t": [], "u": []},
    # Conditions: comparisons with literals, and what is left of others without them
    "SELECT * FROM t WHERE (a = 5 AND rand() < b) OR (a = 6 AND p = 1)": {"t": ["(a = 5) OR (a = 6)"]},
    "SELECT * FROM t WHERE (p = 1 AND a = 5) OR (p = 2 AND a = 6)": {"t": ["(p = 1) OR (p = 2)", "(a = 5) OR (a = 6)"]},
    "SELECT * FROM t WHERE a = 5 OR p = 1": {"t": []},
    "SELECT * FROM t WHERE NOT (a = 5) AND a <=> 6 AND a + 1 = 7 AND a = b AND -a = 8": {"t": []},
    "SELECT * FROM t WHERE a IN (SELECT b FROM u) AND a NOT IN (1) AND a = rand()": {"t": [], "u": []},
    "SELECT * FROM t WHERE assert_true(a > 0) IS NULL AND s.a = 5": {"t": []},
    # All digits of both must count where Spark compares them
    "SELECT * FROM n WHERE d = 1.00000000001 AND i = 0.0000000000000000001": {"n": []},
    "SELECT * FROM n WHERE d = 1.0000000001 AND i = 0.5": {"n": ["d = 1.0000000001", "i = 0.5"]},
    # COUNT(*) and nothing else
    "SELECT COUNT(*), 'rows' FROM t AS x": {"t": ["counted"]},
    "SELECT COUNT(* EXCEPT (a)) FROM t": {"t": []},
    "SELECT COUNT(*) FROM t TABLESAMPLE (3 ROWS)": {"t": []},
    f"SELECT COUNT(*) FROM t {TURNED}": {"t": []},
    f"SELECT COUNT(*) {LATERAL} AS e": {"t": []},
    "SELECT COUNT(*) FROM (SELECT a FROM t LIMIT 3) x": {"t": []},
    # Writes
    "DELETE FROM t WHERE a NOT IN (SELECT a FROM u AS x(b, a, p) WHERE a >= 5) AND p = 1": {
        "t": ["p = 1"],
        "u": ["b >= 5"],
    },
    "UPDATE t SET a = 1 WHERE b = 2 AND p = 3": {"t": ["p = 3", "b = 2"]},
    "MERGE INTO t USING u AS x(b, a, q) ON t.a = x.a AND x.b = 5 AND t.p = 1 WHEN MATCHED THEN DELETE": {
        "t": ["p = 1"],
        "u": ["a = 5"],
    },
    "MERGE INTO t USING u AS x(b, a, q) ON t.a = x.a AND x.b = 5 AND t.p = 1"
    " WHEN NOT MATCHED THEN INSERT VALUES (x.a, x.b, x.q)": {"t": ["p = 1"], "u": []},
    "MERGE INTO t USING (VALUES (5, 1)) AS x(b, a) ON t.a = x.b WHEN MATCHED THEN DELETE": {"t": ["a IN (5)"]},
    "FROM u AS x(b, a, p) INSERT INTO t SELECT * WHERE a = 5 INSERT INTO t SELECT * WHERE a = 6": {
        "u": ["b = 5 OR b = 6"]
    },
}


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("d = 5", ["5", "05", "5.0", "x", "inf", " 5", "5d"]),
        ("5 < d", ["10", "x", "inf", " 5", "5d"]),
        ("d IN (10, 1.5)", ["10", "1.5", "x", "inf", " 5", "5d"]),
        ("d BETWEEN 1 AND 5", ["5", "05", "5.0", "1.5", "x", "inf", " 5", "5d"]),
        ("d = 5 AND d <> '05'", ["5", "5.0", "x", "inf", " 5", "5d"]),
        ("d = 12345678901234567", ["5", "05", "5.0", "10", "1.5", "x", "inf", " 5", "5d"]),
        ("code = 5", ["5", "05", "5.0", "10", "1.5", "x", "inf", " 5", "5d"]),
    ],
)
def test_numbers_prune_partitions_of_text_and_keep_text_in_doubt(condition: str, kept: list[str]) -> None:
    (scan,) = plan_of(f"SELECT code FROM y WHERE {condition}").scans
    values = ["5", "05", "5.0", "10", "1.5", "x", "inf", " 5", "5d"]
    assert [value for value in values if keeps(scan.partition_filter, scan.table)([value])] == kept
    assert scan.row_filter == ()


@pytest.mark.parametrize("sql", CASES)
def test_a_scan_skips_only_what_its_query_certainly_does_not_need(sql: str) -> None:
    found = {scan.table.name: [text.replace("`", "") for text in conditions_of(scan)] for scan in plan_of(sql).scans}
    assert found == CASES[sql]


@pytest.mark.parametrize(
    ("sql", "locked"),
    [
        ("DELETE FROM t WHERE p IN (1, 3)", ["p=1", "p=3"]),
        ("UPDATE t SET a = 1 WHERE p = 1", ["p=1"]),
        ("UPDATE t SET p = 2 WHERE p = 1", [None]),
        ("UPDATE t SET a = 1", [None]),
        ("INSERT INTO t PARTITION (p = 4) VALUES (1, 2)", ["p=4"]),
        ("INSERT INTO t VALUES (1, 2, 4)", [None]),
    ],
)
def test_a_statement_locks_the_whole_table_if_its_rows_may_go_to_other_partitions_than_it_reads(
    sql: str, locked: list[str | None]
) -> None:
    locks = on_partitions(plan_of(sql), lambda _: [("1",), ("2",), ("3",)])
    assert [lock.partition for lock in locks] == locked
    assert all(lock.dynamic_partition_write == (lock.partition is None) for lock in locks)


def test_a_condition_of_a_branch_on_its_lateral_view_does_not_prune_the_common_scan() -> None:
    plan = plan_of(f"FROM t INSERT INTO u SELECT v.e, a, 1 {LATERAL.removeprefix('FROM t ')} AS e WHERE v.e = 5")
    assert isinstance(plan, MultiWritePlan)
    assert "WHERE" not in plan.rows
