"""Metrics of transactions and compaction, under Hive's names (MetricsConstants, AcidMetricService), and of streams.

They are values for Python, rows for SHOW METRICS, and text for Prometheus from the service.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from acidsql.compactor.health import Status
from acidsql.compactor.http_endpoint import Page, serve_http
from acidsql.compactor.service import Compactor, Cycle
from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import Metastore
from acidsql.metastore.compactions import Compaction, CompactionState, PlaceName
from acidsql.metastore.streams import StreamState
from acidsql.metastore.transaction_client import Transaction

_MOST_PLACES = 100
"""Most tables and partitions with metrics of their own (metastore.deltametrics.max.cache.size)."""
_AGES = {
    CompactionState.INITIATED: "compaction_oldest_enqueue_age_in_sec",
    CompactionState.WORKING: "compaction_oldest_working_age_in_sec",
    CompactionState.READY_FOR_CLEANING: "compaction_oldest_cleaning_age_in_sec",
}
_HELP: Mapping[str, str] = {
    "num_open_non_repl_txns": "Open transactions.",
    "oldest_open_non_repl_txn_id": "ID of the oldest open transaction, 0 for none.",
    "oldest_open_non_repl_txn_age_in_sec": "Seconds since the oldest open transaction was opened.",
    "num_aborted_txns": "Aborted transactions that the metastore remembers.",
    "oldest_aborted_txn_id": "ID of the oldest aborted transaction, 0 for none.",
    "oldest_aborted_txn_age_in_sec": "Seconds since the oldest aborted transaction was opened.",
    "num_locks": "Locks, acquired and waiting.",
    "oldest_lock_age_in_sec": "Seconds since the oldest acquired lock was acquired.",
    "num_completed_txn_components": "Tables and partitions written to since they were compacted.",
    "num_streams": "Streams that have been claimed once.",
    "stream_rows_total": "Rows that the stream has committed.",
    "stream_commits_total": "Commits of the stream.",
    "stream_seconds_since_last_commit": "Seconds since the last commit of the stream.",
    "stream_has_writer": "1 if the stream has a live writer, else 0.",
    "compaction_num_active_deltas": "Deltas and delete deltas that readers read.",
    "compaction_num_obsolete_deltas": "Directories that no new reader reads and that are not removed yet.",
    **{f"compaction_num_{s.name.lower()}": f"Compactions that are {s.value}." for s in CompactionState},
    "compaction_oldest_enqueue_age_in_sec": "Seconds that the oldest request has waited.",
    "compaction_oldest_working_age_in_sec": "Seconds since the longest compaction that runs began.",
    "compaction_oldest_cleaning_age_in_sec": "Seconds since the oldest one that waits for the cleaner committed.",
    **{
        f"compaction_{part}_cycle{suffix}": text
        for part in ("initiator", "worker", "cleaner")
        for suffix, text in (
            ("_duration", f"Seconds that the {part}'s last run took."),
            ("_seconds_total", f"Seconds of all runs of the {part}."),
            ("s_total", f"Runs of the {part}."),
        )
    },
    **{
        f"compaction_{part}_failure_counter": f"Runs of the {part} that failed."
        for part in ("initiator", "worker", "cleaner")
    },
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure. `place` is its table or partition (`db.t`, `db.t.p=a`), None for a total. `stream` is the ID of a
    stream into the table `place`."""

    name: str
    value: float
    place: str | None = None
    stream: str | None = None

    @property
    def shown_place(self) -> str | None:
        return self.place if self.stream is None else f"{self.place}, stream {self.stream}"

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels in Prometheus' text."""
        if self.place is None:
            return {}
        return {"place": self.place} if self.stream is None else {"table": self.place, "stream": self.stream}

    @property
    def help(self) -> str:
        return _HELP[self.name]

    @property
    def is_counter(self) -> bool:
        return self.name.endswith(("_total", "_counter"))


def metrics(metastore: Metastore, compactor: Compactor) -> Sequence[Metric]:
    """All figures of now. There are none of deltas on a Hive Metastore, which has its own initiator."""
    return [
        *_transactions(metastore.transactions()),
        *_locks(metastore),
        *_deltas(compactor),
        *_queue(metastore.compactions()),
        *_cycles(compactor),
        *_streams(metastore.streams()),
    ]


def _transactions(found: Sequence[Transaction]) -> Iterator[Metric]:
    now = time.time()
    for kind, name in ((True, "open_non_repl_txn"), (False, "aborted_txn")):
        of_kind = [t for t in found if t.is_open is kind]
        yield Metric(f"num_{name}s", len(of_kind))
        oldest = min(of_kind, key=lambda t: t.id, default=None)
        yield Metric(f"oldest_{name}_id", oldest.id if oldest else 0)
        yield Metric(f"oldest_{name}_age_in_sec", max(0.0, now - oldest.started / 1000) if oldest else 0)


