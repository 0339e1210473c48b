"""Runs compactions by the engine that `engine_choice` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from acidsql.arrow.compaction import compact_by_arrow
from acidsql.engines.engine_choice import compaction_choice
from acidsql.planner.plan import DRIVER_BYTES
from acidsql.spark.compaction import compact
from acidsql.spark.engine import Engine
from acidsql.spark.scan.scan_caches import ScanCaches
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.orc.copies import OriginalFiles
from acidsql.writing.compaction_files import Job, Merged
from acidsql.writing.statement_transactions import LateWork


@dataclass(frozen=True, slots=True)
class CompactionEngines:
    """The engines of a compaction service. `settings` are its live settings."""

    engine: Engine
    settings: Mapping[str, str]
    _caches: ScanCaches = field(default_factory=ScanCaches)

    def files(self, location: str) -> FileSystem:
        """The file system of a location."""
        return self.engine.files(location)

    def cancel(self) -> None:
        """Cancels the Spark jobs of running compactions."""
        self.engine.cancel_statements()

    def merge(self, job: Job, description: str, work: LateWork, before_publishing: Callable[[], None]) -> Merged:
        """Reads and stages the files of a compaction, calls `before_publishing`, and publishes. `work` gets the Spark
        jobs, whose description is given."""
        caches = self._caches.of_statement()
        most_bytes = int(self.settings[DRIVER_BYTES])
        try:
            merged = None
            if compaction_choice(job, most_bytes, self.engine.needs_hadoop).is_arrow:
                footers = replace(caches.footers, copies=OriginalFiles())
                merged = compact_by_arrow(job, footers, most_bytes, before_publishing)
            if merged is None:
                with self.engine.jobs(description) as work.running:
                    self.engine.require_exact_time(job.table)
                    merged = compact(self.engine.statement(), job, caches, before_publishing=before_publishing)
            return merged
        finally:
            caches.end()
