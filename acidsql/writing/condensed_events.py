"""Condensed events, one for each row that a statement found, unfolded to the events that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from acidsql.planner.plan import BRANCH, WritePlan
from acidsql.writing.event_files import NewRows
from acidsql.writing.file_slots import SLOT, Slots
from acidsql.writing.placed_columns import OLD_BUCKET


def unfolded(placed: Any, plan: WritePlan, slots: Slots) -> tuple[Any, NewRows]:
    """All events of a statement without their rows, and the rows apart.

    `placed` is an Arrow table of placed events (event_rows.py), condensed if the plan has a condensed form. The implied
    events follow the others. The column that an implied event differs in is its branch, and with it its slot: it goes
    to the bucket of the row that it names.
    """
    names = [name for name in placed.column_names if name.startswith("_c")]
    named = placed.drop_columns(names)
    branches, buckets = (np.asarray(named.column(name).fill_null(-1)) for name in (BRANCH, OLD_BUCKET))
    parts, of_events = [named], [np.arange(named.num_rows)]
    for first, others in (plan.condensed.implied if plan.condensed is not None else {}).items():
        found = np.flatnonzero(branches == first)
        events = named.take(pa.array(found))
        for branch in others:
            changed = {BRANCH: np.full(len(found), branch), SLOT: slots.of_rows(branch, buckets[found])}
            parts.append(_with_columns(events, changed))
            of_events.append(found)
    return pa.concat_tables(parts).combine_chunks(), NewRows(placed.select(names), np.concatenate(of_events))


def _with_columns(table: Any, changed: dict[str, Any]) -> Any:
    for name, values in changed.items():
        position = table.column_names.index(name)
        of = table.schema.field(name)
        table = table.set_column(position, of, pa.array(values).cast(of.type))
    return table
