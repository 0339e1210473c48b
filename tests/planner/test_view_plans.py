"""Views of the catalog in plans, and the definitions of new views: values in, values out."""

from __future__ import annotations

import pytest

from acidsql.acid.table import Column, Table, View
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.metastore.lock_components import LockType
from acidsql.planner.ddl.view_definition import check_query, view_definition
from acidsql.planner.plan import Facts, QueryPlan, Scan
from acidsql.planner.queries.view_expansion import find_cycle, view_query
from acidsql.planner.statement_planner import plan_statement

ACID = {"transactional": "true"}


def table(name: str, *columns: str, database: str = "default", partitioned: str | None = None) -> Table:
    keys = (Column(partitioned, "string"),) if partitioned else ()
    return Table(
        database, name, tuple(Column(c, "int") for c in columns), f"/w/{name}", partition_columns=keys, properties=ACID
    )


def view(name: str, query: str, *columns: str, database: str = "default") -> View:
    return View(database, name, tuple(Column(c, "int") for c in columns), query, query)


TABLES = (table("t", "id", "n", partitioned="p"), table("u", "id", "m", database="d"), table("o", "id", "Näme"))


def facts(*views: View, tables: tuple[Table, ...] = TABLES) -> Facts:
    return Facts("default", {t.qualified: t for t in tables}, stored_views={v.qualified: v for v in views})


def planned(text: str, *views: View, tables: tuple[Table, ...] = TABLES) -> QueryPlan:
    statement = parse(text)
    assert isinstance(statement, s.Query)
    plan = plan_statement(statement, facts(*views, tables=tables))
    assert isinstance(plan, QueryPlan)
    return plan


def fails(condition: str, text: str, *views: View) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as caught:
        planned(text, *views)
    assert caught.value.condition == condition, str(caught.value)
    return caught.value


V = view("v", "SELECT `t`.`id`, `t`.`p` FROM `default`.`t` WHERE n > 1", "id", "p")


# -- expansion
def test_a_view_becomes_a_subquery_and_its_tables_become_scans() -> None:
    plan = planned("SELECT v.id FROM V WHERE p = 'a'", V)
    assert plan.sql == (
        "SELECT v.id FROM (SELECT `t`.`id`, `t`.`p` FROM `t@1` AS `t` WHERE n > 1) AS `v` WHERE p = 'a'"
    )
    assert [scan.table.qualified for scan in plan.scans] == ["default.t"]
    assert [(lock.table, lock.lock_type) for lock in plan.locks] == [("t", LockType.SHARED_READ)]
    assert plan.views == (V,)


def test_an_alias_a_join_and_a_subquery_of_a_view_stay() -> None:
    plan = planned("SELECT x.a FROM v AS x (a, b) LEFT JOIN d.u USING (id) WHERE EXISTS (SELECT 1 FROM v)", V)
    inner = "(SELECT `t`.`id`, `t`.`p` FROM `t@{}` AS `t` WHERE n > 1) AS {}"
    assert f"FROM {inner.format(1, 'x(a, b)')} LEFT JOIN" in plan.sql
    assert f"EXISTS(SELECT 1 FROM {inner.format(2, '`v`')})" in plan.sql


def test_a_view_of_a_view_is_expanded_in_its_own_database() -> None:
    outer = view("w", "SELECT k FROM x", "k", database="d")
    inner = view("x", "SELECT u.id AS k FROM d.u", "k", database="d")
    assert planned("SELECT * FROM d.w", outer, inner).sql == (
        "SELECT * FROM (SELECT k FROM (SELECT u.id AS `k` FROM `u@1` AS `u`) AS `x`) AS `w`"
    )


def test_a_cte_and_a_frame_hide_a_view() -> None:
    assert planned("WITH v AS (SELECT 1 AS id) SELECT * FROM v", V).views == ()
    assert planned("SELECT * FROM {v}", V).views == ()
    assert planned("WITH v AS (SELECT 1 AS id) SELECT * FROM default.v", V).views == (V,)
    shadowed = planned("WITH t AS (SELECT 1 AS id) SELECT v.id FROM t, v", V)
    assert [scan.table.name for scan in shadowed.scans] == ["t"]


