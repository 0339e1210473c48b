"""The WHEN clauses of a MERGE as immutable values: each call of a method gives new clauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, Self, TypeAlias, TypeVar

from acidsql.errors import AcidSqlError, Condition

Kind: TypeAlias = Literal["MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"]
Verb: TypeAlias = Literal["UPDATE", "DELETE", "INSERT"]
Builder = TypeVar("Builder", bound="MergeClauses")

_STAR: Final = "*"


@dataclass(frozen=True, slots=True)
class WhenClause:
    """One WHEN clause. `columns` and `values` are those that it writes; None of both stands for all of the source."""

    kind: Kind
    condition: str | None
    verb: Verb
    columns: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None

    def sql(self) -> str:
        """The clause as SQL."""
        condition = "" if self.condition is None else f" AND {fragment(self.condition)}"
        return f"WHEN {self.kind}{condition} THEN {self._action()}"

    def _action(self) -> str:
        match self.verb:
            case "DELETE":
                return "DELETE"
            case "UPDATE":
                return f"UPDATE SET {_STAR if self.values is None else assignments_sql(self.columns, self.values)}"
            case "INSERT":
                if self.values is None:
                    return f"INSERT {_STAR}"
                columns = "" if self.columns is None else f"({names_sql(self.columns)}) "
                return f"INSERT {columns}VALUES ({', '.join(map(fragment, self.values))})"


@dataclass(frozen=True, slots=True)
class MergeClauses:
    """WHEN clauses in their order. A MergeBuilder has them, and `acidsql.streaming.merge` takes them.

    Conditions and values are SQL text, which names the two sides `target` and `source`. A value may be the word
    DEFAULT.

    >>> from acidsql.frame_api.merge_clauses import MergeClauses
    >>> upsert = MergeClauses().when_matched().update_all().when_not_matched().insert_all()
    >>> print(upsert.clauses_sql())
    WHEN MATCHED THEN UPDATE SET *
    WHEN NOT MATCHED THEN INSERT *
    """

    clauses: tuple[WhenClause, ...] = ()

    def when_matched(self, condition: str | None = None) -> WhenMatched[Self]:
        """Begins a clause for rows of the target that have a row of the source.

        >>> from acidsql.frame_api.merge_clauses import MergeClauses
        >>> print(MergeClauses().when_matched("source.gone").delete().clauses_sql())
        WHEN MATCHED AND source.gone THEN DELETE
        """
        return WhenMatched(self, condition)

    def when_not_matched(self, condition: str | None = None) -> WhenNotMatched[Self]:
        """Begins a clause for rows of the source that have no row of the target.

        >>> from acidsql.frame_api.merge_clauses import MergeClauses
        >>> print(MergeClauses().when_not_matched().insert({"id": "source.id", "v": "DEFAULT"}).clauses_sql())
        WHEN NOT MATCHED THEN INSERT (`id`, `v`) VALUES (source.id, DEFAULT)
        """
        return WhenNotMatched(self, condition)

    def when_not_matched_by_source(self, condition: str | None = None) -> WhenNotMatchedBySource[Self]:
        """Begins a clause for rows of the target that have no row of the source.

        >>> from acidsql.frame_api.merge_clauses import MergeClauses
        >>> clauses = MergeClauses().when_not_matched_by_source("target.v > 1").update({"v": "target.v - 1"})
        >>> print(clauses.clauses_sql())
        WHEN NOT MATCHED BY SOURCE AND target.v > 1 THEN UPDATE SET `v` = target.v - 1
        """
        return WhenNotMatchedBySource(self, condition)

    def clauses_sql(self) -> str:
        """The clauses as SQL, one in each line."""
        return "\n".join(clause.sql() for clause in self.clauses)

    def followed_by(self, clause: WhenClause) -> Self:
        """The clauses with a further one behind them."""
        return replace(self, clauses=(*self.clauses, clause))


@dataclass(frozen=True, slots=True)
class WhenMatched(Generic[Builder]):
    """WHEN MATCHED, without its action."""

    builder: Builder
    condition: str | None = None

    def update(self, assignments: Mapping[str, str]) -> Builder:
        """UPDATE SET: the new values of columns, as SQL text. Other columns keep their values."""
        return self.builder.followed_by(_update("MATCHED", self.condition, assignments))

    def update_all(self) -> Builder:
        """UPDATE SET *: each column gets the value of the source's column of its name."""
        return self.builder.followed_by(WhenClause("MATCHED", _condition(self.condition), "UPDATE"))

    def delete(self) -> Builder:
        """DELETE."""
        return self.builder.followed_by(WhenClause("MATCHED", _condition(self.condition), "DELETE"))


