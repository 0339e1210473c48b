"""Random INSERT, UPDATE, DELETE, MERGE, and for each the queries that say what it must do.

In a statement `@0@`, `@1@`, .. stand for the tables; in the queries of its model they stand for frames of the tables'
rows, `@rows@` for one of the target's rows that has their number as a column `rid__`, and `@source@` for one of a
MERGE's source, numbered `sid__`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tests.fuzz.expressions import COMPARED, OPERATORS, Expressions, Seen
from tests.fuzz.queries import Queries, visible
from tests.fuzz.tables import Column, Table, Type, quoted

RID: Final = "rid__"
SID: Final = "sid__"


@dataclass(frozen=True, slots=True)
class Update:
    """`model` gives number and new values of the rows that change."""

    text: str
    target: int
    model: str


@dataclass(frozen=True, slots=True)
class Delete:
    """`model` gives the numbers of the rows that go."""

    text: str
    target: int
    model: str


@dataclass(frozen=True, slots=True)
class Insert:
    """`models` give the new rows of each table that gets some. OVERWRITE replaces the table, or the partition that is
    named, `static`, or else the partitions that get rows."""

    text: str
    targets: tuple[int, ...]
    models: tuple[str, ...]
    overwrites: bool = False
    static: str | None = None
    """A query for the values of a partition that is named in full."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A WHEN of a MERGE: its condition, what it does, and the new values, None for DELETE."""

    condition: str | None
    action: str
    values: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Merge:
    """`source` gives the source's rows. The three queries say of each pair, source row and target row which clause acts
    (its place, -1 for none), and what it makes: the values of all clauses, one after the other."""

    text: str
    target: int
    source: str
    source_columns: tuple[Column, ...]
    pairs: str
    only_source: str
    only_target: str
    clauses: tuple[tuple[Clause, ...], tuple[Clause, ...], tuple[Clause, ...]]
    """MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE."""


Change: TypeAlias = Update | Delete | Insert | Merge


def stored(value: str, kind: Type) -> str:
    """A value as it is stored in a column, as SQL: cut to the length of a VARCHAR or CHAR."""
    name, _, length = kind.sql.removesuffix(")").partition("(")
    if name in ("char", "varchar"):
        cut = f"substring(CAST({value} AS STRING), 1, {length})"
        return f"rtrim({cut})" if name == "char" else cut
    return f"CAST({value} AS {kind.sql})"


class Changes:
    """Makes statements over some tables."""

    def __init__(self, r: random.Random, tables: Sequence[Table]) -> None:
        self._r = r
        self._tables = tables
        self._queries = Queries(r, tables)

    def change(self, target: int) -> Change:
        kinds = (self._insert, self.values, self._update, self._update, self.delete, self._merge, self._merge)
        return self._r.choice(kinds)(target)

    def values(self, target: int, batch: int | None = None, most: int = 12) -> Insert:
        """INSERT .. VALUES."""
        r, table = self._r, self._tables[target]
        batch = r.choice((None, r.randrange(8))) if batch is None else batch
        rows = [[c.type.literal(r, batch) for c in table.columns] for _ in range(r.randint(1, most))]
        selects = (
            ", ".join(stored(value, c.type) for value, c in zip(row, table.columns, strict=True)) for row in rows
        )
        model = " UNION ALL ".join(f"SELECT {select}" for select in selects)
        text = f"INSERT INTO @{target}@ VALUES {', '.join(_tuple(row) for row in rows)}"
        return Insert(text, (target,), (model,))

    def simple(self, target: int) -> Change:
        """A statement of literals, for which acidsql may need no Spark."""
        match self._r.randrange(5):
            case 0:
                return self.values(target)
            case 1 | 2:
                return self._simple_delete(target)
            case _:
                return self._simple_update(target)

    def _simple_update(self, target: int) -> Update:
        r, table = self._r, self._tables[target]
        columns = r.sample(table.regular, r.randint(1, min(3, len(table.regular))))
        given = {c.name: c.type.literal(r) for c in columns}
        where = f" WHERE {self._simple_condition(table)}" if r.random() < 0.95 else ""
        new = ", ".join(_new_values(table, given, None))
        text = f"UPDATE @{target}@ SET {_assignments(given)}{where}"
        return Update(text, target, f"SELECT {RID}, {new} FROM @rows@{where}")

    def _simple_delete(self, target: int) -> Delete:
        table = self._tables[target]
        where = f" WHERE {self._simple_condition(table)} AND {self._simple_condition(table)}"
        return Delete(f"DELETE FROM @{target}@{where}", target, f"SELECT {RID} FROM @rows@{where}")

    def _simple_condition(self, table: Table, depth: int = 2) -> str:
        """Comparisons of columns with literals of their types."""
        r = self._r
        if depth and r.random() < 0.4:
            one, other = (self._simple_condition(table, depth - 1) for _ in range(2))
            return r.choice((f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})"))
        column = r.choice([c for c in table.columns if c.type.family in COMPARED])
        name = quoted(column.name)
        one, other = (column.type.literal(r) for _ in range(2))
        match r.randrange(8):
            case 0:
                return f"{name} IS {r.choice(('', 'NOT '))}NULL"
            case 1:
                return f"{name} {r.choice(('', 'NOT '))}IN ({one}, {other})"
            case 2:
                return f"{name} {r.choice(('', 'NOT '))}BETWEEN {one} AND {other}"
            case 3 if column.type.family == "text":
                return f"{name} LIKE {r.choice(('_', '%a%', 'b%', '%1', ''))!r}"
            case _:
                return f"{name} {r.choice(OPERATORS)} {one}"

    # -- INSERT .. SELECT

    def _insert(self, target: int) -> Insert:
        r = self._r
        if r.random() < 0.15:
            return self._multi_insert(target)
        return self._insert_select(target)

    def _insert_select(self, target: int) -> Insert:
        r, table = self._r, self._tables[target]
        source = self._queries.source()
        static = self._static(table) if table.keys and r.random() < 0.4 else {}
        dynamic = [c for c in table.partition_columns if c.name not in static]
        columns = [*table.regular, *dynamic]
        overwrites = r.random() < 0.25
        names = ""
        if not static and not overwrites and r.random() < 0.3:
            columns = r.sample(table.columns, r.randint(1, len(table.columns)))
            names = f" ({', '.join(quoted(c.name) for c in columns)})"
            missing = [c for c in table.partition_columns if c not in columns]
            columns += missing if any(c in columns for c in table.partition_columns) else []
            names = f" ({', '.join(quoted(c.name) for c in columns)})"
        clause = (
            self._partition_clause(table, static) if static or (table.keys and r.random() < 0.3 and not names) else ""
        )
        values = self._values_for(columns, source.columns)
        where = (
            f" WHERE {Expressions(r, source.columns, self._queries.condition).predicate()}" if r.random() < 0.7 else ""
        )
        select = f"SELECT {', '.join(values)} FROM {source.text}{where}"
        given = dict(zip((c.name for c in columns), (f"v{n}" for n in range(len(columns))), strict=True)) | static
        listed = ", ".join(stored(given.get(c.name, "NULL"), c.type) for c in table.columns)
        model = f"SELECT {listed} FROM ({select}) AS v({', '.join(f'v{n}' for n in range(len(columns)))})"
        verb = "OVERWRITE TABLE" if overwrites else "INTO"
        full = static and not dynamic
        named = ", ".join(stored(static[c.name], c.type) for c in table.partition_columns) if full else ""
        text = f"INSERT {verb} @{target}@{clause}{names} {select}"
        return Insert(text, (target,), (model,), overwrites, f"SELECT {named}" if full else None)

    def _static(self, table: Table) -> dict[str, str]:
        """Values of the first partition columns, or of all."""
        count = self._r.randint(1, table.keys)
        return {c.name: c.type.literal(self._r, null=False) for c in table.partition_columns[:count]}

    def _partition_clause(self, table: Table, static: dict[str, str]) -> str:
        items = (
            f"{quoted(c.name)} = {static[c.name]}" if c.name in static else quoted(c.name)
            for c in table.partition_columns
        )
        return f" PARTITION ({', '.join(items)})"

    def _multi_insert(self, target: int) -> Insert:
        """Into the target, and into it or another table."""
        r = self._r
        source = self._queries.source()
        branches: list[str] = []
        models: list[str] = []
        targets = (target, r.randrange(len(self._tables)))
        overwrites = targets[0] != targets[1] and r.random() < 0.4
        verb = "OVERWRITE TABLE" if overwrites else "INTO"
        for number in targets:
            table = self._tables[number]
            values = self._values_for(table.columns, source.columns)
            where = f" WHERE {Expressions(r, source.columns).predicate()}"
            branches.append(f"INSERT {verb} @{number}@ SELECT {', '.join(values)}{where}")
            listed = ", ".join(stored(v, c.type) for v, c in zip(values, table.columns, strict=True))
            models.append(f"SELECT {listed} FROM {source.text}{where}")
        return Insert(f"FROM {source.text} {' '.join(branches)}", targets, tuple(models), overwrites)

    def _values_for(self, columns: Sequence[Column], seen: Sequence[Seen]) -> list[str]:
        return [self._value_for(c.type, seen) for c in columns]

    def _value_for(self, kind: Type, seen: Sequence[Seen]) -> str:
        """Of the type, or of one that becomes it."""
        r = self._r
        same = [c for c in seen if c.type == kind]
        if kind.family in ("binary", "array", "map", "struct", "structs"):
            literal = kind.literal(r, null=False)
            return r.choice(same).sql(r) if same and r.random() < 0.8 else literal
        if r.random() < 0.15:
            return kind.literal(r)
        made = Expressions(r, seen)
        if kind.family in ("text", "char") and r.random() < 0.15:
            return made.value("integer")
        return made.value(kind.family)

    # -- UPDATE, DELETE

    def _update(self, target: int) -> Update:
        table = self._tables[target]
        alias, columns = self._target(table, target)
        where = self._where(columns)
        given = self._assigned(table, columns)
        text = f"UPDATE @{target}@{alias} SET {_assignments(given)}{where}"
        owner = columns[0].owner
        new = ", ".join(_new_values(table, given, owner))
        prefix = f"{quoted(owner)}." if owner else ""
        return Update(text, target, f"SELECT {prefix}{RID}, {new} FROM @rows@{alias}{where}")

    def delete(self, target: int) -> Delete:
        alias, columns = self._target(self._tables[target], target)
        where = self._where(columns, narrow=True)
        owner = columns[0].owner
        prefix = f"{quoted(owner)}." if owner else ""
        return Delete(
            f"DELETE FROM @{target}@{alias}{where}", target, f"SELECT {prefix}{RID} FROM @rows@{alias}{where}"
        )

    def _target(self, table: Table, number: int) -> tuple[str, tuple[Seen, ...]]:
        """With an alias or without."""
        owner = self._queries.alias() if self._r.random() < 0.5 else None
        return (f" AS {quoted(owner)}" if owner else ""), tuple(Seen(owner, c.name, c.type) for c in table.columns)

    def _where(self, columns: Sequence[Seen], *, narrow: bool = False) -> str:
        r = self._r
        if r.random() < 0.07:
            return ""
        condition = Expressions(r, columns, self._queries.condition).predicate()
        if narrow and r.random() < 0.6:
            condition = f"{condition} AND {columns[0].sql(r)} % 3 = {r.randint(0, 2)}"
        return f" WHERE {condition}"

    def _assigned(self, table: Table, seen: Sequence[Seen], *, subqueries: bool = True) -> dict[str, str]:
        r = self._r
        columns = r.sample(table.columns, r.randint(1, min(3, len(table.columns))))
        given = {c.name: self._value_for(c.type, seen) for c in columns}
        if subqueries and r.random() < 0.1:
            of = self._queries.scalar(seen)
            if of is not None:
                given[table.columns[0].name] = of
        return given

    # -- MERGE

    def _merge(self, target: int) -> Merge:
        r, table = self._r, self._tables[target]
        x = self._queries.alias()
        mine = tuple(Seen(x, c.name, c.type) for c in table.columns)
        source = self._queries.single_source(keyed=r.random() < 0.75)
        both = visible(mine, source.columns)
        own = [c for c in both if c.owner == x]
        other = [c for c in both if c.owner != x]
        on = self._on(own, other)
        clauses = (
            self._clauses(table, both, owner=x),
            self._clauses(table, other, owner=None),
            self._clauses(table, own, owner=x),
        )
        if not any(clauses):
            clauses = ((Clause(None, "DELETE", None),), (), ())
        heads = ("WHEN MATCHED", "WHEN NOT MATCHED", "WHEN NOT MATCHED BY SOURCE")
        text = f"MERGE INTO @{target}@ AS {quoted(x)} USING {source.text} ON {on}"
        for head, some in zip(heads, clauses, strict=True):
            text += "".join(_clause(head, c) for c in some)
        name = quoted(str(source.columns[0].owner))
        pairs, only_source, only_target = (_acting(some) for some in clauses)
        rows = f"@rows@ AS {quoted(x)}"
        return Merge(
            text,
            target,
            f"SELECT * FROM {source.text}",
            tuple(Column(c.name, c.type) for c in source.columns),
            f"SELECT {quoted(x)}.{RID}, {name}.{SID}, {pairs} FROM {rows} JOIN @source@ AS {name} ON {on}",
            f"SELECT {name}.{SID}, {only_source} FROM @source@ AS {name}",
            f"SELECT {quoted(x)}.{RID}, {only_target} FROM {rows}",
            clauses,
        )

    def _on(self, own: Sequence[Seen], other: Sequence[Seen]) -> str:
        r = self._r
        families = ("integer", "text", "date", "decimal", "timestamp")
        across = r.random() < 0.2
        pairs = [(a, b) for a in own for b in other if _are_compared(a.type, b.type, families, across=across)]
        first = [(a, b) for a, b in pairs if a is own[0] and b is other[0]]
        a, b = r.choice(first if first and r.random() < 0.8 else pairs or [(own[0], other[0])])
        on = r.choice((f"{a.sql()} = {b.sql()}", f"{b.sql()} = {a.sql()}", f"{a.sql()} <=> {b.sql()}"))
        if r.random() < 0.4:
            on += f" AND {Expressions(r, r.choice((own, other, [*own, *other]))).predicate(1)}"
        return on

    def _clauses(self, table: Table, seen: Sequence[Seen], *, owner: str | None) -> tuple[Clause, ...]:
        """`owner` is the alias of the target, where it has a row."""
        r = self._r
        made: list[Clause] = []
        for _ in range(r.choice((0, 1, 1, 2))):
            condition = Expressions(r, seen).predicate(1) if r.random() < 0.6 else None
            if owner is None:
                made.append(Clause(condition, *self._inserted(table, seen)))
            elif r.random() < 0.35:
                made.append(Clause(condition, "DELETE", None))
            else:
                given = self._assigned(table, seen, subqueries=False)
                action = f"UPDATE SET {_assignments(given)}"
                made.append(Clause(condition, action, _new_values(table, given, owner)))
            if condition is None:
                break
        return tuple(made)

    def _inserted(self, table: Table, seen: Sequence[Seen]) -> tuple[str, tuple[str, ...]]:
        r = self._r
        by_name = {c.name: c.sql() for c in seen}
        if all(c.name in by_name and c.type in [s.type for s in seen if s.name == c.name] for c in table.columns):
            return "INSERT *", tuple(stored(by_name[c.name], c.type) for c in table.columns)
        columns = table.columns
        names = ""
        if r.random() < 0.4:
            columns = tuple(r.sample(table.columns, r.randint(1, len(table.columns))))
            columns += tuple(c for c in table.partition_columns if c not in columns)
            names = f" ({', '.join(quoted(c.name) for c in columns)})"
        values = self._values_for(columns, seen)
        given = dict(zip((c.name for c in columns), values, strict=True))
        new = tuple(stored(given.get(c.name, "NULL"), c.type) for c in table.columns)
        return f"INSERT{names} VALUES {_tuple(values)}", new


