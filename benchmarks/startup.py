"""python -m benchmarks.startup: how long `import acidsql` takes, and `acidsql shell` to its prompt. POSIX only."""

from __future__ import annotations

import argparse
import os
import pty
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

PROMPT = b"acidsql>"
CURSOR_QUESTION, CURSOR_ANSWER = b"\x1b[6n", b"\x1b[1;1R"
"""prompt_toolkit asks the terminal where its cursor is, and waits a moment for the answer."""


def of_python(code: str) -> float:
    """A new interpreter that runs `code`."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def of_prompt() -> float:
    """A new `acidsql shell`, until its prompt stands there; Spark goes on starting behind it and is stopped."""
    with tempfile.TemporaryDirectory(prefix="acidsql-bench-") as warehouse:
        started = time.perf_counter()
        child, terminal = pty.fork()
        if child == 0:
            os.execv(sys.executable, [sys.executable, "-m", "acidsql", "shell", "--warehouse", warehouse])
        try:
            _await_prompt(terminal)
            return time.perf_counter() - started
        finally:
            os.killpg(child, signal.SIGKILL)  # pty.fork made it the leader of a group; its JVM is in it
            os.waitpid(child, 0)
            os.close(terminal)


def _await_prompt(terminal: int) -> None:
    seen = b""
    while PROMPT not in seen:
        read = os.read(terminal, 4096)
        if not read:
            raise SystemExit(f"acidsql shell ended: {seen!r}")
        seen += read
        if CURSOR_QUESTION in read:
            os.write(terminal, CURSOR_ANSWER)


def median(work: Callable[[], float], repeat: int) -> float:
    """Of all but the first, which fills the caches of the file system and of Python."""
    return statistics.median([work() for _ in range(repeat + 1)][1:])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--repeat", type=int, default=7, metavar="N")
    repeat = parser.parse_args().repeat
    bare = median(lambda: of_python("pass"), repeat)
    imported = median(lambda: of_python("import acidsql"), repeat)
    prompt = median(of_prompt, repeat)
    print(f"python -c pass             {bare:.3f} s")
    print(f"import acidsql             {imported - bare:.3f} s more")
    print(f"acidsql shell, the prompt  {prompt:.3f} s, of which the interpreter {bare:.3f} s")


if __name__ == "__main__":
    main()
