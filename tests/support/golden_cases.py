"""Tables that Hive 4.0.1 made (tests/golden): what they are, how to adopt a copy, what Hive reads in them."""

from __future__ import annotations

import json
import lzma
import math
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from pyspark.sql import Row

from acidsql.acid.write_ids import NONE_OPEN
from acidsql.session import Session

GOLDEN = Path(__file__).parent.parent / "golden"

CORE = frozenset(
    (
        "aborted_open",
        "all_types",
        "bucketed",
        "employee_merge",
        "insert_only_orc",
        "insert_only_parquet",
        "insert_only_text_delimited",
        "insert_overwrite",
        "load_data",
        "major_compacted.after_clean",
        "major_compacted_query",
        "merge_update_delete_insert",
        "minor_compacted.before_clean",
        "multi_writer",
        "nested_types",
        "originals.changed",
        "partition_types",
        "partitioned_ops",
        "schema_evolution",
        "timestamps_at_1970",
    )
)
"""Cases that `make test` runs too: one for each kind of directory, file and column."""

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
RowObject: TypeAlias = dict[str, Json]
RowKey: TypeAlias = tuple[int, int, int]
"""row__id as (writeid, bucketid, rowid)."""


@dataclass(frozen=True, slots=True)
class GoldenRow:
    """A row as Hive reads it; `file` is relative to the table's directory."""

    row_id: RowKey
    file: str
    row: RowObject


@dataclass(frozen=True, slots=True)
class GoldenTable:
    """One table of one case."""

    case: str
    name: str
    columns: tuple[tuple[str, str], ...]
    partition_columns: tuple[tuple[str, str], ...]
    bucket_columns: tuple[str, ...]
    buckets: int
    serde: str
    serde_properties: tuple[tuple[str, str], ...]
    """Where they are not the SerDe's own."""
    properties: tuple[tuple[str, str], ...]
    high_watermark: int
    open: tuple[int, ...]
    aborted: tuple[int, ...]

    @property
    def id(self) -> str:
        return f"{self.case}/{self.name}"

    @property
    def is_core(self) -> bool:
        return self.case in CORE

    @property
    def adopted_name(self) -> str:
        return f"{self.case}__{self.name}".replace(".", "_")

    @property
    def directory(self) -> Path:
        return GOLDEN / self.case / "warehouse" / self.name

    @property
    def is_full_acid(self) -> bool:
        return dict(self.properties).get("transactional_properties") == "default"

    @property
    def last_write_id(self) -> int:
        return max((self.high_watermark, *self.open, *self.aborted))

    def copy(self, into: Path) -> Path:
        """A copy of the table's directory that may be written."""
        target = into / self.case / self.name
        shutil.copytree(self.directory, target, copy_function=shutil.copyfile)
        return target

    def create_statement(self, location: Path) -> str:
        """The statement that adopts the copy (interface.md, "An existing ACID directory")."""
        columns = ", ".join(f"`{name}` {kind}" for name, kind in self.columns)
        clauses = [f"CREATE TABLE {self.adopted_name} ({columns})"]
        if self.partition_columns:
            clauses.append(f"PARTITIONED BY ({', '.join(f'`{name}` {kind}' for name, kind in self.partition_columns)})")
        if self.buckets > 0:
            clauses.append(f"CLUSTERED BY ({', '.join(self.bucket_columns)}) INTO {self.buckets} BUCKETS")
        if self.serde_properties:
            given = ", ".join(f"'{k}'={_sql_text(v)}" for k, v in self.serde_properties)
            clauses.append(f"ROW FORMAT SERDE '{self.serde}' WITH SERDEPROPERTIES ({given})")
        clauses.append(f"STORED AS {self._format()}")
        clauses.append(f"LOCATION '{location}'")
        clauses.append(f"TBLPROPERTIES ({', '.join(f'{k!r}={v!r}' for k, v in self._adopting_properties())})")
        return " ".join(clauses)

    def adopt(self, session: Session, into: Path) -> str:
        """Adopts a copy below `into`; gives the table's name."""
        session.execute(self.create_statement(self.copy(into)))
        return self.adopted_name

    def expected(self) -> list[RowObject]:
        """Rows as Hive reads them."""
        return [_object(line) for line in self._lines("expected")]

    def expected_row_ids(self) -> list[GoldenRow] | None:
        """Rows with their row IDs; None where Hive has none to give (insert-only tables)."""
        if not self._recorded("expected_rowid"):
            return None
        return [_golden_row(line) for line in self._lines("expected_rowid")]

    @property
    def is_recorded(self) -> bool:
        """Whether Hive itself can read the table (not so in timestamp_ltz)."""
        return self._recorded("expected")

    def _format(self) -> str:
        if "OrcSerde" in self.serde:
            return "ORC"
        return "PARQUET" if "Parquet" in self.serde else "TEXTFILE"

    def _adopting_properties(self) -> Iterable[tuple[str, str]]:
        yield "transactional", "true"
        if not self.is_full_acid:
            yield "transactional_properties", "insert_only"
        yield from (item for item in self.properties if item[0].startswith("skip."))
        # A converted table's high watermark (10000000) is in no directory name before its first write.
        if self.open or self.aborted or self.case.endswith(".converted"):
            lowest = min(self.open, default=NONE_OPEN)
            ids = ":".join(",".join(map(str, ids)) for ids in (self.open, self.aborted))
            yield "acidsql.adopt.writeids", f"{self.high_watermark}:{lowest}:{ids}"

    def _file(self, kind: str) -> Path:
        """`kind.table.jsonl`; the main table's has no table name, and a large one is packed."""
        names = (f"{kind}{infix}.jsonl{packed}" for infix in (f".{self.name}", "") for packed in ("", ".xz"))
        return next((GOLDEN / self.case / n for n in names if (GOLDEN / self.case / n).exists()), Path())

    def _recorded(self, kind: str) -> bool:
        return self._file(kind).is_file()

    def _lines(self, kind: str) -> list[str]:
        path = self._file(kind)
        if path.suffix == ".xz":
            return lzma.decompress(path.read_bytes()).decode().splitlines()
        return path.read_text().splitlines()