def _are_compared(one: Type, other: Type, families: Sequence[str], *, across: bool) -> bool:
    """Whether ON compares columns of these types: of one family, or `across` text and numbers."""
    if across:
        return {one.family, other.family} in ({"text", kind} for kind in ("integer", "decimal", "float"))
    return one.family == other.family and one.family in families


def _tuple(values: Sequence[str]) -> str:
    return f"({', '.join(values)})"


def _assignments(given: dict[str, str]) -> str:
    return ", ".join(f"{quoted(name)} = {value}" for name, value in given.items())


def _clause(head: str, clause: Clause) -> str:
    condition = f" AND {clause.condition}" if clause.condition is not None else ""
    return f" {head}{condition} THEN {clause.action}"


def _acting(clauses: Sequence[Clause]) -> str:
    """The place of the clause that acts, and the values of all."""
    cases = " ".join(f"WHEN {c.condition or 'true'} THEN {n}" for n, c in enumerate(clauses))
    values = [value for c in clauses for value in c.values or ()]
    return ", ".join([f"CASE {cases} ELSE -1 END" if cases else "-1", *values])


def _new_values(table: Table, given: dict[str, str], owner: str | None) -> tuple[str, ...]:
    prefix = f"{quoted(owner)}." if owner else ""
    return tuple(
        stored(given[c.name], c.type) if c.name in given else f"{prefix}{quoted(c.name)}" for c in table.columns
    )
