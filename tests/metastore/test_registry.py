"""The registry of metastores: schemes, lazy imports, and the limit that a session sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.registry import open_metastore
from acidsql.session import connect


def test_a_uri_opens_the_embedded_metastore_in_the_callers_warehouse(tmp_path: Path) -> None:
    opened = open_metastore(f"sqlite:///{tmp_path}/m.db", str(tmp_path))
    assert opened.warehouse == opened.metastore.database("default").location == str(tmp_path)
    assert opened.metastore.compaction_keeper is not None
    assert opened.metastore.detects_row_conflicts
    opened.metastore.close()


@pytest.mark.parametrize(
    ("uri", "likely"),
    [
        ("localhost:9083", "thrift://localhost:9083"),
        ("one:9083,two:9083", "thrift://one:9083,two:9083"),
        ("[::1]:9083", "thrift://[::1]:9083"),
        ("metastore.example", "thrift://metastore.example:9083"),
        ("thrift", "thrift://thrift:9083"),
        ("thrft://host:9083", "thrift://host:9083"),
        ("THRIFT://host", "thrift://host"),
        ("metastore.db", "sqlite:///metastore.db"),
        ("../m.sqlite", "sqlite:///../m.sqlite"),
        ("/var/lib/m", "sqlite:////var/lib/m"),
        ("C:/m.db", "sqlite:///C:/m.db"),
        ("sqllite:////var/m.db", "sqlite:////var/m.db"),
    ],
)
def test_a_name_without_a_scheme_is_refused_with_the_nearest_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str, likely: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AcidSqlError, match="METASTORE_UNAVAILABLE") as caught:
        connect(tmp_path / "w", metastore=uri)
    assert caught.value.message.endswith(f". Did you mean {likely}?")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_scheme_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AcidSqlError, match=r"METASTORE_UNAVAILABLE.*jdbc://host/db"):
        open_metastore("jdbc://host/db", "/w")
    assert list(tmp_path.iterdir()) == []


def test_the_registry_imports_no_metastore_before_it_opens_one() -> None:
    code = "import sys, acidsql.metastore.registry; print([m for m in sys.modules if 'sqlite' in m or 'hive_m' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_set_limits_the_open_transactions_of_the_session(tmp_path: Path) -> None:
    with connect(tmp_path) as session:
        session.execute("SET hive.max.open.txns=0")
        with pytest.raises(AcidSqlError, match="TOO_MANY_TRANSACTIONS"):
            session.execute("START TRANSACTION")
        session.execute("SET hive.max.open.txns=100")
        session.execute("START TRANSACTION")
        session.execute("ROLLBACK")
