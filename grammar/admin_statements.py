"""Builders of statements about databases, transactions and settings, of SHOW, DESCRIBE, DROP and TRUNCATE."""

from __future__ import annotations

from dataclasses import replace

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import clauses
from acidsql.grammar.alter_table import set_owner
from acidsql.grammar.setting_text import Autocommit, Setting
from acidsql.grammar.statement_reader import Leaf, Node
from acidsql.grammar.statements import (
    AbortCompactions,
    AbortTransactions,
    AlterDatabase,
    AlterDatabaseAction,
    AnalyzeTable,
    Cache,
    Commit,
    CompactionClause,
    CompactionFilter,
    CompactionId,
    CompactionLimit,
    CompactionOrder,
    CreateDatabase,
    Describe,
    DescribeHistory,
    DropDatabase,
    DropTable,
    Name,
    NoEffect,
    RepairTable,
    ResetSettings,
    Rollback,
    SetAutocommit,
    SetDatabaseLocation,
    SetDatabaseProperties,
    SetSetting,
    Show,
    Shown,
    StartTransaction,
    TableName,
    TruncateTable,
    UseDatabase,
)


def drop_table(node: Node, source: str) -> DropTable:
    return DropTable(source, clauses.target(node), node.has("if_exists"), node.has("purge"))


def repair_table(node: Node, source: str) -> RepairTable:
    repaired = node.maybe("repaired")
    if repaired is None:
        return RepairTable(source, clauses.target(node), node.has("repair"))
    if choice := repaired.maybe("partition_choice"):
        feature = "MSCK of some partitions only"
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=choice.span, feature=feature)
    first = repaired.parts[0]
    assert isinstance(first, Leaf)
    word = first.text.upper()
    return RepairTable(
        source, clauses.target(node), node.has("repair"), word in ("ADD", "SYNC"), word in ("DROP", "SYNC")
    )


def truncate_table(node: Node, source: str) -> TruncateTable:
    """Raises TRUNCATE_COLUMNS: Hive truncates columns of RCFile tables only, and acidsql has no such tables."""
    if (columns := node.maybe("truncated_columns")) is not None:
        raise AcidSqlError(Condition.TRUNCATE_COLUMNS, span=columns.span)
    return TruncateTable(source, clauses.target(node), clauses.partition_of(node))


def analyze_table(node: Node, source: str) -> AnalyzeTable:
    of = node.maybe("for_columns")
    columns = None if of is None else clauses.names(of)
    return AnalyzeTable(source, clauses.target(node), clauses.partition_of(node), columns, not node.has("noscan"))


def create_database(node: Node, source: str) -> CreateDatabase:
    comment = location = managed_location = None
    properties: clauses.Properties = ()
    for clause in node.nodes("table_comment", "location", "managed_location", "table_properties"):
        match clause.rule:
            case "table_comment":
                comment = clauses.string(clause)
            case "location":
                location = clauses.string(clause)
            case "table_properties":
                properties = clauses.properties_of(clause)
            case _:
                managed_location = clauses.string(clause)
    name = clauses.name(node.node("name"))
    return CreateDatabase(source, name, node.has("if_not_exists"), comment, location, properties, managed_location)


def alter_database(node: Node, source: str) -> AlterDatabase:
    action = node.parts[-1]
    assert isinstance(action, Node)
    return AlterDatabase(source, clauses.name(node.node("name")), _database_action(action))


def _database_action(node: Node) -> AlterDatabaseAction:
    match node.rule:
        case "set_properties":
            return SetDatabaseProperties(clauses.properties_of(node))
        case "set_owner":
            return set_owner(node)
        case rule:
            return SetDatabaseLocation(clauses.string(node), managed=rule == "set_managed_location")


def drop_database(node: Node, source: str) -> DropDatabase:
    return DropDatabase(source, clauses.name(node.node("name")), node.has("if_exists"), node.has("cascade"))


def use_database(node: Node, source: str) -> UseDatabase:
    return UseDatabase(source, clauses.name(node.node("name")))


# ------------------------------------------------------------------------------------------------ transactions


def start_transaction(node: Node, source: str) -> StartTransaction:
    if mode := node.maybe("read_only"):
        raise AcidSqlError(Condition.NOT_YET_SUPPORTED, span=mode.span, feature="START TRANSACTION READ ONLY")
    return StartTransaction(source)


def commit(node: Node, source: str) -> Commit:
    return Commit(source)


def rollback(node: Node, source: str) -> Rollback:
    return Rollback(source)


def abort_transactions(node: Node, source: str) -> AbortTransactions:
    return AbortTransactions(source, _numbers(node))


def abort_compactions(node: Node, source: str) -> AbortCompactions:
    return AbortCompactions(source, _numbers(node))


def _numbers(node: Node) -> tuple[int, ...]:
    return tuple(clauses.whole_number(leaf) for leaf in node.leaves("NUMBER"))


