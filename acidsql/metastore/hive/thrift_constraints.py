"""Conversion of constraints between Hive's Thrift structs and acidsql. Makes no calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Any, Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.table import Check, ConstraintKind, ConstraintName, Constraints, Table
from acidsql.metastore.hive import thrift_idl as idl

_CATALOG: Final = "hive"
_GENERATED: Final = re.compile(r"[a-z]{2}_-?\d+_\d+_\d+")
"""Names that the metastore generated (ObjectStore.generateConstraintName)."""
_ENFORCED: Final = (True, False, True)
"""ENABLE NOVALIDATE RELY."""
_INFORMATIONAL: Final = (False, False, False)
"""DISABLE NOVALIDATE NORELY."""


def constraints_from_hive(found: Any) -> Constraints:
    """The enforced constraints, and the names that users gave, of a SQLAllTableConstraints."""
    not_null, defaults, checks = (
        [c for c in listed or () if c.enable_cstr]
        for listed in (found.notNullConstraints, found.defaultConstraints, found.checkConstraints)
    )
    return Constraints(
        frozenset(c.column_name for c in not_null),
        {c.column_name: c.default_value for c in defaults},
        tuple(Check(_given_name(c.dc_name), c.check_expression) for c in checks),
        tuple(sorted(_names(found), key=attrgetter("name"))),
    )


def _given_name(name: str) -> str | None:
    return None if _GENERATED.fullmatch(name) else name


def _names(found: Any) -> Iterator[ConstraintName]:
    """A key has one struct for each of its columns."""
    for name, keys in _by_name(found.primaryKeys, "pk_name"):
        yield ConstraintName(name, ConstraintKind.PRIMARY_KEY, tuple(k.column_name for k in keys))
    for name, keys in _by_name(found.uniqueConstraints, "uk_name"):
        yield ConstraintName(name, ConstraintKind.UNIQUE, tuple(k.column_name for k in keys))
    for name, keys in _by_name(found.foreignKeys, "fk_name"):
        parent = f"{keys[0].pktable_db}.{keys[0].pktable_name}"
        columns, parent_columns = (tuple(getattr(k, f) for k in keys) for f in ("fkcolumn_name", "pkcolumn_name"))
        yield ConstraintName(name, ConstraintKind.FOREIGN_KEY, columns, parent, parent_columns)
    for name, (first, *_) in _by_name(found.notNullConstraints, "nn_name"):
        yield ConstraintName(name, ConstraintKind.NOT_NULL, (first.column_name,))
    for name, (first, *_) in _by_name(found.defaultConstraints, "dc_name"):
        yield ConstraintName(name, ConstraintKind.DEFAULT, (first.column_name,))
    for name, (first, *_) in _by_name(found.checkConstraints, "dc_name"):
        if not first.enable_cstr:
            yield ConstraintName(name, ConstraintKind.CHECK, condition=first.check_expression)


def _by_name(found: Sequence[Any] | None, name: str) -> Iterator[tuple[str, list[Any]]]:
    named = [c for c in found or () if _given_name(getattr(c, name)) is not None]
    for key, group in groupby(sorted(named, key=attrgetter(name)), attrgetter(name)):
        yield key, sorted(group, key=lambda c: getattr(c, "key_seq", 0))


def constraints_to_hive(table: Table) -> Any:
    """A SQLAllTableConstraints with the enforced constraints and the named ones."""
    constraints = table.constraints
    where = (_CATALOG, table.database, table.name)
    named = {(n.kind, n.columns): n.name for n in constraints.names}
    not_null = [
        t.SQLNotNullConstraint(*where, column, named.get((ConstraintKind.NOT_NULL, (column,))), *_ENFORCED)
        for column in sorted(constraints.not_null)
    ]
    not_null += [
        t.SQLNotNullConstraint(*where, *n.columns, n.name, *_INFORMATIONAL)
        for n in constraints.names
        if n.kind is ConstraintKind.NOT_NULL and not constraints.not_null.issuperset(n.columns)
    ]
    defaults = [
        t.SQLDefaultConstraint(*where, column, value, named.get((ConstraintKind.DEFAULT, (column,))), *_ENFORCED)
        for column, value in sorted(constraints.defaults.items())
    ]
    checks = [t.SQLCheckConstraint(*where, None, c.condition, c.name, *_ENFORCED) for c in constraints.checks]
    disabled = [n for n in constraints.names if n.kind is ConstraintKind.CHECK]
    checks += [t.SQLCheckConstraint(*where, None, n.condition, n.name, *_INFORMATIONAL) for n in disabled]
    return idl.SQLAllTableConstraints(
        primaryKeys=_keys(table, ConstraintKind.PRIMARY_KEY) or None,
        foreignKeys=_keys(table, ConstraintKind.FOREIGN_KEY) or None,
        uniqueConstraints=_keys(table, ConstraintKind.UNIQUE) or None,
        notNullConstraints=not_null or None,
        defaultConstraints=defaults or None,
        checkConstraints=checks or None,
    )


def _keys(table: Table, kind: ConstraintKind) -> list[Any]:
    return [key for named in table.constraints.names if named.kind is kind for key in _key(table, named)]


def _key(table: Table, named: ConstraintName) -> Iterator[Any]:
    where = (table.database, table.name)
    database, _, parent = (named.parent or "").partition(".")
    for number, (column, of_parent) in enumerate(zip_longest(named.columns, named.parent_columns), 1):
        match named.kind:
            case ConstraintKind.PRIMARY_KEY:
                yield t.SQLPrimaryKey(*where, column, number, named.name, *_INFORMATIONAL, _CATALOG)
            case ConstraintKind.UNIQUE:
                yield t.SQLUniqueConstraint(_CATALOG, *where, column, number, named.name, *_INFORMATIONAL)
            case _:
                yield t.SQLForeignKey(
                    *(database, parent, of_parent, *where, column, number, 0, 0, named.name, None),
                    *_INFORMATIONAL,
                    _CATALOG,
                )
