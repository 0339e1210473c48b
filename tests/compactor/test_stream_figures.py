"""SHOW STREAMS, and the metrics of streams for Python, SHOW METRICS and Prometheus."""

from __future__ import annotations

import urllib.request

from acidsql.compactor.http_endpoint import LOCAL
from acidsql.compactor.metrics import serve_pages
from acidsql.metastore.process_identity import this_process
from acidsql.metastore.streams import Offset, StreamClaim, StreamProgress
from acidsql.session import Session
from tests.answers import fails

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def commit(session: Session, claim: StreamClaim, offset: Offset, rows: int) -> None:
    store = session._metastore
    before = store.stream(claim.table, claim.id)
    assert before is not None
    store.commit(store.open_txn(), progress=StreamProgress(claim, before, offset, rows))


def test_streams_are_shown_and_measured(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id int) {ACID}")
    session.execute("CREATE DATABASE d")
    session.execute(f"CREATE TABLE d.u (id int) {ACID}")
    store = session._metastore
    clicks = store.claim_stream(store.table("default", "t"), "Clicks-1")
    store.claim_stream(store.table("d", "u"), "views_1")
    commit(session, clicks, {"partition-0": 17, "a": "ü"}, 1000)
    commit(session, clicks, {"partition-0": 18, "a": "ü"}, 500)
    store.release_claim(clicks)

    shown = session.execute("SHOW STREAMS")
    assert [c.name for c in shown.columns or ()] == [
        *("database", "table", "stream_id", "committed_offset", "rows", "commits", "rows_per_second", "last_commit"),
        "writer",
    ]
    views, of_t = shown.rows()
    assert views[:8] == ("d", "u", "views_1", None, "0", "0", None, None)
    assert str(views[8]).endswith(f", process {this_process().pid}")
    state = store.stream(clicks.table, clicks.id)
    assert state is not None
    millis = state.last_commit - state.first_commit
    rate = f"{1500 * 1000 / millis:.1f}" if millis else None
    offset = '{"partition-0": 18, "a": "\\u00fc"}'
    assert of_t == ("default", "t", "Clicks-1", offset, "1500", "2", rate, str(state.last_commit), None)

    assert [row[2] for row in session.execute("SHOW STREAMS IN d").rows()] == ["views_1"]
    assert [row[2] for row in session.execute("SHOW STREAMS LIKE 'clicks%'").rows()] == ["Clicks-1"]
    assert [row[2] for row in session.execute("SHOW STREAMS FROM d LIKE 'clicks%'").rows()] == []
    fails("DATABASE_NOT_FOUND", lambda: session.execute("SHOW STREAMS IN nowhere"))

    found = {(m.name, m.place, m.stream): m.value for m in session.metrics()}
    assert found["num_streams", None, None] == 2
    assert found["stream_rows_total", "default.t", "Clicks-1"] == 1500
    assert found["stream_commits_total", "default.t", "Clicks-1"] == 2
    assert 0 <= found["stream_seconds_since_last_commit", "default.t", "Clicks-1"] < 3600
    assert found["stream_has_writer", "default.t", "Clicks-1"] == 0
    assert found["stream_has_writer", "d.u", "views_1"] == 1
    assert ("stream_seconds_since_last_commit", "d.u", "views_1") not in found
    places = {(row[0], row[1]) for row in session.execute("SHOW METRICS").rows()}
    assert ("stream_rows_total", "default.t, stream Clicks-1") in places

    port = serve_pages(0, LOCAL, store, session.compactor, needs_metrics=True)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    assert "# TYPE acidsql_stream_rows_total counter" in text
    assert 'acidsql_stream_rows_total{stream="Clicks-1",table="default.t"} 1500.0' in text
    assert 'acidsql_stream_has_writer{stream="views_1",table="d.u"} 1.0' in text
    assert "acidsql_num_streams 2.0" in text