def test_unnamed_expressions_have_hives_names() -> None:
    outer = view("w", "SELECT `_c1` AS `b` FROM (SELECT ID, n + 1 FROM default.t) `w`", "b")
    assert planned("SELECT * FROM w", outer).sql == (
        "SELECT * FROM (SELECT `_c1` AS `b` FROM (SELECT ID, n + 1 AS `_c1` FROM `t@1` AS `t`) AS `w`) AS `w`"
    )
    assert to_spark(view_query(view("x", "SELECT ID, n + 1 FROM default.t", "id", "_c1"))) == (
        "SELECT ID AS `id`, n + 1 AS `_c1` FROM default.t"
    )


def test_an_error_names_the_view_and_what_it_lacks() -> None:
    lost = view("lost", "SELECT * FROM d.gone", "id")
    error = fails("TABLE_NOT_FOUND", "SELECT * FROM lost", lost)
    assert error.message == "Table not found 'd.gone' in definition of VIEW default.lost"
    error = fails("INVALID_VIEW", "SELECT * FROM odd", view("odd", "SELECT FROM WHERE", "id"))
    assert error.message.startswith("The definition of view default.odd cannot be read: Syntax error")
    fails("INVALID_VIEW", "SELECT * FROM odd", view("odd", "DROP TABLE t", "id"))


def test_a_view_that_reads_itself_is_an_error() -> None:
    a, b = view("a", "SELECT id FROM default.b", "id"), view("b", "SELECT id FROM d.c", "id")
    c = view("c", "SELECT id FROM default.a", "id", database="d")
    error = fails("RECURSIVE_VIEW", "SELECT * FROM a", a, b, c)
    assert error.message == ("Recursive view default.a detected (cycle: default.a -> default.b -> d.c -> default.a).")
    names = (s.TableName(None, "b"),)
    assert find_cycle(names, "default.a", facts(a, b, c)) == ("default.a", "default.b", "d.c", "default.a")
    assert find_cycle((s.TableName(None, "t"),), "default.a", facts(a, b, c)) is None
    twice = view("w", "SELECT x.id FROM default.v x JOIN default.v y ON x.id = y.id", "id")
    assert len(planned("SELECT * FROM w", V, twice).scans) == 2


@pytest.mark.parametrize(
    ("statement", "condition", "code"),
    [
        ("UPDATE v SET id = 1", "WRITE_TO_VIEW", 10402),
        ("DELETE FROM v", "WRITE_TO_VIEW", 10402),
        ("MERGE INTO v USING t ON v.id = t.id WHEN MATCHED THEN DELETE", "WRITE_TO_VIEW", 10402),
        ("INSERT INTO v VALUES (1, 2)", "INSERT_INTO_VIEW", 10090),
        ("INSERT OVERWRITE TABLE v SELECT * FROM t", "INSERT_INTO_VIEW", 10090),
        ("FROM t INSERT INTO v SELECT id, n", "INSERT_INTO_VIEW", 10090),
    ],
)
def test_no_statement_writes_to_a_view(statement: str, condition: str, code: int) -> None:
    parsed = parse(statement)
    assert isinstance(parsed, s.Insert | s.MultiInsert | s.Update | s.Delete | s.Merge)
    with pytest.raises(AcidSqlError) as caught:
        plan_statement(parsed, facts(V))
    assert (caught.value.condition, caught.value.hive_code) == (condition, code)
    assert caught.value.span is not None
    assert caught.value.span.text == "v"


# -- what scans may skip
def filters(text: str, *views: View) -> list[str]:
    def shown(scan: Scan) -> str:
        return ", ".join(to_spark(c) for c in (*scan.partition_filter, *scan.row_filter))

    return [shown(scan) for scan in planned(text, *views).scans]


