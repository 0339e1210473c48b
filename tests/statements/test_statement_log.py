"""The log of statements: what a line has, what it never has, and the spans of OpenTelemetry. Needs no Spark."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from acidsql.errors import AcidSqlError
from acidsql.redaction import clipped, redacted
from acidsql.session import Session, connect
from acidsql.tracing import Phase, Trace, current, phase

_PROVIDER = TracerProvider()
_EXPORTER = InMemorySpanExporter()
_PROVIDER.add_span_processor(SimpleSpanProcessor(_EXPORTER))

TABLE = "CREATE TABLE t (id int, name string) STORED AS ORC TBLPROPERTIES ('transactional'='true')"


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Session]:
    """A session that has not started Spark."""
    with connect(tmp_path / "warehouse") as opened:
        yield opened


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What the application of these tests exports, whichever provider it has set."""
    monkeypatch.setattr(trace, "get_tracer", _PROVIDER.get_tracer)
    _EXPORTER.clear()
    return _EXPORTER


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_line_of_json_has_transaction_write_ids_snapshot_files_rows_and_phases(
    plain: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACIDSQL_LOG", "json")
    plain.execute(TABLE)
    plain.execute("INSERT INTO t VALUES (1, 'Jerry'), (2, 'Tom')")
    plain.execute("UPDATE t SET name = 'Ann' WHERE id = 2")
    created, inserted, updated = records(capsys)
    assert created["operation"] == "CREATE TABLE"
    assert created["database"] == "default"
    assert inserted["write_ids"] == {"default.t": 1}
    assert inserted["rows"] == {"affected": 2, "updated": 0, "deleted": 0, "inserted": 2}
    assert inserted["files_written"] == 1
    assert updated["statement"] == "UPDATE t SET name = 'Ann' WHERE id = 2"
    assert plain.last_result is not None
    assert updated["txn_id"] == plain.last_result.txn_id
    assert updated["snapshot"] == {"default.t": 1}
    assert updated["write_ids"] == {"default.t": 2}
    assert (updated["files_read"], updated["files_written"]) == (1, 2)
    assert set(updated["phases"]) == {"parse", "plan", "lock", "scan", "write", "commit"}
    assert sum(updated["phases"].values()) <= updated["seconds"] + 0.001
    assert "error" not in updated


def test_a_query_without_spark_and_read_arrow_have_the_transaction_that_they_read_in(
    plain: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain.execute(TABLE)
    plain.execute("INSERT INTO t VALUES (1, 'Jerry')")
    monkeypatch.setenv("ACIDSQL_LOG", "json")
    plain.execute("SELECT * FROM t", rows_only=True).close()
    plain.read_arrow("t", where="id = 1").read_all()
    query, read = records(capsys)
    assert (query["operation"], read["operation"]) == ("SELECT", "READ ARROW")
    assert query["snapshot"] == read["snapshot"] == {"default.t": 1}
    assert query["txn_id"] < read["txn_id"]
    assert read["statement"] == "read_arrow t WHERE id = 1"


def test_a_failed_statement_has_its_condition_and_not_its_message(
    plain: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain.execute(TABLE)
    monkeypatch.setenv("ACIDSQL_LOG", "json")
    with pytest.raises(AcidSqlError):
        plain.execute("UPDATE missing SET name = 'x'")
    with pytest.raises(AcidSqlError):
        plain.execute("UPDATE t SET name ==")
    missing, wrong = records(capsys)
    assert missing["error"] == "TABLE_NOT_FOUND"
    assert wrong["error"] == "PARSE_SYNTAX_ERROR"
    assert not {"message", "operation"} & set(missing)


def test_statements_of_a_transaction_name_it(
    plain: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain.execute(TABLE)
    monkeypatch.setenv("ACIDSQL_LOG", "json")
    with plain.transaction():
        txn = plain.transaction_id
        plain.execute("INSERT INTO t VALUES (1, 'a')")
        with pytest.raises(AcidSqlError):
            plain.execute("DELETE FROM missing")
        plain.execute("START TRANSACTION")
        plain.execute("SHOW TABLES")
    lines = records(capsys)
    assert [line["txn_id"] for line in lines[:3]] == [txn] * 3
    assert lines[2]["error"] == "TABLE_NOT_FOUND"


def test_the_plain_form_is_one_line_a_statement(
    plain: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACIDSQL_LOG", "text")
    plain.execute(TABLE.replace(" STORED", "\n  STORED"))
    plain.execute("INSERT INTO t VALUES (1, 'Jerry')")
    created, inserted = capsys.readouterr().err.splitlines()
    assert 'operation="CREATE TABLE" statement="CREATE TABLE t (id int, name string) STORED AS ORC' in created
    assert " operation=INSERT " in inserted
    assert " write_ids=default.t:1 " in inserted
    assert " rows=affected:1,updated:0,deleted:0,inserted:1 " in inserted


def test_secrets_and_values_of_parameters_are_in_no_line(
    plain: Session,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    secret = "hunter2"
    caplog.set_level(logging.INFO, "acidsql.statements")
    for form in ("json", "text"):
        monkeypatch.setenv("ACIDSQL_LOG", form)
        plain.execute(f"SET spark.hadoop.fs.s3a.secret.key={secret} {secret}")
        plain.execute(f"-- a comment\nSET spark.hadoop.fs.azure.account.key.x.dfs.core.windows.net={secret} {secret}")
        plain.execute(f"SET hivevar:password={secret}")
        plain.execute(f"CREATE TABLE t (v string) TBLPROPERTIES ('transactional'='true', 'api.token'='{secret}')")
        plain.execute("INSERT INTO t VALUES (:value)", {"value": secret})
        plain.execute("INSERT INTO t VALUES (?)", [secret])
        plain.execute("INSERT INTO t VALUES ('${hivevar:password}')")
        plain.insert("t", [{"v": secret}])
        with pytest.raises(AcidSqlError):
            plain.execute("UPDATE t SET w = :value WHERE v = 1", {"value": secret})
        plain.execute("DROP TABLE t")
    lines = capsys.readouterr().err
    assert lines.count("INSERT INTO t VALUES") == 6
    assert secret not in lines
    assert secret not in caplog.text
    assert secret not in repr([vars(record) for record in caplog.records])


def test_the_text_of_statements_can_be_left_out(
    plain: Session, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACIDSQL_LOG", "json")
    monkeypatch.setenv("ACIDSQL_LOG_STATEMENTS", "off")
    plain.execute(TABLE)
    (line,) = records(capsys)
    assert "statement" not in line
    assert line["operation"] == "CREATE TABLE"


def test_an_application_gets_records_by_its_own_logging(plain: Session, caplog: pytest.LogCaptureFixture) -> None:
    plain.execute(TABLE)
    assert not caplog.records
    caplog.set_level(logging.INFO, "acidsql.statements")
    plain.execute("INSERT INTO t VALUES (1, 'Jerry')")
    (record,) = caplog.records
    assert vars(record)["acidsql"]["write_ids"] == {"default.t": 1}


@pytest.mark.parametrize(("name", "value"), [("ACIDSQL_LOG", "xml"), ("ACIDSQL_LOG_STATEMENTS", "0")])
def test_a_wrong_value_is_an_error_at_once(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(AcidSqlError) as refused:
        connect(tmp_path)
    assert refused.value.condition == "INVALID_SETTING"
    assert not (tmp_path / ".acidsql").exists()


def test_a_uri_of_a_metastore_with_a_password_is_refused_without_it(tmp_path: Path) -> None:
    for uri in ("thrift://ann:hunter2@localhost:9083", "thrift://localhost:9083?password=hunter2"):
        with pytest.raises(AcidSqlError) as refused:
            connect(tmp_path, metastore=uri)
        assert refused.value.condition == "METASTORE_UNAVAILABLE"
        assert "hunter2" not in str(refused.value)


# ------------------------------------------------------------------------------------------------ spans


def test_a_statement_is_a_span_in_the_context_of_the_caller_with_a_span_for_each_phase(
    plain: Session, exporter: InMemorySpanExporter
) -> None:
    plain.execute(TABLE)
    plain.execute("INSERT INTO t VALUES (1, 'Jerry')")
    exporter.clear()
    with _PROVIDER.get_tracer("app").start_as_current_span("request") as request:
        plain.execute("UPDATE t SET name = 'Ann' WHERE id = 1")
    spans = {span.name: span for span in exporter.get_finished_spans()}
    update = spans["UPDATE"]
    assert update.parent is not None
    assert update.parent.span_id == request.get_span_context().span_id
    assert update.attributes is not None
    assert update.attributes["db.query.text"] == "UPDATE t SET name = 'Ann' WHERE id = 1"
    assert update.attributes["acidsql.write_ids.default.t"] == 2
    assert update.attributes["acidsql.rows.updated"] == 1
    inside = [n for n, s in spans.items() if s.parent is not None and s.parent.span_id == update.context.span_id]
    assert sorted(inside) == ["acidsql.commit", "acidsql.lock", "acidsql.parse", "acidsql.plan", "acidsql.write"]
    scan = spans["acidsql.scan"].parent
    assert scan is not None
    assert scan.span_id == spans["acidsql.write"].context.span_id


def test_the_span_of_a_failed_statement_has_the_condition_and_no_secret(
    plain: Session, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(AcidSqlError):
        plain.execute("UPDATE missing SET password = 'hunter2' WHERE name = :name", {"name": "hunter2"})
    failed = next(span for span in exporter.get_finished_spans() if span.name == "acidsql.statement")
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "TABLE_NOT_FOUND"
    assert not failed.status.is_ok
    assert "hunter2" not in "".join(span.to_json() for span in exporter.get_finished_spans())


# ------------------------------------------------------------------------------------------------ parts


def test_a_phase_inside_another_is_not_counted_twice() -> None:
    trace_of = Trace()
    with trace_of.run(Phase.WRITE), trace_of.run(Phase.SCAN):
        pass
    assert list(trace_of.phases) == [Phase.WRITE, Phase.SCAN]
    assert all(taken >= 0 for taken in trace_of.phases.values())


def test_nothing_is_traced_where_nobody_asks() -> None:
    assert current() is None
    assert phase(Phase.WRITE) is phase(Phase.COMMIT)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("SET a=b", "SET a=b"),
        ("set  fs.s3a.access.key = x y", "set  fs.s3a.access.key =*********(redacted)"),
        ("x password='it''s' y", "x password=*********(redacted) y"),
        ('x client_secret="a b", y', "x client_secret=*********(redacted), y"),
        ("x sslPassword='open", "x sslPassword=*********(redacted)"),
        ("SELECT token FROM t WHERE id = 1", "SELECT token FROM t WHERE id = 1"),
        ("jdbc:mysql://ann:pw@host/db", "jdbc:mysql://ann:*********(redacted)@host/db"),
        ("hdfs://nameservice:8020/a/b@c", "hdfs://nameservice:8020/a/b@c"),
    ],
)
def test_secrets_are_redacted_by_the_name_before_them(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_redacting_a_long_literal_is_not_quadratic() -> None:
    text = f"INSERT INTO t VALUES ('{'a' * 2_000_000}')"
    assert redacted(text) == text
    assert clipped(text, 30).endswith("…")


def test_redacting_behind_many_comments_does_not_take_exponential_time() -> None:
    comments = "/* a line of a licence */ -- and more\n" * 2_000
    assert redacted(f"{comments}SELECT 1") == f"{comments}SELECT 1"
    assert redacted(f"{comments}SET my.secret=x") == f"{comments}SET my.secret=*********(redacted)"
