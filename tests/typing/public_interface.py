"""A program as a user writes it, for type checkers: every call of the public API, and the types of what it gives.

tests/typing/test_typing.py has mypy and pyright check it. Nothing runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_type

from pyspark.sql import DataFrame

import acidsql
from acidsql import dbapi
from acidsql.frame_api.merge_builder import MergeBuilder
from acidsql.frame_api.merge_clauses import MergeClauses
from acidsql.session import Session
from acidsql.statements.results import Counts, Summary


def statements(session: Session, frame: DataFrame) -> None:
    assert_type(acidsql.run_sql("SELECT * FROM t WHERE id IN (:ids)", {"ids": [1, 2]}), DataFrame)
    assert_type(acidsql.run_sql("SELECT * FROM {f} WHERE id = ?", [1], f=frame), DataFrame)
    assert_type(session.sql("SELECT * FROM {new}", new=frame), DataFrame)
    assert_type(session.table("db.t"), DataFrame)
    assert_type(session.changes("db.t", 5, 9), DataFrame)
    assert_type(session.explain("SELECT 1"), str)
    assert_type(session.last_result, Summary | None)
    for result in session.script("USE db; SHOW TABLES;"):
        assert_type(result.operation, str)
        assert_type(result.counts, Counts | None)
    with session.transaction() as same:
        assert_type(same, Session)
    session.set_settings({"acidsql.store.assignment": "ansi"})
    assert_type(session.setting("acidsql.store.assignment"), str | None)
    assert_type(session.database, str)
    assert_type(session.transaction_id, int | None)
    assert_type(session.cancelled_tasks(), int)
    assert_type(session.progress(), str)
    assert_type(session.lock_wait(), str)
    assert_type(session.running_tasks(), tuple[int, int])
    session.keeps_transaction = True
    for metric in session.metrics():
        assert_type(metric.name, str)


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


def through_dbapi() -> None:
    with dbapi.connect(Path("warehouse"), autocommit=False) as connection:
        assert_type(connection.in_transaction, bool)
        with connection.cursor() as cursor:
            assert_type(cursor.execute("SELECT :id", {"id": 1}).fetchone(), tuple[object, ...] | None)
            assert_type(cursor.executemany("INSERT INTO t VALUES (?)", [[1], [2]]).rowcount, int)
            for row in cursor:
                assert_type(row, tuple[object, ...])
            assert_type(cursor.fetchmany(3), list[tuple[object, ...]])
        try:
            connection.commit()
        except dbapi.OperationalError as error:
            assert_type(error.sqlstate, str)
            connection.rollback()


def errors() -> None:
    try:
        with acidsql.connect(Path("warehouse"), metastore=None, conf={"spark.master": "local"}) as session:
            assert_type(session, Session)
    except acidsql.AcidSqlError as error:
        assert_type(error.condition, str)
        assert_type(error.hive_code, int | None)
