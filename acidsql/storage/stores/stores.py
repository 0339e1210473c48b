"""Which file systems this process reads and writes by itself, and why Hadoop's client reads and writes the others."""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from acidsql.storage.file_systems import FileSystem
from acidsql.storage.stores.hadoop_settings import HadoopSettings
from acidsql.storage.stores.hdfs_settings import hdfs_options
from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.s3_settings import s3_options

_OF_HDFS: Final = ("hdfs_native", "hdfs")
_OF_S3: Final = ("obstore", "s3")
_PACKAGES: Final = {"hdfs": _OF_HDFS, "viewfs": _OF_HDFS, "s3a": _OF_S3, "s3": _OF_S3}
"""The package that a scheme needs, and the extra of acidsql that installs it."""
_LOG: Final = logging.getLogger("acidsql.storage")


class Stores:
    """The file systems of a session, by the scheme and the authority of a location. Threads may share it."""

    def __init__(
        self,
        settings: Callable[[], HadoopSettings | NotUnderstood],
        hadoop: Callable[[], FileSystem],
        uses_own_clients: Callable[[], bool] = lambda: True,
    ) -> None:
        """`settings` gives those of Hadoop's client, `hadoop` the files of Hadoop's client, which starts Spark;
        `uses_own_clients` tells whether the user wants other clients than Hadoop's."""
        self._settings = settings
        self._hadoop = hadoop
        self._known: dict[str, FileSystem | NotUnderstood] = {}
        self._lock = threading.Lock()
        self._uses_own_clients = uses_own_clients

    def forget(self) -> None:
        """Looks at the settings again."""
        with self._lock:
            self._known.clear()

    def find(self, location: str) -> FileSystem | NotUnderstood:
        """The files of a location that is not local, without a JVM; or why there are none."""
        if not self._uses_own_clients():
            return NotUnderstood("the setting acidsql.storage.own.clients is false")
        parts = urlsplit(location)
        root = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            if root not in self._known:
                found = self._made(parts.scheme, parts.netloc, root)
                if isinstance(found, NotUnderstood):
                    _LOG.info("Hadoop's client reads and writes %s because %s", root, found.reason)
                self._known[root] = found
            return self._known[root]

    def _made(self, scheme: str, authority: str, root: str) -> FileSystem | NotUnderstood:
        missing = _missing_package(scheme)
        if missing is not None:
            return missing
        settings = self._settings()
        if isinstance(settings, NotUnderstood):
            return settings
        if _PACKAGES[scheme] == _OF_HDFS:
            return self._hdfs(settings, scheme, authority, root)
        return self._s3(settings, scheme, authority, root)

    def _s3(self, settings: HadoopSettings, scheme: str, bucket: str, root: str) -> FileSystem | NotUnderstood:
        options = s3_options(settings, bucket, os.environ, scheme=scheme)
        if isinstance(options, NotUnderstood):
            return options
        from acidsql.storage.stores.s3_files import s3_files

        return s3_files(options, root, self._hadoop, has_trash=_trash_minutes(settings) > 0)

    def _hdfs(self, settings: HadoopSettings, scheme: str, authority: str, root: str) -> FileSystem | NotUnderstood:
        options = hdfs_options(settings, root, os.environ)
        if isinstance(options, NotUnderstood):
            return options
        from hdfs_native import Client

        from acidsql.storage.stores.hdfs_files import HdfsFiles

        client = Client(
            options.url,
            dict(options.config),
            options.config_dir,
            kerberos_principal=options.kerberos_principal,
            kerberos_keytab=options.kerberos_keytab,
        )
        return HdfsFiles(
            client,
            authority,
            self._hadoop,
            scheme=scheme,
            umask=options.umask,
            replication=options.replication,
            block_size=options.block_size,
            trash_minutes=_trash_minutes(settings),
        )


def _missing_package(scheme: str) -> NotUnderstood | None:
    """Why there is no client for a scheme."""
    if scheme not in _PACKAGES:
        return NotUnderstood(f"acidsql has no client of its own for {scheme}://")
    package, extra = _PACKAGES[scheme]
    if importlib.util.find_spec(package) is None:
        return NotUnderstood(f'the package {package} is missing (pip install "acidsql[{extra}]")')
    return None


def _trash_minutes(settings: HadoopSettings) -> float:
    try:
        return float(settings.get("fs.trash.interval") or 0)
    except ValueError:
        return 0
