"""Strategy `Shuffled`: one shuffle brings the events of each file to one task, one sort puts them into its order."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.planner.merge.cardinality import actions_sql, check_condition
from acidsql.planner.plan import WritePlan
from acidsql.planner.write_strategy import Shuffled
from acidsql.spark.catalyst.gateway import select, where
from acidsql.spark.write.event_rows import finished_events, placed_events
from acidsql.spark.write.event_write import EventWrite
from acidsql.spark.write.staging import save
from acidsql.writing.file_slots import SLOT, Slots, assign_slots
from acidsql.writing.placed_columns import OLD_BUCKET, OLD_ROW, OLD_WRITE_ID, staging_columns
from acidsql.writing.publishing import StagedFile, finish_staged


def stage_shuffled(write: EventWrite, strategy: Shuffled) -> list[StagedFile]:
    """Writes the events of any statement. Raises CARDINALITY_VIOLATION."""
    plan, target = write.plan, write.target
    slots = assign_slots(plan.branches, write.buckets, strategy.tasks, plan.target.bucket_count)
    rows = _arranged_events(write.events, plan, slots, target.statement_ids, target.write_id)
    written = save(rows, plan.target, target.files, target.staging, staging_columns(plan))
    return finish_staged(target, written, slots.by_code())


def _arranged_events(
    events: DataFrame, plan: WritePlan, slots: Slots, statement_ids: Sequence[StatementId], write_id: WriteId
) -> DataFrame:
    """The finished events in the order in which they are written; SLOT is the first staging column."""
    row_columns = (*staging_columns(plan), OLD_WRITE_ID, OLD_BUCKET, OLD_ROW)
    arranged = placed_events(events, plan, slots).repartition(slots.tasks, SLOT).sortWithinPartitions(*row_columns)
    if plan.cardinality_branch is not None:
        # The window runs over what the shuffle and the sort have already brought together.
        arranged = where(select(arranged, ("*", actions_sql(row_columns))), check_condition(plan, row_columns))
    return finished_events(arranged, plan, statement_ids, write_id)
