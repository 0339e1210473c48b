"""A version of a table, by the write IDs that a reader of it sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acidsql.acid.write_ids import WriteId
from acidsql.planner.as_of import WriteSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a table: the write ID up to which its writes are read, and the IDs up to it that count as not
    committed, because they committed later than the moment that the version stands for."""

    write_id: WriteId
    later: frozenset[WriteId] = frozenset()

    @staticmethod
    def of_writes(writes: WriteSet) -> Version:
        """The version that is a set of writes."""
        return Version(WriteId(writes.highest), frozenset(map(WriteId, writes.missing)))

    @property
    def first_after(self) -> WriteId:
        """The lowest write ID that is no part of the version."""
        return min(self.later, default=WriteId(self.write_id + 1))

    def __contains__(self, write_id: WriteId) -> bool:
        return write_id <= self.write_id and write_id not in self.later

    def lacks_sql(self, write_id: str) -> str:
        """SQL: whether a write is no part of the version, from SQL of its write ID."""
        late = f" OR {write_id} IN ({', '.join(map(str, sorted(self.later)))})" if self.later else ""
        return f"{write_id} > {self.write_id}{late}"

    def lacks(self, write_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """For each write, whether it is no part of the version."""
        import numpy as np

        behind = write_ids > self.write_id
        return behind | np.isin(write_ids, sorted(self.later)) if self.later else behind
