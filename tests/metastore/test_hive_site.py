"""The metastore that a hive-site.xml names."""

from __future__ import annotations

from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.hive.hive_site import FILE, uri_of
from acidsql.metastore.hive.service_uri import Authentication, Transport, parse_address
from acidsql.metastore.registry import configured_metastore
from acidsql.session import connect

URIS = "hive.metastore.uris"


def site(directory: Path, text: str) -> None:
    (directory / FILE).write_text(f"<?xml version='1.0'?><configuration>{text}</configuration>")


def of(name: str, value: str) -> str:
    return f"<property><name>{name}</name><value>{value}</value><description>words</description></property>"


def test_the_metastore_is_the_one_of_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HIVE_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("GATEWAY", "one")
    assert configured_metastore() is None, "there is no file"
    site(tmp_path, of("hive.exec.scratchdir", "/tmp"))
    assert configured_metastore() is None, "the file names no metastore"
    site(
        tmp_path,
        of("port", "9083")
        + of(URIS, "thrift://${env.GATEWAY}:${port}, thrift://two")
        + of("hive.metastore.client.socket.timeout", "5min")
        + of("metastore.use.SSL", "true")
        + of("metastore.client.thrift.transport.mode", "http")
        + of("metastore.client.thrift.http.path", "hms"),
    )
    address = parse_address(configured_metastore() or "")
    assert str(address) == "thrift://one:9083,thrift://two:9083"
    assert (address.timeout, address.tls, address.transport, address.path) == (300.0, True, Transport.HTTP, "hms")


def test_a_setting_has_an_old_and_a_new_name_and_the_new_one_counts() -> None:
    assert uri_of({URIS: "thrift://old", "metastore.thrift.uris": "thrift://new"}) == "thrift://new"


def test_a_variable_that_nobody_sets_stays_as_it_is_and_one_of_itself_ends() -> None:
    assert uri_of({URIS: "thrift://${nobody}"}) == "thrift://${nobody}"
    assert uri_of({URIS: "${a}", "a": "${a}"}) == "${a}"


def test_a_session_opens_it_unless_the_user_names_a_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HIVE_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("ACIDSQL_METASTORE", raising=False)
    monkeypatch.delenv("ACIDSQL_WAREHOUSE", raising=False)
    site(tmp_path, of(URIS, "thrift://127.0.0.1:1"))
    with pytest.raises(AcidSqlError, match=r"Cannot open the metastore thrift://127\.0\.0\.1:1"):
        connect()
    connect(tmp_path / "given").close()
    connect(metastore=f"sqlite:///{tmp_path}/m.db").close()
    monkeypatch.setenv("ACIDSQL_WAREHOUSE", str(tmp_path / "environment"))
    connect().close()


def test_kerberos_and_the_principal_come_from_the_file() -> None:
    given = {URIS: "thrift://one", "hive.metastore.sasl.enabled": "true"}
    address = parse_address(uri_of({**given, "hive.metastore.kerberos.principal": "hms/_HOST@A.B"}) or "")
    assert (address.authentication, address.principal) == (Authentication.KERBEROS, "hms/_HOST@A.B")
    assert parse_address(uri_of(given) or "").principal == "hive/_HOST"


def test_a_broken_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HIVE_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("ACIDSQL_METASTORE", raising=False)
    monkeypatch.delenv("ACIDSQL_WAREHOUSE", raising=False)
    site(tmp_path, "<property>")
    with pytest.raises(AcidSqlError, match=r"hive-site\.xml.*cannot be read"):
        connect()
