"""Files read by their very paths, whatever signs are in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame, DataFrameReader

_GLOB: Final = re.compile(r"[{}\[\]*?\\]")
"""Signs of a pattern (SparkHadoopUtil.isGlobPath). Hive escapes all but } in a partition's name, none in a location."""


def load_exactly(reader: DataFrameReader, file_format: str, paths: Sequence[str]) -> DataFrame:
    """The content of the files or directories.

    Told not to look for patterns, Spark 4 takes all paths in the place of each that looks like one
    (DataSource.checkAndGlobPathIfNecessary): rows would come twice. So where one does, all are patterns, of themselves.
    """
    has_pattern = any(map(_GLOB.search, paths))
    exact = [_GLOB.sub(r"\\\g<0>", path) for path in paths] if has_pattern else list(paths)
    return reader.option("__globPaths__", str(has_pattern).lower()).format(file_format).load(exact)
