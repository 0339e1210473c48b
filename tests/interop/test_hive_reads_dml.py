"""Hive 4.0.1 reads, changes and compacts what acidsql's statements wrote."""

from __future__ import annotations

import pytest

from acidsql.session import Session
from tests.interop.hive_client import READ_MODES, Hive, HiveRow
from tests.interop.shared_table import DATABASE, SharedTable, create_in_both, hive_rows
from tests.interop.values import in_order

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def test_hive_reads_each_statement_of_a_table_as_acidsql_does(hive: Hive, session: Session) -> None:
    table = create_in_both(session, hive, "employee", f"(id int, name string, salary int) {ACID}")
    create_in_both(session, hive, "raise", f"(id int, name string, salary int) {ACID}")
    session.sql(
        f"INSERT INTO {DATABASE}.raise VALUES (2, 'Tom', 7500), (4, 'Mary', 9000), (5, NULL, NULL), (3, 'K', 0)"
    )
    history: list[tuple[str, dict[int, tuple[str | None, int | None]]]] = [
        (
            "INSERT INTO {t} VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, 'Kate', 6000)",
            {1: ("Jerry", 5000), 2: ("Tom", 8000), 3: ("Kate", 6000)},
        ),
        (
            "UPDATE {t} SET salary = 7000 WHERE id = 2",
            {1: ("Jerry", 5000), 2: ("Tom", 7000), 3: ("Kate", 6000)},
        ),
        (
            """MERGE INTO {t} a USING {s} b ON a.id = b.id
            WHEN MATCHED AND b.salary = 0 THEN DELETE
            WHEN MATCHED AND a.salary < b.salary THEN UPDATE SET salary = b.salary
            WHEN NOT MATCHED AND b.name IS NULL THEN INSERT VALUES (b.id, 'none', -1)
            WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.name, b.salary)
            WHEN NOT MATCHED BY SOURCE THEN UPDATE SET name = concat(name, '*')""",
            {1: ("Jerry*", 5000), 2: ("Tom", 7500), 4: ("Mary", 9000), 5: ("none", -1)},
        ),
        ("DELETE FROM {t} WHERE id = 1", {2: ("Tom", 7500), 4: ("Mary", 9000), 5: ("none", -1)}),
        ("DELETE FROM {t} WHERE id = 77", {2: ("Tom", 7500), 4: ("Mary", 9000), 5: ("none", -1)}),
        ("UPDATE {t} SET salary = NULL", {2: ("Tom", None), 4: ("Mary", None), 5: ("none", None)}),
    ]
    for statement, expected in history:
        table.write(statement.format(t=table.name, s=f"{DATABASE}.raise"))
        read = table.assert_hive_reads_it()
        assert in_order(row[1:] for row in read) == in_order([k, *v] for k, v in expected.items())
    hive_goes_on_with_employees(hive, table)


def hive_goes_on_with_employees(hive: Hive, table: SharedTable) -> None:
    """UPDATE, DELETE, a minor and a major compaction by Hive."""
    hive.run(f"UPDATE {table.name} SET salary = id * 10 WHERE id <> 4")
    assert_hive_has(hive, table, [[2, "Tom", 20], [4, "Mary", None], [5, "none", 50]])
    hive.run(f"DELETE FROM {table.name} WHERE name = 'Mary'")
    assert_hive_has(hive, table, [[2, "Tom", 20], [5, "none", 50]])
    row_ids = hive_rows(hive, table.name)
    for kind in ("minor", "major"):
        hive.compact(table.name, kind)
        assert_hive_has(hive, table, [[2, "Tom", 20], [5, "none", 50]])
        assert hive_rows(hive, table.name) == row_ids, f"row IDs after the {kind} compaction"


def assert_hive_has(hive: Hive, table: SharedTable, rows: list[HiveRow]) -> None:
    for mode in READ_MODES:
        assert hive_rows(hive, table.name, "*", mode_name=mode.name) == in_order(rows), mode.name


@pytest.mark.parametrize("kind", ["minor", "major"])
def test_hive_compacts_what_acidsql_wrote_and_nothing_else(hive: Hive, session: Session, kind: str) -> None:
    """Every event of the compacted files is acidsql's: no statement of Hive comes before."""
    table = create_in_both(session, hive, f"compacted_{kind}", f"(k int, v string) {ACID}")
    table.write(f"INSERT INTO {table.name} VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    table.write(f"DELETE FROM {table.name} WHERE k IN (1, 3)")
    table.write(f"UPDATE {table.name} SET v = upper(v) WHERE k = 4")
    table.write(f"INSERT INTO {table.name} VALUES (5, NULL)")
    expected = table.assert_hive_reads_it()
    assert [row[1:] for row in expected] == [[2, "b"], [4, "D"], [5, None]]
    hive.compact(table.name, kind)
    left = {path.name.split("_v")[0] for path in table.hive_directory.iterdir()}
    assert left == ({"delta_0000001_0000004", "delete_delta_0000001_0000004"} if kind == "minor" else {"base_0000004"})
    table.assert_hive_reads_it()


def test_hive_reads_a_restored_table_and_goes_on(hive: Hive, session: Session) -> None:
    """The lists of replaced files in the bases do not disturb Hive, nor do bases without rows."""
    table = create_in_both(session, hive, "restored", f"(k int, v string) PARTITIONED BY (p string) {ACID}")
    table.write(f"INSERT INTO {table.name} VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    table.write(f"UPDATE {table.name} SET v = 'wrong'")
    table.write(f"INSERT INTO {table.name} VALUES (3, 'c', 'z')")
    table.write(f"RESTORE TABLE {table.name} TO VERSION AS OF 1")
    assert [row[1:] for row in table.assert_hive_reads_it()] == [[1, "a", "x"], [2, "b", "y"]]
    table.write(f"RESTORE TABLE {table.name} TO VERSION AS OF 3")
    assert [row[1:] for row in table.assert_hive_reads_it()] == [[1, "wrong", "x"], [2, "wrong", "y"], [3, "c", "z"]]
    hive.run(f"DELETE FROM {table.name} WHERE k = 2", f"UPDATE {table.name} SET v = 'd' WHERE k = 3")
    assert_hive_has(hive, table, [[1, "wrong", "x"], [3, "d", "z"]])
