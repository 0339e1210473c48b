"""What a session remembers of immutable files between statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from acidsql.spark.scan.deletes.cache import DeleteCache
from acidsql.storage.footer_cache import FooterCache


@dataclass(frozen=True, slots=True)
class ScanCaches:
    """Footers of ORC and Parquet files, and delete events. Files of an ACID table never change once they are there."""

    footers: FooterCache = field(default_factory=FooterCache)
    deletes: DeleteCache = field(default_factory=DeleteCache)
