"""The builder of ALTER TABLE and its actions."""

from __future__ import annotations

from dataclasses import replace

from acidsql.acid.table import TRANSACTIONAL, ConstraintKind, PrincipalKind
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import clauses
from acidsql.grammar.create_table import bucket_count, clustering, column, file_format, named_constraint
from acidsql.grammar.statement_reader import Node
from acidsql.grammar.statements import (
    AddColumns,
    AddConstraint,
    AddPartitions,
    AlterAction,
    AlterTable,
    ChangeColumn,
    Compact,
    DropConstraint,
    DropPartitions,
    ExchangePartition,
    NotSorted,
    PartitionItem,
    RenamePartition,
    RenameTable,
    ReplaceColumns,
    SetBucketCount,
    SetClustering,
    SetFileFormat,
    SetLocation,
    SetOwner,
    SetSerde,
    SetSerdeProperties,
    SetTableProperties,
    Touch,
    UnsetSerdeProperties,
    UnsetTableProperties,
    UpdateColumnStatistics,
    UpdateStatistics,
)


def alter_table(node: Node, source: str) -> AlterTable:
    action = node.parts[-1]
    assert isinstance(action, Node)
    return AlterTable(source, clauses.target(node), _action(action))


def rename(node: Node) -> RenameTable:
    return RenameTable(clauses.target(node))


def set_properties(node: Node) -> SetTableProperties:
    return SetTableProperties(clauses.properties_of(node))


def unset_properties(node: Node) -> UnsetTableProperties:
    return UnsetTableProperties(tuple(key.text for key in node.leaves("STRING")), node.has("if_exists"))


def _action(node: Node) -> AlterAction:
    match node.rule:
        case "rename_table":
            return rename(node)
        case "set_properties":
            return set_properties(node)
        case "unset_properties":
            return unset_properties(node)
        case "add_columns":
            return AddColumns(tuple(column(part) for part in node.nodes("column")))
        case "replace_columns":
            return ReplaceColumns(tuple(column(part) for part in node.nodes("column")))
        case "change_column":
            return _change_column(node)
        case "add_constraint":
            return _add_constraint(node)
        case "drop_constraint":
            return DropConstraint(clauses.name(node.node("name")))
        case "add_partitions":
            return AddPartitions(
                tuple(_added_partition(part) for part in node.nodes("added_partition")), node.has("if_not_exists")
            )
        case "drop_partitions":
            return DropPartitions(
                tuple(clauses.partition(part) for part in node.nodes("partition")),
                if_exists=node.has("if_exists"),
                purge=node.has("purge"),
            )
        case "rename_partition":
            old, new = node.nodes("partition")
            return RenamePartition(clauses.partition(old), clauses.partition(new))
        case "concatenate":
            # As in Hive, a major compaction that the statement waits for (AlterTableConcatenateAnalyzer).
            return Compact("major", node.span, clauses.partition_of(node), wait=True)
        case "exchange_partition":
            return ExchangePartition(clauses.partition_of(node), clauses.target(node))
        case "convert_to_acid":
            return SetTableProperties(((TRANSACTIONAL, "true"),))
        case "set_location":
            return SetLocation(clauses.string(node), clauses.partition_of(node))
        case "update_statistics":
            return UpdateStatistics(clauses.properties_of(node), clauses.partition_of(node))
        case "update_column_statistics":
            column_name = clauses.name(node.node("name"))
            return UpdateColumnStatistics(column_name, clauses.properties_of(node), clauses.partition_of(node))
        case "touch":
            return Touch(tuple(map(clauses.partition, node.nodes("partition"))))
        case "set_owner":
            return set_owner(node)
        case "compact":
            return _compact(node)
        case _:
            return _storage_action(node)


def set_owner(node: Node) -> SetOwner:
    of = node.node("principal")
    return SetOwner(of.node("name").leaf("ID").text, PrincipalKind[of.node("principal_kind").span.text.upper()])


def _storage_action(node: Node) -> AlterAction:
    """An action that Hive can apply to one partition too."""
    partition = clauses.partition_of(node)
    match node.rule:
        case "set_file_format":
            return _set_file_format(node, partition)
        case "set_serde":
            return SetSerde(clauses.string(node), clauses.properties_of(node), partition)
        case "set_serde_properties":
            return SetSerdeProperties(clauses.properties_of(node), partition)
        case "unset_serde_properties":
            return UnsetSerdeProperties(tuple(key.text for key in node.leaves("STRING")), partition)
        case "cluster":
            return SetClustering(clustering(node.node("clustering")), partition)
        case "not_clustered":
            return SetClustering(None, partition)
        case "not_sorted":
            return NotSorted(partition)
        case rule:
            assert rule == "into_buckets", rule
            return SetBucketCount(bucket_count(node), partition)


def _set_file_format(node: Node, partition: tuple[PartitionItem, ...]) -> SetFileFormat:
    named = node.maybe("format_name")
    if named is not None:
        return SetFileFormat(file_format(named.node("name"), "SET FILEFORMAT"), partition)
    classes = node.node("format_classes").leaves("STRING")
    return SetFileFormat(None, partition, classes[0].text, classes[2].text)


def _change_column(node: Node) -> ChangeColumn:
    after = node.maybe("after")
    position = f"after {clauses.name(after.node('name')).value}" if after else "first" if node.has("first") else None
    return ChangeColumn(clauses.name(node.node("name")), column(node.node("column")), position)


def _add_constraint(node: Node) -> AddConstraint:
    """Raises INVALID_CONSTRAINT for words that Hive does not support (ConstraintsUtils)."""
    constraint = named_constraint(node)
    reason = ""
    if constraint.kind is not ConstraintKind.CHECK and (constraint.enabled or node.has("enable")):
        reason = "ENABLE/ENFORCED feature not supported yet. Please use DISABLE/NOT ENFORCED instead."
    elif node.has("validate"):
        reason = "VALIDATE feature not supported yet. Please use NOVALIDATE instead."
    if reason:
        raise AcidSqlError(Condition.INVALID_CONSTRAINT, span=node.span, reason=reason)
    return AddConstraint(constraint)


def _added_partition(node: Node) -> tuple[tuple[PartitionItem, ...], str | None]:
    location = node.maybe_leaf("STRING")
    return clauses.partition_of(node), location.text if location else None


def _compact(node: Node) -> Compact:
    kind = node.leaf("STRING")
    compact = Compact(kind.text, kind.span, clauses.partition_of(node))
    for option in node.parts:
        if isinstance(option, Node):
            compact = _with_option(compact, option)
    return compact


def _with_option(compact: Compact, node: Node) -> Compact:
    match node.rule:
        case "wait":
            return replace(compact, wait=True)
        case "compact_buckets":
            return replace(compact, buckets=clauses.whole_number(node.leaf("NUMBER")))
        case "compact_order":
            return replace(compact, order_by=clauses.order_items(node))
        case "pool":
            return replace(compact, pool=clauses.string(node))
        case "compact_properties":
            return replace(compact, properties=clauses.properties_of(node))
        case _:
            return compact
