"""The files of a session's tables: which file system reads and writes a location."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from acidsql.storage.file_systems import FileSystem, is_local
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.stores.hadoop_settings import HadoopSettings
from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.stores import Stores

_OF_STORES: Final = ("spark.hadoop.", "fs.", "dfs.")
"""How the settings begin that tell of stores."""


class HadoopClient(Protocol):
    """Hadoop's client, which reads and writes what this process cannot."""

    def hadoop_settings(self) -> HadoopSettings | NotUnderstood: ...

    def hadoop_files(self) -> FileSystem:
        """Starts the client if it is not running."""


class WarehouseFiles:
    """The file systems of a session: a local disk, the clients of stores in this process, and Hadoop's client."""

    def __init__(self, hadoop: HadoopClient, uses_own_clients: Callable[[], bool] = lambda: True) -> None:
        """`uses_own_clients` tells whether other clients than Hadoop's may read and write stores."""
        self._hadoop = hadoop
        self._local = LocalFiles()
        self._stores = Stores(hadoop.hadoop_settings, hadoop.hadoop_files, uses_own_clients)

    def of(self, location: str) -> FileSystem:
        """The file system of a location. Starts Hadoop's client if it has to read it (`needs_hadoop`)."""
        if is_local(location):
            return self._local
        found = self._stores.find(location)
        return self._hadoop.hadoop_files() if isinstance(found, NotUnderstood) else found

    def needs_hadoop(self, location: str) -> str | None:
        """Why Hadoop's client in the JVM has to read and write a location, as a clause; None if this process does."""
        if is_local(location):
            return None
        found = self._stores.find(location)
        return found.reason if isinstance(found, NotUnderstood) else None

    def note_setting(self, key: str) -> None:
        """Looks at the settings of stores again if the setting that has changed is one of them."""
        if key.startswith(_OF_STORES):
            self.forget_settings()

    def forget_settings(self) -> None:
        """Looks at the settings of stores again."""
        self._stores.forget()
