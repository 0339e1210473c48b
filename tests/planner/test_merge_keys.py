"""The query for the key of the target row that several source rows match."""

from __future__ import annotations

import pytest

from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Merge
from acidsql.planner.merge.keys import key_query

ROW = {"writeid": 1, "bucketid": 2, "rowid": 3}


@pytest.mark.parametrize(
    ("merge", "columns"),
    [
        ("MERGE INTO db.t USING s ON t.id = s.id", "`id`"),
        ("MERGE INTO db.t a USING s ON s.k = a.id AND (a.d <=> s.d) AND a.v > 1", "`id`, `d`"),
        ("MERGE INTO db.t USING s ON id = key", "`id`"),
        ("MERGE INTO db.t a USING s ON t.id = s.id", None),
        ("MERGE INTO db.t USING s ON t.id > s.id", None),
        ("MERGE INTO db.t USING s ON lower(t.d) = s.d", None),
        ("MERGE INTO db.t USING s ON t.id = s.id OR t.d = s.d", None),
    ],
)
def test_the_columns_are_those_that_on_compares(merge: str, columns: str | None) -> None:
    statement = parse(f"{merge} WHEN MATCHED THEN DELETE")
    assert isinstance(statement, Merge)
    where = "row__id.writeid = 1 AND row__id.bucketid = 2 AND row__id.rowid = 3"
    expected = None if columns is None else f"SELECT {columns} FROM `db`.`t` WHERE {where}"
    assert key_query(statement, ("id", "d", "v"), ROW) == expected