@pytest.mark.parametrize(
    ("definition", "condition", "expected"),
    [
        ("SELECT id, p FROM default.t", "p = 'a' AND id = 2", "`p` = 'a', `id` = 2"),
        ("SELECT id, p FROM default.t", "v.p = 'a' OR p = 'b'", "`p` = 'a' OR `p` = 'b'"),
        ("SELECT n AS id, x.id AS p FROM default.t x", "p = 1", "`id` = 1"),
        (
            "SELECT p AS id, n AS p FROM (SELECT p, n FROM default.t) k WHERE n < 3",
            "id IN ('a')",
            "`p` IN ('a'), `n` < 3",
        ),
        ("SELECT DISTINCT id, p FROM default.t ORDER BY id", "p = 'a'", "`p` = 'a'"),
        ("SELECT count(*) AS id, p FROM default.t GROUP BY p HAVING count(*) > 1", "p = 'a' AND id > 1", "`p` = 'a'"),
        ("SELECT u.id, t.p FROM default.t LEFT JOIN d.u ON t.id = u.id", "p = 'a'", "`p` = 'a'"),
        # Each of these rows depends on rows for which the condition is not true.
        ("SELECT id, p FROM default.t LIMIT 3", "p = 'a'", ""),
        ("SELECT row_number() OVER (ORDER BY id) AS id, p FROM default.t", "p = 'a'", ""),
        ("SELECT id, max(p) AS p FROM default.t GROUP BY id", "p = 'a'", ""),
        ("SELECT count(*) AS id, p FROM default.t GROUP BY p WITH ROLLUP", "p = 'a'", ""),
        ("SELECT id, upper(p) AS p FROM default.t", "p = 'A'", ""),
        # The module does not know what these mean.
        ("SELECT id, p FROM default.t", "id = (SELECT max(id) FROM d.u)", ""),
        ("SELECT id, p FROM default.t UNION ALL SELECT id, 'x' FROM d.u", "p = 'a'", ""),
    ],
)
def test_a_condition_on_a_view_decides_what_its_tables_skip(definition: str, condition: str, expected: str) -> None:
    assert filters(f"SELECT * FROM v WHERE {condition}", view("v", definition, "id", "p"))[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM v JOIN d.u ON v.id = u.id AND p = 'a'", "`p` = 'a'"),
        ("SELECT * FROM d.u LEFT JOIN v ON v.id = u.id AND p = 'a'", "`p` = 'a'"),
        ("SELECT * FROM v LEFT JOIN d.u ON v.id = u.id AND p = 'a'", ""),
        ("SELECT * FROM d.u LEFT SEMI JOIN v ON v.id = u.id WHERE id = 7", ""),
        ("SELECT * FROM v a JOIN v b ON a.id = b.id WHERE a.p = 'a'", "`p` = 'a'"),
        ("SELECT * FROM v NATURAL JOIN d.u WHERE p = 'a'", ""),
        ("SELECT * FROM v TABLESAMPLE (10 ROWS) WHERE p = 'a'", ""),
    ],
)
def test_a_join_passes_only_conditions_that_drop_the_views_rows(text: str, expected: str) -> None:
    plain = view("v", "SELECT id, p FROM default.t", "id", "p")
    found = planned(text, plain).scans
    (mine, *_) = [", ".join(map(to_spark, s.partition_filter)) for s in found if s.table.name == "t"]
    assert mine == expected


# -- definitions
def defined(query: str, names: str, named: str = "", *views: View) -> str:
    statement = parse(f"CREATE VIEW v {named} AS {query}")
    assert isinstance(statement, s.CreateView)
    found = [(name, "int") for name in names.split()]
    definition = view_definition(
        statement.view, statement.query, statement.text, found, statement.columns, facts(*views)
    )
    assert definition.original == query
    return definition.expanded


