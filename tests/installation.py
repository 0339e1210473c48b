"""Builds and installs the package from a copy of the checkout, so that nothing is left in the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINKED = {"grammar": "../grammar", "planner": "../planner"}
"""The links of the package to the folders at the top."""


def copy_of_the_source(source: Path) -> Path:
    """Copies what a wheel is built of into a directory that exists."""
    for name in ("acidsql", *LINKED):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


def build_wheel(source: Path) -> Path:
    """Builds a wheel without asking a registry."""
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", source / "dist", source)
    (built,) = (source / "dist").glob("*.whl")
    return built


def pip(*arguments: str | Path) -> None:
    """Runs pip of this interpreter."""
    command = [sys.executable, "-m", "pip", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