def golden_tables() -> list[GoldenTable]:
    """Every table of every case."""
    return [t for case in sorted(p.parent.name for p in GOLDEN.glob("*/schema.json")) for t in _tables(case)]


def _tables(case: str) -> Iterable[GoldenTable]:
    schemas = json.loads((GOLDEN / case / "schema.json").read_text())
    write_ids = json.loads((GOLDEN / case / "writeids.json").read_text())["tables"]
    for name, schema in schemas.items():
        yield GoldenTable(
            case=case,
            name=name,
            columns=tuple((c["name"], c["type"]) for c in schema["columns"]),
            partition_columns=tuple((c["name"], c["type"]) for c in schema["partition_keys"]),
            bucket_columns=tuple(schema["bucket_columns"]),
            buckets=schema["num_buckets"],
            serde=schema["serde"],
            serde_properties=tuple((k, v) for k, v in schema.get("serde_parameters", {}).items() if v != "1"),
            properties=tuple(schema["parameters"].items()),
            high_watermark=write_ids[name]["high_watermark"],
            open=tuple(write_ids[name]["open"]),
            aborted=tuple(write_ids[name]["aborted"]),
        )


def _sql_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _object(line: str) -> RowObject:
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


def _golden_row(line: str) -> GoldenRow:
    value = json.loads(line)
    row_id = value["rowid"]
    return GoldenRow((row_id["writeid"], row_id["bucketid"], row_id["rowid"]), value["file"], value["row"])


# -- rows that Spark gave, in the notation of the recorded ones (tests/golden/README.md)


def recorded(value: object) -> Json:
    """A value that Spark gave, as the recorder wrote Hive's."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return _float(value)
        case Decimal():
            return _decimal(format(value, "f"))
        case datetime():
            fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
            return value.isoformat(" ")[:19] + fraction
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return {"hex": bytes(value).hex()}
        case Row():
            return {name: recorded(item) for name, item in value.asDict().items()}
        case Mapping():
            return sorted(([recorded(k), recorded(v)] for k, v in value.items()), key=json.dumps)
        case list() | tuple():
            return [recorded(item) for item in value]
        case _:
            raise AssertionError(f"no notation for {type(value)}")


def _decimal(text: str) -> str:
    """Without trailing zeros; 38 digits are more than decimal's context keeps."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _float(value: float) -> Json:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def read_rows(session: Session, table: str) -> list[RowObject]:
    """`SELECT *`, as objects."""
    frame = session.sql(f"SELECT * FROM {table}")
    return [dict(zip(frame.columns, map(recorded, row), strict=True)) for row in frame.collect()]


def read_golden_rows(session: Session, table: str, location: Path) -> list[GoldenRow]:
    """Row IDs, files (relative to `location`) and rows of a table."""
    frame = session.sql(f"SELECT row__id, INPUT__FILE__NAME, * FROM {table}")
    names = frame.columns[2:]
    found = []
    for row_id, file, *values in frame.collect():
        path = str(file).split(f"{location}/")[1]
        found.append(GoldenRow(tuple(row_id), path, dict(zip(names, map(recorded, values), strict=True))))
    return found


def sorted_rows(rows: Iterable[RowObject]) -> list[str]:
    """Rows as text in an order of their own, so that lists of rows compare."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def sorted_golden_rows(rows: Iterable[GoldenRow]) -> list[str]:
    return sorted(json.dumps([row.file, row.row_id, row.row], sort_keys=True) for row in rows)
