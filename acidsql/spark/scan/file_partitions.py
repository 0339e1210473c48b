"""The partition of a row, derived from its file, without partition columns in the scan.

Spark would append partition columns to the scan's schema, and an ACID file can only be read with its six columns
(spark-findings.md 3). So files are read by path, and the facts of each file stand in arrays that are literals of the
plan. The key of a file is its size if the sizes of all files differ, else its path.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final
from urllib.parse import quote

import numpy as np
import xxhash
from numpy.typing import NDArray
from pyspark.sql import Column, SparkSession

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_names import value_as_read
from acidsql.acid.table import Table
from acidsql.errors import Condition
from acidsql.grammar.quoting import name_sql, sql_string
from acidsql.planner.sql_errors import raise_sql
from acidsql.snapshot.scan_binding import BoundPart, SourceFile
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.scan.deletes.array_lookup import LongLookup, Longs, long_lookup
from acidsql.spark.spark_types import ddl, query_type

METADATA: Final = "_metadata"
PART: Final = ":part"
"""Column with the number of a row's partition among the partitions that the scan reads."""
ROW_NUMBER: Final = f"(monotonically_increasing_id() & {(1 << 33) - 1})"
"""SQL: the number of a row within its task. In a CASE, the rows that reach the branch are numbered."""
_HASH_SEED: Final = 42
_KEY: Final = ":file_key"
_PLACE: Final = ":file_place"
_PREFIX: Final = ":file_"
_FACTS: Final = ":file_facts"
_VALUES: Final = ":part_values"
_URI_PUNCTUATION: Final = "/_-!.~'()*:@&=+$,;"
"""Characters that java.net.URI does not escape in a path."""
_WIDTH: Final = 4
_POSITIVE: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class FileFacts:
    """SQL for the facts that a row gets from the file it comes from.

    The SQL reads the columns of `tables`, which are literals, and of `steps`, SQL of further columns each of which may
    read those before it, so that nothing is computed twice. A row of an unknown file fails the job. Write ID, bucket
    property and first row ID are those of plain files.
    """

    tables: dict[str, Longs]
    steps: tuple[str, ...]
    part: str
    write_id: str
    bucket: str
    first_row: str


def file_facts(files: Sequence[SourceFile], metadata: str = METADATA) -> FileFacts:
    """`metadata` is the column of the scan with Spark's metadata of files (`metadata_column`)."""
    facts = [(f.part, f.write_id, f.bucket_property, f.first_row) for f in files]
    if len(set(facts)) == 1:
        of_all = facts[0]
        return FileFacts({}, (), _int(f"{of_all[0]}"), f"{of_all[1]}L", _int(f"{of_all[2]}"), f"{of_all[3]}L")
    key, keys = _keys(files, metadata)
    lookup = long_lookup(keys)
    steps = (f"{key} AS {name_sql(_KEY)}", f"{lookup.sql(name_sql(_KEY), _PREFIX)} AS {name_sql(_PLACE)}")
    known = _of_file(0)
    failure = raise_sql(
        Condition.MALFORMED_LAYOUT,
        path=f"CAST({name_sql(_KEY)} AS STRING)",
        reason=sql_string("this file was not listed"),
    )
    part = f"CASE WHEN {known} >= 0 THEN {_int(known)} ELSE CAST({failure} AS INT) END"
    tables = {f"{_PREFIX}{name}": table for name, table in lookup.tables.items()}
    tables[_FACTS] = _laid_out(facts, lookup)
    return FileFacts(tables, steps, part, _of_file(1), _int(_of_file(2)), _of_file(3))


def _laid_out(facts: Sequence[tuple[int, ...]], lookup: LongLookup) -> Longs:
    table = np.full((lookup.size, _WIDTH), -1, np.int64)
    table[lookup.places] = facts
    return table.reshape(-1)


def _of_file(number: int) -> str:
    return f"{name_sql(_FACTS)}[{name_sql(_PLACE)} * {_WIDTH} + {number}]"


def _int(value: str) -> str:
    return f"CAST({value} AS INT)"


def metadata_column(names: Collection[str]) -> str:
    """SQL: Spark's metadata of files beside columns with these names: it has one more `_` where a column has its name
    (FileSourceMetadataAttribute, LogicalPlan.metadataOutputWithOutConflicts).

    >>> metadata_column(["id"]), metadata_column(["id", "_Metadata"])
    ('_metadata', '__metadata')
    """
    taken = {name.lower() for name in names}
    return next(name for n in count() if (name := f"{'_' * n}{METADATA}") not in taken)


def _keys(files: Sequence[SourceFile], metadata: str) -> tuple[str, Longs]:
    """SQL of a number that tells the files apart, and that of each file."""
    sizes = [f.size for f in files]
    if len(set(sizes)) == len(sizes):
        return f"{metadata}.file_size", np.array(sizes, np.int64)
    hashes = xxhash64([file_uri(f.path) for f in files])
    return f"xxhash64({metadata}.file_path) & {_POSITIVE}", hashes & _POSITIVE


def file_uri(path: str) -> str:
    """The path as `_metadata.file_path` has it."""
    if path.isascii():
        encoded = quote(path, safe=_URI_PUNCTUATION)
    else:
        encoded = "".join(c if ord(c) > 127 else quote(c, safe=_URI_PUNCTUATION) for c in path)
    return f"file:{encoded}" if path.startswith("/") else encoded


@dataclass(frozen=True, slots=True)
class PartitionValues:
    """SQL of a table's partition columns, in order, over PART and the columns of `literals`."""

    columns: tuple[str, ...]
    literals: dict[str, Column]


def partition_values(spark: SparkSession, table: Table, parts: Sequence[BoundPart]) -> PartitionValues:
    columns: list[str] = []
    literals: dict[str, Column] = {}
    for i, column in enumerate(table.partition_columns):
        values = [value_as_read(part.values[i], column.type) for part in parts]
        kind = ddl(query_type(parse_type(column.type)))
        if len(set(values)) == 1:
            columns.append(f"CAST({'NULL' if values[0] is None else sql_string(values[0])} AS {kind})")
            continue
        name = f"{_VALUES}{i}"
        literals[name] = jvm(spark).text_array(values)
        columns.append(f"CAST({name_sql(name)} AS array<{kind}>)[{name_sql(PART)}]")
    return PartitionValues(tuple(columns), literals)


def xxhash64(texts: Sequence[str]) -> NDArray[np.int64]:
    """The hash of each text as a signed number, as Spark SQL's `xxhash64` gives it: XXH64 of its UTF-8 with Spark's
    seed (XxHash64Function).

    >>> xxhash64(["Spark", ""]).tolist()
    [-4294468057691064905, -7444071767201028348]
    """
    hashes = [xxhash.xxh64_intdigest(text.encode(), seed=_HASH_SEED) for text in texts]
    return np.array(hashes, np.uint64).view(np.int64)
