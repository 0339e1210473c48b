"""Strategy `InPlace`: each task reads one file of the target and writes the events of its rows.

There is no shuffle and no sort. The file is the only one of its bucket, so every staged file gets its events in the
order of the rows that the task reads; new rows go to a file of the same bucket.
"""

from __future__ import annotations

from acidsql.spark.running_spark import FILE_PER_TASK
from acidsql.spark.write.event_rows import OLD_FILE, finished_events, placed_events
from acidsql.spark.write.event_write import EventWrite
from acidsql.spark.write.staging import save
from acidsql.writing.file_slots import Slot, slot_a_task
from acidsql.writing.placed_columns import staging_columns
from acidsql.writing.publishing import StagedFile, finish_staged


def stage_in_place(write: EventWrite) -> list[StagedFile]:
    """Writes the events of an UPDATE or DELETE."""
    plan, target = write.plan, write.target
    slots = slot_a_task([Slot(n, b) for n in range(len(plan.branches)) for b in sorted(write.buckets)], 1)
    placed = placed_events(write.events, plan, slots, new_bucket=OLD_FILE)
    rows = finished_events(placed, plan, target.statement_ids, target.write_id)
    written = save(rows, plan.target, target.files, target.staging, staging_columns(plan), FILE_PER_TASK)
    return finish_staged(target, written, slots.by_code())
