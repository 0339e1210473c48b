"""The version of PySpark, found without importing it."""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

_VERSION: Final = re.compile(r"""^__version__[^=]*=\s*["'](\d+)""", re.MULTILINE)


@lru_cache(maxsize=1)
def major_version() -> int | None:
    """The first number of PySpark's version; None where there is no PySpark, or it does not tell."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).with_name("version.py")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    version = _VERSION.search(text)
    return None if version is None else int(version[1])
