"""The cases: what is timed, on which data, and which target it stands for. `make bench BENCH_ARGS='--list'` names them.

To add one, write a function here with `@case(..)`; its name, with hyphens, is the case's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from benchmarks import data
from benchmarks.data import Data
from benchmarks.sizes import Size
from benchmarks.systems import System, drain

Work = Callable[[System, Size, int], None]
"""What is timed. The number is that of the repetition, 0 for the warm-up."""


class Group(Enum):
    """The rows of the table of targets."""

    SCAN = "scan without deletes"
    SCAN_DELETED = "scan with 10 % deleted"
    SCAN_AFTER_DMLS = "read after many small DMLs"
    SCAN_COMPACTED = "read after compaction"
    DML = "UPDATE, DELETE, MERGE"
    DML_LARGE = "UPDATE, DELETE, MERGE of millions of rows"
    LOAD = "loads of 2013"
    WRITE = "INSERT SELECT, CTAS"
    ONE_ROW = "one-row DML"
    ONE_ROW_LARGE = "one-row DML on millions of rows"
    COMPACTION = "major compaction"
    PARTITIONS = "partitioned scan"
    STREAM = "streaming"
    PLAIN_READ = "read without a version"
    VERSION = "read of the newest version"
    CHANGES = "changes of ten rows of millions"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that is timed.

    `changes`: it changes the data's table, so every repetition starts from the same state. `compared` is the table that
    all systems must hold alike after it; `prepare` runs before each repetition, untimed.
    """

    name: str
    group: Group
    data: Data
    work: Work
    changes: bool = False
    compared: str | None = None
    prepare: Callable[[System], None] | None = None

    @property
    def explained(self) -> str:
        return " ".join((self.work.__doc__ or "").split())

    @property
    def in_plain_orc(self) -> bool:
        return self.data.in_plain_orc


CASES: list[Case] = []


def case(
    group: Group,
    of: Data,
    *,
    changes: bool = False,
    compared: str | None = None,
    prepare: Callable[[System], None] | None = None,
) -> Callable[[Work], Work]:
    def add(work: Work) -> Work:
        name = work.__name__.replace("_", "-")
        CASES.append(Case(name, group, of, work, changes, compared, prepare))
        return work

    return add


# ------------------------------------------------------------------------------------------------ INSERT SELECT, CTAS


def _empty(system: System) -> None:
    system.create("inserted", data.FLAT)


def _gone(system: System) -> None:
    system.drop("created")


@case(Group.WRITE, data.flat, prepare=_empty, compared="inserted")
def insert_select(system: System, size: Size, turn: int) -> None:
    """All rows into an empty table."""
    system.run(f"INSERT INTO {system.table('inserted')} SELECT * FROM flat_rows")


@case(Group.WRITE, data.flat, prepare=_gone, compared="created")
def create_table_as(system: System, size: Size, turn: int) -> None:
    """CREATE TABLE .. AS SELECT."""
    system.create_as("created", "SELECT * FROM flat_rows")


# ------------------------------------------------------------------------------------------------ scans


def scan_all(system: System, table: str, size: Size) -> None:
    """Every column of every row."""
    drain(system.frame(f"SELECT * FROM {table}"))


def scan_one_column(system: System, table: str, size: Size) -> None:
    """The sum of one column."""
    system.frame(f"SELECT sum(amount) FROM {table}").collect()


def scan_filtered(system: System, table: str, size: Size) -> None:
    """Two columns of one row in twenty, one stretch of the keys."""
    some = f"id BETWEEN {size.rows // 2} AND {size.rows // 2 + size.rows // 20}"
    system.frame(f"SELECT sum(amount), max(note) FROM {table} WHERE {some}").collect()


def scan_count(system: System, table: str, size: Size) -> None:
    """count(*)."""
    system.frame(f"SELECT count(*) FROM {table}").collect()


SHAPES = {"all": scan_all, "one-column": scan_one_column, "filtered": scan_filtered, "count": scan_count}


def _scans(group: Group, of: Data) -> None:
    for shape, scan in SHAPES.items():

        def work(system: System, size: Size, turn: int, scan: Callable[[System, str, Size], None] = scan) -> None:
            scan(system, system.table(of.table), size)

        work.__doc__ = scan.__doc__
        CASES.append(Case(f"scan-{of.name}-{shape}".replace("_", "-"), group, of, work))


