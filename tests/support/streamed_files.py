"""Files that a streaming query reads, and what a crash leaves of its checkpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

COLUMNS = "id INT, name STRING, d STRING"


class StreamedFiles:
    """A directory of JSON files that a streaming query reads, one in each batch, in the order of their times."""

    def __init__(self, spark: SparkSession, place: Path, columns: str = COLUMNS) -> None:
        self.spark, self.place, self.columns = spark, place / "source", columns
        self.checkpoints = place / "checkpoints"
        self.place.mkdir()
        self.count = 0

    def add(self, *records: dict[str, object]) -> None:
        path = self.place / f"{self.count:03d}.json"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.count += 1
        os.utime(path, (self.count, self.count))

    def add_range(self, *bounds: int) -> None:
        self.add(*({"id": i, "name": f"n{i}", "d": f"p{i % 2}"} for i in range(*bounds)))

    def run(
        self,
        sink: Callable[[DataFrame, int], None],
        checkpoint: str = "a",
        per_batch: int = 1,
        change: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    ) -> None:
        """Runs a query until it has read all files."""
        files = self.spark.readStream.schema(self.columns).option("maxFilesPerTrigger", per_batch)
        query = (
            change(files.json(str(self.place)))
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", str(self.checkpoints / checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def forget_commits(self, checkpoint: str, count: int = 1) -> None:
        """Leaves the checkpoint as a process does that is killed after `count` batches are written, and before Spark
        hears of it."""
        commits = self.checkpoints / checkpoint / "commits"
        for batch in sorted((int(f.name) for f in commits.iterdir() if f.name.isdigit()), reverse=True)[:count]:
            (commits / str(batch)).unlink()
            (commits / f".{batch}.crc").unlink(missing_ok=True)
