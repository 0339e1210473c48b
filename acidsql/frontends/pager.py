"""Long results on a terminal, shown by the user's pager."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Final

from acidsql.errors import visible
from acidsql.frontends.terminal import descriptor_of_stderr, write_out

_OWN_LINES: Final = 4
"""Lines of the screen that the statement, its status and the next prompt need."""
_LESS: Final = "FRSX"
"""Options of less: leave at once where all fits, colours, cut long lines, leave the text on the screen."""


def show(parts: Iterable[str], height: int) -> bool:
    """Writes a text to standard output, by the pager if it is longer than the screen. Returns False if the user has
    left the pager before the end of the text.

    Raises KeyboardInterrupt, when the user has left the pager.
    """
    waiting: list[str] = []
    lines = 0
    rest = iter(parts)
    pager = _pager()
    for part in rest:
        waiting.append(part)
        lines += part.count("\n")
        if pager and lines > height - _OWN_LINES:
            return _page(pager, chain(waiting, rest))
        if not pager:
            write_out(waiting.pop())
    for part in waiting:
        write_out(part)
    sys.stdout.flush()
    return True


def _pager() -> list[str]:
    """The pager's command; empty if the user wants none, or there is none."""
    command = shlex.split(os.environ.get("PAGER", "less"))
    return command if command and command != ["cat"] and shutil.which(command[0]) else []


def _page(command: list[str], parts: Iterator[str]) -> bool:
    sys.stdout.flush()
    environment = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=descriptor_of_stderr(),
        env=environment,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdin is not None
        try:
            process.stdin.writelines(visible(part, tabs=True) for part in parts)
            process.stdin.flush()
        except BrokenPipeError:
            return False
        finally:
            with _interrupts_ignored():
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.wait()
    return True


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Leaves Ctrl-C to the pager, which the user reads."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
