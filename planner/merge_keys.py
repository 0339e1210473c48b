"""The columns that the condition of a MERGE compares: the key of its source."""

from __future__ import annotations

from sqlglot import exp

from acidsql.grammar.statements import Merge


def compared_columns(statement: Merge) -> dict[str, bool]:
    """The columns of `source` that the condition of a MERGE compares with columns of `target`, and whether by `<=>`."""
    on, found = statement.on.unnest(), {}
    for term in on.flatten() if isinstance(on, exp.And) else (on,):
        equal = term.unnest()
        if isinstance(equal, exp.EQ | exp.NullSafeEQ):
            sides = [side for side in (equal.left.unnest(), equal.right.unnest()) if isinstance(side, exp.Column)]
            names = {side.table.lower(): side.name for side in sides}
            if names.keys() == {"source", "target"}:
                found[names["source"]] = isinstance(equal, exp.NullSafeEQ)
    return found
