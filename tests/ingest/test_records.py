"""Records of every kind as rows of a table: what is stored, and what is refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest

from acidsql.acid.table import Check, Column, Constraints, Table, View
from acidsql.errors import AcidSqlError
from acidsql.ingest.records import RecordConverter
from acidsql.values.arrow_tables import arrow_table
from acidsql.values.record_shapes import pieces
from acidsql.writing.row_placement import Rows

TRANSACTIONAL: Final = {"transactional": "true", "bucketing_version": "2"}
NAN: Final = float("nan")
AT: Final = datetime(2024, 5, 6, 7, 8, 9, 123456)


def table_of(columns: Mapping[str, str], partitioned: Mapping[str, str] | None = None, **more: Any) -> Table:
    kept, places = ([Column(*item) for item in given.items()] for given in (columns, partitioned or {}))
    return Table("d", "t", tuple(kept), "/none", tuple(places), **{"properties": TRANSACTIONAL, **more})


def stored(kind: str, value: object) -> Any:
    return converted(table_of({"c": kind}), [{"c": value}]).data.column("c").to_pylist()[0]


def converted(table: Table, records: object, partition: Mapping[str, object] | None = None) -> Rows:
    return RecordConverter(table, partition).convert(records)


def refusal(call: Callable[[], object], condition: str = "INVALID_RECORD") -> str:
    with pytest.raises(AcidSqlError) as error:
        call()
    assert error.value.condition == condition, error.value
    return str(error.value)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("bigint", 7, 7),
        ("tinyint", -128, -128),
        ("int", 3.0, 3),
        ("int", Decimal("3.00"), 3),
        ("int", np.int64(5), 5),
        ("double", 2**53, 2.0**53),
        ("double", Decimal("0.1"), 0.1),
        ("double", float("inf"), float("inf")),
        ("float", 0.1, float(np.float32(0.1))),
        ("decimal(10,2)", 12, Decimal("12.00")),
        ("decimal(10,2)", 1.25, Decimal("1.25")),
        ("decimal(10,2)", Decimal("1.5000"), Decimal("1.50")),
        ("decimal(38,0)", Decimal("9" * 38), Decimal("9" * 38)),
        ("boolean", np.True_, True),
        ("string", "é\0🐝", "é\0🐝"),
        ("varchar(2)", "é🐝b", "é🐝"),
        ("char(3)", "é", "é  "),
        ("char(3)", "abcd", "abc"),
        ("binary", bytearray(b"\0\xff"), b"\0\xff"),
        ("date", "0001-01-01", date(1, 1, 1)),
        ("date", datetime(2024, 5, 6), date(2024, 5, 6)),
        ("timestamp", AT, AT),
        ("timestamp", "2024-05-06T07:08:09.1234560", AT),
        ("timestamp", "9999-12-31 23:59:59.999999", datetime(9999, 12, 31, 23, 59, 59, 999999)),
        ("timestamp", date(2024, 5, 6), datetime(2024, 5, 6)),
        ("timestamp", np.datetime64("2024-05-06T07:08:09.123456000"), AT),
        ("timestamp", pd.Timestamp(AT), AT),
        ("timestamp", pd.NaT, None),
        ("timestamp with local time zone", AT.replace(tzinfo=timezone(timedelta(hours=2))), AT - timedelta(hours=2)),
        ("timestamp with local time zone", "2024-05-06 07:08:09.123456Z", AT),
        ("array<int>", (1, None), [1, None]),
        ("array<int>", np.array([1, 2]), [1, 2]),
        ("map<string,int>", {"k": 1}, [("k", 1)]),
        ("struct<a:int,b:char(2)>", {"B": "x"}, {"a": None, "b": "x "}),
        ("struct<a:int,b:array<string>>", (1, ["x"]), {"a": 1, "b": ["x"]}),
        ("array<struct<a:map<int,date>>>", [{"a": {1: "2024-01-01"}}], [{"a": [(1, date(2024, 1, 1))]}]),
    ],
)
def test_values_without_loss_are_stored(kind: str, given: object, expected: object) -> None:
    found = stored(kind, given)
    zone = UTC if kind == "timestamp with local time zone" else None
    assert found == (expected.replace(tzinfo=zone) if isinstance(expected, datetime) else expected)


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("int", 2**31, "out of the type's range"),
        ("int", True, "of Python's type bool"),
        ("int", "5", "of Python's type str"),
        ("int", 1.5, "not a whole number"),
        ("int", NAN, "not a whole number"),
        ("bigint", Decimal("1E+999999"), "out of the type's range"),
        ("bigint", np.datetime64("2024-01-01"), "of Python's type date"),
        ("double", 2**53 + 1, "no such number"),
        ("double", 10**400, "out of the type's range"),
        ("double", Decimal("1E+400"), "out of the type's range"),
        ("float", 1e300, "out of the type's range"),
        ("float", 2**24 + 1, "no such number"),
        ("decimal(5,2)", 1000, "out of the type's range"),
        ("decimal(5,2)", Decimal("1.005"), "more than 2 digits"),
        ("decimal(5,2)", NAN, "not a number"),
        ("boolean", 1, "of Python's type int"),
        ("string", 1, "of Python's type int"),
        ("string", b"x", "of Python's type bytes"),
        ("string", "\ud800", "surrogate"),
        ("binary", "x", "of Python's type str"),
        ("date", "2024-1-1", "not a date"),
        ("date", "2024-02-30", "no such day"),
        ("date", AT, "time of day"),
        ("timestamp", AT.replace(tzinfo=UTC), "has a time zone"),
        ("timestamp", "2024-05-06T07:08:09Z", "has a time zone"),
        ("timestamp", "2024-05-06 07:08:09.123456789", "beyond microseconds"),
        ("timestamp", pd.Timestamp("2024-05-06 07:08:09.123456789"), "beyond microseconds"),
        ("timestamp", 5, "of Python's type int"),
        ("timestamp with local time zone", AT, "no time zone"),
        ("timestamp with local time zone", "0001-01-01 00:00:00+01:00", "out of the type's range"),
        ("array<int>", "ab", "of Python's type str"),
        ("array<int>", [1, "x"], "of Python's type str"),
        ("map<string,int>", {None: 1}, "key of it is NULL"),
        ("map<char(1),int>", {"ab": 1, "ac": 2}, "key twice"),
        ("struct<a:int>", {"b": 1}, "no field b"),
        ("struct<a:int>", {"a": 1, "A": 2}, "field twice"),
        ("struct<a:int>", [1, 2], "2 values"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_record_and_column(kind: str, value: object, reason: str) -> None:
    table = table_of({"id": "int", "c": kind})
    message = refusal(lambda: converted(table, [{"id": 1}, {"id": 2, "c": value}]))
    assert "Record 2 cannot be stored" in message
    assert f"the column c of type {kind}" in message
    assert reason in message
    assert "It makes nothing NULL" in message


@pytest.mark.parametrize(
    ("kind", "array", "expected"),
    [
        ("bigint", pa.array([1, None], pa.uint8()), [1, None]),
        ("int", pa.array([1.0, None]), [1, None]),
        ("double", pa.array([1, 2**53]), [1.0, 2.0**53]),
        ("decimal(10,2)", pa.array([1, None], pa.int64()), [Decimal("1.00"), None]),
        ("decimal(10,2)", pa.array([1.25]), [Decimal("1.25")]),
        ("decimal(10,2)", pa.array([Decimal("1.500")]), [Decimal("1.50")]),
        ("double", pa.array([Decimal("0.1")]), [0.1]),
        ("string", pa.array(["a", None]).dictionary_encode(), ["a", None]),
        ("char(3)", pa.array(["a", "é🐝bc"], pa.large_string()), ["a  ", "é🐝b"]),
        ("binary", pa.array([b"ab"], pa.binary(2)), [b"ab"]),
        ("date", pa.array([date(2024, 1, 1)], pa.date64()), [date(2024, 1, 1)]),
        ("date", pa.array([datetime(2024, 1, 1)]), [date(2024, 1, 1)]),
        ("timestamp", pa.array([AT], pa.timestamp("ns")), [AT]),
        ("timestamp", pa.array([date(2024, 1, 1)]), [datetime(2024, 1, 1)]),
        ("timestamp with local time zone", pa.array([AT], pa.timestamp("ms", "Europe/Berlin"), safe=False), None),
        ("int", pa.nulls(2), [None, None]),
        ("array<bigint>", pa.array([[1, None], None, []], pa.list_(pa.int8())), [[1, None], None, []]),
        ("array<bigint>", pa.array([[9], [1], None, [2]], pa.large_list(pa.int8())).slice(1), [[1], None, [2]]),
        ("struct<a:bigint,b:int>", pa.array([{"A": 1}, None]), [{"a": 1, "b": None}, None]),
        ("map<string,bigint>", pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())), [[("k", 1)]]),
    ],
)
def test_arrays_of_other_types_are_cast_without_loss(kind: str, array: pa.Array, expected: list[Any] | None) -> None:
    found = converted(table_of({"c": kind}), pa.table({"C": array})).data.column("c").to_pylist()
    assert found == (expected if expected is not None else array.cast(pa.timestamp("us", "UTC")).to_pylist())


@pytest.mark.parametrize(
    ("kind", "array", "reason"),
    [
        ("int", pa.array([1, 2**31]), "out of the type's range"),
        ("int", pa.array([1, 1.5]), "not a whole number"),
        ("int", pa.array([None, True]), "of Python's type bool"),
        ("int", pa.array(["1", "2"]).slice(1), "of Python's type str"),
        ("double", pa.array([1, 2**53 + 1]), "no such number"),
        ("float", pa.array([1, 1e300]), "out of the type's range"),
        ("decimal(3,1)", pa.array([Decimal("1.1"), Decimal("1.15")]), "more than 1 digits"),
        ("string", pa.array([None, 1]), "of Python's type int"),
        ("timestamp", pa.array([0, 1], pa.timestamp("ns")), "beyond microseconds"),
        ("timestamp", pa.array([0, 10**12], pa.timestamp("s")), "out of the type's range"),
        ("timestamp", pa.array([None, 0], pa.timestamp("s", "UTC")), "has a time zone"),
        ("timestamp with local time zone", pa.array([None, 0], pa.timestamp("s")), "no time zone"),
        ("date", pa.array([0, 10**7], pa.date32()), "out of the type's range"),
        ("date", pa.array([datetime(2024, 1, 1), AT]), "time of day"),
        ("array<int>", pa.array([[1], [2**31]]), "out of the type's range"),
        ("struct<a:int>", pa.array([None, {"b": 1}]), "no field b"),
    ],
)
def test_an_array_with_a_value_that_does_not_fit_is_refused(kind: str, array: pa.Array, reason: str) -> None:
    message = refusal(lambda: converted(table_of({"c": kind}), pa.table({"c": array})))
    assert reason in message
    assert f"Record {len(array)} cannot be stored" in message


def test_all_shapes_of_records_give_the_same_rows() -> None:
    table = table_of({"id": "int", "name": "string", "at": "timestamp", "tags": "map<string,int>"}, {"p": "string"})
    dicts = [
        {"id": 1, "NAME": "a", "at": AT, "tags": {"x": 1}, "p": "q"},
        {"Id": 2, "name": None, "at": None, "tags": {"y": None}, "p": None},
    ]
    tuples = [(1, "a", AT, {"x": 1}, "q"), (2, None, None, {"y": None}, None)]
    types = pa.schema(
        {
            "id": pa.int64(),
            "name": pa.string(),
            "at": pa.timestamp("ns"),
            "tags": pa.map_("string", "int8"),
            "p": "string",
        }
    )
    arrow = pa.Table.from_pylist([dict(zip(types.names, row, strict=True)) for row in tuples], types)
    frame = pd.DataFrame(tuples, columns=["id", "name", "at", "tags", "P"])
    expected = converted(table, dicts)
    assert expected.data.to_pylist() == [
        {"id": 1, "name": "a", "at": AT, "tags": [("x", 1)]},
        {"id": 2, "name": None, "at": None, "tags": [("y", None)]},
    ]
    shapes = [tuples, [list(r) for r in tuples], iter(dicts), iter(tuples), arrow, arrow.to_batches()[0], frame]
    for records in [*shapes, arrow.to_reader(), Stream(arrow)]:
        found = converted(table, records)
        assert found.data == expected.data, type(records)
        assert [found.partitions[p] for p in found.places] == [("q",), (None,)], type(records)


class Stream:
    """What Polars, DuckDB and others give: an object that speaks Arrow's C stream interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_one_record_is_a_dict_a_tuple_or_a_list_of_its_values() -> None:
    table = table_of({"a": "int", "b": "string"})
    for record in ({"a": 1, "b": "x"}, (1, "x"), [1, "x"]):
        assert converted(table, record).data.to_pylist() == [{"a": 1, "b": "x"}]


@pytest.mark.parametrize("records", [[], iter([]), pa.table({"a": pa.nulls(0)}), pd.DataFrame({"a": []})])
def test_no_records_are_no_rows(records: object) -> None:
    table = table_of({"a": "int"}, {"p": "int"}, bucket_columns=("a",), bucket_count=3)
    rows = converted(table, records)
    assert rows.num_rows == 0
    assert not list(rows.placed())


def test_missing_values_of_pandas_are_null() -> None:
    frame = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": ["x", NAN], "c": [1.5, NAN]})
    rows = converted(table_of({"a": "int", "b": "string", "c": "double"}), frame)
    assert rows.data.to_pylist() == [{"a": 1, "b": "x", "c": 1.5}, {"a": None, "b": None, "c": None}]
    assert converted(table_of({"c": "double"}), [{"c": NAN}]).data.column(0).null_count == 0


def test_an_unknown_column_is_refused_with_the_columns_of_the_table() -> None:
    table = table_of({"id": "int", "name": "string"}, {"p": "int"})
    records = [{"id": 1}, {"id": 2, "nam": "x"}]
    message = refusal(lambda: converted(table, records), "INSERT_COLUMN_NOT_FOUND")
    assert "Did you mean name?" in message
    assert "It is in record 2. The columns are id, name, p." in message
    assert "fixes p" in refusal(lambda: converted(table, {"p": 1}, {"p": 1}), "INSERT_COLUMN_NOT_FOUND")
    refusal(lambda: converted(table, pa.table({"x": [1]})), "INSERT_COLUMN_NOT_FOUND")


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([(1, "x"), (1,)], "Record 2 cannot be stored: it has 1 values for 2 columns"),
        ([{"id": 1}, (1, "x")], "Record 2 cannot be stored: it is a tuple"),
        ([{"id": 1}, "x"], "Record 2 cannot be stored: it is a str"),
        ([{"id": 1}, {5: 1}], "Record 2 cannot be stored: its key 5"),
        ("id", "a str is no record"),
        (5, "a int is no record"),
    ],
)
def test_what_is_no_record_is_refused(records: object, words: str) -> None:
    assert words in refusal(lambda: converted(table_of({"id": "int", "name": "string"}), records))


