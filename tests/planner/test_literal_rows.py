"""The conditions on the target that follow from the keys of a MERGE's literal source."""

from __future__ import annotations

import pytest

from acidsql.acid.table import Column, Table
from acidsql.grammar.dialect import to_spark
from acidsql.grammar.parser import parse
from acidsql.grammar.statements import Merge
from acidsql.planner.merge.literal_source import implied

TABLE = Table(
    database="default",
    name="t",
    columns=(
        Column("id", "bigint"),
        Column("d", "decimal(5,2)"),
        Column("name", "string"),
        Column("code", "char(3)"),
        Column("f", "double"),
    ),
    partition_columns=(Column("day", "date"),),
    location="/t",
    properties={},
)

IMPLIED = {
    "(SELECT 300 id, 'one' note) s ON t.id = s.id": ["t.id IN (300)"],
    "(VALUES (1, 'a'), (-2, 'b'), (1, NULL)) AS s(id, name) ON s.ID = t.id AND (t.name = s.name)": [
        "t.id IN (1, -2)",
        "t.name IN ('a', 'b')",
    ],
    "(SELECT 1 AS k UNION ALL SELECT 2 UNION SELECT NULL) s ON t.d = s.k": ["t.d IN (1, 2)"],
    "(SELECT * FROM (VALUES (1), (2)) AS v(k)) s ON t.id = s.k": ["t.id IN (1, 2)"],
    "(VALUES (DATE '2024-01-01')) AS s(day) ON t.day = s.day": ["t.day IN (DATE '2024-01-01')"],
    f"(VALUES {', '.join(f'({n})' for n in range(120, -30, -1))}) AS s(k) ON t.id = s.k": ["t.id BETWEEN -29 AND 120"],
    # Values of other types than the column, or no literals
    "(SELECT '300' id) s ON t.id = s.id": [],
    "(VALUES (1), ('a')) AS s(id) ON t.name = s.id": [],
    "(VALUES (1), (2.5)) AS s(id) ON t.id = s.id": [],
    "(VALUES ('2024-01-01')) AS s(day) ON t.day = s.day": [],
    "(SELECT 'ab' code, 1.5 f) s ON t.code = s.code AND t.f = s.f": [],
    "(SELECT 1 + 1 id) s ON t.id = s.id": [],
    "(SELECT rand() id) s ON t.id = s.id": [],
    # Other comparisons, and other sources
    "(SELECT 1 id) s ON t.id <=> s.id": [],
    "(SELECT 1 id) s ON t.id >= s.id": [],
    "(SELECT 1 id) s ON t.id = s.id OR t.name = 'x'": [],
    "(SELECT 1 id) s ON t.id + 1 = s.id": [],
    "(SELECT 1 id) s ON t.id = t.d AND s.id = 1": [],
    "(SELECT 1 id, 2 id) s ON t.id = s.id": [],
    "(VALUES (1, 2), (3)) AS s(a, id) ON t.id = s.id": [],
    "(VALUES (NULL)) AS s(id) ON t.id = s.id": [],
    "(SELECT 1 id FROM u) s ON t.id = s.id": [],
    "(SELECT id FROM VALUES (1) AS v(id)) s ON t.id = s.id": [],
    "(SELECT 1 id INTERSECT SELECT 2) s ON t.id = s.id": [],
    "u s ON t.id = s.id": [],
}


@pytest.mark.parametrize("source", IMPLIED)
def test_literals_of_the_kind_of_the_target_column_become_a_condition_on_it(source: str) -> None:
    merge = parse(f"MERGE INTO t USING {source} WHEN MATCHED THEN DELETE")
    assert isinstance(merge, Merge)
    found = implied(merge.on, TABLE, "t", "s", merge.using)
    assert [to_spark(condition) for condition in found] == IMPLIED[source]
