"""Random DML that Hive and acidsql both understand, on a table (k int, v int, s string, d decimal(8,2))."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

COLUMNS: Final = "(k int, v int, s string, d decimal(8,2))"
_WORDS: Final = ("ab", "abc", "b", "", "Żuk", "x'y")
_START: Final = 40
_SOURCE: Final = 25


def first_rows(seed: int) -> str:
    """VALUES of the rows that a table starts with."""
    r = random.Random(seed)
    return ", ".join(_row(r, k) for k in range(_START))


def source_rows(seed: int) -> str:
    """VALUES of the rows of a MERGE's source: its keys are unique, about half of them are new."""
    r = random.Random(seed)
    return ", ".join(_row(r, k) for k in sorted(r.sample(range(2 * _START), _SOURCE)))


def statements(seed: int, count: int) -> Iterator[str]:
    """DML statements on {t} that may read {s}. Each kind comes in turn."""
    r = random.Random(seed)
    kinds = (_insert, _update, _delete, _merge, _insert_select, _update_with_subquery, _merge, _insert_columns, _update)
    for number in range(count):
        yield kinds[number % len(kinds)](r)


def _insert(r: random.Random) -> str:
    return f"INSERT INTO {{t}} VALUES {', '.join(_row(r, r.randint(0, 120)) for _ in range(r.randint(1, 5)))}"


def _insert_columns(r: random.Random) -> str:
    return f"INSERT INTO {{t}} (s, k) VALUES ({_text(r)}, {r.randint(0, 120)}), (NULL, {r.randint(0, 120)})"


def _insert_select(r: random.Random) -> str:
    return f"INSERT INTO {{t}} SELECT k + {r.randint(1, 9)}, v, concat(s, '+'), d FROM {{t}} WHERE {_where(r)}"


def _update(r: random.Random) -> str:
    return f"UPDATE {{t}} SET {_assignments(r)} WHERE {_where(r)}"


def _update_with_subquery(r: random.Random) -> str:
    return f"UPDATE {{t}} SET {_assignments(r)} WHERE k IN (SELECT k FROM {{s}} WHERE {_where(r)})"


def _delete(r: random.Random) -> str:
    return f"DELETE FROM {{t}} WHERE {_where(r)} AND k % 4 = {r.randint(0, 3)}"


def _merge(r: random.Random) -> str:
    """At most one clause of each kind, as Hive has it; no condition is NULL, which Hive takes for neither true nor
    false (semantics.md, "Better than Hive", 1)."""
    update = f"UPDATE SET v = b.v, s = concat(a.s, b.s), d = coalesce(b.d, a.d) + {r.randint(0, 3)}"
    matched = [
        f"WHEN MATCHED AND a.k % {r.randint(2, 4)} = 0 THEN DELETE WHEN MATCHED THEN {update}",
        f"WHEN MATCHED AND a.k > {r.randint(0, 60)} THEN {update} WHEN MATCHED THEN DELETE",
        f"WHEN MATCHED AND coalesce(a.v, 0) < {r.randint(0, 80)} THEN {update}",
        "",
    ]
    inserts = [
        "WHEN NOT MATCHED THEN INSERT VALUES (b.k, b.v, b.s, b.d)",
        f"WHEN NOT MATCHED AND b.k % 2 = {r.randint(0, 1)} THEN INSERT VALUES (b.k, b.v + 1, 'new', NULL)",
    ]
    clauses = f"{r.choice(matched)} {r.choice(inserts)}"
    return f"MERGE INTO {{t}} a USING (SELECT * FROM {{s}} WHERE k % 3 <> {r.randint(0, 2)}) b ON a.k = b.k {clauses}"


def _assignments(r: random.Random) -> str:
    chosen = r.sample(
        [
            f"v = v + {r.randint(1, 9)}",
            f"s = CASE WHEN v > {r.randint(0, 99)} THEN upper(s) ELSE {_text(r)} END",
            f"d = d + {r.randint(0, 99)}.25",
            "v = NULL",
            "s = concat(s, k)",
        ],
        2,
    )
    named = {assignment.split(" ")[0]: assignment for assignment in chosen}
    return ", ".join(named.values())


def _where(r: random.Random) -> str:
    conditions = [
        f"k % {r.randint(2, 5)} = {r.randint(0, 2)}",
        f"k BETWEEN {r.randint(0, 40)} AND {r.randint(41, 120)}",
        f"(v IS NULL OR v < {r.randint(0, 99)})",
        f"NOT v > {r.randint(0, 99)}",
        f"(s LIKE 'a%' OR s IN ({_text(r)}, {_text(r)}))",
        f"d >= {r.randint(0, 99)}.5",
    ]
    return r.choice([" OR ", " AND "]).join(r.sample(conditions, 2)).join("()")


def _row(r: random.Random, k: int) -> str:
    v = "NULL" if r.random() < 0.2 else str(r.randint(-20, 120))
    d = "NULL" if r.random() < 0.2 else f"{r.randint(0, 999)}.{r.randint(0, 99):02d}"
    return f"({k}, {v}, {_text(r)}, {d})"


def _text(r: random.Random) -> str:
    if r.random() < 0.15:
        return "NULL"
    return "'" + r.choice(_WORDS).replace("'", "\\'") + "'"
