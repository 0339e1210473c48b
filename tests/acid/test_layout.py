"""The names that acidsql writes, and the write IDs of adopted directories."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from acidsql.acid.directories import is_hidden
from acidsql.acid.layout import (
    STAGING_DIRECTORY,
    adopted_write_ids,
    base_name,
    bucket_name,
    delete_delta_name,
    delta_name,
)
from acidsql.acid.write_ids import StatementId, WriteId
from acidsql.errors import AcidSqlError


def adopted(files: Iterable[str], directories: Iterable[str] = ()) -> tuple[int, set[int]]:
    high, txns = adopted_write_ids(files, directories)
    return high, set(txns)


def test_names_are_those_of_hive() -> None:
    assert delta_name(WriteId(2), StatementId(1)) == "delta_0000002_0000002_0001"
    assert delete_delta_name(WriteId(10000001), StatementId(0)) == "delete_delta_10000001_10000001_0000"
    assert base_name(WriteId(3)) == "base_0000003"
    assert bucket_name(0) == "bucket_00000"
    assert bucket_name(4095) == "bucket_04095"


@pytest.mark.parametrize(
    "write",
    [
        lambda: bucket_name(4096),
        lambda: delta_name(WriteId(1), StatementId(4096)),
        lambda: delete_delta_name(WriteId(1), StatementId(4096)),
    ],
)
def test_numbers_that_do_not_fit_the_bucket_property_are_refused(write: Callable[[], str]) -> None:
    with pytest.raises(AcidSqlError) as error:
        write()
    assert error.value.condition == "LIMIT_EXCEEDED"


def test_staging_directories_are_hidden() -> None:
    assert is_hidden(STAGING_DIRECTORY)


def test_the_highest_write_id_and_every_visibility_id_are_adopted() -> None:
    files = [
        "p=1/base_0000004_v0000361/bucket_00000",
        "p=1/delta_0000005_0000009/bucket_00000",
        "p=2/delete_delta_0000003_0000003_v0000400/bucket_00000",
        "p=2/delta_0000007_0000007_0001/HIVE_UNION_SUBDIR_1/000000_0",
    ]
    assert adopted(files) == (9, {361, 400})


def test_directories_without_files_are_adopted_too() -> None:
    assert adopted([], ["base_0000012", "p=1/delta_0000013_0000013_0000"]) == (13, set())


def test_hidden_paths_and_original_files_bring_no_write_id() -> None:
    files = ["000000_0", "_tmp/delta_0000099_0000099_0000/bucket_00000", f"{STAGING_DIRECTORY}/base_0000098/x"]
    assert adopted(files) == (0, set())


def test_a_base_of_original_files_alone_brings_its_visibility_id_only() -> None:
    assert adopted(["base_-9223372036854775808_v0000022/bucket_00000"]) == (0, {22})


def test_a_directory_name_that_breaks_the_rules_is_not_adopted() -> None:
    with pytest.raises(AcidSqlError) as error:
        adopted_write_ids(["delta_0000005_0000003_0000/bucket_00000"])
    assert error.value.condition == "MALFORMED_LAYOUT"
