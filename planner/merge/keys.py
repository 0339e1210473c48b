"""The columns that the condition of a MERGE compares: the keys of its sides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sqlglot import exp

from acidsql.grammar.quoting import name_sql
from acidsql.grammar.statements import Merge


def compared_columns(statement: Merge) -> dict[str, bool]:
    """The columns of `source` that the condition of a MERGE compares with columns of `target`, and whether by `<=>`."""
    found = {}
    for equal in _terms(statement):
        if isinstance(equal, exp.EQ | exp.NullSafeEQ):
            sides = [side for side in (equal.left.unnest(), equal.right.unnest()) if isinstance(side, exp.Column)]
            names = {side.table.lower(): side.name for side in sides}
            if names.keys() == {"source", "target"}:
                found[names["source"]] = isinstance(equal, exp.NullSafeEQ)
    return found


def key_query(statement: Merge, columns_of_target: Collection[str], row_id: Mapping[str, int]) -> str | None:
    """The query for the values that one row of the target has in the columns that ON compares with `=` or `<=>`; None
    where ON names none of them with the target. `row_id` has the three parts of the row's ID."""
    target = statement.target
    own = (statement.alias.value if statement.alias is not None else target.name).lower()
    columns = dict.fromkeys(
        side.name
        for term in _terms(statement)
        if isinstance(term, exp.EQ | exp.NullSafeEQ)
        for side in (term.left.unnest(), term.right.unnest())
        if isinstance(side, exp.Column) and _is_of(side, own, columns_of_target)
    )
    if not columns:
        return None
    table = ".".join(name_sql(part) for part in (target.database, target.name) if part is not None)
    condition = " AND ".join(f"row__id.{part} = {value}" for part, value in row_id.items())
    return f"SELECT {', '.join(map(name_sql, columns))} FROM {table} WHERE {condition}"


def _is_of(side: exp.Column, own: str, columns_of_target: Collection[str]) -> bool:
    """Whether a column is one of the target. One without a table's name is, if the target has it: it would be ambiguous
    if the source had it too."""
    return side.table.lower() == own if side.table else side.name.lower() in columns_of_target


def _terms(statement: Merge) -> Iterator[exp.Expr]:
    on = statement.on.unnest()
    return (term.unnest() for term in (on.flatten() if isinstance(on, exp.And) else (on,)))
