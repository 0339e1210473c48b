"""Which lock waits for which, as values."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from acidsql.metastore.lock_components import LockType
from acidsql.metastore.lock_rules import COMPATIBLE, LockedResource, Resources, must_wait, resource

# Hive's TxnHandler.checkLock, as the comment above its query has it: rows ask, columns hold, "+" goes together.
HIVE = """
              SHARED_READ  SHARED_WRITE  EXCL_WRITE  EXCLUSIVE
SHARED_READ   +            +             +           -
SHARED_WRITE  +            +             -           -
EXCL_WRITE    +            -             -           -
EXCLUSIVE     -            -             -           -
"""

PLACES = (("default",), ("default", "t"), ("default", "t", "p=1"))


def test_the_compatibility_of_lock_types_is_hives() -> None:
    head, *rows = (line.split() for line in HIVE.strip().splitlines())
    expected = {
        LockType[mine]: {LockType[theirs] for theirs, mark in zip(head, marks, strict=True) if mark == "+"}
        for mine, *marks in rows
    }
    assert expected == COMPATIBLE


def test_waiting_is_mutual_and_follows_the_lock_types() -> None:
    for (mine, theirs), (one, two) in product(product(LockType, repeat=2), product(PLACES, repeat=2)):
        waits = must_wait(mine, one, LockedResource(theirs, two))
        assert waits == must_wait(theirs, two, LockedResource(mine, one))
        assert waits <= (theirs not in COMPATIBLE[mine])


def test_a_shared_lock_of_a_database_does_not_delay_locks_of_its_tables() -> None:
    drop = LockedResource(LockType.EXCLUSIVE, ("default", "t"))
    assert not must_wait(LockType.SHARED_READ, ("default",), drop)
    assert must_wait(LockType.SHARED_READ, ("default", "t"), drop)
    assert must_wait(LockType.EXCLUSIVE, ("default",), drop)
    assert must_wait(LockType.SHARED_READ, ("default",), LockedResource(LockType.EXCLUSIVE, ("default",)))


# -- what overlaps
resources = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(tuple)


@given(st.lists(resources, max_size=6), resources)
def test_a_set_of_resources_overlaps_the_resources_inside_and_around_them(
    many: list[tuple[str, ...]], other: tuple[str, ...]
) -> None:
    expected = {one for one in many if one[: len(other)] == other or other[: len(one)] == one}
    found = Resources(many).overlapping(other)
    assert found in expected if expected else found is None


def test_the_name_of_a_resource_joins_its_parts() -> None:
    assert resource("d", None, None) == ("d",)
    assert resource("d", "t", None) == ("d", "t")
    assert resource("d", "t", "p=a%2Fb/q=1") == ("d", "t", "p=a%2Fb", "q=1")