_scans(Group.SCAN, data.flat)
_scans(Group.SCAN_DELETED, data.tenth_deleted)


@case(Group.COMPACTION, data.tenth_deleted, changes=True)
def compact_tenth_deleted(system: System, size: Size, turn: int) -> None:
    """Major compaction where a tenth is deleted; plain ORC: the rows that are left read and written once."""
    system.compact("tenth_deleted")


_scans(Group.SCAN_AFTER_DMLS, data.after_dmls)


@case(Group.COMPACTION, data.after_dmls, changes=True)
def compact_after_dmls(system: System, size: Size, turn: int) -> None:
    """Major compaction after many small DMLs; plain ORC: its rows read and written once."""
    system.compact("after_dmls")


_scans(Group.SCAN_COMPACTED, data.compacted)

# ------------------------------------------------------------------------------------------------ one row
# They run one after the other on one table, each on a row of its own: that is how such statements come, and the state
# of a log that is read anew for every repetition would be most of their cost.


@case(Group.ONE_ROW, data.small, compared="small")
def one_row_insert(system: System, size: Size, turn: int) -> None:
    """INSERT .. VALUES of a row into a table of a thousand."""
    values = f"({10_000 + turn}, 1, 1.5D, 2.5, DATE'2024-01-01', 'one')"
    system.run(f"INSERT INTO {system.table('small')} VALUES {values}")


@case(Group.ONE_ROW, data.small, compared="small")
def one_row_update(system: System, size: Size, turn: int) -> None:
    """UPDATE .. WHERE id = .."""
    system.run(f"UPDATE {system.table('small')} SET note = 'one' WHERE id = {100 + turn}")


@case(Group.ONE_ROW, data.small, compared="small")
def one_row_delete(system: System, size: Size, turn: int) -> None:
    """DELETE .. WHERE id = .."""
    system.run(f"DELETE FROM {system.table('small')} WHERE id = {200 + turn}")


@case(Group.ONE_ROW, data.small, compared="small")
def one_row_merge(system: System, size: Size, turn: int) -> None:
    """MERGE of a row that is there."""
    system.run(
        f"MERGE INTO {system.table('small')} t USING (SELECT {300 + turn} id, 'one' note) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET note = s.note"
        " WHEN NOT MATCHED THEN INSERT (id, grp, amount, price, day, note)"
        " VALUES (s.id, 1, 1.5D, 2.5, DATE'2024-01-01', s.note)"
    )


# ------------------------------------------------------------------------------------------------ Iceberg's shapes


def _jmh_update(system: System, share: int) -> None:
    system.run(f"UPDATE {system.table('jmh')} SET int_col = -1, string_col = 'invalid' WHERE id % 100 < {share}")


@case(Group.DML, data.jmh, changes=True)
def update_10(system: System, size: Size, turn: int) -> None:
    """UPDATE of 10 %, all over the table."""
    _jmh_update(system, 10)


@case(Group.DML, data.jmh, changes=True)
def update_30(system: System, size: Size, turn: int) -> None:
    """UPDATE of 30 %."""
    _jmh_update(system, 30)


@case(Group.DML, data.jmh, changes=True)
def update_75(system: System, size: Size, turn: int) -> None:
    """UPDATE of 75 %."""
    _jmh_update(system, 75)


@case(Group.DML, data.jmh, changes=True)
def delete_10(system: System, size: Size, turn: int) -> None:
    """DELETE of 10 %, all over the table."""
    system.run(f"DELETE FROM {system.table('jmh')} WHERE id % 10 = 3")


def _insert_all(source: str, of: Data) -> str:
    values = ", ".join(f"{source}.{name}" for name in of.layout.names)
    return f"WHEN NOT MATCHED THEN INSERT ({', '.join(of.layout.names)}) VALUES ({values})"


def _set_all(source: str, of: Data, *keys: str) -> str:
    sets = ", ".join(f"{name} = {source}.{name}" for name in of.layout.names if name not in keys)
    return f"WHEN MATCHED THEN UPDATE SET {sets}"


def _jmh_merge(system: System, share: int) -> None:
    system.run(
        f"MERGE INTO {system.table('jmh')} t USING jmh_changes_{share} s ON t.id = s.id"
        f" WHEN MATCHED THEN UPDATE SET int_col = -1, string_col = 'invalid' {_insert_all('s', data.jmh)}"
    )


