"""Servers of the tests that end when their standard input does, and so with the process that started them."""

from __future__ import annotations

import subprocess
from typing import Any, Final

_SECONDS: Final = 20


def end(process: subprocess.Popen[Any]) -> None:
    """Closes the standard input of a server and waits for its end; kills it if it does not come."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
