"""A TCP proxy whose connections a test can cut, and that can hide a call from those who ask for it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType


class TcpProxy:
    """Hands on what comes at `port`; a context manager."""

    def __init__(self, host: str, port: int) -> None:
        self._to = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.accepted = 0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self.cut_answers = False
        """Whether to cut a connection instead of handing on the next answer."""
        self.hidden = b""
        """A call's name that the other side does not get to know."""
        self.delayed = b""
        """A call's name whose answer, when it has `come`, waits to be let `go`."""
        self.come, self.go = threading.Event(), threading.Event()
        self.left = threading.Event()
        """Is set when a client has closed a connection."""
        self.lost = b""
        """A call's name that goes to neither side; others do."""
        self.replaced = (b"", b"")
        """What stands in the next answer that has it, and what is handed on for it."""
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> TcpProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()
        self.cut()

    def go_away(self) -> None:
        """As a metastore that was killed."""
        self._listening.shutdown(socket.SHUT_RDWR)  # or a thread in accept() would take one more
        self._listening.close()
        self.cut()

    def cut(self) -> None:
        """Closes all connections."""
        for pair in self._pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):  # the listening socket was closed
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._to)
                self.accepted += 1
                self._pairs.append((client, server))
                threading.Thread(target=self._hand_on, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._hand_on, args=(server, client, True), daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if answers and self.cut_answers:
                    self.cut_answers = False
                    break
                if answers and self.delayed and self.delayed in data:
                    self.come.set()
                    self.go.wait(60)
                if self.lost and self.lost in data:
                    continue
                if answers and self.replaced[0] and self.replaced[0] in data:
                    data = data.replace(*self.replaced)
                    self.replaced = (b"", b"")
                target.sendall(data.replace(self.hidden, self.hidden[::-1]) if self.hidden else data)
        if not answers:
            self.left.set()
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