@case(Group.DML, data.jmh, changes=True)
def merge_10(system: System, size: Size, turn: int) -> None:
    """MERGE: 10 % updated, 2 % inserted."""
    _jmh_merge(system, 10)


@case(Group.DML, data.jmh, changes=True)
def merge_30(system: System, size: Size, turn: int) -> None:
    """MERGE: 30 % updated, 2 % inserted."""
    _jmh_merge(system, 30)


@case(Group.DML, data.jmh, changes=True)
def merge_90(system: System, size: Size, turn: int) -> None:
    """MERGE: 90 % updated, 2 % inserted."""
    _jmh_merge(system, 90)


# ------------------------------------------------------------------------------------------------ millions of rows


@case(Group.DML_LARGE, data.large, changes=True)
def large_update_10(system: System, size: Size, turn: int) -> None:
    """UPDATE of 10 % of 3 million rows, all over the table."""
    system.run(f"UPDATE {system.table('large')} SET int_col = -1, string_col = 'invalid' WHERE id % 10 = 3")


@case(Group.DML_LARGE, data.large, changes=True)
def large_delete_10(system: System, size: Size, turn: int) -> None:
    """DELETE of 10 % of 3 million rows, all over the table."""
    system.run(f"DELETE FROM {system.table('large')} WHERE id % 10 = 3")


@case(Group.DML_LARGE, data.large, changes=True)
def large_merge_10(system: System, size: Size, turn: int) -> None:
    """MERGE into 3 million rows: 10 % updated, 100,000 inserted."""
    system.run(
        f"MERGE INTO {system.table('large')} t USING large_changes s ON t.id = s.id"
        f" WHEN MATCHED THEN UPDATE SET int_col = -1, string_col = 'invalid' {_insert_all('s', data.large)}"
    )


def _one_of_large(system: System, size: Size, turn: int, statement: str) -> None:
    one = size.large_rows // 3 + 1000 * turn
    system.run(f"{statement.format(system.table('large'))} WHERE id = {one}")


@case(Group.ONE_ROW_LARGE, data.large, compared="large")
def large_one_row_update(system: System, size: Size, turn: int) -> None:
    """UPDATE .. WHERE id = .. of 3 million rows."""
    _one_of_large(system, size, turn, "UPDATE {} SET string_col = 'one'")


@case(Group.ONE_ROW_LARGE, data.large, compared="large")
def large_one_row_delete(system: System, size: Size, turn: int) -> None:
    """DELETE .. WHERE id = .. of 3 million rows."""
    _one_of_large(system, size, turn + 100, "DELETE FROM {}")


# ------------------------------------------------------------------------------------------------ earlier versions

STATEMENTS = 2
"""That `history` has seen: an INSERT, then an UPDATE of ten rows."""


def _read(system: System, table: str) -> None:
    system.frame(f"SELECT sum(int_col), max(string_col) FROM {table}").collect()


@case(Group.PLAIN_READ, data.history)
def history_read(system: System, size: Size, turn: int) -> None:
    """Two columns of 3 million rows."""
    _read(system, system.table("history"))


@case(Group.VERSION, data.history)
def history_read_newest_version(system: System, size: Size, turn: int) -> None:
    """Two columns of 3 million rows."""
    _read(system, system.version("history", STATEMENTS))


@case(Group.CHANGES, data.history)
def history_changes_of_ten_rows(system: System, size: Size, turn: int) -> None:
    """The rows that an UPDATE of ten rows of 3 million changed, before and after, with their columns."""
    changed = system.changes("history", STATEMENTS).collect()
    assert len(changed) == 2 * data.CHANGED_ROWS, f"{system.name} found {len(changed)} changes"


# ------------------------------------------------------------------------------------------------ Delta's shapes

_ON_RETURN = "t.wr_item_sk = s.wr_item_sk AND t.wr_order_number = s.wr_order_number"


def _returns_merge(system: System, source: str, *clauses: str) -> None:
    into = f"MERGE INTO {system.table('web_returns')} t USING {source} s ON {_ON_RETURN}"
    system.run(" ".join([into, *clauses]))


@case(Group.DML, data.web_returns, changes=True)
def web_insert_only(system: System, size: Size, turn: int) -> None:
    """MERGE that only inserts: new rows, 2.5 % of the table."""
    _returns_merge(system, "web_5_0_50", _insert_all("s", data.web_returns))