def test_a_column_that_is_given_twice_is_refused() -> None:
    table = table_of({"id": "int"})
    refusal(lambda: converted(table, [{"id": 1}, {"id": 2, "ID": 3}]), "DUPLICATE_COLUMN")
    refusal(lambda: converted(table, pa.table([[1], [2]], names=["id", "ID"])), "DUPLICATE_COLUMN")


def test_a_column_that_a_record_does_not_have_gets_its_default() -> None:
    defaults = {"n": "-5", "s": "'x'", "d": "DATE '2024-01-02'", "p": "CAST(1.50 AS DECIMAL(5, 2))", "z": "2.5D"}
    kinds = {"id": "int", "n": "bigint", "s": "char(2)", "d": "date", "p": "decimal(5,2)", "z": "double"}
    table = table_of(kinds, constraints=Constraints(defaults=defaults))
    expected = {"id": None, "n": -5, "s": "x ", "d": date(2024, 1, 2), "p": Decimal("1.50"), "z": 2.5}
    rows = converted(table, [{"id": 1}, {"id": 2, "n": None, "s": "y"}])
    assert rows.data.to_pylist() == [{**expected, "id": 1}, {**expected, "id": 2, "n": None, "s": "y "}]
    assert converted(table, pa.table({"id": [1, 2]})).data.to_pylist() == [{**expected, "id": i} for i in (1, 2)]


