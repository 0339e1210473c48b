"""The literals of PARTITION clauses as values of their columns, without Spark."""

from __future__ import annotations

import pytest

from acidsql.acid.hive_types import parse_type
from acidsql.acid.partition_values import normal_value
from acidsql.acid.table import Column, Table
from acidsql.errors import AcidSqlError
from acidsql.grammar import statements as s
from acidsql.grammar.parser import parse
from acidsql.planner.ddl.partition_spec import partition_values


def value_of(literal: str, kind: str) -> str | None:
    statement = parse(f"TRUNCATE TABLE t PARTITION (p = {literal})")
    assert isinstance(statement, s.TruncateTable)
    table = Table("default", "t", (Column("a", "int"),), "/w/t", partition_columns=(Column("p", kind),))
    (value,) = partition_values(statement.partition or (), table, None)
    return value


@pytest.mark.parametrize(
    ("literal", "kind", "value"),
    [
        ("'010'", "int", "10"),
        ("'1.50'", "decimal(9,3)", "1.5"),
        ("' 1e1 '", "decimal(9,3)", "10"),
        ("'2024-1-31'", "date", "2024-01-31"),
        ("1.5", "double", "1.5"),
        ("'__HIVE_DEFAULT_PARTITION__'", "int", None),
    ],
)
def test_a_literal_names_the_value_of_the_columns_type(literal: str, kind: str, value: str | None) -> None:
    assert value_of(literal, kind) == value


@pytest.mark.parametrize("kind", ["int", "decimal(9,3)", "double", "date"])
@pytest.mark.parametrize("literal", ["'1_0'", "'\u0661\u0660'", "'2024-01-0\u0661'", "'x'", "'1e'"])
def test_a_text_that_only_python_reads_as_a_value_is_refused(literal: str, kind: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        value_of(literal, kind)
    assert raised.value.condition == "INVALID_PARTITION_SPEC"
    text = literal.strip("'")
    assert normal_value(text, parse_type(kind)) == text
