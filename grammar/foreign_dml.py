"""DML of other databases that Hive lacks: an error whose hint is the statement of Hive's to write.

Hive writes rows that depend on other rows with MERGE. UPDATE .. FROM, DELETE .. USING, ON CONFLICT, REPLACE INTO and
the like are each one MERGE, which the hint spells out with the names of the statement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlglot.tokenizer_core import TokenType

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.lexer import Lexed, is_word

_NO_WRITE: Final = "A SELECT after the statement shows the rows; the statement itself returns their number."
_FEW_ROWS: Final = "WHERE chooses the rows: an ACID table has no order."


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The words of a statement outside of parentheses, and its text between them."""

    lexed: Lexed

    def find(self, *words: str, after: int = 0) -> int | None:
        """The index of the first token of these words in sequence, from `after` on."""
        depth = 0
        for index, token in enumerate(self.lexed.tokens):
            depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
            if index >= after and depth == 0 and self.stands(index, *words):
                return index
        return None

    def stands(self, index: int, *words: str) -> bool:
        """Whether the tokens from `index` on are these words. A token may hold two words (`ORDER BY`)."""
        tokens = self.lexed.tokens[index : index + len(words)]
        return len(tokens) == len(words) and all(
            is_word(t) and t.text.upper() == word for t, word in zip(tokens, words, strict=True)
        )

    def text(self, start: int, end: int | None = None) -> str:
        """The text of the tokens from `start` up to `end`, in one line."""
        last = len(self.lexed.tokens) if end is None else end
        return " ".join(self.lexed.span(start, last - 1).text.split()) if last > start else ""


def _first(*indexes: int | None) -> int | None:
    return min((i for i in indexes if i is not None), default=None)


def refuse_foreign_dml(lexed: Lexed) -> None:
    """Raises PARSE_SYNTAX_ERROR with a hint for DML of another database."""
    clauses = _Clauses(lexed)
    reader = _READERS.get(lexed.tokens[0].text.upper()) if is_word(lexed.tokens[0]) else None
    if reader is not None:
        reader(clauses)


def _refuse(clauses: _Clauses, index: int, last: int, feature: str, hint: str) -> None:
    span = clauses.lexed.span(index, last)
    message = f"Syntax error near '{span.text}': Hive has no {feature}"
    raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=message, hint=hint)


# ---------------------------------------------------------------------------------------------------- UPDATE


def _update(c: _Clauses) -> None:
    assigned = c.find("SET")
    if assigned is None:
        return
    join = c.find("JOIN")
    if join is not None and join < assigned:
        _refuse(c, join, join, "UPDATE of a join", _merge_of_join(c, 1, assigned, _update_action(c, assigned)))
    source, where = c.find("FROM", after=assigned), c.find("WHERE", after=assigned)
    if source is not None:
        on = _text_between(c, where, "..")
        hint = _merge(c.text(1, assigned), c.text(source + 1, where), on, _update_action(c, assigned))
        _refuse(c, source, source, "UPDATE .. FROM", hint)
    _refuse_ends(c, "UPDATE")


def _update_action(c: _Clauses, assigned: int) -> str:
    end = _first(c.find("FROM", after=assigned), c.find("WHERE", after=assigned))
    return f"UPDATE {c.text(assigned, end)}"


def _merge(target: str, source: str, on: str, action: str) -> str:
    many = " JOIN " in source.upper() or "," in source
    using = f"(SELECT .. FROM {source}) s" if many else source
    return f"MERGE INTO {target} USING {using} ON {on} WHEN MATCHED THEN {action}"


def _merge_of_join(c: _Clauses, start: int, end: int, action: str) -> str:
    """The MERGE for `t JOIN s ON ..`, whose tokens are `start` to `end`."""
    join, on = c.find("JOIN", after=start), c.find("ON", after=start)
    if join is None or on is None:
        return f"MERGE INTO .. USING .. ON .. WHEN MATCHED THEN {action}"
    kind = join - 1 if c.stands(join - 1, "INNER") or c.stands(join - 1, "LEFT") else join
    return _merge(c.text(start, kind), c.text(join + 1, on), c.text(on + 1, end), action)