@pytest.mark.parametrize(
    ("kind", "default"),
    [("timestamp", "current_timestamp()"), ("string", "current_user()"), ("int", "'x'"), ("array<int>", "'[1]'")],
)
def test_a_default_that_is_no_literal_of_its_type_is_refused_where_it_is_needed(kind: str, default: str) -> None:
    table = table_of({"id": "int", "c": kind}, constraints=Constraints(defaults={"c": default}))
    message = refusal(lambda: converted(table, {"id": 1}), "NOT_YET_SUPPORTED")
    assert "Give the column c in each record." in message
    assert converted(table, {"id": 1, "c": None}).num_rows == 1


def test_null_in_a_not_null_column_is_refused_with_its_record() -> None:
    table = table_of({"id": "int", "c": "int"}, {"p": "int"}, constraints=Constraints(not_null=frozenset(("c", "p"))))
    for record in ({"id": 2, "p": 1}, {"c": 1, "p": None}):
        message = refusal(lambda r=record: converted(table, [{"c": 1, "p": 1}, r]), "CONSTRAINT_VIOLATED")  # type: ignore[misc]
        assert "It is NULL in record 2." in message


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ({"properties": {}}, "INVALID_STREAM_TABLE"),
        ({"sort_columns": ("id",)}, "SORTED_TABLE"),
        ({"constraints": Constraints(checks=(Check(None, "id > 0"),))}, "NOT_YET_SUPPORTED"),
        ({"columns": (Column("u", "uniontype<int,string>"),)}, "NOT_YET_SUPPORTED"),
        ({"partition_columns": (Column("p", "timestamp with local time zone"),)}, "NOT_YET_SUPPORTED"),
        ({"columns": (Column("id", "binary"),), "bucket_columns": ("id",), "bucket_count": 2}, "NOT_YET_SUPPORTED"),
    ],
)
def test_tables_that_cannot_be_streamed_into_are_refused_at_once(change: dict[str, Any], condition: str) -> None:
    refusal(lambda: RecordConverter(replace(table_of({"id": "int"}), **change)), condition)


