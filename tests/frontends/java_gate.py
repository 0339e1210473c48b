"""A Java that starts when a test lets it: until then, whoever starts Spark waits."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.interop.maven import java


class JavaGate:
    """Makes a JAVA_HOME below a directory of the test. The test must `open` it, so that no process waits for ever."""

    def __init__(self, place: Path) -> None:
        self.home = place / "java"
        self._came, self._open = place / "came", place / "open"
        (self.home / "bin").mkdir(parents=True)
        came, opened, real = (shlex.quote(str(path)) for path in (self._came, self._open, java("java")))
        program = self.home / "bin" / "java"
        program.write_text(f'#!/bin/sh\ntouch {came}\nwhile [ ! -e {opened} ]; do sleep 0.1; done\nexec {real} "$@"\n')
        program.chmod(0o755)

    def is_waited_for(self) -> bool:
        """Whether somebody has started Java."""
        return self._came.exists()

    def open(self) -> None:
        self._open.touch()
