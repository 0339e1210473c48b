"""The columns of placed events, which both engines make.

A *placed* event knows the file that it will lie in: it has the code of its slot (file_slots.py), the row ID that it
names, its bucket, and its row. A *finished* event has the six ACID columns in place of these. Between the two, events
are brought into the order of their files: sorted by (code, old row ID), each file is sorted as Hive needs it, and new
rows are numbered behind the sort, so that their row IDs ascend.
"""

from __future__ import annotations

from itertools import chain, product
from string import ascii_lowercase
from typing import Final

from acidsql.acid.table import Column, Table
from acidsql.planner.plan import WritePlan
from acidsql.writing.file_slots import SLOT

OLD_WRITE_ID: Final = ":writeid"
OLD_BUCKET: Final = ":bucketid"
OLD_ROW: Final = ":rowid"
"""Columns of a placed event: the parts of the row ID that the event names."""
NEW_BUCKET: Final = ":bucket"

PLACE_DIRECTORY: Final = ":place_directory"
"""Partition column of the staged files of a partitioned table: the number of the old row's partition."""


def value_directories(table: Table) -> dict[str, Column]:
    """Partition columns of the staged files for the texts of the table's partition columns (partition_text.py).

    The names are as short as possible: a path component has room for a long text only beside a short name. No name is
    that of a data column.
    """
    taken = {c.name for c in table.columns}
    names = (name for name in chain(ascii_lowercase, map("".join, product(ascii_lowercase, repeat=3))))
    return dict(zip((n for n in names if n not in taken), table.partition_columns, strict=False))


def staging_columns(plan: WritePlan) -> tuple[str, ...]:
    """The partition columns of the staged files."""
    values = value_directories(plan.target) if plan.moves_rows else ()
    return (SLOT, *([PLACE_DIRECTORY] if plan.keeps_places else []), *values)
