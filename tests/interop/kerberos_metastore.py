"""A running Hive 4.0.1 metastore that asks for Kerberos, with its KDC (Apache Kerby), in one process."""

from __future__ import annotations

import subprocess
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Final

from tests.interop.ended_process import end
from tests.interop.hive_home import java_command, make_hive_home
from tests.interop.maven import compiled
from tests.interop.reserved_port import reserved_port

REALM: Final = "ACIDSQL.TEST"
SERVICE: Final = "hive/localhost"
USER: Final = "alice"
PROXY_USER: Final = "bob"
"""The one for whom alice may act."""
_SOURCE: Final = Path(__file__).parent / "kerberos" / "KerberosMetastore.java"


class TokenFormat(Enum):
    """Hadoop's formats of a file of tokens (Credentials.SerializedFormat)."""

    WRITABLE = "WRITABLE"
    PROTOBUF = "PROTOBUF"


class KerberosMetastore:
    """The process. A context manager; ends with it, and with the process that started it. `protection` is one of the
    values of hadoop.rpc.protection: authentication, integrity or privacy."""

    def __init__(self, root: Path, protection: str = "authentication") -> None:
        self.port: int = reserved_port()
        self.protection = protection
        self._keys = root / "keys"
        self._keys.mkdir(parents=True)
        home = make_hive_home(
            root,
            self.port,
            {
                "hadoop.security.authentication": "kerberos",
                "metastore.sasl.enabled": "true",
                "hive.metastore.sasl.enabled": "true",
                "metastore.kerberos.principal": f"{SERVICE}@{REALM}",
                "metastore.kerberos.keytab.file": str(self._keys / "hive.keytab"),
                "hadoop.rpc.protection": protection,
                f"hadoop.proxyuser.{USER}.hosts": "*",
                f"hadoop.proxyuser.{USER}.users": PROXY_USER,
            },
        )
        classes = f"{root / 'conf'}:{compiled(_SOURCE, home.class_path)}:{home.class_path}"
        command = [*java_command(root, "-Xmx512m"), f"-Djava.security.krb5.conf={self.configuration}", "-cp", classes]
        self.log = home.log
        with home.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "KerberosMetastore", str(self.port), str(self._keys), REALM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=root,
            )

    @property
    def configuration(self) -> Path:
        """The krb5.conf."""
        return self._keys / "krb5.conf"

    @property
    def keytab(self) -> Path:
        """The keys of the user."""
        return self._keys / f"{USER}.keytab"

    @property
    def ticket_cache(self) -> Path:
        """A ticket of the user."""
        return self._keys / f"{USER}.ccache"

    def write_token(self, file: Path, token_format: TokenFormat) -> None:
        """Writes a file with a delegation token of the user among others."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"token {file} {token_format.value}\n")
        self._process.stdin.flush()
        assert self._answer() == "done"

    def __enter__(self) -> KerberosMetastore:
        assert self._answer() == "ready"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end(self._process)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, self.log.read_text(errors="replace")[-3000:]
        return line
