"""The compiler of SQLAlchemy's statements to HiveQL, and the quoting of names."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any, Final

from sqlalchemy import types
from sqlalchemy.sql.compiler import IdentifierPreparer, SQLCompiler

from acidsql.grammar.variable_substitution import without_variables

_PREFIX: Final = "p_"
"""Begins the name of each parameter: `:from` or `:1` would not be read as parameters."""


class AcidSqlIdentifierPreparer(IdentifierPreparer):
    """Quotes every name in backticks, so that no name is a keyword."""

    def __init__(self, dialect: Any) -> None:
        super().__init__(dialect, initial_quote="`", escape_quote="`")

    def _requires_quotes(self, value: str) -> bool:
        return True


def string_literal(text: str) -> str:
    r"""A text as a literal of Hive, in which a backslash escapes and nothing looks like a variable (`${name}`).

    >>> print(string_literal("it's \\"))
    'it\'s \\'
    >>> print(string_literal("${env:HOME}"))
    '\u0024{env:HOME}'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return without_variables(f"'{escaped}'")


def _number_literal(value: float) -> str:
    """NaN, an infinity or -0.0 as an expression. SQLAlchemy writes `nan` and `inf`, which are names of columns, and the
    literal -0.0 is a DECIMAL without a sign.

    >>> _number_literal(float("-inf"))
    "CAST('-Infinity' AS DOUBLE)"
    """
    text = str(value) if isfinite(value) else "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return f"CAST('{text}' AS DOUBLE)"


_ESCAPED: Final = {
    character: f"_{ord(character):x}_"
    for character in map(chr, range(32, 127))
    if not (character.isalnum() or character == "_")
}
"""What stands in the name of a parameter for a character that it cannot have."""


class AcidSqlCompiler(SQLCompiler):
    """Compiles SELECT, INSERT, UPDATE and DELETE."""

    bindname_escape_characters = _ESCAPED

    def bindparam_string(self, name: str, **kw: Any) -> str:  # type: ignore[override]
        if kw.get("escaped_from") or kw.get("post_compile"):
            return super().bindparam_string(name, **kw)
        plain = self._bind_translate_re.sub(lambda found: self._bind_translate_chars[found.group(0)], name)
        kw["escaped_from"] = name
        return super().bindparam_string(f"{_PREFIX}{plain}", **kw)

    def render_literal_value(self, value: Any, type_: Any) -> str:
        if isinstance(value, bytes):
            return f"X'{value.hex()}'"
        if isinstance(type_, types.ARRAY) and isinstance(value, list | tuple):
            return f"array({', '.join(self._element(item, type_) for item in value)})"
        if isinstance(value, float) and (not isfinite(value) or str(value) == "-0.0"):
            return _number_literal(value)
        text = super().render_literal_value(value, type_)
        if not (text.startswith("'") and text.endswith("'")):
            return text
        if isinstance(type_, types.DateTime):
            return f"{'TIMESTAMP_LTZ' if value.tzinfo is not None else 'TIMESTAMP'} {text}"
        if isinstance(type_, types.Date):
            return f"DATE {text}"
        return string_literal(text[1:-1].replace("''", "'"))

    def _element(self, value: Any, type_: Any) -> str:
        """An element of an array as a literal: an array too, if the type has several dimensions."""
        if value is None:
            return "NULL"
        return self.render_literal_value(value, type_ if isinstance(value, list | tuple) else type_.item_type)

    def limit_clause(self, select: Any, **kw: Any) -> str:
        text = ""
        if select._limit_clause is not None:
            text += "\n LIMIT " + self.process(select._limit_clause, **kw)
        if select._offset_clause is not None:
            text += "\n OFFSET " + self.process(select._offset_clause, **kw)
        return text

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """Nothing: readers do not lock rows, and of two writers of a row the first to commit wins."""
        return ""

    def visit_empty_set_expr(self, element_types: Any, **kw: Any) -> str:
        nulls = (f"CAST(NULL AS {self._type_in_cast(kind)})" for kind in element_types or [types.INTEGER()])
        return f"SELECT {', '.join(nulls)} WHERE 1 != 1"

    def _type_in_cast(self, kind: Any) -> str:
        known = types.INTEGER() if isinstance(kind, types.NullType) else kind
        return str(self.dialect.type_compiler_instance.process(known))

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"NOT ({self.process(binary.left, **kw)} <=> {self.process(binary.right, **kw)})"

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"{self.process(binary.left, **kw)} <=> {self.process(binary.right, **kw)}"

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return str(self._generate_generic_binary(binary, " RLIKE ", **kw))

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return str(self._generate_generic_binary(binary, " NOT RLIKE ", **kw))

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"regexp_replace({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"

    def visit_getitem_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"{self.process(binary.left, **kw)}[{self.process(binary.right, **kw)}]"

    def visit_now_func(self, fn: Any, **kw: Any) -> str:
        return "current_timestamp()"