@case(Group.DML, data.web_returns, changes=True)
def web_delete_only(system: System, size: Size, turn: int) -> None:
    """MERGE that only deletes: 5 % of the rows of 5 % of the files."""
    _returns_merge(system, "web_5_5_0", "WHEN MATCHED THEN DELETE")


def _returns_upsert(system: System, source: str) -> None:
    keys = ("wr_item_sk", "wr_order_number")
    update, insert = _set_all("s", data.web_returns, *keys), _insert_all("s", data.web_returns)
    _returns_merge(system, source, update, insert)


@case(Group.DML, data.web_returns, changes=True)
def web_upsert_few(system: System, size: Size, turn: int) -> None:
    """MERGE: 1 % of the rows of 5 % of the files updated, a tenth of them inserted."""
    _returns_upsert(system, "web_5_1_10")


@case(Group.DML, data.web_returns, changes=True)
def web_upsert_many(system: System, size: Size, turn: int) -> None:
    """MERGE: half of the rows of 5 % of the files updated, as many inserted."""
    _returns_upsert(system, "web_5_50_50")


# ------------------------------------------------------------------------------------------------ many partitions


@case(Group.PARTITIONS, data.partitioned)
def partitions_all(system: System, size: Size, turn: int) -> None:
    """Every column of every row, the partition column too."""
    drain(system.frame(f"SELECT * FROM {system.table('partitioned')}"))


@case(Group.PARTITIONS, data.partitioned)
def partitions_grouped(system: System, size: Size, turn: int) -> None:
    """The sum of a column by partition."""
    system.frame(f"SELECT p, sum(amount) FROM {system.table('partitioned')} GROUP BY p").collect()


@case(Group.PARTITIONS, data.partitioned)
def partitions_pruned(system: System, size: Size, turn: int) -> None:
    """One partition of all."""
    one = size.partitions // 2
    system.frame(f"SELECT sum(amount) FROM {system.table('partitioned')} WHERE p = {one}").collect()


# ------------------------------------------------------------------------------------------------ the loads of 2013
# HIVE-5317's own examples: "inserts and updates (up to 500k rows) for various dimension tables", "a small set (up to
# 100k rows) of records need to be deleted", "fact tables need to be updated (up to 1m rows)".


@case(Group.LOAD, data.dimension, changes=True)
def dimension_upsert(system: System, size: Size, turn: int) -> None:
    """500k upserts into a bucketed dimension table of 2M rows (full size)."""
    system.run(
        f"MERGE INTO {system.table('dimension')} t USING customer_changes s ON t.id = s.id"
        f" {_set_all('s', data.dimension, 'id')} {_insert_all('s', data.dimension)}"
    )


@case(Group.LOAD, data.fact, changes=True)
def fact_delete(system: System, size: Size, turn: int) -> None:
    """100k records, given by key, deleted from a partitioned and bucketed fact table of 5M rows (full size).

    A MERGE, because Delta's DELETE takes no subquery."""
    system.run(f"MERGE INTO {system.table('fact')} t USING to_forget s ON t.id = s.id WHEN MATCHED THEN DELETE")


@case(Group.LOAD, data.fact, changes=True)
def fact_merge(system: System, size: Size, turn: int) -> None:
    """1M inserts, updates and deletes into that table (full size)."""
    system.run(
        f"MERGE INTO {system.table('fact')} t USING sale_changes s ON t.id = s.id AND t.day = s.day"
        " WHEN MATCHED AND s.kind = 'delete' THEN DELETE"
        f" {_set_all('s', data.fact, 'id', 'day')} {_insert_all('s', data.fact)}"
    )


# ------------------------------------------------------------------------------------------------ streaming


@case(Group.STREAM, data.streamed, prepare=_empty, compared="inserted")
def stream_micro_batches(system: System, size: Size, turn: int) -> None:
    """Structured Streaming from files, one file in each micro-batch; acidsql: foreachBatch with streaming.append."""
    system.stream("inserted", "streamed_rows")


@case(Group.STREAM, data.streamed, prepare=_empty, compared="inserted")
def stream_by_own_writer(system: System, size: Size, turn: int) -> None:
    """The same; acidsql: session.stream, with a commit for each file."""
    system.stream("inserted", "streamed_rows", by_own_writer=True)
