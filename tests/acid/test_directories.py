"""Names of directories and files: parsing and formatting."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.acid.directories import (
    ORIGINALS_BASE,
    Base,
    BucketFile,
    Delta,
    FlushLength,
    Original,
    format_directory,
    is_hidden,
    parse_bucket_file,
    parse_directory,
)
from acidsql.acid.write_ids import StatementId, TxnId, WriteId
from acidsql.errors import AcidSqlError


def delta(
    low: int, high: int, statement: int | None = None, visibility: int | None = None, *, delete: bool = False
) -> Delta:
    return Delta(
        WriteId(low),
        WriteId(high),
        None if statement is None else StatementId(statement),
        None if visibility is None else TxnId(visibility),
        delete,
    )


WRITTEN_BY_HIVE = [
    ("base_0000003", Base(WriteId(3))),
    ("base_0000004_v0000361", Base(WriteId(4), TxnId(361))),
    ("base_10000003_v0001012", Base(WriteId(10000003), TxnId(1012))),
    ("base_-9223372036854775808", Base(ORIGINALS_BASE)),
    ("delta_0000001_0000001_0000", delta(1, 1, 0)),
    ("delta_0000002_0000002_0004", delta(2, 2, 4)),
    ("delta_10000001_10000001_0001", delta(10000001, 10000001, 1)),
    ("delta_1234567880_1234567890_0000", delta(1234567880, 1234567890, 0)),
    ("delta_0000001_0000004_v0000699", delta(1, 4, None, 699)),
    ("delta_0000005_0000014", delta(5, 14)),
    ("delete_delta_0000003_0000003_0000", delta(3, 3, 0, delete=True)),
    ("delete_delta_0000001_0000010", delta(1, 10, delete=True)),
    ("delete_delta_0000001_0000004_v0000699", delta(1, 4, None, 699, delete=True)),
    ("delta_0000001_0000001_0003_v12345678", delta(1, 1, 3, 12345678)),
    ("delta_0000001_0000001_12345", delta(1, 1, 12345)),
]


@pytest.mark.parametrize(("name", "directory"), WRITTEN_BY_HIVE)
def test_a_name_that_hive_writes_parses_and_formats_back(name: str, directory: Base | Delta) -> None:
    assert parse_directory(name) == directory
    assert format_directory(directory) == name


@pytest.mark.parametrize(
    ("name", "directory"),
    [
        ("base_5", Base(WriteId(5))),
        ("base_000000000123", Base(WriteId(123))),
        ("base_0", Base(WriteId(0))),
        ("base_7_v9", Base(WriteId(7), TxnId(9))),
        ("base_7_v0000000", Base(WriteId(7))),
        ("delta_40_60", delta(40, 60)),
        ("delta_000062_62_3", delta(62, 62, 3)),
        ("delete_delta_052_055", delta(52, 55, delete=True)),
        ("delta_1_2_v0", delta(1, 2)),
    ],
)
def test_any_number_of_digits_parses_and_visibility_zero_is_none(name: str, directory: Base | Delta) -> None:
    assert parse_directory(name) == directory


@pytest.mark.parametrize(
    "name",
    ["p=1", "HIVE_UNION_SUBDIR_1", "000000_0", "_tmp.delta_1_1", ".hive-staging", "based", "deltas", "delete_me", ""],
)
def test_other_names_are_no_acid_directories(name: str) -> None:
    assert parse_directory(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "base_",
        "base_x",
        "base_-1",
        "base_5_6",
        "base_5_v",
        "base_5_vx",
        "base_5_v7_v8",
        "base_5 ",
        "base_٣",
        "delta_x_y",
        "delta_1",
        "delta_1_",
        "delta_1_2_",
        "delta_1_2_3_4",
        "delta_-1_2",
        "delta_1_2_v",
        "delta_1_2_v3_0000",
        "delta_5_3",
        "delete_delta_5_3_0000",
        "delta_0_0",
        "delta_0_3_0000",
        "delete_delta_1_1_x",
        "delta_0000001_0000001_0000.tmp",
    ],
)
def test_a_malformed_name_of_an_acid_directory_is_refused(name: str) -> None:
    with pytest.raises(AcidSqlError) as error:
        parse_directory(name)
    assert error.value.condition == "MALFORMED_LAYOUT"
    assert name in error.value.message


def test_the_error_says_which_rule_is_broken() -> None:
    with pytest.raises(AcidSqlError, match=r"delta_5_3 breaks .* its lowest write ID 5 is above its highest 3"):
        parse_directory("delta_5_3")


ids = st.integers(1, 2**63 - 1)


@given(
    st.one_of(
        st.builds(Base, st.integers(0, 2**63 - 1).map(WriteId), st.none() | ids.map(TxnId)),
        st.builds(
            lambda low, more, statement, visibility, is_delete: delta(
                low, low + more, statement, visibility, delete=is_delete
            ),
            ids,
            st.integers(0, 1000),
            st.none() | st.integers(0, 20000),
            st.none() | ids,
            st.booleans(),
        ),
    )
)
def test_every_formatted_name_parses_back(directory: Base | Delta) -> None:
    assert parse_directory(format_directory(directory)) == directory


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("bucket_00000", BucketFile(0, None, "bucket_00000")),
        ("bucket_00000_0", BucketFile(0, 0, "bucket_00000_0")),
        ("bucket_00012_3", BucketFile(12, 3, "bucket_00012_3")),
        ("bucket_0", BucketFile(0, None, "bucket_0")),
        ("bucket_123456", BucketFile(123456, None, "bucket_123456")),
        ("000000_0", Original(0, 0, 0)),
        ("000001_1", Original(1, 1, 0)),
        ("000001_0_copy_2", Original(1, 0, 2)),
        ("00000_0_copy_10", Original(0, 0, 10)),
        ("123456789_0", Original(123456789, 0, 0)),
        ("bucket_00000_flush_length", FlushLength("bucket_00000")),
        ("bucket_00003_1_flush_length", FlushLength("bucket_00003_1")),
        ("part-00000-3c0f.snappy.orc", None),
        ("random", None),
        ("bucket_", None),
        ("bucket_x", None),
        ("bucket_00000_0_0", None),
        ("bucket_00000.orc", None),
        ("000000_0_copy_", None),
        ("000000", None),
        ("000000_0_flush_length", None),
        ("_orc_acid_version", None),
    ],
)
def test_a_file_name_is_parsed_to_bucket_attempt_and_copy(
    name: str, parsed: BucketFile | Original | FlushLength | None
) -> None:
    assert parse_bucket_file(name) == parsed


@pytest.mark.parametrize(
    ("name", "hidden"),
    [("_orc_acid_version", True), (".acidsql_staging", True), ("bucket_00000", False), ("p=_x", False)],
)
def test_names_that_begin_with_a_dot_or_underscore_are_hidden(name: str, hidden: bool) -> None:
    assert is_hidden(name) is hidden
