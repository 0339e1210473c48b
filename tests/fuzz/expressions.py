"""Random values and predicates over typed columns, as SQL that Hive, Spark and acidsql read alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tests.fuzz.tables import (
    BIGINT,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    quoted,
)

OPERATORS: Final = ("=", "=", "<>", "<", "<=", ">", ">=", "<=>")
COMPARED: Final = ("integer", "float", "decimal", "text", "char", "date", "timestamp", "boolean", "binary")
TYPE_OF: Final = {
    "integer": BIGINT,
    "float": DOUBLE,
    "decimal": DECIMAL,
    "text": STRING,
    "char": STRING,
    "boolean": BOOLEAN,
    "date": DATE,
    "timestamp": TIMESTAMP,
}


@dataclass(frozen=True, slots=True)
class Seen:
    """A column that can be named: by its relation's alias, if that has one."""

    owner: str | None
    name: str
    type: Type
    is_unique: bool = True
    """Whether its bare name means it."""

    def sql(self, r: random.Random | None = None) -> str:
        name = self.name.upper() if r is not None and self.name.isascii() and r.random() < 0.1 else self.name
        if self.owner is None or (self.is_unique and r is not None and r.random() < 0.4):
            return quoted(name)
        return f"{quoted(self.owner)}.{quoted(name)}"


Subquery: TypeAlias = Callable[[Sequence[Seen]], str | None]
"""A condition with a subquery, over some columns of the outer query."""