def _text_between(c: _Clauses, clause: int | None, default: str) -> str:
    if clause is None:
        return default
    return c.text(clause + 1, _first(c.find("RETURNING"), c.find("ORDER BY"), c.find("LIMIT"))) or default


def _refuse_ends(c: _Clauses, statement: str) -> None:
    """Refuses RETURNING, ORDER BY and LIMIT at a statement's end."""
    start = 4 if statement == "INSERT" else 2  # a table or an alias may have the name
    returning = c.find("RETURNING", after=start)
    if returning is not None and not c.stands(returning - 1, "AS"):
        _refuse(c, returning, returning, f"{statement} .. RETURNING", _NO_WRITE)
    if statement != "INSERT":
        end = _first(c.find("ORDER BY", after=start), c.find("LIMIT", after=start))
        if end is not None:
            _refuse(c, end, end, f"{statement} .. {c.lexed.tokens[end].text.upper()}", _FEW_ROWS)


# ---------------------------------------------------------------------------------------------------- DELETE


def _delete(c: _Clauses) -> None:
    if not c.stands(1, "FROM"):
        _refuse_delete_of_names(c)
        return
    using, join, where = c.find("USING"), c.find("JOIN"), c.find("WHERE")
    if using is not None and (where is None or using < where) and (join is None or using < join):
        hint = _merge(c.text(2, using), c.text(using + 1, where), _text_between(c, where, ".."), "DELETE")
        _refuse(c, using, using, "DELETE .. USING", hint)
    if join is not None and (where is None or join < where):
        _refuse(c, join, join, "DELETE of a join", _merge_of_join(c, 2, where or len(c.lexed.tokens), "DELETE"))
    _refuse_ends(c, "DELETE")


def _refuse_delete_of_names(c: _Clauses) -> None:
    """DELETE t .., DELETE * FROM t, and DELETE t FROM t JOIN s."""
    source, where, join = c.find("FROM"), c.find("WHERE"), c.find("JOIN")
    if source is not None and join is not None:
        hint = _merge_of_join(c, source + 1, where or len(c.lexed.tokens), "DELETE")
        _refuse(c, 1, source, "DELETE of a join", hint)
    if len(c.lexed.tokens) < 2 or c.stands(1, "FROM"):
        return
    rest = c.text(1) if source is None else c.text(source + 1)
    if c.lexed.tokens[1].token_type is TokenType.STAR or source is None:
        _refuse(c, 1, 1, "DELETE without FROM" if source is None else "columns in DELETE", f"DELETE FROM {rest}")


# ---------------------------------------------------------------------------------------------------- INSERT


def _insert(c: _Clauses) -> None:
    if c.stands(1, "OR", "REPLACE"):
        _refuse(c, 1, 2, "INSERT OR REPLACE", _upsert(c, c.find("INTO"), None, None))
    if c.stands(1, "IGNORE"):
        _refuse(c, 1, 1, "INSERT IGNORE", _upsert(c, c.find("INTO"), None, None, updates=False))
    conflict = c.find("ON", "CONFLICT")
    if conflict is not None:
        updates = c.find("NOTHING", after=conflict) is None
        hint = _upsert(c, c.find("INTO"), conflict, _conflict_columns(c, conflict), updates=updates)
        _refuse(c, conflict, conflict + 1, "INSERT .. ON CONFLICT", hint)
    duplicate = c.find("ON", "DUPLICATE")
    if duplicate is not None:
        _refuse(c, duplicate, duplicate + 1, "INSERT .. ON DUPLICATE KEY", _upsert(c, c.find("INTO"), duplicate, None))
    _refuse_set(c)
    _refuse_ends(c, "INSERT")


