"""Random histories of DML on random tables, and the same in plain Python: a table is a dict of rows by their key.

Every row has a unique key in column `k`, which no statement changes. So the model knows the rows that got another row
ID, and the rows that must have kept theirs.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

Row: TypeAlias = "tuple[Any, ...]"
"""The values of a row behind its key, as Spark gives them, partition columns last."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A column type and some of its values: how they are written, and what is read back."""

    type: str
    values: tuple[tuple[str, Any], ...]
    is_key: bool = True
    """Whether a partition column may be of it."""
    is_bucketed: bool = True


def _kind(type_name: str, *values: tuple[str, Any], is_key: bool = True, is_bucketed: bool = True) -> Kind:
    return Kind(type_name, (("NULL", None), *values), is_key, is_bucketed)


def _nested(type_name: str, *values: tuple[str, Any]) -> Kind:
    return _kind(type_name, *values, is_key=False)


_D = dt.date
_T = dt.datetime
KINDS: Final = (
    _kind("tinyint", ("CAST(-128 AS TINYINT)", -128), ("7Y", 7)),
    _kind("smallint", ("-32768S", -32768), ("12", 12)),
    _kind("int", ("-2147483648", -2147483648), ("0", 0), ("41", 41)),
    _kind("bigint", ("9223372036854775807", 9223372036854775807), ("-5", -5)),
    _kind("float", ("CAST(0.5 AS FLOAT)", 0.5), ("CAST(-3e10 AS FLOAT)", -30000001024.0), is_key=False),
    _kind("double", ("1e300", 1e300), ("-0.25", -0.25), is_key=False),
    _kind("decimal(9,3)", ("-123456.789", Decimal("-123456.789")), ("1.5", Decimal("1.500"))),
    _kind("decimal(38,10)", ("1234567890123456789012345678.5", Decimal("1234567890123456789012345678.5000000000"))),
    _kind("string", ("'a b'", "a b"), ("'ż/%=:?'", "ż/%=:?"), ("'x'", "x")),
    _kind("char(5)", ("'ab'", "ab   "), ("'abcdefg'", "abcde"), is_key=False),
    _kind("varchar(3)", ("'abcd'", "abc"), ("'q'", "q")),
    _kind("boolean", ("true", True), ("false", False)),
    _kind("binary", ("unhex('00ff10')", bytearray(b"\x00\xff\x10")), is_key=False, is_bucketed=False),
    _kind("date", ("date '1969-12-31'", _D(1969, 12, 31)), ("date '2024-02-29'", _D(2024, 2, 29))),
    _kind(
        "timestamp",
        ("timestamp '1900-02-28 23:59:59.999999'", _T(1900, 2, 28, 23, 59, 59, 999999)),
        ("timestamp '2024-03-31 02:30:00'", _T(2024, 3, 31, 2, 30)),
        is_key=False,
    ),
    _nested("array<int>", ("array(1, NULL, 3)", [1, None, 3]), ("array(9)", [9])),
    _nested("map<string,double>", ("map('k', 0.5D)", {"k": 0.5})),
    _nested("struct<a:int,b:array<string>>", ("named_struct('a', 1, 'b', array('z'))", (1, ["z"]))),
)


@dataclass(frozen=True, slots=True)
class Schema:
    """A random table: `kinds` are the types of columns c0, c1, .. behind k; the last `keys` are partition columns."""

    kinds: tuple[Kind, ...]
    keys: int
    buckets: tuple[str, int] | None
    bucketing_version: int

    @property
    def names(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.kinds))]

    @property
    def ddl(self) -> str:
        typed = [f"{n} {k.type}" for n, k in zip(self.names, self.kinds, strict=True)]
        regular, keys = (typed[: -self.keys], typed[-self.keys :]) if self.keys else (typed, [])
        parts = f" PARTITIONED BY ({', '.join(keys)})" if keys else ""
        clustered = f" CLUSTERED BY ({self.buckets[0]}) INTO {self.buckets[1]} BUCKETS" if self.buckets else ""
        properties = f"'transactional'='true', 'bucketing_version'='{self.bucketing_version}'"
        return f"(k int, {', '.join(regular)}){parts}{clustered} STORED AS ORC TBLPROPERTIES ({properties})"


def random_schema(r: random.Random) -> Schema:
    keys = r.choice((0, 1, 1, 2))
    kinds = [r.choice(KINDS) for _ in range(r.randint(1, 4))]
    kinds += [r.choice([k for k in KINDS if k.is_key]) for _ in range(keys)]
    regular = ["k", *(f"c{i}" for i, k in enumerate(kinds[: len(kinds) - keys]) if k.is_bucketed and k.is_key)]
    chosen = r.sample(regular, r.randint(1, len(regular)))
    buckets = (", ".join(chosen), r.randint(1, 5)) if r.random() < 0.5 else None
    return Schema(tuple(kinds), keys, buckets, r.choice((1, 2)))


