"""The Java classes that Hive names in a table's definition for its file format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class StorageClasses:
    """The classes of a file format: input format, output format and SerDe."""

    input: str
    output: str
    serde: str


_ORC: Final = "org.apache.hadoop.hive.ql.io.orc."
_PARQUET: Final = "org.apache.hadoop.hive.ql.io.parquet."
STORAGE_CLASSES: Final[Mapping[str, StorageClasses]] = {
    "orc": StorageClasses(f"{_ORC}OrcInputFormat", f"{_ORC}OrcOutputFormat", f"{_ORC}OrcSerde"),
    "parquet": StorageClasses(
        f"{_PARQUET}MapredParquetInputFormat",
        f"{_PARQUET}MapredParquetOutputFormat",
        f"{_PARQUET}serde.ParquetHiveSerDe",
    ),
    "textfile": StorageClasses(
        "org.apache.hadoop.mapred.TextInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    ),
    "sequencefile": StorageClasses(
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
        "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
    ),
    "avro": StorageClasses(
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat",
        "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
    ),
}
"""What Hive 4.0.1 writes for STORED AS."""
