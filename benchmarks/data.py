"""The tables that cases work on: their rows as queries, and the statements that bring them into a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.sizes import Size
from benchmarks.systems import Layout, System, fill


@dataclass(frozen=True, slots=True)
class Data:
    """A table in a state.

    `sources` are the queries whose rows become files once, and views by their names, so that no system computes them;
    the first fills the table. `changes` brings the table into its state; plain ORC, which has no DML, gets a copy of
    acidsql's rows instead. `of` names the data whose table it is, where the table is not its own.
    """

    name: str
    layout: Layout
    sources: Callable[[Size], Mapping[str, str]]
    changes: Callable[[System, str, Size], None] | None = None
    of: Data | None = None
    in_plain_orc: bool = False

    @property
    def table(self) -> str:
        return self.of.table if self.of is not None else self.name


COPY = "/*+ COALESCE(4) */"


def write_sources(spark: SparkSession, sources: Mapping[str, str], place: Path) -> None:
    for name, query in sources.items():
        path = str(place / "sources" / name)
        spark.sql(query).write.mode("overwrite").parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)


def build(data: Data, systems: list[System], spark: SparkSession, size: Size) -> None:
    """The table in all systems; acidsql's is the first, and what plain ORC copies."""
    # Or Spark would read, and so write, many small files as few.
    spark.conf.set("spark.sql.files.openCostInBytes", "256m")
    source = next(iter(data.sources(size)))
    for system in systems:
        if system.has_dml or data.changes is None:
            fill(system, data.table, data.layout, f"SELECT * FROM {source}")
            if data.changes is not None:
                data.changes(system, data.table, size)
        elif data.in_plain_orc:
            systems[0].frame(f"SELECT * FROM {systems[0].table(data.table)}").createOrReplaceTempView("to_copy")
            fill(system, data.table, data.layout, f"SELECT {COPY} * FROM to_copy")
            spark.catalog.dropTempView("to_copy")
    spark.conf.unset("spark.sql.files.openCostInBytes")


# ------------------------------------------------------------------------------------------------ scans, INSERT

FLAT = Layout("id int, grp int, amount double, price decimal(20,5), day date, note string")


def _flat(rows: int, files: int = 4) -> str:
    return f"""SELECT CAST(id AS INT) id, CAST(id % 100 AS INT) grp, CAST(id * 1.5 AS DOUBLE) amount,
    CAST(id / 7 AS DECIMAL(20,5)) price, date_add(DATE'2020-01-01', CAST(id % 1000 AS INT)) day,
    concat('note ', id % 5000, ' of row ', id) note FROM range(0, {rows}, 1, {files})"""


def _flat_sources(size: Size) -> dict[str, str]:
    return {"flat_rows": _flat(size.rows)}


def _delete_a_tenth(system: System, table: str, size: Size) -> None:
    system.run(f"DELETE FROM {system.table(table)} WHERE id % 10 = 7")


def _small_dmls(system: System, table: str, size: Size) -> None:
    """INSERT, UPDATE, DELETE, MERGE in turn, ten rows each, all over the table."""
    name, step = system.table(table), size.rows // size.dmls
    for i in range(size.dmls):
        first = i * step
        ten = f"id BETWEEN {first} AND {first + 9}"
        new = ", ".join(f"({size.rows + i * 10 + k}, {k}, 1.5D, 2.5, DATE'2024-01-01', 'small')" for k in range(10))
        match i % 4:
            case 0:
                system.run(f"INSERT INTO {name} VALUES {new}")
            case 1:
                system.run(f"UPDATE {name} SET amount = amount + 1, note = 'small' WHERE {ten}")
            case 2:
                system.run(f"DELETE FROM {name} WHERE {ten}")
            case _:
                system.run(
                    f"MERGE INTO {name} t USING (SELECT id, note FROM flat_rows WHERE {ten}) s ON t.id = s.id"
                    " WHEN MATCHED THEN UPDATE SET note = concat(s.note, '!')"
                )


def _compact(system: System, table: str, size: Size) -> None:
    system.compact(table)


flat = Data("flat", FLAT, _flat_sources, in_plain_orc=True)
tenth_deleted = Data("tenth_deleted", FLAT, _flat_sources, _delete_a_tenth, in_plain_orc=True)
after_dmls = Data("after_dmls", FLAT, _flat_sources, _small_dmls, in_plain_orc=True)
compacted = Data("compacted", FLAT, _flat_sources, _compact, of=after_dmls, in_plain_orc=True)

# ------------------------------------------------------------------------------------------------ streaming

streamed = Data("streamed", FLAT, lambda size: {"streamed_rows": _flat(size.streamed_rows, size.streamed_files)})

# ------------------------------------------------------------------------------------------------ one row

small = Data("small", FLAT, lambda size: {"small_rows": _flat(1000, 1)})

# ------------------------------------------------------------------------------------------------ Iceberg's JMH table

_JMH_COLUMNS = (
    "int_col int, float_col float, double_col double, decimal_col decimal(20,5), date_col date, "
    "timestamp_col timestamp, string_col string"
)
JMH = Layout(f"id int, {_JMH_COLUMNS}")


def _jmh(query: str, key: str = "int") -> str:
    return f"""SELECT CAST(id AS {key}) id, CAST(id AS INT) int_col, CAST(id AS FLOAT) float_col,
    CAST(id AS DOUBLE) double_col, CAST(id AS DECIMAL(20,5)) decimal_col,
    date_add(DATE'1970-01-01', CAST(id % 20000 AS INT)) date_col,
    CAST(date_add(DATE'1970-01-01', CAST(id % 20000 AS INT)) AS TIMESTAMP) timestamp_col,
    CAST(id AS STRING) string_col FROM {query}"""


def jmh_inserts(size: Size) -> int:
    """100,000 of 5 million: two hundredths of the table."""
    return size.jmh_files * size.jmh_rows // 50


def _jmh_sources(size: Size) -> dict[str, str]:
    rows = size.jmh_files * size.jmh_rows
    new = f"SELECT id FROM range({rows}, {rows + jmh_inserts(size)}, 1, 1)"
    changes = {
        f"jmh_changes_{share}": _jmh(
            f"(SELECT id FROM range(0, {rows}, 1, 2) WHERE id % 100 < {share} UNION ALL {new})"
        )
        for share in (10, 30, 90)
    }
    return {"jmh_rows": _jmh(f"range(0, {rows}, 1, {size.jmh_files})"), **changes}


jmh = Data("jmh", JMH, _jmh_sources)

# ------------------------------------------------------------------------------------------------ millions of rows

LARGE = Layout(f"id bigint, {_JMH_COLUMNS}")
LARGE_INSERTS_OF = 30
"""MERGE inserts a thirtieth of the table's rows: 100,000 of 3 million."""


def _large_sources(size: Size) -> dict[str, str]:
    rows = size.large_files * size.large_rows
    new = f"SELECT id FROM range({rows}, {rows + rows // LARGE_INSERTS_OF}, 1, 1)"
    return {
        "large_rows": _jmh(f"range(0, {rows}, 1, {size.large_files})", "bigint"),
        "large_changes": _jmh(f"(SELECT id FROM range(0, {rows}, 1, 2) WHERE id % 10 = 3 UNION ALL {new})", "bigint"),
    }


large = Data("large", LARGE, _large_sources)

# ------------------------------------------------------------------------------------------------ earlier versions

CHANGED_ROWS = 10
"""Of the last statement on `history`."""


def _history_sources(size: Size) -> dict[str, str]:
    rows = size.large_files * size.large_rows
    return {"history_rows": _jmh(f"range(0, {rows}, 1, {size.large_files})", "bigint")}


def _change_few(system: System, table: str, size: Size) -> None:
    """The second statement on the table: an UPDATE of a few rows that lie in several files."""
    step = size.large_files * size.large_rows // CHANGED_ROWS
    ids = ", ".join(str(n * step + 7) for n in range(CHANGED_ROWS))
    system.run(f"UPDATE {system.table(table)} SET int_col = -1, string_col = 'changed' WHERE id IN ({ids})")


history = Data(
    "history",
    Layout(f"id bigint, {_JMH_COLUMNS}", has_changes=True),
    _history_sources,
    _change_few,
    in_plain_orc=True,
)

# ------------------------------------------------------------------------------------------------ Delta's web_returns

_KEYS = (
    *("returned_date", "returned_time", "item", "refunded_customer", "refunded_cdemo", "refunded_hdemo"),
    *("refunded_addr", "returning_customer", "returning_cdemo", "returning_hdemo", "returning_addr"),
    *("web_page", "reason"),
)
_AMOUNTS = (
    *("return_amt", "return_tax", "return_amt_inc_tax", "fee", "return_ship_cost", "refunded_cash"),
    *("reversed_charge", "account_credit", "net_loss"),
)
RETURNS = Layout(
    ", ".join(
        [
            *(f"wr_{key}_sk int" for key in _KEYS),
            "wr_order_number bigint",
            "wr_return_quantity int",
            *(f"wr_{amount} decimal(7,2)" for amount in _AMOUNTS),
        ]
    )
)


