"""Runs compactions by the engine that `engine_choice` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from acidsql.arrow.compaction import compact_by_arrow
from acidsql.engines.engine_choice import compaction_choice
from acidsql.planner.plan import DRIVER_BYTES
from acidsql.spark.engine import Engine
from acidsql.storage.file_systems import FileSystem
from acidsql.storage.footer_cache import FooterCache
from acidsql.storage.orc.copies import OriginalFiles
from acidsql.storage.warehouse_files import WarehouseFiles
from acidsql.writing.compaction_files import Job, Merged
from acidsql.writing.statement_transactions import LateWork

if TYPE_CHECKING:
    from acidsql.spark.scan.scan_caches import ScanCaches


class CompactionEngines:
    """The engines of a compaction service."""

    def __init__(self, engine: Engine, files: WarehouseFiles, settings: Mapping[str, str]) -> None:
        """`settings` are the live settings of the service."""
        self._engine = engine
        self._files = files
        self._settings = settings
        self._footers = FooterCache()

    @cached_property
    def _caches(self) -> ScanCaches:
        """What compactions by Spark remember of files. Imports PySpark."""
        from acidsql.spark.scan.scan_caches import ScanCaches

        return ScanCaches(self._footers)

    def files(self, location: str) -> FileSystem:
        """The file system of a location."""
        return self._files.of(location)

    def cancel(self) -> None:
        """Cancels the Spark jobs of running compactions."""
        self._engine.cancel_statements()

    def merge(self, job: Job, description: str, work: LateWork, before_publishing: Callable[[], None]) -> Merged:
        """Reads and stages the files of a compaction, calls `before_publishing`, and publishes. `work` gets the Spark
        jobs, whose description is given."""
        most_bytes = int(self._settings[DRIVER_BYTES])
        merged = None
        if compaction_choice(job, most_bytes, self._files.needs_hadoop).is_arrow:
            footers = replace(self._footers, copies=OriginalFiles())
            merged = compact_by_arrow(job, footers, most_bytes, before_publishing)
        if merged is not None:
            return merged
        with self._engine.jobs(description) as work.running:
            return self._merge_by_spark(job, before_publishing)

    def _merge_by_spark(self, job: Job, before_publishing: Callable[[], None]) -> Merged:
        from acidsql.spark.compaction import compact

        spark = self._engine.running
        spark.require_exact_time(job.table)
        caches = self._caches.of_statement()
        try:
            return compact(spark.statement(), job, caches, before_publishing=before_publishing)
        finally:
            caches.end()