def _refuse_set(c: _Clauses) -> None:
    """INSERT INTO t SET a = 1, and INSERT INTO t DEFAULT VALUES."""
    assigned, into, given = c.find("SET"), c.find("INTO"), _first(c.find("SELECT"), c.find("VALUES"))
    if into is None:
        return
    table = c.text(into + 1, _end_of_name(c, into + 1))
    if assigned is not None and given is None:
        _refuse(c, assigned, assigned, "INSERT .. SET", f"INSERT INTO {table} (a, b) VALUES (1, 2)")
    default = c.find("DEFAULT", "VALUES")
    if default is not None:
        hint = f"INSERT INTO {table} VALUES (DEFAULT, DEFAULT), one DEFAULT for each column"
        _refuse(c, default, default + 1, "DEFAULT VALUES", hint)


def _replace(c: _Clauses) -> None:
    name = c.lexed.tokens[0].text.upper()
    into = c.find("INTO")
    if into == 1:
        _refuse(c, 0, 1, f"{name} INTO", _upsert(c, into, None, None))


def _upsert(c: _Clauses, into: int | None, end: int | None, keys: list[str] | None, *, updates: bool = True) -> str:
    """The MERGE for an INSERT whose rows replace the rows with equal keys."""
    start = (into or 0) + 1
    if c.stands(start, "TABLE"):
        start += 1
    after = _end_of_name(c, start)
    target = c.text(start, after)
    given = _first(c.find("VALUES", after=after), c.find("SELECT", after=after))
    columns = c.text(after, given) if given is not None and given > after else "(..)"
    rows = c.text(given, end) if given is not None else ".."
    on = " AND ".join(f"{target}.{key} = excluded.{key}" for key in keys or ["id"])
    action = f" WHEN MATCHED THEN {_conflict_action(c, end)}" if updates else ""
    source = f"({rows}) AS excluded {columns}"
    return f"MERGE INTO {target} USING {source} ON {on}{action} WHEN NOT MATCHED THEN INSERT *"


def _conflict_action(c: _Clauses, conflict: int | None) -> str:
    assigned = c.find("SET", after=conflict) if conflict is not None else None
    return f"UPDATE {c.text(assigned, c.find('WHERE', after=assigned))}" if assigned is not None else "UPDATE SET *"


def _conflict_columns(c: _Clauses, conflict: int) -> list[str] | None:
    opened = conflict + 2
    tokens = c.lexed.tokens
    if opened >= len(tokens) or tokens[opened].token_type is not TokenType.L_PAREN:
        return None
    end = next((i for i in range(opened, len(tokens)) if tokens[i].token_type is TokenType.R_PAREN), len(tokens))
    return [t.text for t in tokens[opened + 1 : end] if t.token_type is not TokenType.COMMA] or None


def _end_of_name(c: _Clauses, start: int) -> int:
    """The index behind the name `t` or `db.t` at `start`."""
    tokens = c.lexed.tokens
    qualified = start + 1 < len(tokens) and tokens[start + 1].token_type is TokenType.DOT
    return min(start + (3 if qualified else 1), len(tokens))


# ---------------------------------------------------------------------------------------------------- MERGE


def _merge_statement(c: _Clauses) -> None:
    if not c.stands(1, "INTO") and c.find("USING") is not None:
        _refuse(c, 1, 1, "MERGE without INTO", f"MERGE INTO {c.text(1)}")
    nothing = c.find("DO", "NOTHING")
    if nothing is not None:
        _refuse(
            c, nothing, nothing + 1, "DO NOTHING in MERGE", "A row without a clause that matches it stays as it is."
        )
    _refuse_ends(c, "MERGE")


_READERS: Final[dict[str, Callable[[_Clauses], None]]] = {
    "UPDATE": _update,
    "DELETE": _delete,
    "INSERT": _insert,
    "REPLACE": _replace,
    "UPSERT": _replace,
    "MERGE": _merge_statement,
}
