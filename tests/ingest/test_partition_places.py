"""A stream and an INSERT give the same value to the same directory, for each type of a partition column."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyarrow as pa

from acidsql.acid.partition_names import partition_name
from acidsql.acid.table import Column, Table
from acidsql.ingest.records import RecordConverter
from acidsql.session import Session

NAN: Final = float("nan")
INFINITY: Final = float("inf")
TYPES: Final[dict[str, list[tuple[str, object]]]] = {
    "tinyint": [("5", 5), ("-128", -128), ("0", 0)],
    "bigint": [("9223372036854775807", 2**63 - 1), ("-1", -1), ("0", 0)],
    "boolean": [("true", True), ("false", False)],
    "float": [("0.1", 0.1), ("1e10", 1e10), ("'NaN'", NAN), ("'-Infinity'", -INFINITY), ("16777216", 16777216)],
    "double": [("0.1", 0.1), ("1e100", 1e100), ("'NaN'", NAN), ("'Infinity'", INFINITY), ("-0.00001", -0.00001)],
    "decimal(12,3)": [
        ("1.500", Decimal("1.500")),
        ("-0.001", Decimal("-0.001")),
        ("100", 100),
        ("0", Decimal("0.000")),
    ],
    "string": [("'a/b=c d'", "a/b=c d"), ("''", ""), ("'é%🐝'", "é%🐝"), ("'__HIVE_DEFAULT_PARTITION__'", None)],
    "varchar(3)": [("'abcd'", "abcd"), ("' a '", " a "), ("''", "")],
    "char(3)": [("'a'", "a"), ("'abcd'", "abcd"), ("'é '", "é "), ("''", "")],
    "date": [("'2024-05-06'", date(2024, 5, 6)), ("'0001-01-01'", date(1, 1, 1)), ("'9999-12-31'", "9999-12-31")],
    "timestamp": [
        ("'2024-05-06 07:08:09.120'", datetime(2024, 5, 6, 7, 8, 9, 120000)),
        ("'0001-01-01 00:00:00'", datetime(1, 1, 1)),
        ("'2024-05-06 07:08:09.000001'", "2024-05-06T07:08:09.000001"),
        ("'2024-05-06'", date(2024, 5, 6)),
    ],
    "binary": [("'ab'", b"ab"), ("'é'", "é".encode())],
}
ROWS: Final = 1 + max(map(len, TYPES.values()))
"""Row n has value n of each type; types with fewer values have NULL there."""


def sql_rows() -> Iterator[str]:
    for n in range(ROWS):
        values = [
            f"CAST({of[n][0]} AS {kind})" if n < len(of) else f"CAST(NULL AS {kind})" for kind, of in TYPES.items()
        ]
        yield f"({n}, {', '.join(values)})"


def python_rows() -> Iterator[tuple[object, ...]]:
    for n in range(ROWS):
        yield (n, *(of[n][1] if n < len(of) else None for of in TYPES.values()))


def test_a_value_goes_to_the_partition_that_insert_gives_it(session: Session, tmp_path: Path) -> None:
    columns = ", ".join(f"p{n} {kind}" for n, kind in enumerate(TYPES))
    session.execute(
        f"CREATE TABLE t (id INT) PARTITIONED BY ({columns}) STORED AS ORC TBLPROPERTIES ('transactional'='true')"
    )
    session.execute(f"INSERT INTO t VALUES {', '.join(sql_rows())}")
    root = tmp_path / "warehouse" / "t"
    inserted = {str(found.parent.relative_to(root)) for found in root.glob("**/delta_*")}
    table = session._metastore.table("default", "t")
    assert isinstance(table, Table)
    names = [c.name for c in table.partition_columns]
    rows = RecordConverter(table).convert(list(python_rows()))
    assert {partition_name(names, placed.values) for placed in rows.placed()} == inserted
    for row in python_rows():
        static = dict(zip(names, row[1:], strict=True))
        fixed = RecordConverter(table, static).convert({"id": 1})
        assert partition_name(names, fixed.partitions[0]) in inserted
        texts = dict(zip(names, fixed.partitions[0], strict=True))
        assert RecordConverter(table, texts).convert({"id": 1}).partitions == fixed.partitions


def test_different_spellings_of_a_value_are_one_partition() -> None:
    partitioned = (Column("d", "decimal(5,2)"), Column("c", "char(4)"))
    table = Table("d", "t", (Column("id", "int"),), "/none", partitioned, properties={"transactional": "true"})
    given = pa.table({"id": [1, 2, 3], "d": [1.5, 1.50, 1.500], "c": ["x", "x ", "x  "]})
    rows = RecordConverter(table).convert(given)
    assert [(placed.values, placed.rows.num_rows) for placed in rows.placed()] == [(("1.5", "x   "), 3)]
