"""`python -m tests.interop.prepare`: gets what the tests of CI need from Maven's repository and keeps it, so that no
test waits for it. On a machine that has it all, it is done at once."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

import pytest

from tests.interop.hive_home import make_hive_home
from tests.interop.maven import class_path, compiled

_HERE: Final = Path(__file__).parent


def main() -> None:
    """Says why the tests that need the repository will be skipped, where it cannot be reached."""
    try:
        with tempfile.TemporaryDirectory(prefix="acidsql-hive-") as root:
            make_hive_home(Path(root), port=0, settings={})
        compiled(_HERE / "hdfs" / "HdfsProcess.java", class_path(_HERE / "hdfs" / "pom.xml"))
        compiled(_HERE / "orc15" / "OrcRows.java", class_path(_HERE / "orc15" / "pom.xml"))
        for name in ("s3a", "orctools"):
            class_path(_HERE / name / "pom.xml")
    except pytest.skip.Exception as reason:
        sys.stderr.write(f"the tests of a real Hive will be skipped: {reason}\n")


if __name__ == "__main__":
    main()
