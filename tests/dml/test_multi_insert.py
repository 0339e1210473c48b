"""FROM .. INSERT .. INSERT ..: one scan of the source, one transaction, a statement ID for each branch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.selection import every

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def tables(session: Session) -> Session:
    for name in ("src", "a", "b"):
        session.execute(f"CREATE TABLE {name} (id INT, name STRING) {ACID}")
    session.execute(f"CREATE TABLE p (id INT) PARTITIONED BY (k INT) {ACID}")
    session.execute("INSERT INTO src VALUES (1, 'x'), (2, 'y'), (3, 'z'), (4, 'w')")
    return session


def rows(session: Session, table: str) -> list[tuple[object, ...]]:
    return sorted(tuple(r) for r in session.sql(f"SELECT * FROM {table}").collect())


def directories(session: Session, table: str) -> set[str]:
    root = Path(session.catalog.table("default", table).location)
    return {str(p.parent.relative_to(root)) for p in root.rglob("bucket_*")}


def test_statement_ids_count_over_the_statement_as_in_hives_golden_case(tables: Session) -> None:
    golden = Path(__file__).parents[1] / "golden" / "multi_insert" / "warehouse"
    done = tables.execute("FROM src INSERT INTO a SELECT * WHERE id < 3 INSERT INTO b SELECT * WHERE id >= 3")
    assert done.counts is not None
    assert (done.counts.inserted, done.write_ids) == (4, {"default.a": 1, "default.b": 1})
    tables.execute(
        "FROM src INSERT OVERWRITE TABLE b SELECT id + 30, name WHERE id = 1 INSERT INTO a SELECT id + 30, name"
    )
    assert rows(tables, "a") == [(1, "x"), (2, "y"), (31, "x"), (32, "y"), (33, "z"), (34, "w")]
    assert rows(tables, "b") == [(31, "x")]
    for table in ("a", "b"):
        assert directories(tables, table) == {p.parent.name for p in (golden / table).rglob("bucket_*")}


def test_all_branches_see_the_same_rows_of_a_source_that_is_read_once(tables: Session) -> None:
    tables.execute(
        "FROM (SELECT id, uuid() AS u FROM src) s INSERT INTO a SELECT s.id, s.u INSERT INTO b SELECT id, u"
        " INSERT INTO a SELECT id + 10, u"
    )
    once = rows(tables, "b")
    assert len({u for _, u in once}) == 4
    assert rows(tables, "a") == sorted([*once, *((int(str(i)) + 10, u) for i, u in once)])
    assert directories(tables, "a") == {"delta_0000001_0000001_0000", "delta_0000001_0000001_0002"}


@pytest.mark.ci
def test_branches_name_the_relations_of_a_join_and_a_lateral_view(tables: Session) -> None:
    tables.execute("INSERT INTO b VALUES (10, 'x'), (30, 'z')")
    tables.execute(
        "FROM src s LEFT JOIN b ON s.name = b.name LATERAL VIEW explode(array(1, 2)) e AS q"
        " INSERT INTO a SELECT s.id + 100 * q, b.name WHERE q = 1"
        " INSERT INTO p PARTITION (k) SELECT b.id, count(*) WHERE b.id IS NOT NULL GROUP BY b.id"
        " INSERT INTO p PARTITION (k = 9) SELECT max(s.id) HAVING max(q) = 2"
    )
    assert sorted(rows(tables, "a"), key=str) == [(101, "x"), (102, None), (103, "z"), (104, None)]
    assert rows(tables, "p") == [(4, 9), (10, 2), (30, 2)]


@pytest.mark.ci
@pytest.mark.parametrize(("join", "kept"), [("LEFT SEMI", ("x", "z")), ("LEFT ANTI", ("w", "y"))])
def test_branches_see_only_the_left_side_of_a_semi_or_anti_join(
    tables: Session, join: str, kept: tuple[str, str]
) -> None:
    tables.execute("INSERT INTO b VALUES (10, 'x'), (30, 'z')")
    tables.execute(
        f"FROM src s {join} JOIN b t ON s.name = t.name"
        " INSERT INTO a SELECT * WHERE id < 3 INSERT INTO a SELECT id + 10, s.name WHERE id >= 3"
    )
    assert sorted(str(name) for _, name in rows(tables, "a")) == list(kept)
    tables.execute(
        f"FROM src s {join} JOIN b t ON s.name = t.name JOIN src u ON u.id = s.id"
        " INSERT OVERWRITE TABLE a SELECT s.id, u.name INSERT INTO p PARTITION (k) SELECT u.id, s.id"
    )
    assert sorted(str(name) for _, name in rows(tables, "a")) == list(kept)


def test_a_star_over_a_join_is_all_columns_of_its_relations(tables: Session) -> None:
    tables.execute(f"CREATE TABLE wide (i INT, n STRING, j INT, m STRING) {ACID}")
    tables.execute("FROM src JOIN src o ON src.id = o.id + 1 INSERT INTO wide SELECT * INSERT INTO a SELECT o.*")
    assert rows(tables, "wide") == [(2, "y", 1, "x"), (3, "z", 2, "y"), (4, "w", 3, "z")]
    assert rows(tables, "a") == [(1, "x"), (2, "y"), (3, "z")]


@pytest.mark.ci
def test_ctes_subqueries_frames_and_parameters_work_in_branches(tables: Session) -> None:
    tables.execute(
        "WITH few AS (SELECT * FROM src WHERE id <= :most)"
        " FROM few INSERT INTO a SELECT id, name WHERE id IN (SELECT max(id) FROM few)"
        " INSERT INTO b SELECT id, (SELECT min(name) FROM src) WHERE id < :most",
        {"most": 3},
    )
    assert (rows(tables, "a"), rows(tables, "b")) == ([(3, "z")], [(1, "w"), (2, "w")])
    frame = tables.spark.createDataFrame([(7, "f")], "id INT, name STRING")
    tables.sql("FROM {frame} INSERT INTO a SELECT * INSERT INTO b SELECT id, upper(name)", frame=frame)
    assert rows(tables, "a")[-1] == (7, "f")
    assert rows(tables, "b")[-1] == (7, "F")


def test_a_table_may_be_read_and_written_at_once(tables: Session) -> None:
    tables.execute("FROM src INSERT INTO src SELECT id + 10, name INSERT OVERWRITE TABLE a SELECT id, name")
    assert [i for i, _ in rows(tables, "src")] == [1, 2, 3, 4, 11, 12, 13, 14]
    assert [i for i, _ in rows(tables, "a")] == [1, 2, 3, 4]


def test_branches_overwrite_different_partitions_of_one_table(tables: Session) -> None:
    tables.execute("INSERT INTO p VALUES (0, 1), (0, 2), (0, 3)")
    tables.execute(
        "FROM src INSERT OVERWRITE TABLE p PARTITION (k = 1) SELECT id INSERT OVERWRITE TABLE p PARTITION (k = 2)"
        " SELECT id WHERE id > 99 INSERT INTO p PARTITION (k = 4) SELECT max(id)"
    )
    assert rows(tables, "p") == [(0, 3), (1, 1), (2, 1), (3, 1), (4, 1), (4, 4)]


@pytest.mark.ci
@pytest.mark.parametrize("kind", [ACID, f"{ACID[:-1]}, 'transactional_properties'='insert_only')", "STORED AS ORC"])
def test_branches_find_different_partitions_of_one_table_in_their_rows(tables: Session, kind: str) -> None:
    """The statements and the rows of Hive 4.0.1, which also takes the first one on an ACID table."""
    tables.execute(f"CREATE TABLE q (id INT) PARTITIONED BY (k INT) {kind}")
    tables.execute("INSERT INTO q VALUES (0, 1), (0, 2), (0, 3)")
    tables.execute(
        "FROM src INSERT OVERWRITE TABLE q PARTITION (k) SELECT id, 1 WHERE id = 1"
        " INSERT OVERWRITE TABLE q PARTITION (k) SELECT id, 2 WHERE id > 2"
    )
    assert rows(tables, "q") == [(0, 3), (1, 1), (3, 2), (4, 2)]
    tables.execute(
        "FROM src INSERT OVERWRITE TABLE q PARTITION (k = 1) SELECT id + 10 WHERE id = 1"
        " INSERT INTO q PARTITION (k) SELECT id + 10, k + 1 LATERAL VIEW explode(array(1, 2)) e AS k WHERE id = 2"
    )
    assert rows(tables, "q") == [(0, 3), (3, 2), (4, 2), (11, 1), (12, 2), (12, 3)]


def test_branches_add_to_one_partition_each_with_its_own_statement_id(tables: Session) -> None:
    tables.execute(
        "FROM src INSERT INTO p PARTITION (k = 1) SELECT id WHERE id = 1 INSERT INTO p PARTITION (k) SELECT id, 1"
        " WHERE id = 2 INSERT INTO p PARTITION (k = '1') SELECT id WHERE id > 2"
    )
    assert rows(tables, "p") == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert directories(tables, "p") == {f"k=1/delta_0000001_0000001_{number:04}" for number in range(3)}
    ids = {str(row[0]) for row in tables.sql("SELECT row__id FROM p").collect()}
    assert len(ids) == 4
    tables.execute("UPDATE p SET id = id + 10 WHERE id <> 3")
    assert rows(tables, "p") == [(3, 1), (11, 1), (12, 1), (14, 1)]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("statement", "message"),
    every(
        3,
        [
            ("INSERT OVERWRITE TABLE a SELECT * INSERT INTO a SELECT *", "[OUTPUT_SPECIFIED_MULTIPLE_TIMES]"),
            (
                "INSERT INTO p PARTITION (k = 1) SELECT id INSERT OVERWRITE TABLE p PARTITION (k) SELECT id, id",
                "[OUTPUT_SPECIFIED_MULTIPLE_TIMES]",
            ),
            (
                "INSERT OVERWRITE TABLE p PARTITION (k) SELECT id, 1"
                " INSERT OVERWRITE TABLE p PARTITION (k) SELECT id, 1",
                "[OUTPUT_SPECIFIED_MULTIPLE_TIMES]",
            ),
            (
                "INSERT OVERWRITE TABLE p PARTITION (k = 1) SELECT id INSERT INTO p PARTITION (k) SELECT id, 1",
                "[OUTPUT_SPECIFIED_MULTIPLE_TIMES]",
            ),
            (
                "INSERT OVERWRITE TABLE p PARTITION (k = 1) SELECT id INSERT INTO p PARTITION (k = '1') SELECT id",
                "[OUTPUT_SPECIFIED_MULTIPLE_TIMES]",
            ),
            ("INSERT INTO a SELECT * INSERT INTO b SELECT nope, 1", "[COLUMN_NOT_FOUND]"),
            ("INSERT INTO a SELECT * INSERT INTO b SELECT 1", "[INSERT_COLUMN_COUNT]"),
            ("INSERT INTO a SELECT * INSERT INTO c SELECT 1", "[TABLE_NOT_FOUND]"),
            ("INSERT INTO a SELECT * INSERT INTO b SELECT id, raise_error(name)", "[QUERY_FAILED]"),
        ],
    ),
)
def test_a_branch_that_fails_undoes_all_branches(tables: Session, statement: str, message: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        tables.execute(f"FROM src {statement}")
    assert str(raised.value).startswith(message)
    for table in ("a", "b", "p"):
        assert rows(tables, table) == []
        root = Path(tables.catalog.table("default", table).location)
        assert [p for p in root.rglob("*") if p.is_file()] == []


def test_explain_shows_what_is_read_once_and_what_each_branch_writes(tables: Session) -> None:
    text = tables.explain(
        "EXPLAIN EXTENDED FROM src INSERT INTO a SELECT id, name WHERE id > 1"
        " INSERT OVERWRITE TABLE b SELECT id, name WHERE id < 0"
    )
    assert "rows, read once\n  SELECT * FROM `src@1` AS `src` WHERE id > 1 OR id < 0\n" in text
    assert "delta_W_W_0000: INSERT" in text
    assert "base_W: INSERT" in text
    locks = [
        str(r[0]) for r in tables.execute("EXPLAIN LOCKS FROM src INSERT INTO a SELECT * INSERT INTO b SELECT *").rows()
    ]
    assert locks[1:] == ["default.a -> SHARED_READ", "default.b -> SHARED_READ", "default.src -> SHARED_READ"]


def test_no_branch_is_visible_before_all_are_committed(tables: Session, open_session: Callable[[], Session]) -> None:
    """The second branch looks into the target of the first, through a session of its own, while it runs."""
    other = open_session()
    tables.execute("FROM src INSERT INTO a SELECT * INSERT INTO b SELECT id, (SELECT count(*) FROM a)")
    assert {name for _, name in rows(other, "b")} == {"0"}
    assert len(rows(other, "a")) == 4


@pytest.mark.ci
def test_values_are_joined_and_exploded_in_front_of_the_branches(session: Session) -> None:
    for name in ("a", "b"):
        session.execute(f"CREATE TRANSACTIONAL TABLE {name} (x int, y string)")
    session.execute("CREATE TRANSACTIONAL TABLE u (k int, v string)")
    session.execute("INSERT INTO u VALUES (1, 'one'), (2, 'two')")
    session.execute(
        "FROM (VALUES (1, 'p'), (3, 'q')) AS s(n, t) LEFT JOIN u ON s.n = u.k"
        " INSERT INTO a SELECT n, v INSERT INTO b SELECT n, t WHERE v IS NULL"
    )
    session.execute(
        "FROM (VALUES (7)) AS s(n) LATERAL VIEW explode(array('l', 'm')) e AS z"
        " INSERT INTO a SELECT n, z INSERT INTO b SELECT s.n, e.z WHERE z = 'm'"
    )
    session.execute("FROM VALUES (8, 'w') AS s(n, t), u INSERT INTO a SELECT s.n, u.v")
    found = {name: sorted(map(tuple, session.sql(f"SELECT * FROM {name}").collect()), key=str) for name in ("a", "b")}
    assert found == {
        "a": [(1, "one"), (3, None), (7, "l"), (7, "m"), (8, "one"), (8, "two")],
        "b": [(3, "q"), (7, "m")],
    }
