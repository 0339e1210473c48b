"""The settings that a session begins with: those of `connect`, behind those of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql import dbapi
from acidsql.connection import connect
from tests.answers import fails

ASSIGNMENT = "acidsql.store.assignment"
RETRIES = "hive.lock.numretries"


def test_connect_takes_settings_before_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(tmp_path / "w", settings={ASSIGNMENT: "ANSI"}) as session:
        assert session.setting(ASSIGNMENT) == "ansi"
    file = tmp_path / "settings.toml"
    file.write_text('acidsql.store.assignment = "ansi"\n[hive.lock]\nnumretries = 7\n[hive.txn.xlock]\nwrite = false\n')
    monkeypatch.setenv("ACIDSQL_SETTINGS", str(file))
    with connect(tmp_path / "w", settings={RETRIES: "8"}) as session:
        assert (session.setting(ASSIGNMENT), session.setting(RETRIES)) == ("ansi", "8")
        assert session.setting("hive.txn.xlock.write") == "false"
        session.execute("RESET")
        assert session.setting(ASSIGNMENT) == "hive"
    with dbapi.connect(tmp_path / "w", settings={ASSIGNMENT: "hive"}) as connection:
        cursor = connection.cursor()
        assert cursor.execute(f"SET {ASSIGNMENT}").fetchall() == [(ASSIGNMENT, "hive")]


def test_wrong_settings_open_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails("UNKNOWN_SETTING", lambda: connect(tmp_path / "w", settings={"acidsql.store.asignment": "ansi"}))
    fails("INVALID_SETTING", lambda: connect(tmp_path / "w", settings={ASSIGNMENT: "loose"}))
    file = tmp_path / "settings.toml"
    monkeypatch.setenv("ACIDSQL_SETTINGS", str(file))
    assert "No such file" in fails("INVALID_SETTINGS_FILE", lambda: connect(tmp_path / "w")).message
    for text in ("acidsql.store.assignment = ansi", "acidsql.x = [1]", "\ufeff="):
        file.write_text(text)
        assert str(file) in fails("INVALID_SETTINGS_FILE", lambda: connect(tmp_path / "w")).message