def _returns(query: str) -> str:
    keys = [f"CAST(pmod(xxhash64(id, {i}), {10 ** (2 + i % 5)}) AS INT) wr_{k}_sk" for i, k in enumerate(_KEYS)]
    amounts = [
        f"CAST(pmod(xxhash64(id, {i + 50}), 999999) / 100 AS DECIMAL(7,2)) wr_{a}" for i, a in enumerate(_AMOUNTS)
    ]
    columns = [*keys, "id wr_order_number", "CAST(id % 100 AS INT) wr_return_quantity", *amounts]
    return f"SELECT {', '.join(columns)} FROM {query}"


def _returns_sources(size: Size) -> dict[str, str]:
    """Rows of a twentieth of the files, and new ones: `web_F_R_N` has F % of the files, R % of the rows in them, and
    as many new rows as N % of those files have."""
    rows = size.returns_files * size.returns_rows
    twentieth = rows // 20

    def changes(matched: int, new: int) -> str:
        old = f"SELECT id FROM range(0, {twentieth}, 1, 1) WHERE pmod(xxhash64(id, 99), 100) < {matched}"
        added = f"SELECT id FROM range({rows}, {rows + twentieth * new // 100}, 1, 1)"
        return _returns(f"({old} UNION ALL {added})")

    return {
        "web_rows": _returns(f"range(0, {rows}, 1, {size.returns_files})"),
        "web_5_0_50": changes(0, 50),
        "web_5_5_0": changes(5, 0),
        "web_5_1_10": changes(1, 10),
        "web_5_50_50": changes(50, 50),
    }


web_returns = Data("web_returns", RETURNS, _returns_sources)

# ------------------------------------------------------------------------------------------------ many partitions


def _partitioned_sources(size: Size) -> dict[str, str]:
    rows = size.partitions * size.partition_rows
    return {
        "partitioned_rows": f"""SELECT id, CAST(id * 1.5 AS DOUBLE) amount, concat('note ', id) note,
        CAST(id DIV {size.partition_rows} AS INT) p FROM range(0, {rows}, 1, 4)"""
    }


partitioned = Data(
    "partitioned",
    Layout("id bigint, amount double, note string, p int", partition="p"),
    _partitioned_sources,
    in_plain_orc=True,
)

# ------------------------------------------------------------------------------------------------ the loads of 2013


def _customers(query: str, note: str) -> str:
    return f"""SELECT CAST(id AS INT) id, concat('{note} ', id) name, CAST(id % 20 AS INT) segment,
    concat('city ', id % 997) city, CAST(id % 10000 / 7 AS DECIMAL(12,2)) balance,
    date_add(DATE'2013-01-01', CAST(id % 365 AS INT)) changed FROM {query}"""


def _dimension_sources(size: Size) -> dict[str, str]:
    """A quarter as many upserts as rows: four of five are known."""
    changed, new = size.customers // 5, size.customers // 20
    some = f"SELECT id * 5 id FROM range(0, {changed}, 1, 2)"
    added = f"SELECT id FROM range({size.customers}, {size.customers + new}, 1, 1)"
    return {
        "customers": _customers(f"range(0, {size.customers}, 1, 4)", "name"),
        "customer_changes": _customers(f"({some} UNION ALL {added})", "new name"),
    }


dimension = Data(
    "dimension",
    Layout(
        "id int, name string, segment int, city string, balance decimal(12,2), changed date",
        bucketed_by="id",
        buckets=4,
    ),
    _dimension_sources,
)


DAYS = 20


def _sales(query: str, quantity: str) -> str:
    return f"""SELECT id, CAST(id % 99991 AS INT) customer, CAST(id % 1009 AS INT) item, {quantity} quantity,
    CAST(id % 10000 / 7 AS DECIMAL(12,2)) amount, kind, CAST(id % {DAYS} AS INT) day FROM {query}"""


def _fact_sources(size: Size) -> dict[str, str]:
    """A fifth as many changes as rows: three of five are updates, one is a delete, one is an insert."""
    changed, new = size.sales * 4 // 25, size.sales // 25
    some = f"SELECT id * 6 id, CASE id % 4 WHEN 3 THEN 'delete' ELSE 'update' END kind FROM range(0, {changed}, 1, 2)"
    added = f"SELECT id, 'insert' kind FROM range({size.sales}, {size.sales + new}, 1, 1)"
    return {
        "sales": _sales(f"(SELECT id, 'first' kind FROM range(0, {size.sales}, 1, 4))", "CAST(id % 10 AS INT)"),
        "sale_changes": _sales(f"({some} UNION ALL {added})", "-1"),
        "to_forget": f"SELECT id * 49 id FROM range(0, {size.sales // 50}, 1, 1)",
    }


fact = Data(
    "fact",
    Layout(
        "id bigint, customer int, item int, quantity int, amount decimal(12,2), kind string, day int",
        partition="day",
        bucketed_by="id",
        buckets=4,
    ),
    _fact_sources,
)