@pytest.mark.parametrize(
    ("query", "names", "expanded"),
    [
        ("SELECT * FROM t", "id n p", "SELECT `t`.`id`, `t`.`n`, `t`.`p` FROM `default`.`t`"),
        ("select x.*\n  from `T` x", "id n p", "select `x`.`id`, `x`.`n`, `x`.`p`\n  from `default`.`t` x"),
        ("SELECT t.id AS a, d.u.m FROM t, D.U", "a m", "SELECT t.id AS a, d.u.m FROM `default`.`t`, D.U"),
        ("SELECT * FROM o", "id Näme", "SELECT `o`.`id`, `o`.`Näme` FROM `default`.`o`"),
        (
            "SELECT * FROM (SELECT *, n + 1 FROM t) k",
            "id n p _c3",
            "SELECT `k`.`id`, `k`.`n`, `k`.`p`, `k`.`_c3`"
            " FROM (SELECT `t`.`id`, `t`.`n`, `t`.`p`, n + 1 FROM `default`.`t`) k",
        ),
        (
            "WITH t AS (SELECT * FROM d.u) SELECT * FROM t",
            "id m",
            "WITH t AS (SELECT `u`.`id`, `u`.`m` FROM d.u) SELECT `t`.`id`, `t`.`m` FROM t",
        ),
        (
            "SELECT u.* FROM d.u LEFT SEMI JOIN t ON t.id = u.id",
            "id m",
            "SELECT `u`.`id`, `u`.`m` FROM d.u LEFT SEMI JOIN `default`.`t` ON t.id = u.id",
        ),
        (
            "SELECT * FROM t NATURAL JOIN d.u",
            "id n p m",
            "SELECT `id` AS `id`, `n` AS `n`, `p` AS `p`, `m` AS `m`"
            " FROM (SELECT * FROM `default`.`t` NATURAL JOIN d.u) `v`",
        ),
        (
            "SELECT count(*), 'SELECT * FROM t' FROM t WHERE EXISTS (SELECT * FROM d.u)",
            "_c0 _c1",
            "SELECT count(*), 'SELECT * FROM t' FROM `default`.`t` WHERE EXISTS (SELECT `u`.`id`, `u`.`m` FROM d.u)",
        ),
        (
            "SELECT id FROM t UNION ALL SELECT * FROM (SELECT id FROM d.u) w",
            "id",
            "SELECT id FROM `default`.`t` UNION ALL SELECT `w`.`id` FROM (SELECT id FROM d.u) w",
        ),
        (
            "SELECT * FROM t LATERAL VIEW explode(array(id)) e AS x",
            "id n p x",
            "SELECT `t`.`id`, `t`.`n`, `t`.`p`, `e`.`x` FROM `default`.`t` LATERAL VIEW explode(array(id)) e AS x",
        ),
    ],
)
def test_the_expanded_text_names_databases_and_columns(query: str, names: str, expanded: str) -> None:
    assert defined(query, names) == expanded


@pytest.mark.parametrize(
    ("query", "names", "condition"),
    [
        ("select ID, x.* from T x", "id id n p", "DUPLICATE_COLUMN"),
        ("SELECT *, n + 1 FROM t JOIN d.u USING (id)", "id n p m _c4", "INVALID_VIEW"),
    ],
)
def test_a_query_without_one_name_for_each_column_is_refused(query: str, names: str, condition: str) -> None:
    with pytest.raises(AcidSqlError) as caught:
        defined(query, names)
    assert caught.value.condition == condition


def test_a_column_list_renames_the_columns() -> None:
    assert defined("SELECT id, n + 1 FROM t", "id _c1", "(a COMMENT 'x', b)") == (
        "SELECT `id` AS `a`, `_c1` AS `b` FROM (SELECT id, n + 1 FROM `default`.`t`) `v`"
    )
    assert defined("SELECT id FROM t", "id", "(ID)") == "SELECT id FROM `default`.`t`"
    with pytest.raises(AcidSqlError, match="2 vs 1"):
        defined("SELECT id, n FROM t", "id n", "(a)")
    with pytest.raises(AcidSqlError, match="Duplicate column name: a"):
        defined("SELECT id, n FROM t", "id n", "(a, A)")


def test_a_view_of_a_view_has_the_columns_of_that_view() -> None:
    assert defined("SELECT * FROM w", "id p", "", view("w", V.expanded, "id", "p")) == (
        "SELECT `w`.`id`, `w`.`p` FROM `default`.`w`"
    )


@pytest.mark.parametrize(
    ("query", "place"),
    [("SELECT :x", ":x"), ("SELECT * FROM {frame}", "{frame}"), ("SELECT * FROM seen", "seen")],
)
def test_a_view_reads_nothing_that_ends_with_the_session(query: str, place: str) -> None:
    statement = parse(query)
    assert isinstance(statement, s.Query)
    known = Facts("default", {}, views=frozenset({"seen"}))
    with pytest.raises(AcidSqlError) as caught:
        check_query(statement.tree, query, known, temporary=False)
    assert caught.value.condition == "INVALID_VIEW"
    assert caught.value.span is not None
    assert caught.value.span.text == place
