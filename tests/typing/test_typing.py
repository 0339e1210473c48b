"""The public API has types that help the programs that use it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.full
def test_mypy_accepts_a_program_that_uses_the_public_interface(tmp_path: Path) -> None:
    """From a directory of its own, so that no settings of this repository help. `make check` checks the same program
    with them. Errors inside of packages are not shown, as for a package that is installed."""
    pytest.importorskip("mypy")
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path)]
    command = [sys.executable, "-m", "mypy", *options, str(HERE / "public_interface.py")]
    environment = {**os.environ, "MYPYPATH": str(HERE.parents[1])}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout
