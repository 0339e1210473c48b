"""Snapshot selection as tables of cases, in cases/*.txt: names in, selected directories out.

A case is a paragraph: a comment that says the behaviour, then lines of

- `have`: directories (each gets a `bucket_00000`), directories without a file (`base_2/`), files;
- `write ids`, `txns`: the high watermark (100, 1000), then `open 4,5` and `aborted 2`;
- `compacted`: bases that a compactor of Hive 3 marked; `insert-only: yes`;
- `read`: the base, deltas, delete deltas, original files, in this order; `skip`: their write IDs that are skipped;
- `obsolete`, `unseen`: the directories and original files that are not read, by name;
- or `error`: the path and the beginning of the rule; NOT_ENOUGH_HISTORY with its parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.acid.snapshot_selection import File, Snapshot, select_snapshot
from acidsql.acid.write_ids import TxnId, ValidTxnList, ValidWriteIdList, WriteId
from acidsql.errors import AcidSqlError

Case = dict[str, str]

KEYS = {"have", "write ids", "txns", "compacted", "insert-only", "read", "skip", "obsolete", "unseen", "error"}


def cases() -> Iterator[tuple[str, Case]]:
    for file in sorted((Path(__file__).parent / "cases").glob("*.txt")):
        for paragraph in file.read_text().strip().split("\n\n")[1:]:
            title, *lines = paragraph.splitlines()
            case = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
            assert case.keys() <= KEYS, title
            yield f"{file.stem}: {title.removeprefix('# ')}", case


CASES = dict(cases())


def select(case: Case, order: Random | None = None) -> Snapshot:
    listed = files(case)
    directories = [name.rstrip("/") for name in case.get("have", "").split() if name.endswith("/")]
    if order is not None:
        order.shuffle(listed)
        order.shuffle(directories)
    return select_snapshot(
        listed,
        write_ids(case.get("write ids", "100")),
        txns(case.get("txns", "1000")),
        directories,
        compacted_bases=frozenset(case.get("compacted", "").split()),
        insert_only="insert-only" in case,
    )


def files(case: Case) -> list[File]:
    names = [name for name in case.get("have", "").split() if not name.endswith("/")]
    is_directory = {name: name.startswith(("base_", "delta_", "delete_delta_")) and "/" not in name for name in names}
    return [File(f"{name}/bucket_00000" if is_directory[name] else name, 500) for name in names]


def write_ids(text: str) -> ValidWriteIdList:
    high, opened, aborted = id_lists(text)
    return ValidWriteIdList("d.t", WriteId(high), frozenset(map(WriteId, opened)), frozenset(map(WriteId, aborted)))


def txns(text: str) -> ValidTxnList:
    high, opened, aborted = id_lists(text)
    return ValidTxnList(TxnId(high), frozenset(map(TxnId, opened)), frozenset(map(TxnId, aborted)))


def id_lists(text: str) -> tuple[int, list[int], list[int]]:
    words = text.split()
    given = dict(zip(words[1::2], words[2::2], strict=True))
    opened, aborted = ([int(i) for i in given.get(key, "").split(",") if i] for key in ("open", "aborted"))
    return int(words[0]), opened, aborted


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "error" not in case])
def test_the_selected_directories_and_files_are_those_of_the_case(name: str) -> None:
    case = CASES[name]
    snapshot = select(case)
    directories = [*([snapshot.base] if snapshot.base else []), *snapshot.deltas, *snapshot.delete_deltas]
    skips = {d.name: ",".join(map(str, sorted(d.invalid_write_ids))) for d in directories if d.invalid_write_ids}
    assert {
        "read": [*(d.name for d in directories), *(file.path for file in snapshot.originals)],
        "skip": [f"{name}={ids}" for name, ids in skips.items()],
        "obsolete": list(snapshot.obsolete),
        "unseen": list(snapshot.aborted),
    } == {key: case.get(key, "").split() for key in ("read", "skip", "obsolete", "unseen")}


@given(st.sampled_from([case for case in CASES.values() if "error" not in case]), st.randoms(use_true_random=False))
def test_the_order_of_the_listing_does_not_matter(case: Case, order: Random) -> None:
    assert select(case, order) == select(case)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "error" in case])
def test_a_layout_that_breaks_the_rules_is_refused(name: str) -> None:
    case = CASES[name]
    with pytest.raises(AcidSqlError) as error:
        select(case)
    given = error.value.getMessageParameters()
    if case["error"].startswith("NOT_ENOUGH_HISTORY"):
        found = f"{error.value.condition} ({given['high_watermark']},{given['min_open']}) {given['base']}"
        assert (found, error.value.hive_code) == (case["error"], 10327)
    else:
        assert error.value.condition == "MALFORMED_LAYOUT"
        assert f"{given['path']}: {given['reason']}".startswith(case["error"])


def test_no_case_is_repeated() -> None:
    titles = [name.partition(": ")[2] for name, _ in cases()]
    assert len(titles) == len(set(titles)) > 60
