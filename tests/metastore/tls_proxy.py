"""A proxy that ends TLS in front of a metastore, and its certificate."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

PASSWORD: Final = "not-secret"


@dataclass(frozen=True)
class Certificate:
    """A certificate for localhost: its key in a store of Java's, and the certificate and key as PEM."""

    store: Path
    pem: Path
    key: Path


def make_certificate(root: Path) -> Certificate:
    """Makes one in a directory. Skips the test where openssl is missing."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and it is not installed")
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
        self.clients: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> TlsProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        for client in self.clients:
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
            self.clients.append(client)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=_hand_on, args=(source, sink), daemon=True).start()


def _hand_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while read := source.recv(65536):
            sink.sendall(read)
    for end in (source, sink):
        with suppress(OSError):
            end.close()
