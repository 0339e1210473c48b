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
from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.s3_settings import s3_options

_S3_SCHEMES: Final = ("s3a", "s3", "s3n")
_LOG: Final = logging.getLogger("acidsql.storage")
_TRASH: Final = "fs.trash.interval"


class Stores:
    """The file systems of a session, by the scheme and the authority of a location. Threads may share it."""

    def __init__(
        self, settings: Callable[[], HadoopSettings | NotUnderstood], hadoop: Callable[[], FileSystem]
    ) -> None:
        """`settings` gives those of Hadoop's client, `hadoop` the files of Hadoop's client, which starts Spark."""
        self._settings = settings
        self._hadoop = hadoop
        self._known: dict[str, FileSystem | NotUnderstood] = {}
        self._lock = threading.Lock()
        self._uses_own_clients: Callable[[], bool] = lambda: True

    def follow(self, uses_own_clients: Callable[[], bool]) -> None:
        """`uses_own_clients` tells whether the user wants other clients than Hadoop's."""
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
        if scheme not in _S3_SCHEMES:
            return NotUnderstood(f"acidsql has no client of its own for {scheme}://")
        if importlib.util.find_spec("obstore") is None:
            return NotUnderstood('the package obstore is missing (pip install "acidsql[s3]")')
        settings = self._settings()
        if isinstance(settings, NotUnderstood):
            return settings
        options = s3_options(settings, authority, os.environ, scheme=scheme)
        if isinstance(options, NotUnderstood):
            return options
        from acidsql.storage.stores.s3_files import s3_files

        return s3_files(options, root, self._hadoop, has_trash=settings.get(_TRASH, "0") not in ("", "0"))