@dataclass(frozen=True, slots=True)
class WhenNotMatched(Generic[Builder]):
    """WHEN NOT MATCHED, without its action."""

    builder: Builder
    condition: str | None = None

    def insert(self, values: Mapping[str, str] | Sequence[str]) -> Builder:
        """INSERT: the values of columns by name, or the values of all columns in the order of the table, as SQL text.

        A column without a value gets its DEFAULT, else NULL.
        """
        columns = tuple(values) if isinstance(values, Mapping) else None
        given = tuple(
            sql_text("insert", v) for v in (values.values() if isinstance(values, Mapping) else _listed(values))
        )
        _require_some("insert", given)
        clause = WhenClause("NOT MATCHED", _condition(self.condition), "INSERT", columns, given)
        return self.builder.followed_by(clause)

    def insert_all(self) -> Builder:
        """INSERT *: each column gets the value of the source's column of its name."""
        return self.builder.followed_by(WhenClause("NOT MATCHED", _condition(self.condition), "INSERT"))


@dataclass(frozen=True, slots=True)
class WhenNotMatchedBySource(Generic[Builder]):
    """WHEN NOT MATCHED BY SOURCE, without its action."""

    builder: Builder
    condition: str | None = None

    def update(self, assignments: Mapping[str, str]) -> Builder:
        """UPDATE SET: the new values of columns, as SQL text, which cannot name the source."""
        return self.builder.followed_by(_update("NOT MATCHED BY SOURCE", self.condition, assignments))

    def delete(self) -> Builder:
        """DELETE."""
        return self.builder.followed_by(WhenClause("NOT MATCHED BY SOURCE", _condition(self.condition), "DELETE"))


def _update(kind: Kind, condition: str | None, assignments: Mapping[str, str]) -> WhenClause:
    columns, values = checked_assignments("update", assignments)
    return WhenClause(kind, _condition(condition), "UPDATE", columns, values)


# ------------------------------------------------------------------------------------------------ SQL text


def checked_assignments(name: str, assignments: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns and the values of assignments. Raises INVALID_PARAMETER for what is no mapping to SQL text."""
    if not isinstance(assignments, Mapping):
        reason = f"it is a {type(assignments).__name__}, not a mapping of columns to SQL text"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name=name, reason=reason)
    _require_some(name, assignments)
    for column in assignments:
        if not isinstance(column, str):
            raise AcidSqlError(Condition.INVALID_PARAMETER, name=name, reason=f"{column!r} is not a name of a column")
    return tuple(assignments), tuple(sql_text(name, value) for value in assignments.values())


def assignments_sql(columns: Sequence[str] | None, values: Sequence[str]) -> str:
    """The assignments of SET. Names are quoted, values are SQL text."""
    from acidsql.grammar.quoting import name_sql

    pairs = zip(columns or (), values, strict=True)
    return ", ".join(f"{name_sql(column)} = {fragment(value)}" for column, value in pairs)


def names_sql(names: Sequence[str]) -> str:
    """Quoted names with commas between them."""
    from acidsql.grammar.quoting import name_sql

    return ", ".join(map(name_sql, names))


def fragment(text: str) -> str:
    """A user's text as a part of a statement. A comment in it ends with it."""
    return f"{text}\n" if "--" in text else text


def _condition(text: str | None) -> str | None:
    return None if text is None else sql_text("condition", text)


def sql_text(name: str, value: object) -> str:
    """The value of a parameter, if it is SQL text. Raises INVALID_PARAMETER."""
    if not isinstance(value, str) or not value.strip():
        hint = "Give SQL text: the number 5 as '5', a string as \"'x'\"."
        reason = f"{value!r} is not SQL text"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name=name, reason=reason, hint=hint)
    return value


def _listed(values: object) -> tuple[str, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        reason = f"it is a {type(values).__name__}, not a list of values"
        raise AcidSqlError(Condition.INVALID_PARAMETER, name="insert", reason=reason)
    _require_some("insert", values)
    return tuple(sql_text("insert", value) for value in values)


def _require_some(name: str, values: object) -> None:
    if not values:
        raise AcidSqlError(Condition.INVALID_PARAMETER, name=name, reason="it names no column")
