"""What METADATA_FILE tells of a base (AcidUtils.MetaDataFile)."""

from __future__ import annotations

import json
from typing import Final

from acidsql.acid.layout import METADATA_FILE
from acidsql.storage.file_systems import FileSystem

COMPACTED: Final = "compacted"
"""The data format of a base of the compactor of Hive before version 4, whose name has no `_v`."""


def data_format(files: FileSystem, base: str) -> str | None:
    """The data format of a base that has the file: `compacted`, or `truncated` and `dropped` for one without rows."""
    found: str | None = json.loads(files.read(f"{base}/{METADATA_FILE}")).get("dataFormat")
    return found