class Expressions:
    """Expressions over some columns; `subquery` makes conditions that hold another query."""

    def __init__(self, r: random.Random, columns: Sequence[Seen], subquery: Subquery | None = None) -> None:
        self._r = r
        self.columns = columns
        self._subquery = subquery

    # -- predicates

    def predicate(self, depth: int = 2) -> str:
        r = self._r
        if depth and r.random() < 0.4:
            left, right = self.predicate(depth - 1), self.predicate(depth - 1)
            return f"({left} {r.choice(('AND', 'OR'))} {right})"
        if depth and r.random() < 0.1:
            return f"NOT ({self.predicate(depth - 1)})"
        if self._subquery is not None and r.random() < 0.15:
            made = self._subquery(self.columns)
            if made is not None:
                return made
        if not self.columns:
            return r.choice(("true", "1 = 1", "NULL = 1"))
        return self._simple(r.choice(self.columns))

    def _simple(self, c: Seen) -> str:
        r = self._r
        if r.random() < 0.08:
            return f"{c.sql(r)} IS {r.choice(('', 'NOT '))}NULL"
        match c.type.family:
            case "array":
                x = c.sql(r)
                return r.choice((f"size({x}) > 1", f"array_contains({x}, 9)", f"{x}[0] = 1", f"{x} = array(1)"))
            case "map":
                x = c.sql(r)
                return r.choice((f"{x}['k'] = 1", f"size({x}) < 2", f"array_contains(map_keys({x}), 'k')"))
            case "struct":
                x = c.sql(r)
                return r.choice((f"{x}.a = 1", f"{x}.b > 'a'", f"{x}.a IS NULL", f"{x}.a IN (1, 77)"))
            case "structs":
                x = c.sql(r)
                return r.choice((f"{x}[0].x = 1", f"{x}[0].y < 2", f"size({x}) = 2"))
            case _:
                return self._comparison(c)

    def _comparison(self, c: Seen) -> str:
        r, x = self._r, c.sql(self._r)
        lit = self._literal
        kind = r.randrange(12)
        if kind < 4:
            return f"{x} {r.choice(OPERATORS)} {lit(c)}"
        if kind == 4:
            return f"{lit(c)} {r.choice(OPERATORS)} {x}"
        if kind == 5:
            return f"{x} {r.choice(('', 'NOT '))}BETWEEN {lit(c)} AND {lit(c)}"
        if kind in (6, 7):
            items = ", ".join(lit(c) for _ in range(r.randint(1, 4)))
            return f"{x} {r.choice(('', '', 'NOT '))}IN ({items})"
        if kind == 8:
            same = [o for o in self.columns if o.type.family == c.type.family]
            return f"{x} {r.choice(OPERATORS)} {r.choice(same).sql(r)}"
        if kind == 9:
            return f"{self.value(c.type.family)} {r.choice(OPERATORS)} {lit(c)}"
        if c.type.family in ("text", "char"):
            pattern = r.choice(("a%", "%b", "_", "%", "", "%Z%", r"\\%", "a_%"))
            return f"{x} {r.choice(('', 'NOT '))}LIKE '{pattern}'"
        if c.type.family == "boolean":
            return r.choice((x, f"NOT {x}", f"{x} = true"))
        return self._across(c)

    def _across(self, c: Seen) -> str:
        """A comparison with a value of another type, which has to be converted."""
        r, x = self._r, c.sql(self._r)
        others = {
            "integer": ("'5'", "20.5", "7D", "'x'", "99999999999", "1e1"),
            "decimal": ("'5'", "10", "1e1", "0.1234567"),
            "float": ("10", "20.5", "'5'", "0.1"),
            "date": ("'2000-01-10'", "'x'", "timestamp '2000-07-19 12:00:00'", "'1582-10-10'"),
            "timestamp": ("'2000-01-10'", "date '2000-07-19'", "'2000-01-10 05:00:00'"),
            "text": ("5", "0", "5.0", "date '2000-01-01'"),
            "boolean": ("'true'", "1", "0"),
        }.get(c.type.family, ("NULL",))
        return f"{x} {r.choice(OPERATORS)} {r.choice(others)}"

    def _literal(self, c: Seen) -> str:
        text = c.type.literal(self._r)
        if self._r.random() < 0.05 and c.type.family in ("integer", "decimal") and text.isdigit():
            return f"({text} + 1)"
        return text

    # -- values

    def value(self, family: str, depth: int = 1) -> str:
        """Of a family of types; a literal where no column is of it."""
        r = self._r
        found = [c for c in self.columns if c.type.family == family]
        kind = TYPE_OF.get(family) or (found[0].type if found else STRING)
        if depth and r.random() < 0.15:
            then, other = self.value(family, depth - 1), self.value(family, depth - 1)
            condition = self._simple(r.choice(self.columns)) if self.columns else "true"
            return r.choice(
                (
                    f"CASE WHEN {condition} THEN {then} ELSE {other} END",
                    f"coalesce({then}, {other})",
                    f"if({condition}, {then}, {other})",
                )
            )
        if depth and r.random() < 0.4:
            made = self._made(family, depth - 1)
            if made is not None:
                return made
        if found and r.random() < 0.85:
            return r.choice(found).sql(r)
        return kind.literal(r, null=False)

    def _made(self, family: str, depth: int) -> str | None:
        r = self._r

        def of(*families: str) -> str | None:
            found = [c for c in self.columns if c.type.family in families]
            return r.choice(found).sql(r) if found else None

        options: list[tuple[str, str | None]]
        match family:
            case "integer":
                options = [
                    ("({} + 1)", of("integer")),
                    ("(- {})", of("integer")),
                    ("({} % 7)", of("integer")),
                    ("length({})", of("text")),
                    ("year({})", of("date", "timestamp")),
                    ("CAST({} AS INT)", of("text", "boolean")),
                    ("size({})", of("array", "map")),
                    ("{}.a", of("struct")),
                ]
            case "float":
                options = [("({} * 0.5D)", of("float")), ("CAST({} AS DOUBLE)", of("integer", "decimal", "text"))]
            case "decimal":
                options = [("({} + 1.25)", of("decimal")), ("CAST({} AS DECIMAL(12,2))", of("integer", "text"))]
            case "text" | "char":
                options = [
                    ("upper({})", of("text", "char")),
                    ("concat({}, '!')", of("text", "char", "integer")),
                    ("substr({}, 1, 2)", of("text")),
                    ("CAST({} AS STRING)", of("integer", "date", "timestamp", "boolean", "decimal")),
                    ("{}.b", of("struct")),
                ]
            case "boolean":
                return f"({self._simple(r.choice(self.columns))})" if self.columns else None
            case "date":
                options = [("CAST(last_day({}) AS DATE)", of("date")), ("to_date({})", of("timestamp", "text"))]
            case "timestamp":
                options = [("CAST({} AS TIMESTAMP)", of("date", "text"))]
            case _:
                return None
        shape, given = r.choice(options)
        return shape.format(given) if given is not None else None

    def any_value(self) -> tuple[str, Type]:
        """A value of any type, and the type: that of its family, where it is no column."""
        r = self._r
        if not self.columns or r.random() < 0.1:
            return INT.literal(r, null=False), INT
        c = r.choice(self.columns)
        kind = TYPE_OF.get(c.type.family)
        if kind is None or r.random() < 0.6:
            return c.sql(r), c.type
        return self.value(c.type.family), kind

    def ordered(self, *families: str) -> Seen | None:
        """A column that can be sorted by, of some families."""
        found = [c for c in self.columns if c.type.family in (families or COMPARED)]
        return self._r.choice(found) if found else None