def _locks(metastore: Metastore) -> Iterator[Metric]:
    locks = metastore.locks()
    acquired = [lock.acquired for lock in locks if lock.acquired]
    yield Metric("num_locks", len(locks))
    yield Metric("oldest_lock_age_in_sec", max(0.0, time.time() - min(acquired) / 1000) if acquired else 0)


def _streams(found: Sequence[StreamState]) -> Iterator[Metric]:
    yield Metric("num_streams", len(found))
    now = time.time()
    for stream in found:
        of = (f"{stream.database}.{stream.table}", stream.id)
        yield Metric("stream_rows_total", stream.rows, *of)
        yield Metric("stream_commits_total", stream.commits, *of)
        yield Metric("stream_has_writer", float(bool(stream.writer)), *of)
        if stream.commits:
            yield Metric("stream_seconds_since_last_commit", max(0.0, now - stream.last_commit / 1000), *of)


def _deltas(compactor: Compactor) -> Iterator[Metric]:
    if compactor.initiator is None:
        return
    yield Metric("num_completed_txn_components", len(compactor.initiator.keeper.changed_places()))
    seen: Mapping[PlaceName, tuple[int, int]] = compactor.initiator.count_deltas(_MOST_PLACES)
    for number, name in enumerate(("compaction_num_active_deltas", "compaction_num_obsolete_deltas")):
        yield Metric(name, sum(counts[number] for counts in seen.values()))
        yield from (Metric(name, counts[number], place.text) for place, counts in seen.items() if counts[number])


def _queue(found: Sequence[Compaction]) -> Iterator[Metric]:
    counts = Counter(c.state for c in found)
    now = time.time()
    for state in CompactionState:
        yield Metric(f"compaction_num_{state.name.lower()}", counts[state])
    for state, name in _AGES.items():
        since = [c.committed or c.started or c.enqueued for c in found if c.state is state]
        yield Metric(name, max(0.0, now - min(since) / 1000) if since else 0)


def _cycles(compactor: Compactor) -> Iterator[Metric]:
    cycles: Mapping[str, Cycle] = {
        "initiator": compactor.cycles.initiator,
        "worker": compactor.cycles.worker,
        "cleaner": compactor.cycles.cleaner,
    }
    for part, cycle in cycles.items():
        yield Metric(f"compaction_{part}_cycle_duration", cycle.last_seconds)
        yield Metric(f"compaction_{part}_cycle_seconds_total", cycle.total_seconds)
        yield Metric(f"compaction_{part}_cycles_total", cycle.runs)
        yield Metric(f"compaction_{part}_failure_counter", cycle.failures)


def prometheus_text(metastore: Metastore, compactor: Compactor) -> Callable[[], Page]:
    """The page of all figures in Prometheus' text format, which reads them whenever it is called.

    Raises CANNOT_START without the extra `metrics`.
    """
    try:
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
        from prometheus_client.registry import Collector
    except ImportError:
        message = "The package prometheus_client is not installed"
        raise AcidSqlError(Condition.CANNOT_START, message=message, hint="pip install 'acidsql[metrics]'") from None

    class Figures(Collector):
        def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
            families: dict[tuple[str, bool], GaugeMetricFamily | CounterMetricFamily] = {}
            for metric in metrics(metastore, compactor):
                labels = metric.labels
                key = (metric.name, bool(labels))
                kind = CounterMetricFamily if metric.is_counter else GaugeMetricFamily
                name = f"acidsql_{metric.name}{'_by_place' if 'place' in labels else ''}"
                family = families.setdefault(key, kind(name, metric.help, labels=list(labels)))
                family.add_metric(list(labels.values()), metric.value)
            yield from families.values()

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures())
    return lambda: Page(generate_latest(registry), CONTENT_TYPE_LATEST)


def health_page(compactor: Compactor) -> Page:
    """What /healthz answers: status 200 while the service works, 503 while it starts, drains or fails."""
    status, reason = compactor.health.status()
    body = {"status": status.value} | ({"reason": reason} if reason else {})
    return Page(f"{json.dumps(body)}\n".encode(), "application/json", 200 if status is Status.OK else 503)


def serve_pages(port: int, listen: str, metastore: Metastore, compactor: Compactor, *, needs_metrics: bool) -> int:
    """Serves /healthz, and /metrics where the extra `metrics` is installed, from a thread at the address `listen`.
    Returns the port. Raises CANNOT_START if the port is taken, and without the extra if it is needed."""
    pages: dict[str, Callable[[], Page]] = {"/healthz": lambda: health_page(compactor)}
    try:
        pages["/metrics"] = prometheus_text(metastore, compactor)
    except AcidSqlError:
        if needs_metrics:
            raise
    return serve_http(port, pages, listen)