def no_effect(node: Node, source: str) -> NoEffect:
    words = tuple(part.text.upper() for part in node.parts if isinstance(part, Leaf) and part.kind == part.text.upper())
    if query := node.maybe("cached_query"):
        raise AcidSqlError(
            Condition.NOT_YET_SUPPORTED,
            span=query.span,
            feature="CACHE TABLE .. AS",
            hint="CREATE VIEW keeps the query, CREATE TABLE .. AS keeps its rows.",
        )
    cache = Cache.FUNCTIONS if {"FUNCTION", "FUNCTIONS"} & set(words) else Cache.TABLES
    return NoEffect(source, " ".join(word for word in words if word not in ("LAZY", "OPTIONS")), cache)


def set_setting(node: Node, source: str) -> SetSetting | SetAutocommit:
    leaf = node.maybe_leaf("SETTING")
    if leaf is None:
        return SetSetting(source)
    if isinstance(leaf.island, Autocommit):
        return SetAutocommit(source, leaf.island.on)
    assert isinstance(leaf.island, Setting)
    return SetSetting(source, leaf.island.key, leaf.island.value)


def reset_settings(node: Node, source: str) -> ResetSettings:
    return ResetSettings(source, tuple(key.span.text for key in node.nodes("setting_key")))


# ------------------------------------------------------------------------------------------------ SHOW, DESCRIBE


def show(node: Node, source: str) -> Show:
    shown = node.parts[-1]
    assert isinstance(shown, Node)
    what = Shown[shown.rule.removeprefix("show_").upper()]
    table, database = _shown_table(shown), _database(shown)
    if table and database:  # SHOW COLUMNS IN t IN db
        table, database = replace(table, database=database.value), None
    key = shown.maybe_leaf("STRING")  # SHOW TBLPROPERTIES t("key")
    like = shown.maybe("like") or shown.maybe("like_name")
    return Show(
        source,
        what,
        table=table,
        database=database,
        pattern=_pattern(like) if like else None,
        partition=clauses.partition_of(shown),
        extended=shown.has("extended"),
        property_key=key.text if key else None,
        clauses=tuple(_compaction_clause(clause) for clause in shown.nodes(*_COMPACTION_CLAUSES)),
    )


_COMPACTION_CLAUSES = ("compaction_id", "compaction_filter", "compaction_order", "compaction_limit")
_FILTER_COLUMNS = {"POOL": "poolname", "TYPE": "type", "STATE": "state", "STATUS": "state"}


def _compaction_clause(node: Node) -> CompactionClause:
    match node.rule:
        case "compaction_id":
            return CompactionId(clauses.whole_number(node.leaf("NUMBER")))
        case "compaction_filter":
            value = node.parts[-1]
            assert isinstance(value, Leaf)
            return CompactionFilter(_FILTER_COLUMNS[node.node("compaction_column").span.text.upper()], value.text)
        case "compaction_order":
            items = node.nodes("compaction_order_item")
            return CompactionOrder(tuple((clauses.name(i.node("name")), i.has("descending")) for i in items))
        case _:
            return CompactionLimit(clauses.whole_number(node.leaf("NUMBER")))


def _pattern(node: Node) -> str:
    """The pattern of LIKE: a string, or a name without quotes."""
    name = node.maybe("name")
    return clauses.name(name).value if name else clauses.string(node)


def _shown_table(shown: Node) -> TableName | None:
    table = shown.maybe("table")
    return clauses.table(table) if table else None


def _database(shown: Node) -> Name | None:
    named = shown.maybe("in_database") or shown
    name = named.maybe("name")
    return clauses.name(name) if name else None


def describe(node: Node, source: str) -> Describe | DescribeHistory:
    described = node.parts[-1]
    assert isinstance(described, Node)
    if described.rule == "described_history":
        return _describe_history(described, source)
    detail = described.maybe("detail")
    shown = detail.span.text.upper() if detail else None
    if described.rule == "described_database":
        return Describe(source, database=clauses.name(described.node("name")), detail=shown)
    if described.rule == "described_function":
        return Describe(source, function=_function_name(described), detail=_extended(described))
    columns = clauses.names(described)
    if len(columns) > 1:
        assert columns[1].span is not None
        raise AcidSqlError(
            Condition.PARSE_SYNTAX_ERROR,
            span=columns[1].span,
            message=f"Syntax error near '{columns[1].value}': a column is named already",
        )
    return Describe(
        source,
        table=clauses.target(described),
        column=columns[0] if columns else None,
        partition=clauses.partition_of(described),
        detail=shown,
    )


def _describe_history(node: Node, source: str) -> Describe | DescribeHistory:
    if not node.has("table"):  # a table whose name is history
        return Describe(source, table=TableName(None, "history", node.span))
    limit = node.maybe("history_limit")
    return DescribeHistory(source, clauses.target(node), clauses.whole_number(limit.leaf("NUMBER")) if limit else None)


def _function_name(node: Node) -> str:
    """The name of a function or operator; the database of a name does not count."""
    literal, operator = node.maybe_leaf("STRING"), node.maybe("described_operator")
    if operator is not None:
        return operator.span.text.lower()
    return literal.text.lower() if literal else clauses.target(node).name


def _extended(node: Node) -> str | None:
    return "EXTENDED" if node.leaves("EXTENDED") else None
