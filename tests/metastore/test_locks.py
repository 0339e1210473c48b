"""Which lock waits for which, as values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.metastore.client import LockType, Operation
from acidsql.metastore.locks import COMPATIBLE, KINDS, LockKind, Resources, must_wait, resource

# Hive's TxnHandler.checkLock, as the comment above its query has it: rows ask, columns hold, "+" goes together.
HIVE = """
              SHARED_READ  SHARED_WRITE  EXCL_WRITE  EXCLUSIVE
SHARED_READ   +            +             +           -
SHARED_WRITE  +            +             -           -
EXCL_WRITE    +            -             -           -
EXCLUSIVE     -            -             -           -
"""

# What statements ask for (AcidUtils.makeLockComponents), and which of them exclude each other for now.
SELECT = LockKind(LockType.SHARED_READ, Operation.SELECT)
INSERT = LockKind(LockType.SHARED_READ, Operation.INSERT)
UPDATE = LockKind(LockType.EXCL_WRITE, Operation.UPDATE)
DELETE = LockKind(LockType.SHARED_WRITE, Operation.DELETE)
CREATE_IN_DATABASE = LockKind(LockType.SHARED_READ, Operation.NO_TXN)
OVERWRITE = LockKind(LockType.EXCLUSIVE, Operation.INSERT)
DROP = LockKind(LockType.EXCLUSIVE, Operation.NO_TXN)
LOCK_AND_READ = LockKind(LockType.EXCLUSIVE, Operation.SELECT)
STATEMENTS = (SELECT, INSERT, UPDATE, DELETE, CREATE_IN_DATABASE, OVERWRITE, DROP, LOCK_AND_READ)


def test_the_compatibility_of_lock_types_is_hives() -> None:
    head, *rows = (line.split() for line in HIVE.strip().splitlines())
    expected = {
        LockType[mine]: {LockType[theirs] for theirs, mark in zip(head, marks, strict=True) if mark == "+"}
        for mine, *marks in rows
    }
    assert expected == COMPATIBLE


@pytest.mark.parametrize("whole", [OVERWRITE, DROP])
def test_who_replaces_the_whole_excludes_every_writer_and_no_reader(whole: LockKind) -> None:
    assert {kind for kind in STATEMENTS if must_wait(whole, kind)} == {INSERT, UPDATE, DELETE, OVERWRITE, DROP}


@pytest.mark.parametrize("writer", [INSERT, UPDATE, DELETE])
def test_a_writer_waits_for_those_that_replace_the_whole_only(writer: LockKind) -> None:
    assert {kind for kind in STATEMENTS if must_wait(writer, kind)} == {OVERWRITE, DROP}


def test_readers_wait_for_nobody() -> None:
    assert not any(must_wait(kind, other) for kind in KINDS for other in KINDS if kind.operation is Operation.SELECT)


def test_waiting_is_mutual() -> None:
    assert all(must_wait(one, two) == must_wait(two, one) for one in KINDS for two in KINDS)


# -- what overlaps
resources = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(tuple)


@given(st.lists(resources, max_size=6), resources)
def test_many_resources_overlap_what_one_of_them_begins_or_is_begun_by(
    many: list[tuple[str, ...]], other: tuple[str, ...]
) -> None:
    expected = {one for one in many if one[: len(other)] == other or other[: len(one)] == one}
    found = Resources(many).overlapping(other)
    assert found in expected if expected else found is None


def test_a_resource_is_named_by_its_steps() -> None:
    assert resource("d", None, None) == ("d",)
    assert resource("d", "t", None) == ("d", "t")
    assert resource("d", "t", "p=a%2Fb/q=1") == ("d", "t", "p=a%2Fb", "q=1")
