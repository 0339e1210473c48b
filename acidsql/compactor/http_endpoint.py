"""A small HTTP server for GET requests of a few pages, such as /healthz and /metrics, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from acidsql.errors import AcidSqlError, Condition


@dataclass(frozen=True, slots=True)
class Page:
    """An answer."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    status: int = 200


def serve_http(port: int, pages: Mapping[str, Callable[[], Page]]) -> int:
    """Serves pages by path on all interfaces until the process ends. Returns the port, which the system chooses for 0.

    A page that cannot be computed because the metastore is away is answered with status 503 and the condition.
    Raises CANNOT_START if the port is taken.
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

    try:
        server = ThreadingHTTPServer(("", port), Handler)
    except (OSError, OverflowError) as error:
        message = f"Cannot serve HTTP at port {port}: {error}"
        raise AcidSqlError(Condition.CANNOT_START, message=message) from None
    threading.Thread(target=server.serve_forever, name="acidsql-http", daemon=True).start()
    return int(server.server_address[1])
