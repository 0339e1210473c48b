"""What a table held at each version that was noted: acidsql reads these versions, and the changes between them, or
refuses to for want of history."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from acidsql.acid.object_names import table_of
from acidsql.errors import AcidSqlError
from acidsql.session import Session

Row = tuple[object, ...]


@dataclass(slots=True)
class NotedVersions:
    """The rows of a table with the columns id, v and p, by version. `readable_from` is the lowest version that must be
    readable; `read` and `refused` count what was asked."""

    name: str
    rows: dict[int, Counter[Row]] = field(default_factory=dict)
    readable_from: int = 0
    read: int = 0
    refused: int = 0

    def note(self, session: Session, rows: list[Row], *, ends_earlier: bool = False) -> None:
        """Notes the rows of now as those of the newest version."""
        metastore = session._metastore
        table = metastore.table(*table_of(self.name, session.database))
        newest = metastore.valid_write_ids(table, metastore.valid_txns()).high_watermark
        self.rows[int(newest)] = Counter(rows)
        if ends_earlier:
            self.readable_from = int(newest)

    def add_late(self, session: Session, rows: list[Row]) -> None:
        """Adds rows whose write may have a lower write ID than writes that committed before it: the versions from this
        write ID on have them, too."""
        ids = ", ".join(str(row[0]) for row in rows)
        found = session.execute(f"SELECT DISTINCT row__id.writeid FROM {self.name} WHERE id IN ({ids})")
        ((write_id,),) = list(found.rows())
        found.close()
        for version, known in self.rows.items():
            if version >= int(str(write_id)):
                known.update(rows)

    def check(self, session: Session, chance: random.Random, what: str) -> None:
        """Reads two of the versions and the changes from one to the other, by one of the engines."""
        some = sorted(chance.sample(sorted(self.rows), min(2, len(self.rows))))
        rows_only = chance.random() < 0.7  # a scan is read without Spark then
        for version in some:
            found = self._read(
                session, f"SELECT id, v, p FROM {self.name} VERSION AS OF {version}", rows_only=rows_only
            )
            self._require(found, version, f"{what}: version {version}")
            assert found in (None, self.rows[version]), f"{what}: version {version}"
        if len(some) == 2:
            first, last = some
            item = f"{self.name} CHANGES FROM VERSION {first + 1} TO VERSION {last}"
            query = f"SELECT id, v, p, _change_type FROM {item}"
            found = self._read(session, query, rows_only=rows_only)
            self._require(found, first, f"{what}: {item}")
            if found is not None:
                after = Counter(self.rows[first])
                for (*row, kind), count in found.items():
                    after[tuple(row)] += count if kind in ("insert", "update_postimage") else -count
                assert {row: n for row, n in after.items() if n} == self.rows[last], f"{what}: {item}"

    def _require(self, found: object, version: int, what: str) -> None:
        assert found is not None or version < self.readable_from, what
        self.read += found is not None
        self.refused += found is None

    def _read(self, session: Session, query: str, *, rows_only: bool) -> Counter[Row] | None:
        try:
            result = session.execute(query, rows_only=rows_only)
            try:
                return Counter(result.rows())
            finally:
                result.close()
        except AcidSqlError as error:
            if error.condition != "NOT_ENOUGH_HISTORY":
                raise
            return None
