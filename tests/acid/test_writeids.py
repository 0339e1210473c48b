"""Lists of valid transactions and write IDs: which IDs are valid, and their text form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.acid.write_ids import (
    NONE_OPEN,
    RangeResponse,
    TxnId,
    ValidTxnList,
    ValidWriteIdList,
    WriteId,
    parse_adopted_write_ids,
    parse_valid_txns,
    parse_valid_write_ids,
)
from acidsql.errors import AcidSqlError


@st.composite
def write_id_lists(draw: st.DrawFn) -> ValidWriteIdList:
    high = draw(st.integers(0, 30))
    states = draw(st.lists(st.sampled_from("coa"), min_size=high, max_size=high))
    ids_of = {state: frozenset(WriteId(i) for i, s in enumerate(states, start=1) if s == state) for state in ("o", "a")}
    return ValidWriteIdList("db.t", WriteId(high), ids_of["o"], ids_of["a"])


def as_txns(write_ids: ValidWriteIdList) -> ValidTxnList:
    return ValidTxnList(
        TxnId(write_ids.high_watermark),
        frozenset(TxnId(i) for i in write_ids.open),
        frozenset(TxnId(i) for i in write_ids.aborted),
    )


@given(write_id_lists())
def test_a_list_of_write_ids_is_read_back_from_its_text(write_ids: ValidWriteIdList) -> None:
    assert parse_valid_write_ids(write_ids.to_text()) == write_ids
    assert parse_adopted_write_ids("db.t", write_ids.to_text().partition(":")[2]) == write_ids


@given(write_id_lists().map(as_txns))
def test_a_list_of_transactions_is_read_back_from_its_text(txns: ValidTxnList) -> None:
    assert parse_valid_txns(txns.to_text()) == txns


@given(write_id_lists(), st.integers(-2, 40), st.integers(-2, 40))
def test_the_answer_for_a_range_is_that_for_each_id_of_it(write_ids: ValidWriteIdList, low: int, high: int) -> None:
    answers = [write_ids.is_valid(WriteId(i)) for i in range(low, high + 1)]
    expected = RangeResponse.NONE if not any(answers) else RangeResponse.ALL if all(answers) else RangeResponse.SOME
    assert write_ids.range_response(WriteId(low), WriteId(high)) is expected
    assert as_txns(write_ids).range_response(TxnId(low), TxnId(high)) is expected


@given(write_id_lists(), st.integers(-2, 40), st.integers(-2, 40))
def test_invalid_in_names_exactly_the_ids_that_are_not_valid(write_ids: ValidWriteIdList, low: int, high: int) -> None:
    expected = {i for i in range(low, high + 1) if not write_ids.is_valid(WriteId(i))}
    assert write_ids.invalid_in(WriteId(low), WriteId(high)) == expected


def test_ids_above_the_high_watermark_are_not_valid() -> None:
    assert parse_valid_write_ids("db.t:5:9223372036854775807::").is_valid(WriteId(5))
    assert not parse_valid_write_ids("db.t:5:9223372036854775807::").is_valid(WriteId(6))
    assert parse_valid_txns("5:9223372036854775807::").is_valid(TxnId(5))
    assert not parse_valid_txns("5:9223372036854775807::").is_valid(TxnId(6))


def test_the_lowest_open_id_is_none_open_where_only_aborted_ones_are() -> None:
    assert parse_valid_write_ids("db.t:9:4:7,4:2").min_open == 4
    assert parse_valid_write_ids(f"db.t:9:{NONE_OPEN}::2").min_open == NONE_OPEN


@pytest.mark.parametrize(
    "text",
    [
        "239:9223372036854775807::16,18,77,233,239",
        "19:18:18:5,16",
        "362:360:360:16,18,77,233,247,274",
        "7:9223372036854775807::",
    ],
)
def test_a_text_of_hive_is_written_back_unchanged(text: str) -> None:
    assert parse_valid_txns(text).to_text() == text
    assert parse_valid_write_ids(f"golden.t:{text}").to_text() == f"golden.t:{text}"


def test_empty_lists_at_the_end_may_be_missing_as_in_texts_of_hive() -> None:
    assert parse_valid_write_ids("t:100:9223372036854775807:") == ValidWriteIdList("t", WriteId(100))
    assert parse_valid_write_ids("t:100:9223372036854775807") == ValidWriteIdList("t", WriteId(100))
    assert parse_valid_write_ids("t:100:4:4").open == {4}
    assert parse_valid_txns("100:4:4").open == {4}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "'' is not a number"),
        ("x:9223372036854775807::", "'x' is not a number"),
        ("5", "lowest of the open IDs|'' is not a number"),
        ("5:9223372036854775807::1,,2", "'' is not a number"),
        ("5:9223372036854775807:-1:", "'-1' is not a number"),
        ("5:9223372036854775807:2:", "lowest of the open IDs"),
        ("5:3:2,3:", "lowest of the open IDs"),
        ("5:2::", "lowest of the open IDs"),
        ("5:2:2:2", "2 is both open and aborted"),
        ("5:9223372036854775807:::", "four parts"),
        ("5:9223372036854775807:::7", "four parts"),
    ],
)
def test_a_text_that_breaks_a_rule_is_refused_with_the_property_and_the_rule(text: str, complaint: str) -> None:
    with pytest.raises(AcidSqlError, match=complaint) as error:
        parse_adopted_write_ids("db.t", text)
    assert error.value.condition == "INVALID_SETTING"
    assert "acidsql.adopt.writeids" in error.value.message


def test_a_list_without_a_table_name_is_refused() -> None:
    with pytest.raises(AcidSqlError, match="begins with the table's name"):
        parse_valid_write_ids(":5:9223372036854775807::")
