"""A program as a user writes it, for type checkers: every call of the public API, and the types of what it gives.

tests/typing/test_typing.py has mypy check it. Nothing runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_type

from pyspark.sql import DataFrame

import acidsql
from acidsql.merge_builder import MergeBuilder
from acidsql.merge_clauses import MergeClauses
from acidsql.results import Counts, Summary
from acidsql.session import Session


def statements(session: Session, frame: DataFrame) -> None:
    assert_type(acidsql.run_sql("SELECT * FROM t WHERE id IN (:ids)", {"ids": [1, 2]}), DataFrame)
    assert_type(acidsql.run_sql("SELECT * FROM {f} WHERE id = ?", [1], f=frame), DataFrame)
    assert_type(session.sql("SELECT * FROM {new}", new=frame), DataFrame)
    assert_type(session.table("db.t"), DataFrame)
    assert_type(session.explain("SELECT 1"), str)
    assert_type(session.last_result, Summary | None)
    for result in session.script("USE db; SHOW TABLES;"):
        assert_type(result.operation, str)
        assert_type(result.counts, Counts | None)
    with session.transaction() as same:
        assert_type(same, Session)


def methods(session: Session, frame: DataFrame) -> None:
    assert_type(session.insert("t", frame), Counts)
    assert_type(session.insert("t", [{"id": 1}], partition={"d": "x"}, overwrite=True), Counts)
    assert_type(session.upsert("t", [{"id": 1, "v": None}], on=["id"]), Counts)
    assert_type(session.upsert("t", frame, on="id"), Counts)
    assert_type(session.update("t", {"salary": "salary + 100"}, where="id = 2"), Counts)
    assert_type(session.delete("t", where="id IN (:ids)", args={"ids": [1]}), Counts)
    builder = session.merge("t", frame, on="target.id = source.id")
    assert_type(builder, MergeBuilder)
    assert_type(builder.when_matched("source.v = 'gone'").delete(), MergeBuilder)
    assert_type(builder.when_matched().update_all(), MergeBuilder)
    assert_type(builder.when_not_matched().insert({"id": "source.id"}).sql(), str)
    assert_type(builder.when_not_matched().insert(["source.id", "DEFAULT"]), MergeBuilder)
    assert_type(builder.when_not_matched_by_source().update({"v": "0"}).execute(), Counts)
    counts = builder.when_not_matched().insert_all().execute()
    assert_type((counts.affected, counts.updated, counts.deleted, counts.inserted), tuple[int, int, int, int])


def streams(session: Session) -> None:
    clauses = MergeClauses().when_matched().delete().when_not_matched().insert_all()
    assert_type(clauses, MergeClauses)
    merge = acidsql.streaming.merge("t", on="target.id = source.id", id="cdc", clauses=clauses, session=session)
    assert_type(merge, Callable[[DataFrame, int], None])
    with session.stream("t", id="orders") as stream:
        stream.write([{"id": 1}], offset=42)
        stream.commit()


def errors() -> None:
    try:
        with acidsql.connect("warehouse", metastore=None, conf={"spark.master": "local"}) as session:
            assert_type(session, Session)
    except acidsql.AcidSqlError as error:
        assert_type(error.condition, str)
        assert_type(error.hive_code, int | None)
