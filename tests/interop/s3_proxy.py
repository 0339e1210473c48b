"""A proxy in front of a store of S3's protocol: counts the requests, and lets some of them fail."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, TypeAlias

_HOP_BY_HOP: Final = ("connection", "transfer-encoding", "content-length", "keep-alive")
_SLOW_SECONDS: Final = 0.5
_BUSY: Final = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


class Fault(Enum):
    BUSY = auto()
    """The store does nothing and answers 503."""
    LOST_REQUEST = auto()
    """The connection ends, and the store has done nothing."""
    LOST_ANSWER = auto()
    """The store does what it is asked to, and the connection ends before it says so."""
    SLOW = auto()
    """The answer comes late."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the store; `number` counts from 1."""

    number: int
    method: str
    path: str


Faults: TypeAlias = "Callable[[Request], Fault | None]"


class S3Proxy:
    """A context manager, in front of a server's port and its bucket.

    `faults` says which requests fail; it may be replaced at any time. Each answer comes `latency` seconds late.
    """

    def __init__(self, store_port: int, bucket: str) -> None:
        self.bucket = bucket
        self.store_port = store_port
        self.requests: list[Request] = []
        self.faults: Faults = lambda _: None
        self.latency = 0.0
        self._times: list[tuple[float, float]] = []
        self._lock = threading.Lock()
        self._server = _Server(self, store_port)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> S3Proxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def begin(self, faults: Faults = lambda _: None) -> None:
        """Counts from 1 again."""
        with self._lock:
            self.requests = []
            self._times = []
            self.faults = faults

    def answered(self, begun: float) -> None:
        """Notes that a request that begun at a time was answered."""
        with self._lock:
            self._times.append((begun, time.monotonic()))

    def longest_chain(self) -> int:
        """How many requests were sent one behind the other, each when the one before it had its answer. With a latency,
        requests that are sent together overlap."""
        count, free = 0, 0.0
        for begun, ended in sorted(self._times, key=lambda times: times[1]):
            if begun >= free:
                count, free = count + 1, ended
        return count

    def fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            request = Request(len(self.requests) + 1, method, path)
            self.requests.append(request)
            return self.faults(request)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: S3Proxy, store_port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy
        self.store_port = store_port

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients close their connections at any time."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        begun = time.monotonic()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.proxy.fault(self.command, self.path)
        match fault:
            case Fault.LOST_REQUEST:
                self._end_connection()
            case Fault.BUSY:
                self._answer(503, [("Content-Type", "application/xml")], _BUSY)
            case _:
                self._forward(body, fault, begun)

    def _forward(self, body: bytes, fault: Fault | None, begun: float) -> None:
        store = http.client.HTTPConnection("127.0.0.1", self.server.store_port, timeout=60)
        try:
            store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "expect"):
                    store.putheader(name, value)
            store.endheaders(body)
            answer = store.getresponse()
            content = answer.read()
        finally:
            store.close()
        if fault is Fault.LOST_ANSWER:
            self._end_connection()
            return
        if fault is Fault.SLOW:
            time.sleep(_SLOW_SECONDS)
        time.sleep(self.server.proxy.latency)
        self.server.proxy.answered(begun)
        headers = [(n, v) for n, v in answer.getheaders() if n.lower() not in _HOP_BY_HOP]
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        self._answer(answer.status, headers, content, length)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes, length: str | None = None) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", length if length is not None else str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def _end_connection(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
