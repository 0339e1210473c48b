"""Hive's statements that acidsql does not support, each refused by its name."""

from __future__ import annotations

from collections.abc import Sequence

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.lexer import Lexed, is_word

# org.apache.hadoop.hive.ql.parse.HiveParser.g, rules `statement`, `ddlStatement` and `sqlTransactionStatement`, and
# the commands of org.apache.hadoop.hive.ql.processors.HiveCommand. `*` stands for any one word or table name.
_STATEMENTS = (
    "GRANT", "REVOKE", "EXPORT", "IMPORT", "REPL", "KILL",
    "PREPARE", "EXECUTE", "DFS", "ADD JAR", "ADD JARS", "ADD FILE", "ADD FILES", "ADD ARCHIVE",
    "ADD ARCHIVES", "DELETE JAR", "DELETE FILE", "DELETE ARCHIVE", "LIST JAR", "LIST JARS", "LIST FILE", "LIST FILES",
    "COMPILE", "OPTIMIZE", "REBUILD",
    "CREATE FUNCTION", "CREATE MACRO", "CREATE INDEX",
    "CREATE ROLE", "CREATE MATERIALIZED VIEW", "CREATE RESOURCE PLAN", "CREATE POOL", "CREATE TRIGGER",
    "CREATE SCHEDULED QUERY", "CREATE DATACONNECTOR", "CREATE REMOTE DATABASE",
    "DROP FUNCTION", "DROP MACRO", "DROP INDEX", "DROP ROLE",
    "DROP MATERIALIZED VIEW", "DROP RESOURCE PLAN", "DROP POOL", "DROP TRIGGER", "DROP DATACONNECTOR",
    "DROP SCHEDULED QUERY", "DROP REMOTE DATABASE",
    "ALTER MATERIALIZED VIEW", "ALTER INDEX", "ALTER RESOURCE PLAN",
    "ALTER SCHEDULED QUERY", "ALTER DATACONNECTOR",
    "SHOW ROLES", "SHOW GRANT", "SHOW CONF", "SHOW INDEX", "SHOW INDEXES",
    "SHOW FORMATTED", "SHOW CURRENT ROLES", "SHOW ROLE GRANT", "SHOW PRINCIPALS", "SHOW MATERIALIZED VIEWS",
    "SHOW RESOURCE PLAN", "SHOW RESOURCE PLANS", "SHOW DATACONNECTORS", "SHOW PROCESSLIST",
    "SHOW EXTENDED TABLES",
    "DESCRIBE DATACONNECTOR", "SET ROLE",
    "MAP", "REDUCE",
    "EXPLAIN ANALYZE", "EXPLAIN REOPTIMIZATION", "EXPLAIN JOINCOST", "EXPLAIN COST", "EXPLAIN CODEGEN",
)  # fmt: skip
_SUPPORTED = {("EXPLAIN", "ANALYZE", "TABLE")}
"""The beginnings of statements that acidsql has, although they begin as one of those above."""
_HINTS: dict[tuple[str, ...], str] = {
    (
        "CREATE",
        "FUNCTION",
    ): "CREATE TEMPORARY FUNCTION name AS 'package.module.function' gives a function of Python a name.",
    ("CREATE", "MACRO"): "A macro is temporary: CREATE TEMPORARY MACRO.",
    ("DROP", "MACRO"): "A macro is temporary: DROP TEMPORARY MACRO.",
}
_ALTER_ACTIONS = (
    "SET SKEWED LOCATION", "SKEWED BY", "NOT SKEWED", "NOT STORED AS DIRECTORIES", "SORTED BY", "ARCHIVE",
    "UNARCHIVE", "RECOVER PARTITIONS", "UPDATE COLUMNS", "PARTITION COLUMN", "ENABLE", "DISABLE",
    "SET PARTITION SPEC", "EXECUTE", "DROP COLUMN", "CREATE BRANCH", "CREATE TAG",
)  # fmt: skip
_ALTER_VIEW_ACTIONS = ("ADD PARTITION", "ADD IF", "DROP PARTITION", "DROP IF")
_STARTS = {tuple(words.split()) for words in _STATEMENTS}
_LONGEST = max(len(words) for words in _STARTS)


def refuse_foreign(lexed: Lexed) -> None:
    """Raises NOT_YET_SUPPORTED with the name of a statement of Hive that acidsql does not support, and EXPLICIT_LOCKS,
    as Hive's DbTxnManager does."""
    words = _words(lexed, 0, _LONGEST)
    if words and words[0] in ("LOCK", "UNLOCK"):
        hint = "Each statement locks what it reads and writes; START TRANSACTION .. COMMIT keeps the locks of several."
        raise AcidSqlError(Condition.EXPLICIT_LOCKS, span=lexed.span(0), hint=hint)
    for length in range(len(words), 0, -1):
        if words[:length] in _SUPPORTED:
            return
        if words[:length] in _STARTS:
            span, feature = lexed.span(0, length - 1), " ".join(words[:length])
            hint = _HINTS.get(words[:length], "")
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature=feature, hint=hint)
    if words[:2] == ("ALTER", "TABLE"):
        _refuse_action(lexed, "ALTER TABLE", _ALTER_ACTIONS)
    elif words[:2] == ("ALTER", "VIEW"):
        _refuse_action(lexed, "ALTER VIEW", _ALTER_VIEW_ACTIONS)


def _refuse_action(lexed: Lexed, statement: str, actions: Sequence[str]) -> None:
    for index in (3, 5):  # ALTER TABLE t .., ALTER TABLE db.t ..
        words = _words(lexed, index, 4)
        for action in actions:
            wanted = tuple(action.split())
            if words[: len(wanted)] == wanted:
                span = lexed.span(index, index + len(wanted) - 1)
                raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=span, feature=f"{statement} .. {action}")


def _words(lexed: Lexed, index: int, count: int) -> tuple[str, ...]:
    found: list[str] = []
    for token in lexed.tokens[index : index + count]:
        if not is_word(token):
            break
        found.append(token.text.upper())
    return tuple(found)
