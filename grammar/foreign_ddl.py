"""Statements of other databases that Hive writes in another way: an error whose hint is Hive's statement."""

from __future__ import annotations

import re
from typing import Final

from acidsql.errors import AcidSqlError, Condition, Span
from acidsql.grammar.lexer import Lexed

_WORD: Final = r"(?:`[^`]+`|\w+)"
_ALTER: Final = rf"ALTER\s+TABLE\s+(?P<t>{_WORD}(?:\.{_WORD})?)\s+"
_COLUMN: Final = rf"(?P<c>{_WORD})\s+"
_CLAUSE: Final = r"(?:CONSTRAINT|COLUMNS|PARTITION|IF)\b"
_FOREIGN: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), hint)
    for pattern, hint in (
        (
            rf"{_ALTER}(?P<words>ADD(?:\s+COLUMN)?)\s+(?!{_CLAUSE})(?P<rest>{_WORD}\s+\w.*)",
            "ALTER TABLE {t} ADD COLUMNS ({rest})",
        ),
        (
            rf"{_ALTER}(?P<words>(?:ALTER|MODIFY)(?:\s+COLUMN)?)\s+{_COLUMN}(?:(?:SET\s+DATA\s+)?TYPE\s+)?(?P<rest>.+)",
            "ALTER TABLE {t} CHANGE COLUMN {c} {c} {rest}",
        ),
        (
            rf"{_ALTER}(?P<words>RENAME\s+COLUMN)\s+{_COLUMN}TO\s+(?P<rest>.+)",
            "ALTER TABLE {t} CHANGE COLUMN {c} {rest} .., with the type of the column at the end",
        ),
        (
            rf"CREATE\s+(?P<words>OR\s+REPLACE)\s+TABLE\s+(?P<t>{_WORD}(?:\.{_WORD})?)\b.*",
            "DROP TABLE IF EXISTS {t}, then CREATE TABLE; INSERT OVERWRITE TABLE {t} replaces the rows of a table",
        ),
        (
            r"CREATE\s.*?\b(?P<words>AUTO_INCREMENT|AUTOINCREMENT|GENERATED|IDENTITY|(?:BIG)?SERIAL)\b.*",
            "Number the rows where they are inserted: row_number() OVER (ORDER BY ..)",
        ),
        (r"CREATE\s+(?P<words>UNIQUE\s+INDEX)\b.*", "MERGE keeps keys unique: WHEN NOT MATCHED THEN INSERT"),
        (
            rf"(?P<words>VACUUM)(?:\s+TABLE)?\s+(?P<t>{_WORD}(?:\.{_WORD})?)\b.*",
            "ALTER TABLE {t} COMPACT 'major'",
        ),
        (r"SELECT\s+(?P<words>TOP)\s+\(?(?P<c>\d+)\)?\s+(?P<rest>.*)", "SELECT {rest} LIMIT {c}"),
        (
            rf"SELECT\s+(?P<c>.*)\s(?P<words>INTO)\s+(?P<t>{_WORD}(?:\.{_WORD})?)\s+(?P<rest>FROM\b.*)",
            "CREATE TABLE {t} AS SELECT {c} {rest}",
        ),
        (
            r"SELECT\s.*\s(?P<words>FOR\s+(?:UPDATE|SHARE))\b.*",
            "START TRANSACTION, the statements, COMMIT: they see one snapshot, and a conflict is an error",
        ),
    )
)
"""Patterns of whole statements, whose group `words` is underlined, and Hive's statements, with the groups in them."""


def refuse_foreign_ddl(lexed: Lexed) -> None:
    """Raises PARSE_SYNTAX_ERROR with a hint for a statement that Hive writes in another way. For statements that
    cannot be parsed."""
    whole = lexed.span(0, len(lexed.tokens) - 1)
    for pattern, hint in _FOREIGN:
        found = pattern.fullmatch(whole.text)
        if found is not None:
            span = Span(whole.source, whole.start + found.start("words"), whole.start + found.end("words"))
            groups = {name: " ".join(text.split()) for name, text in found.groupdict().items()}
            message = f"Syntax error near '{groups['words']}': Hive does this in another way"
            raise AcidSqlError(Condition.PARSE_SYNTAX_ERROR, span=span, message=message, hint=hint.format(**groups))
