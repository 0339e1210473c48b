"""The employee story (issue 3) and what it must give, whichever front end runs it."""

from __future__ import annotations

from collections.abc import Mapping

STATEMENTS = (
    "CREATE TABLE employee (id int, name string, salary int) STORED AS ORC TBLPROPERTIES ('transactional'='true')",
    "INSERT INTO employee VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, 'Kate', 6000)",
    "UPDATE employee SET salary = 7000 WHERE id = 2",
    "CREATE TABLE employee_update (id int, name string, salary int) STORED AS ORC"
    " TBLPROPERTIES ('transactional'='true')",
    "INSERT INTO employee_update VALUES (2, 'Tom', 7500), (4, 'Mary', 9000)",
    "MERGE INTO employee AS A USING employee_update AS B ON A.id = B.id\n"
    "  WHEN MATCHED THEN UPDATE SET salary = B.salary"
    " WHEN NOT MATCHED THEN INSERT VALUES (B.id, B.name, B.salary)",
    "DELETE FROM employee WHERE id = 1",
)
QUERY = "SELECT row__id, * FROM employee ORDER BY id"
SCRIPT = ";\n".join([*STATEMENTS, QUERY]) + ";\n"

COUNTS = (
    "3 rows affected (3 inserted)",
    "1 row affected (1 updated)",
    "2 rows affected (2 inserted)",
    "2 rows affected (1 updated, 1 inserted)",
    "1 row affected (1 deleted)",
)
"""What the five DML statements tell, in their order."""

ROWS = ((2, "Tom", 7500), (3, "Kate", 6000), (4, "Mary", 9000))
WRITE_IDS = (3, 1, 3)
"""Of the rows: the MERGE was the table's third write, Kate is still of the first."""


def check_rows(rows: list[Mapping[str, object]]) -> None:
    """Checks the rows of QUERY, as objects."""
    assert [(row["id"], row["name"], row["salary"]) for row in rows] == list(ROWS)
    assert [list(row) for row in rows] == [["row__id", "id", "name", "salary"]] * len(rows)
    for row, write_id in zip(rows, WRITE_IDS, strict=True):
        row_id = row["row__id"]
        assert isinstance(row_id, dict)
        assert list(row_id) == ["writeid", "bucketid", "rowid"]
        assert row_id["writeid"] == write_id
