"""XXH64 on the driver equals Spark's xxhash64, by which rows find the facts of their file."""

from __future__ import annotations

import random

from pyspark.sql import SparkSession

from acidsql.spark.scan.file_partitions import xxhash64

SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789/=_-%. äß€😀"


def test_a_text_of_any_length_has_the_hash_that_spark_gives(spark: SparkSession) -> None:
    r = random.Random(1)
    texts = ["".join(r.choices(SIGNS, k=length)) for length in range(140) for _ in range(3)]
    r.shuffle(texts)
    rows = spark.createDataFrame(list(enumerate(texts)), "number int, text string")
    found = rows.selectExpr("number", "xxhash64(text)").collect()
    assert xxhash64(texts).tolist() == [of for _, of in sorted(found)]


def test_no_texts_have_no_hashes() -> None:
    assert xxhash64([]).tolist() == []