@dataclass(frozen=True, slots=True)
class Step:
    """A statement, the counts that it must give (updated, deleted, inserted), and the keys whose rows it rewrote."""

    sql: str
    counts: tuple[int, int, int] | None
    touched: frozenset[int]


@dataclass(slots=True)
class Model:
    """The table as it must be; `step` makes a statement and does what it does."""

    schema: Schema
    random: random.Random
    table: str
    since_1970: bool = False
    """Whether times are of 1970 or later: others the driver leaves to Spark's writer."""
    rows: dict[int, Row] = field(default_factory=dict)
    _next: int = 0

    def step(self) -> Step:
        kinds: list[Callable[[], Step]] = [self._insert, self._update, self._delete, self._merge]
        weights = [3, 5, 2, 4]
        if self.rows:
            kinds += [self._insert_select, self._truncate, self._overwrite]
            weights += [2, 1, 1]
        if self.schema.keys:
            kinds += [self._move]
            weights += [3]
        return self.random.choices(kinds, weights)[0]()

    # -- statements

    def _insert(self) -> Step:
        new = [self._new_row() for _ in range(self.random.randint(1, 6))]
        self.rows |= {key: row for key, row, _ in new}
        return Step(
            f"INSERT INTO {self.table} VALUES {_tuples(new)}", (0, 0, len(new)), frozenset(k for k, _, _ in new)
        )

    def _insert_select(self) -> Step:
        """Copies of rows, under keys so high that they are nobody's."""
        where, found = self._some()
        by = self._next
        copies = {key + by: self.rows[key] for key in found}
        self.rows |= copies
        self._next = max([self._next, *(key + 1 for key in copies)])
        columns = ", ".join(self.schema.names)
        sql = f"INSERT INTO {self.table} SELECT k + {by}, {columns} FROM {self.table} WHERE {where}"
        return Step(sql, (0, 0, len(copies)), frozenset(copies))

    def _update(self) -> Step:
        where, found = self._some()
        regular = range(len(self.schema.kinds) - self.schema.keys)
        return self._set(self.random.sample(regular, self.random.randint(1, len(regular))), where, found)

    def _move(self) -> Step:
        """An UPDATE of a partition column, maybe of another column too: rows go to other partitions."""
        where, found = self._some()
        count = len(self.schema.kinds)
        places = {self.random.randrange(count - self.schema.keys, count), self.random.randrange(count)}
        return self._set(sorted(places), where, found)

    def _set(self, places: Sequence[int], where: str, found: frozenset[int]) -> Step:
        """A bucketing column is never set: Hive refuses that, and so does acidsql."""
        fixed = self.schema.buckets[0].split(", ") if self.schema.buckets else []
        given = {p: self._value(p) for p in places if f"c{p}" not in fixed}
        if not given:
            return self._delete()
        for key in found:
            self.rows[key] = tuple(given[i][1] if i in given else value for i, value in enumerate(self.rows[key]))
        sets = ", ".join(f"c{p} = {text}" for p, (text, _) in given.items())
        return Step(f"UPDATE {self.table} SET {sets} WHERE {where}", (len(found), 0, 0), found)

    def _delete(self) -> Step:
        where, found = self._some()
        for key in found:
            del self.rows[key]
        return Step(f"DELETE FROM {self.table} WHERE {where}", (0, len(found), 0), found)

    def _merge(self) -> Step:
        """Updates the even keys of the source, deletes the odd ones, inserts those that are new."""
        old = self.random.sample(sorted(self.rows), min(len(self.rows), self.random.randint(0, 4)))
        new = [self._new_row() for _ in range(self.random.randint(0 if old else 1, 3))]
        fixed = self.schema.buckets[0].split(", ") if self.schema.buckets else []
        source = [(k, *self._random_row()) for k in old]
        if len(new) % 2 == 0:  # its rows stay in their partitions
            fixed += self.schema.names[len(self.schema.kinds) - self.schema.keys :]
        set_names = [n for n in self.schema.names if n not in fixed]
        updated = [k for k in old if k % 2 == 0 and set_names]
        deleted = [k for k in old if k % 2 == 1]
        for key, row, _ in source:
            if key in updated:
                self.rows[key] = tuple(
                    value if name in set_names else before
                    for name, value, before in zip(self.schema.names, row, self.rows[key], strict=True)
                )
            elif key in deleted:
                del self.rows[key]
        self.rows |= {key: row for key, row, _ in new}
        names = ", ".join(("k", *self.schema.names))
        sets = ", ".join(f"{n} = s.{n}" for n in set_names)
        update = f" WHEN MATCHED AND s.k % 2 = 0 THEN UPDATE SET {sets}" if set_names else ""
        sql = (
            f"MERGE INTO {self.table} t USING ({self._typed([*source, *new])}) s ON t.k = s.k{update}"
            f" WHEN MATCHED AND s.k % 2 = 1 THEN DELETE"
            f" WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({', '.join(f's.{n}' for n in names.split(', '))})"
        )
        return Step(
            sql, (len(updated), len(deleted), len(new)), frozenset((*updated, *deleted, *(k for k, _, _ in new)))
        )

    def _truncate(self) -> Step:
        if not self.schema.keys or self.random.random() < 0.1:
            gone = frozenset(self.rows)
            self.rows.clear()
            return Step(f"TRUNCATE TABLE {self.table}", None, gone)
        place, text, gone = self._partition()
        if place is None:
            return self._delete()
        for key in gone:
            del self.rows[key]
        return Step(f"TRUNCATE TABLE {self.table} PARTITION ({text})", None, gone)

    def _overwrite(self) -> Step:
        """INSERT OVERWRITE of what a query gives: of the table, or of those partitions that get rows."""
        where, found = self._some()
        keys = self.schema.keys
        replaced = {self.rows[k][len(self.schema.kinds) - keys :] for k in found}
        gone = frozenset(k for k, row in self.rows.items() if not keys or row[len(row) - keys :] in replaced)
        for key in gone - found:
            del self.rows[key]
        columns = ", ".join(("k", *self.schema.names))
        into = f"{self.table} PARTITION ({', '.join(self.schema.names[-keys:])})" if keys else self.table
        sql = f"INSERT OVERWRITE TABLE {into} SELECT {columns} FROM {self.table} WHERE {where}"
        return Step(sql, (0, 0, len(found)), gone | found)

    # -- values

    def _value(self, place: int) -> tuple[str, Any]:
        return self.random.choice(
            [v for v in self.schema.kinds[place].values if not (self.since_1970 and _is_before_1970(v[1]))]
        )

    def _random_row(self) -> tuple[Row, tuple[str, ...]]:
        chosen = [self._value(i) for i in range(len(self.schema.kinds))]
        return tuple(value for _, value in chosen), tuple(text for text, _ in chosen)

    def _new_row(self) -> tuple[int, Row, tuple[str, ...]]:
        key = self._next
        self._next += 1
        return (key, *self._random_row())

    def _typed(self, rows: Sequence[tuple[int, Row, tuple[str, ...]]]) -> str:
        """The rows as a query whose columns have the table's types, also where all values are NULL."""
        columns = ", ".join(("k", *self.schema.names))
        unions = " UNION ALL ".join(f"SELECT {', '.join((str(k), *texts))}" for k, _, texts in rows)
        return f"SELECT * FROM ({unions}) AS r({columns})"

    # -- conditions

    def _some(self) -> tuple[str, frozenset[int]]:
        """A WHERE, and the keys of the rows for which it is true."""
        match self.random.randrange(4):
            case 0:
                by, rest = self.random.randint(1, 4), self.random.randint(0, 2)
                return f"k % {by} = {rest}", frozenset(k for k in self.rows if k % by == rest)
            case 1 if self.rows:
                chosen = self.random.sample(sorted(self.rows), min(len(self.rows), 3))
                return f"k IN ({', '.join(map(str, chosen))}, -1)", frozenset(chosen)
            case 2 if self.schema.keys:
                place, text, found = self._partition()
                return (text.replace(",", " AND"), found) if place is not None else ("k < 0", frozenset())
            case _:
                most = self.random.randint(0, self._next)
                return f"k >= {most}", frozenset(k for k in self.rows if k >= most)

    def _partition(self) -> tuple[Row | None, str, frozenset[int]]:
        """One partition without NULLs that has rows: its values, as `c1 = .., c2 = ..`, and its rows' keys."""
        keys = self.schema.keys
        first = len(self.schema.kinds) - keys
        places = sorted({row[first:] for row in self.rows.values() if None not in row[first:]}, key=repr)
        if not places:
            return None, "", frozenset()
        chosen = self.random.choice(places)
        texts = [f"c{first + i} = {_literal(self.schema.kinds[first + i], chosen[i])}" for i in range(keys)]
        return chosen, ", ".join(texts), frozenset(k for k, row in self.rows.items() if row[first:] == chosen)


def _is_before_1970(value: object) -> bool:
    return isinstance(value, dt.datetime) and value.year < 1970


def _literal(kind: Kind, value: Any) -> str:
    """A value as it was stored: what was too long for a VARCHAR equals nothing there."""
    return f"'{value}'" if kind.type.startswith("varchar") else next(t for t, stored in kind.values if stored == value)


def _tuples(rows: Sequence[tuple[int, Row, tuple[str, ...]]]) -> str:
    return ", ".join(f"({', '.join((str(k), *texts))})" for k, _, texts in rows)