def test_views_are_refused() -> None:
    view: Any = View("d", "v", (Column("id", "int"),), "SELECT 1", "SELECT 1")
    refusal(lambda: RecordConverter(view), "INSERT_INTO_VIEW")


@pytest.mark.parametrize(
    ("partition", "condition", "words"),
    [
        ({"x": 1}, "PARTITION_COLUMN_UNKNOWN", "The partition columns are p, q."),
        ({"q": 1}, "DYNAMIC_PARTITION_ORDER", "q"),
        ({"p": "x"}, "INVALID_PARTITION_SPEC", "'x' is not a value of the partition column p of type int"),
        ({"p": 1, "P": 1}, "INVALID_PARTITION_SPEC", "p is named twice"),
        ({"p": 1, "q": "x" * 300}, "INVALID_PARTITION_VALUE", "possible"),
    ],
)
def test_a_wrong_partition_is_refused_at_once(partition: dict[str, object], condition: str, words: str) -> None:
    table = table_of({"id": "int"}, {"p": "int", "q": "string"})
    assert words in refusal(lambda: RecordConverter(table, partition), condition)


def test_static_partition_columns_come_before_those_of_the_records() -> None:
    table = table_of({"id": "int"}, {"p": "int", "q": "string"})
    rows = converted(table, [(1, "a"), (2, ""), (3, "a")], {"P": "007"})
    assert [(x.values, x.rows.column("id").to_pylist()) for x in rows.placed()] == [
        (("7", "a"), [1, 3]),
        (("7", None), [2]),
    ]
    rows = converted(table, [(1,), (2,)], {"p": 7, "q": None})
    assert [(x.values, x.bucket, x.rows.num_rows) for x in rows.placed()] == [(("7", None), 0, 2)]


def test_rows_are_split_by_partition_and_bucket_in_their_order() -> None:
    table = table_of({"id": "int", "n": "int"}, {"p": "string"}, bucket_columns=("id",), bucket_count=3)
    records = [(n % 7, n, f"p{n % 2}") for n in range(200)]
    seen: list[int] = []
    for placed in converted(table, records).placed():
        numbers = placed.rows.column("n").to_pylist()
        assert numbers == sorted(numbers)
        assert {f"p{n % 2}" for n in numbers} == set(placed.values)
        seen += numbers
        assert placed.bucket in range(3)
    assert sorted(seen) == list(range(200))


def test_periods_of_pandas_whose_values_arrow_does_not_get_are_refused() -> None:
    periods = pd.DataFrame({"c": pd.period_range("2024-01", periods=2, freq="M")})
    assert "period[M]" in refusal(lambda: converted(table_of({"c": "bigint"}), periods), "INVALID_PARAMETER")
    assert "period[M]" in refusal(lambda: arrow_table(periods, "The frame"), "INVALID_PARAMETER")


def test_objects_in_a_frame_of_polars_are_refused() -> None:
    polars: Any = pytest.importorskip("polars", reason="polars is not installed")
    objects = polars.DataFrame({"c": polars.Series([1, "a"], dtype=polars.Object)})
    assert "Object" in refusal(lambda: converted(table_of({"c": "binary"}), objects), "INVALID_PARAMETER")
    assert "Object" in refusal(lambda: arrow_table(objects, "The frame"), "INVALID_PARAMETER")


def test_the_index_of_a_class_derived_from_pandas_is_no_column() -> None:
    class Derived(pd.DataFrame):  # type: ignore[misc]
        pass

    assert arrow_table(Derived({"a": [1, 2]}, index=[5, 6]), "The frame").column_names == ["a"]
    named = Derived({"a": [1]}, index=pd.Index([5], name="id"))
    assert "id is an index of pandas" in refusal(lambda: arrow_table(named, "The frame"), "INVALID_PARAMETER")


def test_records_come_in_pieces() -> None:
    arrow = pa.table({"a": range(10)})
    frame = pd.DataFrame({"a": range(10)})
    dicts = [{"a": n} for n in range(10)]
    table = table_of({"a": "int"})
    for records in (dicts, iter(dicts), arrow, arrow.to_reader(), frame, Stream(arrow)):
        found = [converted(table, piece).data.column("a").to_pylist() for piece in pieces(records, 4)]
        assert found == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]], type(records)
    one: Sequence[object] = ({"a": 1}, (1,), [1])
    assert all(list(pieces(record, 4)) == [record] for record in one)
