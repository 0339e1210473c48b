"""The kinds of results, by statement. No statement here needs Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.session import connect
from acidsql.statements.results import Done, Result, RowsResult, Summary

CREATE = "CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.mark.parametrize(
    ("statement", "kind", "operation"),
    [
        ("SHOW TABLES", RowsResult, "SHOW TABLES"),
        ("SHOW METRICS", RowsResult, "SHOW METRICS"),
        ("DESCRIBE t", RowsResult, "DESCRIBE"),
        ("EXPLAIN DROP TABLE t", RowsResult, "EXPLAIN"),
        ("SET hive.lock.numretries", RowsResult, "SET"),
        ("ALTER TABLE t COMPACT 'major'", RowsResult, "ALTER TABLE"),
        ("ABORT TRANSACTIONS 1", RowsResult, "ABORT TRANSACTIONS"),
        ("SET hive.lock.numretries=3", Done, "SET"),
        ("ALTER TABLE t ADD COLUMNS (v string)", Done, "ALTER TABLE"),
        ("TRUNCATE TABLE t", Done, "TRUNCATE TABLE"),
        ("START TRANSACTION", Done, "START TRANSACTION"),
        ("USE default", Done, "USE"),
    ],
)
def test_every_result_has_the_public_attributes(
    tmp_path: Path, statement: str, kind: type[Result], operation: str
) -> None:
    with connect(tmp_path) as session:
        session.execute(CREATE)
        result = session.execute(statement)
        assert type(result) is kind
        assert (result.operation, result.counts) == (operation, None)
        assert (result.columns is None) == (kind is Done)
        assert (result.txn_id is not None) == (operation in ("TRUNCATE TABLE", "START TRANSACTION"))
        assert list(result.write_ids) == (["default.t"] if operation == "TRUNCATE TABLE" else [])
        assert result.seconds > 0
        assert len(list(result.rows(1))) == (0 if kind is Done else 1)
        result.close()
        assert session.last_result == Summary(operation, result.txn_id, result.write_ids, result.counts, result.seconds)
