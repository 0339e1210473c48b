"""MERGE with a small source: rows of the target that match no key of the source are left out before the join.

The keys are broadcast, so that these rows are dropped where they are read, instead of being shuffled and sorted for the
join. This reads the source twice, so the source must give the same rows each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from acidsql.planner.plan import KEYS, Narrowing
from acidsql.snapshot.scan_binding import BoundScan
from acidsql.spark.catalyst.gateway import jvm
from acidsql.spark.catalyst.repeatable_queries import is_repeatable
from acidsql.spark.catalyst.size_estimates import SMALL, estimated_bytes, leaf_bytes, leaf_sizes
from acidsql.spark.running_spark import StatementSpark

_LEAST: Final = 1024 * 1024
"""Bytes of a target from which on the narrowing is worth its cost."""
_MUCH: Final = 1.5
"""How many times larger than the source the target must be."""
_MOST_BYTES: Final = 4 * SMALL
"""Bytes of keys that are broadcast."""
_HEAP_PER_KEYS: Final = 128
"""The keys may be one part in so many of the JVM's heap: their broadcast takes several times the bytes of a file."""


def narrow(
    spark: StatementSpark, narrowing: Narrowing, target: Sequence[BoundScan], args: Mapping[str, object]
) -> None:
    """Replaces the view of the target's scan by its matching rows, if this is worth its cost and changes no result."""
    size = sum(f.file.length for b in target for part in b.parts for f in part.data_files)
    if size < _LEAST:
        return
    try:
        keys = spark.sql(narrowing.keys, args)
    except AnalysisException:
        return  # the statement's own query reports the error, with its place
    of_source = leaf_bytes(leaf_sizes(keys))
    if of_source * _MUCH > size or not is_repeatable(keys):
        return
    if of_source > SMALL and estimated_bytes(keys) > min(_MOST_BYTES, jvm(spark.query).heap // _HEAP_PER_KEYS):
        return
    spark.define_view(KEYS, F.broadcast(keys))
    spark.define_view(narrowing.view, spark.sql(narrowing.rows))
