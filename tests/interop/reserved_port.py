"""Ports of this machine for servers that cannot choose one themselves."""

from __future__ import annotations

import socket
import sys
from typing import Final

_kept: Final[list[socket.socket]] = []
"""Sockets that have a port and do not listen."""


def reserved_port() -> int:
    """A port that Linux gives to nobody else who asks for any port, until this process ends.

    A server that asks for this port gets it nevertheless if it sets SO_REUSEADDR, as those in Java, Go and Python do:
    the socket that reserves the port does not listen. Elsewhere the port is one that was free a moment ago.
    """
    port = take(0)
    assert port is not None
    return port


def take(port: int) -> int | None:
    """Reserves a port, 0 for any. Returns it, or None if it is taken."""
    one = socket.socket()
    try:
        one.bind(("127.0.0.1", port))  # without SO_REUSEADDR, which would share the port with others who reserve it
    except OSError:
        one.close()
        return None
    found = int(one.getsockname()[1])
    if sys.platform == "linux":
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _kept.append(one)
    else:
        one.close()
    return found
