"""The rows of SHOW TABLE EXTENDED: the definition of each table, and the number and sizes of its files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from acidsql.acid.data_files import File
from acidsql.acid.directories import is_hidden
from acidsql.acid.storage_classes import STORAGE_CLASSES
from acidsql.acid.table import Column, Relation, View
from acidsql.storage.file_systems import FilesOf

_WORD: Final = re.compile(r"[a-z]+")
# org.apache.hadoop.hive.metastore.utils.MetaStoreUtils.typeToThriftTypeMap, as far as the names differ.
_THRIFT_TYPES: Final = {
    "boolean": "bool",
    "tinyint": "byte",
    "smallint": "i16",
    "int": "i32",
    "bigint": "i64",
    "array": "list",
}


def status_lines(relation: Relation, locations: Sequence[str], shown: str | None, files: FilesOf) -> Iterator[str]:
    """The lines about one table or view, with the keys of Hive's TextShowTableStatusFormatter.

    `locations` are the directories whose files count, and `shown` is the one that the lines name.
    """
    yield f"tableName:{relation.name}"
    yield f"owner:{relation.owner or 'null'}"
    yield f"location:{shown or 'null'}"
    classes = None if isinstance(relation, View) else STORAGE_CLASSES.get(relation.file_format)
    yield f"inputformat:{classes.input if classes else 'null'}"
    yield f"outputformat:{classes.output if classes else 'null'}"
    yield f"columns:struct columns {{ {_thrift(relation.columns)}}}"
    partitioned = bool(relation.partition_columns)
    yield f"partitioned:{str(partitioned).lower()}"
    of_partitions = f"struct partition_columns {{ {_thrift(relation.partition_columns)}}}" if partitioned else ""
    yield f"partitionColumns:{of_partitions}"
    if shown is not None:
        yield from _sizes(locations, files)
    yield ""


def _thrift(columns: Sequence[Column]) -> str:
    return ", ".join(f"{_WORD.sub(lambda m: _THRIFT_TYPES.get(m[0], m[0]), c.type)} {c.name}" for c in columns)


def _sizes(locations: Sequence[str], files: FilesOf) -> Iterator[str]:
    found: list[File] = []
    for location in locations:
        place = files(location)
        found += place.list_below(place.resolve(location)).files
    seen = [file for file in found if not is_hidden(file.path.rpartition("/")[2])]
    lengths = [file.length for file in seen]
    yield f"totalNumberFiles:{len(seen)}"
    yield f"totalFileSize:{sum(lengths)}"
    yield f"maxFileSize:{max(lengths, default=0)}"
    yield f"minFileSize:{min(lengths, default=0)}"
    yield "lastAccessTime:0"
    yield f"lastUpdateTime:{max((file.modified for file in seen), default=0)}"
