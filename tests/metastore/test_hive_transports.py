"""A Hive Metastore behind TLS, and one that speaks HTTP."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.registry import open_hive
from tests.interop.hive_client import Hive
from tests.metastore import tables

pytestmark = [pytest.mark.hive, pytest.mark.timeout(1500)]

PASSWORD = "not-secret"


@dataclass(frozen=True)
class Certificate:
    """A certificate for localhost: its key in a store of Java's, and the certificate and key as PEM."""

    store: Path
    pem: Path
    key: Path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and it is not installed")
    root = tmp_path_factory.mktemp("certificates")
    made = Certificate(root / "store.p12", root / "certificate.pem", root / "key.pem")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*request, "-keyout", made.key, "-out", made.pem], check=True, capture_output=True)
    store = ["openssl", "pkcs12", "-export", "-passout", f"pass:{PASSWORD}", "-name", "localhost"]
    subprocess.run([*store, "-inkey", made.key, "-in", made.pem, "-out", made.store], check=True)
    return made


class TlsProxy:
    """Ends TLS in front of a metastore; a context manager."""

    def __init__(self, certificate: Certificate, port: int) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate.pem, certificate.key)
        self._listening = context.wrap_socket(socket.create_server(("127.0.0.1", 0)), server_side=True)
        self._to = port
        self.port: int = self._listening.getsockname()[1]
        self._clients: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> TlsProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except ssl.SSLError:  # a client that trusts nobody of this name
                continue
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            self._clients.append(client)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_hand_on, args=(source, sink), daemon=True).start()


def _hand_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while read := source.recv(65536):
            sink.sendall(read)
    for end in (source, sink):
        with suppress(OSError):
            end.close()


@pytest.fixture(scope="module")
def over_http(certificate: Certificate) -> Iterator[Hive]:
    """A Hive whose metastore speaks HTTP with TLS."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-http-"))
    keys = {"path": str(certificate.store), "password": PASSWORD, "type": "PKCS12"}
    settings = {
        "metastore.server.thrift.transport.mode": "http",
        "metastore.client.thrift.transport.mode": "http",
        "metastore.use.SSL": "true",
        **{f"metastore.keystore.{name}": value for name, value in keys.items()},
        **{f"metastore.truststore.{name}": value for name, value in keys.items()},
        "metastore.keymanagerfactory.algorithm": "SunX509",
        "metastore.trustmanagerfactory.algorithm": "PKIX",
    }
    try:
        with Hive(root, settings) as running:
            yield running
    finally:
        shutil.rmtree(root)


def test_a_metastore_behind_tls_is_used_and_its_connections_are_kept(hive: Hive, certificate: Certificate) -> None:
    with TlsProxy(certificate, hive.home.port) as proxy:
        uri = f"thrift://localhost:{proxy.port}?tls=true"
        with open_hive(f"{uri}&ca={certificate.pem}") as opened:
            for _ in range(5):
                assert "default" in {one.name for one in opened.databases()}
            assert len(proxy._clients) == 1
            proxy.cut()
            assert "default" in {one.name for one in opened.databases()}, "it has connected again"
        with pytest.raises(AcidSqlError, match="Cannot open the metastore"):
            open_hive(uri)


def test_a_missing_file_of_certificates_is_named(tmp_path: Path) -> None:
    with pytest.raises(AcidSqlError, match=r"ca=.*none\.pem cannot be read"):
        open_hive(f"thrift://localhost:1?tls=true&ca={tmp_path}/none.pem")


@pytest.mark.full
def test_a_metastore_that_speaks_http_is_used(
    over_http: Hive, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = over_http.home.port
    with open_hive(f"thrift://localhost:{port}?transport=http&tls=true&ca={certificate.pem}") as opened:
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database("default").location)
        opened.create_table(tables.partitioned_table("t"))
        table = opened.table("default", "t")
        txn = opened.open_txn()
        write_id = opened.allocate_write_id(txn, table)
        opened.commit(txn)
        valid = opened.valid_write_ids(table, opened.valid_txns())
        assert (valid.high_watermark, valid.open, valid.aborted) == (write_id, frozenset(), frozenset())
