"""A small HTTP server for GET requests of a few pages, such as /healthz and /metrics, on a thread of its own.

This is code of our own, on Python's http.server, because the server of prometheus-client, an optional package, gives
metrics only, and a web framework would be a new dependency for a few pages.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from acidsql.errors import AcidSqlError, Condition


@dataclass(frozen=True, slots=True)
class Page:
    """An answer."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    status: int = 200


LOCAL: Final = "127.0.0.1"
"""The address that only processes of this machine can reach."""


def serve_http(port: int, pages: Mapping[str, Callable[[], Page]], listen: str = LOCAL) -> int:
    """Serves pages by path at the address `listen` until the process ends. Returns the port, which the system chooses
    for 0. `0.0.0.0` and `::` are all interfaces: whoever reaches one of them can read the pages.

    A page that cannot be computed because the metastore is away is answered with status 503 and the condition.
    Raises CANNOT_START if the port is taken, or the address is none of this machine.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = 10.0  # seconds for a client to send its request

        def do_GET(self) -> None:
            self._send(self._answer(), with_body=True)

        def do_HEAD(self) -> None:
            self._send(self._answer(), with_body=False)

        def _answer(self) -> Page:
            make = pages.get(self.path.partition("?")[0])
            if make is None:
                return Page(f"{' '.join(sorted(pages))}\n".encode(), status=404)
            try:
                return make()
            except AcidSqlError as error:
                return Page(f"{error.condition}\n".encode(), status=503)

        def _send(self, page: Page, *, with_body: bool) -> None:
            self.send_response(page.status)
            self.send_header("Content-Type", page.content_type)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            if with_body:
                self.wfile.write(page.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name that http.server gives it
            """Logs no requests: a probe sends one every few seconds."""

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in listen else socket.AF_INET

    try:
        # An empty address would be all interfaces.
        server = Server((listen or LOCAL, port), Handler)
    except (OSError, OverflowError, UnicodeError) as error:
        message = f"Cannot serve HTTP at port {port} of {listen}: {error}"
        raise AcidSqlError(Condition.CANNOT_START, message=message) from None
    threading.Thread(target=server.serve_forever, name="acidsql-http", daemon=True).start()
    return int(server.server_address[1])
