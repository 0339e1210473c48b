"""What each scan of a statement may leave unread, told by its plan: only what the statement surely does not need."""

from __future__ import annotations

from acidsql.grammar import statements as s
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parse import parse
from acidsql.planner.plan import NO_SHORTCUTS, Facts, Plan, Scan, Shortcuts
from acidsql.planner.statement import plan_statement
from tests.planner.test_planner_cases import Stage

STAGE = Stage()
STAGE.set(
    "CREATE TRANSACTIONAL TABLE t (a int, b int) PARTITIONED BY (p int);"
    "CREATE TRANSACTIONAL TABLE u (a int, b int) PARTITIONED BY (p int);"
)


def plan_of(sql: str, shortcuts: Shortcuts | None = None) -> Plan:
    statement = parse(sql)
    assert isinstance(statement, s.Query | s.Insert | s.MultiInsert | s.Update | s.Delete | s.Merge)
    facts = STAGE.facts(statement)
    return plan_statement(
        statement, Facts(facts.database, facts.tables, facts.views, shortcuts=shortcuts or Shortcuts())
    )


def said(scan: Scan) -> tuple[str, ...]:
    conditions = (*scan.partition_filter, *scan.row_filter)
    return (*map(to_spark, conditions), *(["counted"] if scan.counted else []))


def test_a_plan_without_shortcuts_reads_all() -> None:
    merge = "MERGE INTO t USING {} ON t.a = x.a WHEN NOT MATCHED THEN INSERT VALUES (x.a, x.b, 1)"
    for sql in (
        "SELECT * FROM t WHERE a = 5 AND p = 1",
        "SELECT COUNT(*) FROM t",
        merge.format("(VALUES (1, 2)) AS x(a, b)"),
        merge.format("u AS x").replace("WHEN NOT", "WHEN MATCHED THEN DELETE WHEN NOT"),
    ):
        used, unused = plan_of(sql), plan_of(sql, NO_SHORTCUTS)
        assert any(map(said, used.scans)) or getattr(used, "narrowing", None) is not None, sql
        assert not any(map(said, unused.scans)), sql
        assert getattr(unused, "narrowing", None) is None, sql
