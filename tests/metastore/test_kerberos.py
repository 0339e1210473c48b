"""A Hive Metastore that asks for Kerberos: tickets, keytabs, delegation tokens, and the protection of messages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.metastore.catalog import Database
from acidsql.metastore.hive.delegation_tokens import token_of_environment
from acidsql.metastore.registry import open_hive
from acidsql.session import connect
from tests.answers import fails
from tests.interop.kerberos_metastore import PROXY_USER, REALM, USER, KerberosMetastore, TokenFormat
from tests.metastore.statement_kinds import run_each_kind
from tests.metastore.tcp_proxy import TcpProxy
from tests.metastore.tls_proxy import TlsProxy, make_certificate

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module", params=["authentication", "integrity", "privacy"])
def guarded(request: pytest.FixtureRequest) -> Iterator[KerberosMetastore]:
    """One for each way to protect messages, whose krb5.conf the environment names."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-kerberos-"))
    try:
        with KerberosMetastore(root, request.param) as running:
            yield running
    finally:
        shutil.rmtree(root)


@pytest.fixture(autouse=True)
def environment(guarded: KerberosMetastore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No ticket, and no token."""
    monkeypatch.setenv("KRB5_CONFIG", str(guarded.configuration))
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/none")
    monkeypatch.delenv("HADOOP_TOKEN_FILE_LOCATION", raising=False)


@pytest.fixture
def gssapi() -> None:
    """Skips the test without the package of acidsql[kerberos], which needs the headers of Kerberos to be installed."""
    pytest.importorskip("gssapi", exc_type=ImportError)


@pytest.fixture
def ticket(gssapi: None, guarded: KerberosMetastore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket of the user in the cache that the environment names."""
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{guarded.ticket_cache}")


def uri(guarded: KerberosMetastore, *settings: str, port: int | None = None) -> str:
    """Of the metastore, or of a proxy in front of it."""
    return f"thrift://localhost:{port or guarded.port}?" + "&".join(("timeout=60", "auth=kerberos", *settings))


@pytest.mark.usefixtures("ticket")
def test_a_ticket_of_the_cache_opens_the_metastore_and_statements_run(
    guarded: KerberosMetastore, spark: SparkSession
) -> None:
    with connect(metastore=uri(guarded, f"principal=hive/_HOST@{REALM}"), spark=spark) as session:
        run_each_kind(session, "t", owner=USER)


@pytest.mark.usefixtures("gssapi")
def test_the_keys_of_a_keytab_need_no_ticket(guarded: KerberosMetastore) -> None:
    principal = f"principal=hive/localhost@{REALM}"
    for user in ((), (f"user={USER}@{REALM}",)):
        with open_hive(uri(guarded, principal, f"keytab={guarded.keytab}", *user)) as opened:
            txn = opened.open_txn()
            (found,) = (one for one in opened.transactions() if one.id == txn)
            assert found.user == USER
            opened.abort(txn)


@pytest.mark.usefixtures("ticket")
def test_messages_longer_than_a_frame_are_sent_and_received(guarded: KerberosMetastore) -> None:
    text = "long " * 1_000_000
    with open_hive(uri(guarded)) as opened:
        default = opened.database("default")
        opened.create_database(Database("long", f"{default.location}/long.db"))
        properties = {f"p{number}": text[:3000] for number in range(400)}
        opened.alter_database(replace(opened.database("long"), properties=properties))
        assert opened.database("long").properties == properties
        opened.drop_database("long")


@pytest.mark.usefixtures("ticket")
def test_messages_are_protected_as_the_metastore_asks(guarded: KerberosMetastore) -> None:
    """A proxy changes an answer. What is signed is refused and asked for again; what is encrypted it cannot find."""
    with TcpProxy("127.0.0.1", guarded.port) as proxy, open_hive(uri(guarded, port=proxy.port)) as opened:
        proxy.replaced = (b"Default Hive database", b"Default Hive databasx")
        comment = opened.database("default").comment
        was_found = proxy.replaced == (b"", b"")
    assert (comment, was_found) == {
        "authentication": ("Default Hive databasx", True),
        "integrity": ("Default Hive database", True),
        "privacy": ("Default Hive database", False),
    }[guarded.protection]


@pytest.mark.usefixtures("ticket")
def test_kerberos_goes_through_tls(guarded: KerberosMetastore, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    settings = ("tls=true", f"ca={certificate.pem}")
    with (
        TlsProxy(certificate, guarded.port) as proxy,
        open_hive(uri(guarded, *settings, port=proxy.port)) as opened,
    ):
        assert "default" in {one.name for one in opened.databases()}


@pytest.mark.parametrize("token_format", TokenFormat)
def test_a_delegation_token_needs_no_ticket(
    guarded: KerberosMetastore, token_format: TokenFormat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    guarded.write_token(tmp_path / "tokens", token_format)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(tmp_path / "tokens"))
    if guarded.protection == "privacy":
        error = fails("METASTORE_UNAVAILABLE", lambda: open_hive(uri(guarded)))
        assert "it takes a delegation token with auth-conf only" in error.message
        return
    with open_hive(uri(guarded)) as opened:
        txn = opened.open_txn()
        (found,) = (one for one in opened.transactions() if one.id == txn)
        assert found.user == USER
        opened.abort(txn)


@pytest.mark.usefixtures("ticket")
def test_a_user_may_act_for_another_one(
    guarded: KerberosMetastore, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for_bob = uri(guarded, f"proxy_user={PROXY_USER}")
    if guarded.protection == "privacy":
        assert "delegation token" in str(fails("METASTORE_UNAVAILABLE", lambda: open_hive(for_bob)))
        return
    with connect(metastore=for_bob, spark=spark) as session:
        run_each_kind(session, "of_bob", owner=PROXY_USER)
    monkeypatch.setenv("HADOOP_PROXY_USER", PROXY_USER)
    with open_hive(uri(guarded)) as opened:
        txn = opened.open_txn()
        assert [one.user for one in opened.transactions() if one.id == txn] == [PROXY_USER]
        opened.abort(txn)
    error = fails("METASTORE_UNAVAILABLE", lambda: open_hive(uri(guarded, "proxy_user=carol")))
    assert "carol" in str(error)
    assert "hadoop.proxyuser" in str(error)


def test_a_token_whose_secret_is_wrong_is_refused(
    guarded: KerberosMetastore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "tokens"
    guarded.write_token(file, TokenFormat.WRITABLE)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(file))
    token = token_of_environment()
    assert token is not None
    file.write_bytes(file.read_bytes().replace(token.password, bytes(len(token.password))))
    fails("METASTORE_UNAVAILABLE", lambda: open_hive(uri(guarded)))


@pytest.mark.usefixtures("gssapi")
def test_without_a_ticket_or_with_a_wrong_name_there_is_one_clear_error(
    guarded: KerberosMetastore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error = fails("METASTORE_UNAVAILABLE", lambda: open_hive(uri(guarded)))
    assert "Kerberos for hive/localhost" in error.message
    assert "kinit" in str(error)
    error = fails("METASTORE_UNAVAILABLE", lambda: open_hive(uri(guarded, f"keytab={tmp_path}/none.keytab")))
    assert f"there is no keytab {tmp_path}/none.keytab" in error.message
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{guarded.ticket_cache}")
    error = fails("METASTORE_UNAVAILABLE", lambda: open_hive(uri(guarded, f"principal=nobody/_HOST@{REALM}")))
    assert "Kerberos for nobody/localhost" in error.message


def test_a_client_without_kerberos_is_refused(guarded: KerberosMetastore) -> None:
    fails("METASTORE_UNAVAILABLE", lambda: open_hive(f"thrift://localhost:{guarded.port}?timeout=10"))
