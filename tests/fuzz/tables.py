"""Random tables as values: types with awkward values, names, partitions, buckets. Nothing here knows Spark."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

from acidsql.acid.partition_names import DEFAULT_PARTITION

_SPECIAL: Final = 0.25
_NULL: Final = 0.12
BATCHES: Final = 8
"""Rows are inserted in batches, whose values lie near each other: so files differ in their smallest and largest."""


@dataclass(frozen=True, slots=True)
class Type:
    """A type of Hive's. `special` are its awkward values as SQL, `near` gives one of a batch."""

    sql: str
    family: str
    special: tuple[str, ...] = field(compare=False)
    near: Callable[[random.Random, int], str] = field(compare=False)
    is_key: bool = True
    """Whether a partition column may be of it."""
    is_bucketed: bool = True
    is_ordered: bool = True

    def literal(self, r: random.Random, batch: int | None = None, *, null: bool = True) -> str:
        """A value as SQL."""
        if null and r.random() < _NULL:
            return "NULL"
        if r.random() < _SPECIAL:
            return r.choice(self.special)
        return self.near(r, r.randrange(BATCHES) if batch is None else batch)


def _integer(name: str, bits: int, suffix: str) -> Type:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    ends = (f"CAST({low} AS {name})" if bits < 64 else f"-{high}L", f"{high}{'L' if bits == 64 else ''}")
    return Type(name, "integer", (*ends, "0", "-1", f"1{suffix}"), lambda r, b: str(b * 10 + r.randrange(10)))


def _text(name: str, *, is_key: bool = True) -> Type:
    special = (
        "''",
        "' '",
        "'a b'",
        r"'it\'s'",
        r"'\\'",
        "'ż/%=:?'",
        "'${x}'",
        "'null'",
        "'__H'",
        "'5'",
        "'\U0001f600'",
        *(f"'{DEFAULT_PARTITION}'" for _ in range(name == "string")),
    )
    return Type(
        name,
        "char" if name.startswith("char") else "text",
        tuple(s for s in special if not (name.startswith("char") and s == "' '")),
        lambda r, b: f"'{chr(97 + b)}{r.choice(('', 'b', '1', 'ZZZZZZ'))}'",
        is_key,
    )


def _decimal(precision: int, scale: int) -> Type:
    most = "9" * (precision - scale) + ("." + "9" * scale if scale else "")
    return Type(
        f"decimal({precision},{scale})",
        "decimal",
        (
            f"CAST('{most}' AS DECIMAL({precision},{scale}))",
            f"CAST('-{most}' AS DECIMAL({precision},{scale}))",
            "0",
            "-1",
        ),
        lambda r, b: f"{b * 10 + r.randrange(10)}" + (f".{r.randrange(10)}" if scale else ""),
    )


def _float(name: str) -> Type:
    return Type(
        name,
        "float",
        tuple(f"CAST('{v}' AS {name})" for v in ("NaN", "Infinity", "-Infinity", "-0.0", "0.0", "1e30", "1e-40")),
        lambda r, b: f"CAST({b * 10 + r.randrange(10)}.{r.choice((0, 5, 25))} AS {name})",
        is_bucketed=False,
    )


def _day(r: random.Random, batch: int) -> str:
    return (date(2000, 1, 1) + timedelta(batch * 200 + r.randrange(50))).isoformat()


_DATES: Final = ("0001-01-01", "1500-02-28", "1582-10-04", "1582-10-15", "1969-12-31", "1970-01-01", "9999-12-31")
_TIMES: Final = (
    "0001-01-01 00:00:00",
    "1582-10-04 23:59:59.999999",
    "1900-02-28 12:00:00.000001",
    "1969-12-31 23:59:58.5",
    "1970-01-01 00:00:00",
    "2024-03-31 02:30:00",
    "9999-12-31 23:59:59.999999",
)

INT: Final = _integer("int", 32, "")
BIGINT: Final = _integer("bigint", 64, "L")
STRING: Final = _text("string")
BOOLEAN: Final = Type("boolean", "boolean", ("true", "false"), lambda r, b: r.choice(("true", "false")))
DATE: Final = Type("date", "date", tuple(f"date '{d}'" for d in _DATES), lambda r, b: f"date '{_day(r, b)}'")
TIMESTAMP: Final = Type(
    "timestamp",
    "timestamp",
    tuple(f"timestamp '{t}'" for t in _TIMES),
    lambda r, b: f"timestamp '{_day(r, b)} {r.randrange(24):02}:00:00{r.choice(('', '.5', '.000001'))}'",
)
DOUBLE: Final = _float("double")
DECIMAL: Final = _decimal(9, 3)

