"""A running metastore of Hive 3.1.3: the standalone metastore from Maven, on Derby, on the Java of the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Final

from tests.interop.hive_home import java_command
from tests.interop.maven import class_path, kept_directory
from tests.interop.reserved_port import reserved_port

_POM: Final = Path(__file__).parent / "hive3" / "pom.xml"
_DISTRIBUTION: Final = "apache-hive-metastore-3.1.3-bin"
_SCHEMA_TOOL: Final = "org.apache.hadoop.hive.metastore.tools.MetastoreSchemaTool"
_METASTORE: Final = "org.apache.hadoop.hive.metastore.HiveMetaStore"
_SECONDS: Final = 240.0
_SETTINGS: Final = {
    "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
    "metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy",
    "metastore.storage.schema.reader.impl": "org.apache.hadoop.hive.metastore.SerDeStorageSchemaReader",
    # Others need classes of Hive's server.
    "metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
}


class Hive3Metastore:
    """The process of the metastore. A context manager. Skips the test where Maven's repository is out of reach."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._jars = class_path(_POM, "dependency:unpack")
        self._home = kept_directory(_POM) / _DISTRIBUTION
        self._port = reserved_port()
        for name in ("conf", "warehouse"):
            (root / name).mkdir(parents=True)
        settings = {
            **_SETTINGS,
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={root}/metastore_db;create=true",
            "metastore.warehouse.dir": f"file://{root}/warehouse",
        }
        properties = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in settings.items())
        (root / "conf" / "metastore-site.xml").write_text(f"<configuration>{properties}</configuration>")
        shutil.copytree(self._empty(), root / "metastore_db")
        with (root / "metastore.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._java(), _METASTORE, "-p", str(self._port)], stdout=log, stderr=log, cwd=root
            )

    @property
    def metastore_uri(self) -> str:
        return f"thrift://127.0.0.1:{self._port}?timeout=60"

    def __enter__(self) -> Hive3Metastore:
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), 5).close()
                return self
            except OSError:
                log = (self._root / "metastore.log").read_text("utf-8", errors="replace")
                assert self._process.poll() is None, log[-3000:]
                assert time.monotonic() < deadline, log[-3000:]
                time.sleep(0.2)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def _java(self) -> list[str]:
        classes = f"{self._root}/conf:{self._home}/lib/*:{self._jars}"
        return [*java_command(self._root, "-Xmx512m"), f"-DMETASTORE_HOME={self._home}", "-cp", classes]

    def _empty(self) -> Path:
        """A Derby database with the metastore's schema, made once."""
        kept = kept_directory(_POM) / "metastore_db"
        if not kept.exists():
            environment = {**os.environ, "METASTORE_HOME": str(self._home), "HADOOP_HOME": str(self._root)}
            tool = [*self._java(), _SCHEMA_TOOL, "-dbType", "derby", "-initSchema"]
            done = subprocess.run(tool, env=environment, capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
            made = self._root / "metastore_db"
            (made / "db.lck").unlink(missing_ok=True)
            made.rename(self._root / "empty")
            shutil.move(self._root / "empty", kept)
        return kept
