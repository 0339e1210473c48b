"""Long keys are looked up in literal arrays: every key has its own place, and no other number has one."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from acidsql.spark.catalyst.gateway import jvm, select, with_columns
from acidsql.spark.scan.deletes.array_lookup import long_lookup


@pytest.fixture(autouse=True)
def as_in_a_statement(spark: SparkSession) -> Iterator[None]:
    """Integers wrap around in acidsql's sessions."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield
    spark.conf.set("spark.sql.ansi.enabled", str(before))


keys_of_any_kind = st.one_of(
    st.sets(st.integers(0, 300), min_size=1, max_size=60),
    st.sets(st.integers(0, 2**63 - 1), min_size=1, max_size=60),
    st.sets(st.integers(0, 2**40).map(lambda n: n * 4096), min_size=1, max_size=60),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys_of_any_kind)
def test_every_key_has_a_place_of_its_own(keys: set[int]) -> None:
    lookup = long_lookup(np.array(sorted(keys), np.int64))
    assert len(set(lookup.places.tolist())) == len(keys)
    assert lookup.places.min() >= 0
    assert lookup.places.max() < lookup.size


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys_of_any_kind)
def test_the_arrays_are_a_small_multiple_of_the_keys(keys: set[int]) -> None:
    lookup = long_lookup(np.array(sorted(keys), np.int64))
    assert lookup.size <= 12 * len(keys) + 64


@pytest.mark.parametrize("spread", [1, 3, 1000, 2**30, 2**45])
def test_spark_finds_each_key_and_no_other(spark: SparkSession, spread: int) -> None:
    r = random.Random(spread)
    keys = sorted({r.randrange(400) * spread + 7 for _ in range(150)})
    others = {key + r.choice((-1, 1)) for key in keys} | {0, 1, 2**62} - set(keys)
    lookup = long_lookup(np.array(keys, np.int64))
    own = np.full(lookup.size, -1, np.int64)
    own[lookup.places] = keys
    frame = spark.createDataFrame([(key,) for key in [*keys, *sorted(others)]], "key bigint")
    tables = {f"@t_{name}": table for name, table in lookup.tables.items()} | {"@own": own}
    literals = {name: jvm(spark).long_array(table) for name, table in tables.items()}
    found = select(with_columns(frame, literals), ("key", f"`@own`[{lookup.sql('key', '@t_')}] AS own"))
    of_keys = {row["key"]: row["own"] for row in found.collect()}
    assert {key: of_keys[key] for key in keys} == {key: key for key in keys}
    assert all(of_keys[key] != key for key in others - set(keys))
    assert "join" not in found._jdf.queryExecution().executedPlan().toString().lower()


def test_texts_of_a_literal_array_are_read_back(spark: SparkSession) -> None:
    texts = ["", None, "a b", "żółw", *[f"value {n}" * (n % 5) for n in range(70)], None]
    frame = with_columns(spark.range(1), {"texts": jvm(spark).text_array(texts)})
    assert frame.select("texts").first()[0] == texts  # type: ignore[index]
    assert select(frame, [f"texts[{n}] AS t{n}" for n in range(len(texts))]).first() == tuple(texts)