SCALARS: Final = (
    INT,
    BIGINT,
    _integer("tinyint", 8, "Y"),
    _integer("smallint", 16, "S"),
    _float("float"),
    DOUBLE,
    DECIMAL,
    _decimal(18, 0),
    _decimal(38, 10),
    STRING,
    STRING,
    _text("char(5)"),
    _text("varchar(4)"),
    BOOLEAN,
    Type("binary", "binary", ("X''", "X'00FF10'"), lambda r, b: f"X'0{b}'", is_key=False, is_bucketed=False),
    DATE,
    TIMESTAMP,
)


def _nested(name: str, family: str, *values: str, is_ordered: bool = True) -> Type:
    return Type(
        name, family, values, lambda r, b: r.choice(values), is_key=False, is_bucketed=False, is_ordered=is_ordered
    )


NESTED: Final = (
    _nested("array<int>", "array", "CAST(array() AS ARRAY<INT>)", "array(1, NULL, 3)", "array(9)", "array(1)"),
    _nested("map<string,int>", "map", "map('k', 1)", "map('k', NULL, 'z', 2)", "map('', 0)", is_ordered=False),
    _nested(
        "struct<a:int,b:string>",
        "struct",
        "named_struct('a', 1, 'b', 'x')",
        "named_struct('a', CAST(NULL AS INT), 'b', '')",
        "named_struct('a', 77, 'b', CAST(NULL AS STRING))",
    ),
    _nested(
        "array<struct<x:int,y:decimal(5,2)>>",
        "structs",
        "array(named_struct('x', 1, 'y', CAST(1.25 AS DECIMAL(5,2))), NULL)",
        "array(named_struct('x', CAST(NULL AS INT), 'y', CAST(NULL AS DECIMAL(5,2))))",
    ),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table or of a query, by its name as it is stored."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the last `keys` columns are its partition columns."""

    name: str
    columns: tuple[Column, ...]
    keys: int = 0
    buckets: tuple[tuple[str, ...], int] | None = None
    properties: tuple[tuple[str, str], ...] = ()

    @property
    def regular(self) -> tuple[Column, ...]:
        return self.columns[: len(self.columns) - self.keys]

    @property
    def partition_columns(self) -> tuple[Column, ...]:
        return self.columns[len(self.columns) - self.keys :]

    def unbucketed(self) -> Table:
        return replace(self, buckets=None, properties=())

    def ddl(self, name: str, *properties: tuple[str, str]) -> str:
        """CREATE TABLE, with further properties."""
        regular, keys = (
            ", ".join(f"{quoted(c.name)} {c.type.sql}" for c in some) for some in (self.regular, self.partition_columns)
        )
        parts = f" PARTITIONED BY ({keys})" if keys else ""
        clustered = ""
        if self.buckets:
            names = ", ".join(map(quoted, self.buckets[0]))
            clustered = f" CLUSTERED BY ({names}) INTO {self.buckets[1]} BUCKETS"
        given = ", ".join(f"'{key}'='{value}'" for key, value in (*self.properties, *properties))
        told = f" TBLPROPERTIES ({given})" if given else ""
        return f"CREATE TABLE {name} ({regular}){parts}{clustered} STORED AS ORC{told}"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_ODD_NAMES: Final = ("select", "a b", "ż", "a`b", "1st", "a,b", "@branch", "$d", "a=b", "value", "date", "a'b", "end")


def column_name(r: random.Random, number: int) -> str:
    if r.random() < 0.8:
        return f"c{number}"
    name = r.choice(_ODD_NAMES)
    return f"{name}{number}" if r.random() < 0.5 else f"{number}{name}"


def _of_few(r: random.Random, kind: Type) -> Type:
    """The type with few values, for a partition column: each value is a directory."""
    values = [kind.near(r, n) for n in range(3)]
    special = tuple(r.sample(kind.special, min(2, len(kind.special))))
    return replace(kind, special=special, near=lambda r, b: r.choice(values))


def random_table(r: random.Random, name: str) -> Table:
    """Its first column is an INT, so that tables have something to be joined on."""
    types = [INT, *r.choices(SCALARS, k=r.randint(1, 5)), *r.choices(NESTED, k=r.choice((0, 0, 1, 2)))]
    keys = r.choice((0, 0, 1, 1, 2))
    types += [_of_few(r, t) for t in r.choices([t for t in SCALARS if t.is_key], k=keys)]
    columns = tuple(Column(column_name(r, n), t) for n, t in enumerate(types))
    regular = columns[: len(columns) - keys]
    buckets = None
    if r.random() < 0.4:
        can = [c.name for c in regular if c.type.is_bucketed]
        buckets = (tuple(r.sample(can, r.randint(1, min(2, len(can))))), r.randint(1, 4))
    stride = (("orc.row.index.stride", "1000"),) if r.random() < 0.3 else ()
    version = (("bucketing_version", r.choice("12")),)
    return Table(name, columns, keys, buckets, (*version, *stride))
