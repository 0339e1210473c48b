"""What a compaction merges, how its directories are named, and when one is due."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from acidsql.acid.compaction_scope import (
    Aborted,
    CompactionType,
    Scope,
    Thresholds,
    compactor_write_ids,
    due,
    scope,
    without_unfinished,
)
from acidsql.acid.directories import ORIGINALS_BASE
from acidsql.acid.snapshot_selection import File, Snapshot, select_snapshot
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId

TXNS = ValidTxnList(TxnId(100))


def writes(high: int, opened: Sequence[int] = (), aborted: Sequence[int] = ()) -> ValidWriteIdList:
    return ValidWriteIdList("db.t", WriteId(high), frozenset(map(WriteId, opened)), frozenset(map(WriteId, aborted)))


def snapshot(names: Sequence[str], valid: ValidWriteIdList, *, insert_only: bool = False, size: int = 10) -> Snapshot:
    """The snapshot that a compactor works with, of directories with a file each (or of original files)."""
    inside = "000000_0" if insert_only else "bucket_00000"
    paths = (name if name.endswith("_0") and not name.startswith("d") else f"{name}/{inside}" for name in names)
    files, directories = without_unfinished([File(path, size) for path in paths], [], valid.high_watermark)
    return select_snapshot(files, valid, TXNS, directories, insert_only=insert_only)


def chosen(
    kind: str, names: Sequence[str], valid: ValidWriteIdList, *, insert_only: bool = False, most: int | None = None
) -> Scope | str:
    valid = compactor_write_ids(valid)
    return scope(
        CompactionType(kind.upper()),
        snapshot(names, valid, insert_only=insert_only),
        valid,
        insert_only=insert_only,
        most=most,
    )


def made(kind: str, names: Sequence[str], valid: ValidWriteIdList, *, insert_only: bool = False) -> list[str]:
    """The directories that the compaction creates, and those that it reads."""
    found = chosen(kind, names, valid, insert_only=insert_only)
    assert isinstance(found, Scope), found
    made_names = [found.data_name(TxnId(7))]
    if found.source.delete_deltas and found.rewrite is CompactionType.MINOR:
        made_names.append(found.delete_name(TxnId(7)))
    return [*made_names, "<-", *(d.name for d in found.directories)]


D1, D2, D3, D4 = (f"delta_{i:07d}_{i:07d}_0000" for i in range(1, 5))
X2, X3 = (f"delete_delta_{i:07d}_{i:07d}_0000" for i in (2, 3))
B2 = "base_0000002"


# ------------------------------------------------------------------------------------------------ what is merged


def test_a_minor_compaction_begins_at_1_where_there_is_no_base() -> None:
    assert made("minor", [D2, D3], writes(3)) == ["delta_0000001_0000003_v0000007", "<-", D2, D3]


def test_a_minor_compaction_leaves_the_base_and_begins_at_the_first_delta() -> None:
    assert made("minor", [B2, D3, D4], writes(4)) == ["delta_0000003_0000004_v0000007", "<-", D3, D4]


def test_deltas_and_delete_deltas_have_one_range() -> None:
    names = ["delta_0000001_0000003_v0000007", "delete_delta_0000001_0000003_v0000007", "<-", D1, D2, X2, X3]
    assert made("minor", [D1, D2, X2, X3], writes(3)) == names


def test_a_major_compaction_is_named_after_the_last_delta() -> None:
    assert made("major", [B2, D3], writes(9)) == ["base_0000003_v0000007", "<-", B2, D3]


def test_no_write_id_from_the_lowest_open_one_on_is_merged() -> None:
    names = [D1, D2, "delta_0000003_0000003_0000", "delta_0000005_0000005_0000", "delta_0000006_0000006_0000"]
    assert made("minor", names, writes(6, opened=[4])) == ["delta_0000001_0000003_v0000007", "<-", *names[:3]]
    assert made("major", names, writes(6, opened=[3]))[0] == "base_0000002_v0000007"


def test_a_directory_to_which_a_streaming_client_still_writes_is_not_merged() -> None:
    assert made("major", [D1, D2, "delta_0000003_0000008"], writes(8, opened=[7])) == [
        "base_0000002_v0000007",
        "<-",
        D1,
        D2,
    ]


def test_aborted_write_ids_are_ignored() -> None:
    found = chosen("major", [D1, D2, D3, "delta_0000004_0000008"], writes(8, aborted=[2, 5]))
    assert isinstance(found, Scope)
    assert [d.name for d in found.directories] == [D1, D3, "delta_0000004_0000008"]
    assert found.source.deltas[-1].invalid_write_ids == {5}


def test_originals_go_into_the_base_of_a_major_compaction_only() -> None:
    assert made("minor", ["000000_0", D1, D2], writes(2)) == ["delta_0000001_0000002_v0000007", "<-", D1, D2]
    found = chosen("major", ["000000_0", D1], writes(1))
    assert isinstance(found, Scope)
    assert [f.path for f in found.source.originals] == ["000000_0"]
    assert found.data_name(TxnId(7)) == "base_0000001_v0000007"
    alone = chosen("major", ["000000_0"], writes(10_000_000))
    assert isinstance(alone, Scope)
    assert alone.data_name(TxnId(7)) == f"base_{ORIGINALS_BASE}_v0000007"


def test_a_base_of_an_insert_only_table_is_named_after_the_high_watermark() -> None:
    assert made("major", [D1, D2], writes(9), insert_only=True)[0] == "base_0000009_v0000007"


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("minor", [D1]),
        ("minor", [D1, X2]),  # Hive's rule: one of each
        ("minor", ["000000_0", D1]),
        ("minor", []),
        ("major", [D1]),
        ("major", [B2]),
        ("major", []),
        ("rebalance", []),
    ],
)
def test_a_compaction_of_too_few_directories_has_no_scope(kind: str, names: Sequence[str]) -> None:
    assert isinstance(chosen(kind, names, writes(9)), str)


@pytest.mark.parametrize("names", [[D1], [B2], ["000000_0"]])
def test_a_rebalance_of_any_rows_has_a_scope(names: Sequence[str]) -> None:
    assert isinstance(chosen("rebalance", names, writes(9)), Scope)


def test_a_minor_compaction_of_many_deltas_takes_the_oldest_and_whole_write_ids() -> None:
    found = chosen("minor", [D1, D2, X2, D3, X3], writes(3), most=4)
    assert isinstance(found, Scope)
    assert [d.name for d in found.directories] == [D1, D2, X2]
    assert found.high == 2


# ------------------------------------------------------------------------------------------------ when one is due


def wanted(names: Sequence[str], base: int = 0, size: int = 10, **limits: float) -> CompactionType | None:
    valid = writes(99)
    found = snapshot(names, valid, size=size)
    if base:
        found = select_snapshot(
            [File("base_0000001/bucket_00000", base), *(File(f"{n}/bucket_00000", size) for n in names)], valid, TXNS
        )
    rules = Thresholds(int(limits.get("num", 10)), limits.get("pct", 0.1))
    answer = due(found, rules, Aborted(), insert_only=False)
    return None if answer is None else answer[0]


MANY = [f"delta_{i:07d}_{i:07d}_0000" for i in range(2, 13)]


def test_a_major_compaction_is_due_when_the_deltas_are_big_beside_the_base() -> None:
    assert wanted(MANY[:1], base=1000, size=100) is None
    assert wanted(MANY[:1], base=1000, size=101) is CompactionType.MAJOR
    assert wanted(MANY[:1], base=1000, size=400, pct=0.5) is None


def test_a_minor_compaction_is_due_when_there_are_many_small_deltas() -> None:
    assert wanted(MANY[:10], base=100_000) is None
    assert wanted(MANY[:11], base=100_000) is CompactionType.MINOR
    assert wanted(MANY[:4], base=100_000, num=3) is CompactionType.MINOR


def test_many_deltas_without_a_base_make_a_major_compaction_due() -> None:
    assert wanted(MANY[:10]) is None
    assert wanted(MANY[:11]) is CompactionType.MAJOR


def test_aborted_transactions_make_a_major_compaction_due() -> None:
    found, rules = snapshot([D1], writes(1)), Thresholds(aborted_txns=2, aborted_seconds=100)
    assert due(found, rules, Aborted(2, 99), insert_only=False) is None
    assert due(found, rules, Aborted(3, 1), insert_only=False) == (CompactionType.MAJOR, "3 aborted transactions")
    assert due(found, rules, Aborted(1, 101), insert_only=False) is not None
    assert due(found, Thresholds(aborted_seconds=-1), Aborted(1, 1e9), insert_only=False) is None
