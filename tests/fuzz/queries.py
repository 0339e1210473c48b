"""Random queries over tables: text in which `@0@`, `@1@`, .. stand for the tables, however these are held."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tests.fuzz.expressions import Expressions, Seen
from tests.fuzz.tables import BIGINT, STRING, Column, Table, Type, quoted

_JOINS: Final = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
_ODD_ALIASES: Final = ("select{}", "a b{}", "ż{}", "X{}", "{}y", "a.b{}")


@dataclass(frozen=True, slots=True)
class Query:
    """A query's text, with its columns; `is_total` says that its ORDER BY leaves no choice."""

    text: str
    columns: tuple[Column, ...]
    is_total: bool = False
    is_exact: bool = True
    """Whether -0.0 and 0.0 are told apart: not where rows are grouped or sorted, which takes any of them."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A query without a condition, and the same with p, NOT p, p IS NULL: they give its rows, each once."""

    whole: Query
    parts: tuple[str, str, str]
    adds_up: bool = False
    """Whether they give one row of numbers each, whose sums are those of the whole."""


@dataclass(frozen=True, slots=True)
class From:
    """A FROM clause, or an item of one, and the columns that can be named."""

    text: str
    columns: tuple[Seen, ...]


class Queries:
    """Makes queries over some tables, which are named by their place in the list."""

    def __init__(self, r: random.Random, tables: Sequence[Table]) -> None:
        self._r = r
        self._tables = tables
        self._last = 0
        self._ctes: list[tuple[str, str, tuple[Column, ...]]] = []

    # -- whole queries

    def query(self) -> Query:
        self._ctes = []
        r = self._r
        if r.random() < 0.12:
            # No name of a table, which a frame's place in the text would not be hidden by.
            self._ctes.append((f"q_{self.alias()}", *_parts_of(self._select(1))))
        made = self._body(2)
        if r.random() < 0.3:
            made = self._sorted(made)
        return self._with_ctes(made)

    def partition(self) -> Partition:
        """A query and its three parts by a predicate."""
        self._ctes = []
        if self._r.random() < 0.2:
            return self._partition_of_join()
        source = self._from(2)
        # Without subqueries: Spark's IN (SELECT ..) IS NULL is false where it should be true.
        p = self._expressions(source, subqueries=False).predicate()
        conditions = tuple(f" WHERE {c}" for c in (p, f"NOT ({p})", f"({p}) IS NULL"))
        adds_up = self._r.random() < 0.3
        if adds_up:
            items = ["count(*)", *(f"count({c.sql()})" for c in source.columns[:3])]
            items += [f"coalesce(sum(CAST({c.sql()} AS BIGINT)), 0)" for c in source.columns if _is_small(c.type)]
            columns = tuple(Column(f"o{n}", BIGINT) for n in range(len(items)))
        else:
            items, columns = self._items(source)
        head = f"SELECT {', '.join(items)} FROM {source.text}"
        first, second, third = (head + c for c in conditions)
        return Partition(Query(head, columns), (first, second, third), adds_up)

    def _partition_of_join(self) -> Partition:
        """Of ON of an inner join; the whole is the cross join."""
        left, right = self._small_item(), self._small_item()
        source = From("", visible(left.columns, right.columns))
        p = self._expressions(source, subqueries=False).predicate()
        items, columns = self._items(source)
        head = f"SELECT {', '.join(items)} FROM {left.text} "
        parts = tuple(f"{head}JOIN {right.text} ON {c}" for c in (p, f"NOT ({p})", f"({p}) IS NULL"))
        return Partition(Query(f"{head}CROSS JOIN {right.text}", columns), (parts[0], parts[1], parts[2]))

    # -- for DML

    def source(self) -> From:
        """A FROM clause."""
        self._ctes = []
        return self._from(1)

    def single_source(self, *, keyed: bool) -> From:
        """A table or subquery; `keyed`: with an INT, the first column, of which no two rows have the same."""
        self._ctes = []
        if not keyed:
            return self._item(1)
        item = self._table_item()
        key, *rest = [c for c in item.columns if c.type.is_ordered]
        names = [c.name for c in (key, *rest)]
        values = [key.sql(), *(f"{self._r.choice(('min', 'max'))}({c.sql()})" for c in rest)]
        items = ", ".join(f"{v} AS {quoted(n)}" for n, v in zip(names, values, strict=True))
        columns = [Column(c.name, c.type) for c in (key, *rest)]
        return self._listed(f"(SELECT {items} FROM {item.text} GROUP BY {key.sql()})", self.alias(), columns)

    def scalar(self, outer: Sequence[Seen]) -> str | None:
        """A number by a subquery, of a row of the outer query."""
        item = self._table_item()
        mine = [c for c in outer if c.type.sql == "int" and c.owner is not None]
        its = [c for c in item.columns if c.type.sql == "int"]
        if not mine or not its:
            return None
        return f"(SELECT max({its[0].sql()}) FROM {item.text} WHERE {its[-1].sql()} = {mine[0].sql()})"

    # -- SELECTs

    def _body(self, depth: int) -> Query:
        if depth and self._r.random() < 0.15:
            return self._set_operation(depth - 1)
        return self._select(depth)

    def _select(self, depth: int) -> Query:
        match self._r.randrange(10):
            case 0 | 1:
                return self._grouped(depth)
            case 2:
                return self._windowed(depth)
            case 3:
                return self._counted()
            case _:
                return self._rows(depth)

    def _rows(self, depth: int) -> Query:
        r = self._r
        source = self._from(depth)
        items, columns = self._items(source)
        distinct = r.random() < 0.1 and all(c.type.is_ordered for c in columns)
        where = f" WHERE {self._expressions(source).predicate()}" if r.random() < 0.8 else ""
        head = "SELECT DISTINCT" if distinct else "SELECT"
        return Query(f"{head} {', '.join(items)} FROM {source.text}{where}", columns, is_exact=not distinct)

    def _counted(self) -> Query:
        """What can be told without reading rows, and what is nearly that."""
        r = self._r
        if r.random() < 0.4:
            return Query(f"SELECT count(*) FROM {self._named(r.randrange(len(self._tables)))}", (Column("n", BIGINT),))
        source = self._table_item()
        where = r.choice(("", f" WHERE {self._expressions(source, subqueries=False).predicate(1)}"))
        items = r.choice(("count(*)", "count(1)", "count(*), 'x'"))
        columns = (Column("n", BIGINT), Column("x", STRING))[: items.count(",") + 1]
        return Query(f"SELECT {items} FROM {source.text}{where}", columns)

    def _grouped(self, depth: int) -> Query:
        r = self._r
        source = self._from(depth)
        made = self._expressions(source)
        where = f" WHERE {made.predicate()}" if r.random() < 0.5 else ""
        keys = [c for c in r.sample(source.columns, min(len(source.columns), r.randint(0, 2))) if c.type.is_ordered]
        aggregates = [self._aggregate(made) for _ in range(r.randint(1, 3))]
        names = self._names(len(keys) + len(aggregates))
        values = [(c.sql(), c.type) for c in keys] + aggregates
        items = ", ".join(f"{v} AS {quoted(n)}" for n, (v, _) in zip(names, values, strict=True))
        group = ""
        if keys:
            listed = ", ".join(c.sql() for c in keys)
            sets = ", ".join(dict.fromkeys((f"({listed})", f"({keys[0].sql()})", "()")))  # Hive drops repeated sets
            group = r.choice(
                (f" GROUP BY {listed}",) * 4
                + (f" GROUP BY {listed} WITH ROLLUP", f" GROUP BY {listed} GROUPING SETS ({sets})")
            )
        having = f" HAVING {self._aggregate(made)[0]} IS NOT NULL" if r.random() < 0.2 else ""
        columns = tuple(Column(n, t) for n, (_, t) in zip(names, values, strict=True))
        return Query(f"SELECT {items} FROM {source.text}{where}{group}{having}", columns, is_exact=False)

    def _aggregate(self, made: Expressions) -> tuple[str, Type]:
        r = self._r
        numbers = made.ordered("integer")
        some = made.ordered()
        options: list[tuple[str, Type]] = [("count(*)", BIGINT)]
        if some is not None:
            x = some.sql(r)
            options += [
                (f"count({x})", BIGINT),
                (f"count(DISTINCT {x})", BIGINT),
                (f"max({x})", some.type),
                (f"min({x})", some.type),
                (f"size(collect_list({x}))", BIGINT),
                (f"count(CASE WHEN {made.predicate(1)} THEN 1 END)", BIGINT),
            ]
        if numbers is not None:
            options += [(f"sum({numbers.sql(r)})", BIGINT), (f"sum(DISTINCT {numbers.sql(r)})", BIGINT)]
        return r.choice(options)

    def _windowed(self, depth: int) -> Query:
        r = self._r
        source = self._from(depth)
        made = self._expressions(source)
        items, columns = self._items(source)
        by, of, order = made.ordered(), made.ordered("integer", "text", "date", "decimal"), made.ordered()
        if by is None or of is None or order is None:
            return self._rows(0)
        function, kind = r.choice(
            (
                ("rank()", BIGINT),
                ("dense_rank()", BIGINT),
                ("count(*)", BIGINT),
                (f"min({of.sql()})", of.type),
                (f"max({of.sql()})", of.type),
                (f"count({of.sql()})", BIGINT),
            )
        )
        part = f"PARTITION BY {by.sql()} " if r.random() < 0.6 else ""
        way = r.choice(("", " DESC", " NULLS LAST"))
        window = f"{function} OVER ({part}ORDER BY {order.sql()}{way})"
        where = f" WHERE {made.predicate()}" if r.random() < 0.4 else ""
        name = f"w{self._number()}"
        text = f"SELECT {', '.join((*items, f'{window} AS {name}'))} FROM {source.text}{where}"
        return Query(text, (*columns, Column(name, kind)), is_exact=False)

    def _set_operation(self, depth: int) -> Query:
        """Of columns that both sides have of one type."""
        r = self._r
        left, right = self._from(depth), self._from(depth)
        pairs = [(a, b) for a in left.columns for b in right.columns if a.type == b.type and a.type.is_ordered]
        if not pairs:
            return self._rows(depth)
        chosen = r.sample(pairs, min(len(pairs), r.randint(1, 3)))
        names = self._names(len(chosen))
        sides = []
        for source, at in ((left, 0), (right, 1)):
            items = ", ".join(f"{pair[at].sql()} AS {quoted(n)}" for n, pair in zip(names, chosen, strict=True))
            where = f" WHERE {self._expressions(source).predicate()}" if r.random() < 0.7 else ""
            sides.append(f"SELECT {items} FROM {source.text}{where}")
        operator = r.choice(("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"))
        columns = tuple(Column(n, a.type) for n, (a, _) in zip(names, chosen, strict=True))
        return Query(f"{sides[0]} {operator} {sides[1]}", columns, is_exact=operator == "UNION ALL")

    def _sorted(self, query: Query) -> Query:
        """By all its columns, so that equal rows alone may change places."""
        r = self._r
        if not query.columns or not all(c.type.is_ordered for c in query.columns):
            return query
        ways = [f"{n}{r.choice(('', ' DESC', ' NULLS LAST'))}" for n in range(1, len(query.columns) + 1)]
        r.shuffle(ways)
        limit = f" LIMIT {r.randint(0, 12)}" if r.random() < 0.6 else ""
        text = f"SELECT * FROM ({query.text}) s{self._number()} ORDER BY {', '.join(ways)}{limit}"
        return replace(query, text=text, is_total=True, is_exact=False)

    def _with_ctes(self, query: Query) -> Query:
        if not self._ctes:
            return query
        named = ", ".join(f"{quoted(name)} AS ({text})" for name, text, _ in self._ctes)
        return replace(query, text=f"WITH {named} {query.text}")

    # -- FROM

    def _from(self, depth: int) -> From:
        r = self._r
        source = self._item(depth)
        if r.random() < (0.35 if depth else 0.1):
            source = self._joined(source, self._item(max(0, depth - 1)))
        if r.random() < 0.12:
            source = self._lateral(source)
        return source

    def _joined(self, left: From, right: From) -> From:
        r = self._r
        both = visible(left.columns, right.columns)
        if "PIVOT (" in right.text or "UNPIVOT INC" in right.text:  # not behind JOIN, in Spark's grammar
            right = From(f"(SELECT * FROM {right.text}) AS {quoted(str(right.columns[0].owner))}", right.columns)
        pairs = [
            (a, b)
            for a in left.columns
            for b in right.columns
            if a.type.family == b.type.family and a.type.family in ("integer", "text", "date", "decimal", "boolean")
        ]
        if not pairs:
            return left
        a, b = r.choice(pairs)
        kind = r.choice(_JOINS)
        seen = left.columns if kind in ("LEFT SEMI JOIN", "LEFT ANTI JOIN") else both
        condition = f"{a.sql()} {r.choice(('=', '=', '=', '<=>'))} {b.sql()}"
        if r.random() < 0.5:
            more = Expressions(r, [c for c in both if c.owner is not None]).predicate(1)
            condition += f" AND {more}"
        return From(f"{left.text} {kind} {right.text} ON {condition}", tuple(seen))

    def _lateral(self, source: From) -> From:
        r = self._r
        alias, name = f"l{self._number()}", f"x{self._number()}"
        arrays = [c for c in source.columns if c.type.sql == "array<int>"]
        numbers = [c for c in source.columns if c.type.family == "integer"]
        if arrays:
            what = r.choice(arrays).sql()
        elif numbers:
            what = f"array({r.choice(numbers).sql()}, 1)"
        else:
            return source
        outer = r.choice(("", "OUTER "))
        text = f"{source.text} LATERAL VIEW {outer}explode({what}) {alias} AS {name}"
        return From(text, (*source.columns, Seen(alias, name, BIGINT)))

    def _item(self, depth: int) -> From:
        r = self._r
        if self._ctes and r.random() < 0.5:
            name, _, columns = self._ctes[0]
            alias = self.alias()
            return From(f"{quoted(name)} AS {quoted(alias)}", _owned(alias, columns))
        chance = r.random()
        if depth and chance < 0.22:
            query = self._body(depth - 1)
            return self._listed(f"({query.text})", self.alias(), query.columns)
        if chance < 0.3:
            return self._values_item()
        if depth and chance < 0.36:
            return self._unpivoted() or self._table_item()
        if depth and chance < 0.42:
            return self._pivoted() or self._table_item()
        return self._table_item()

    def _small_item(self) -> From:
        return self._values_item() if self._r.random() < 0.2 else self._table_item()

    def _listed(self, text: str, alias: str, columns: Sequence[Column]) -> From:
        """With a list of names for the columns at times: those that they have, in another order, or new ones."""
        r = self._r
        names = [c.name for c in columns]
        if r.random() < 0.3:
            if r.random() < 0.6:
                r.shuffle(names)
            else:
                names = [f"n{n}" for n in range(len(names))]
            text = f"{text} AS {quoted(alias)}({', '.join(map(quoted, names))})"
        else:
            text = f"{text} {r.choice(('AS ', ''))}{quoted(alias)}"
        return From(text, _owned(alias, [Column(n, c.type) for n, c in zip(names, columns, strict=True)]))

    def _table_item(self) -> From:
        number = self._r.randrange(len(self._tables))
        return self._listed(self._named(number), self.alias(), self._tables[number].columns)

    def _named(self, number: int) -> str:
        return f"@{number}@"

    def _values_item(self) -> From:
        r = self._r
        kinds = [r.choice(self._tables).columns[0].type, STRING]
        rows = ", ".join(f"({', '.join(t.literal(r, null=False) for t in kinds)})" for _ in range(r.randint(1, 5)))
        alias = self.alias()
        names = self._names(2)
        columns = [Column(n, t) for n, t in zip(names, kinds, strict=True)]
        return From(f"(VALUES {rows}) AS {quoted(alias)}({', '.join(map(quoted, names))})", _owned(alias, columns))

    def _unpivoted(self) -> From | None:
        """The columns of a type become rows; the new column may go by the name of one of them."""
        r = self._r
        number = r.randrange(len(self._tables))
        columns = self._tables[number].columns
        groups = [[c for c in columns if c.type == t] for t in {c.type for c in columns}]
        several = [g for g in groups if len(g) > 1]
        if not several:
            return None
        several.sort(key=lambda g: g[0].name)
        group = r.choice(several)
        value, label = r.choice((group[0].name, f"v{self._number()}")), f"u{self._number()}"
        rest = [c for c in columns if c not in group]
        listed = ", ".join(quoted(c.name) for c in group)
        nulls = r.choice(("", "INCLUDE NULLS "))
        text = f"{self._named(number)} UNPIVOT {nulls}({quoted(value)} FOR {quoted(label)} IN ({listed}))"
        alias = self.alias()
        made = (*rest, Column(label, STRING), Column(value, group[0].type))
        return From(f"{text} AS {quoted(alias)}", _owned(alias, made))

    def _pivoted(self) -> From | None:
        """Counts by the values of a column; they may go by the name of another one."""
        r = self._r
        number = r.randrange(len(self._tables))
        table = self._tables[number]
        groups = [c for c in table.columns if c.type.family in ("integer", "text", "date")]
        if len(groups) < 3:
            return None
        by, on, of = r.sample(groups, 3)
        names = r.choice(((of.name, f"p{self._number()}"), (f"p{self._number()}", f"p{self._number()}")))
        values = ", ".join(f"{on.type.literal(r, null=False)} AS {quoted(n)}" for n in names)
        inner = f"(SELECT {quoted(by.name)}, {quoted(on.name)}, {quoted(of.name)} FROM {self._named(number)})"
        text = f"{inner} PIVOT (count({quoted(of.name)}) FOR {quoted(on.name)} IN ({values}))"
        alias = self.alias()
        return From(f"{text} AS {quoted(alias)}", _owned(alias, (by, *(Column(n, BIGINT) for n in names))))

    # -- parts

    def _items(self, source: From) -> tuple[list[str], tuple[Column, ...]]:
        """A SELECT list; the names are new ones, or those of other columns."""
        r = self._r
        names = [c.name for c in source.columns]
        if r.random() < 0.25 and len(set(names)) == len(names) and all(c.owner for c in source.columns):
            owners = list(dict.fromkeys(c.owner for c in source.columns))
            if len(owners) == 1 and r.random() < 0.5:
                return ["*"], tuple(Column(c.name, c.type) for c in source.columns)
            stars = [f"{quoted(str(o))}.*" for o in owners]
            return stars, tuple(Column(c.name, c.type) for o in owners for c in source.columns if c.owner == o)
        made = self._expressions(source, subqueries=False)
        values = [made.any_value() for _ in range(r.randint(1, 4))]
        given = self._names(len(values))
        items = [f"{v} AS {quoted(n)}" for n, (v, _) in zip(given, values, strict=True)]
        return items, tuple(Column(n, t) for n, (_, t) in zip(given, values, strict=True))

    def _names(self, count: int) -> list[str]:
        """Names of output columns, each once: at times those of a table's columns, which then mean something else."""
        r = self._r
        pool = [c.name for c in r.choice(self._tables).columns]
        r.shuffle(pool)
        trap = r.random() < 0.4
        return [pool[n] if trap and n < len(pool) else f"o{self._number()}" for n in range(count)]

    def _expressions(self, source: From, *, subqueries: bool = True) -> Expressions:
        return Expressions(self._r, source.columns, self.condition if subqueries else None)

    def condition(self, outer: Sequence[Seen]) -> str | None:
        """IN, EXISTS or a comparison with a scalar subquery."""
        r = self._r
        item = self._table_item()
        pairs = [
            (a, b)
            for a in outer
            for b in item.columns
            if a.owner is not None and a.type.family == b.type.family and a.type.family in ("integer", "text", "date")
        ]
        if not pairs:
            return None
        a, b = r.choice(pairs)
        inner = Expressions(r, item.columns).predicate(1)
        match r.randrange(4):
            case 0:
                return f"{a.sql()} {r.choice(('', 'NOT '))}IN (SELECT {b.sql()} FROM {item.text} WHERE {inner})"
            case 1:
                exists = f"EXISTS (SELECT 1 FROM {item.text} WHERE {b.sql()} = {a.sql()} AND {inner})"
                return f"{r.choice(('', 'NOT '))}{exists}"
            case 2:
                return f"{a.sql()} {r.choice(('=', '>', '<='))} (SELECT max({b.sql()}) FROM {item.text} WHERE {inner})"
            case _:
                count = f"(SELECT count(*) FROM {item.text} WHERE {b.sql()} = {a.sql()})"
                return f"{count} {r.choice(('=', '>'))} {r.randint(0, 1)}"

    def alias(self) -> str:
        r = self._r
        shape = r.choice(_ODD_ALIASES) if r.random() < 0.1 else "t{}"
        return shape.format(self._number())

    def _number(self) -> int:
        self._last += 1
        return self._last


def _parts_of(query: Query) -> tuple[str, tuple[Column, ...]]:
    return query.text, query.columns


def _owned(alias: str, columns: Sequence[Column]) -> tuple[Seen, ...]:
    return tuple(Seen(alias, c.name, c.type) for c in columns)


def visible(left: Sequence[Seen], right: Sequence[Seen]) -> tuple[Seen, ...]:
    """The columns of both sides; names that both have must be qualified."""
    names = [c.name.lower() for c in (*left, *right)]
    return tuple(replace(c, is_unique=names.count(c.name.lower()) == 1) for c in (*left, *right))


def _is_small(kind: Type) -> bool:
    return kind.sql in ("int", "smallint", "tinyint")
