"""The registry of metastores: which scheme of a URI is opened by which implementation.

A new metastore is a class that implements `Metastore` (client.py) and one entry in `_OPENERS`. Each opener imports its
implementation when it is called, so that a session on the embedded metastore never imports Thrift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.client import DEFAULT_DATABASE, Metastore
from acidsql.redaction import redacted

if TYPE_CHECKING:
    from acidsql.metastore.hive.hive_metastore import HiveMetastore

_HIVE_PACKAGES: Final = ("pymetastore", "thrift")


@dataclass(frozen=True, slots=True)
class OpenedMetastore:
    """A metastore, and the warehouse directory of the tables in its database `default`."""

    metastore: Metastore
    warehouse: str


def open_metastore(uri: str, warehouse: str) -> OpenedMetastore:
    """Opens the metastore that `uri` names. A URI without a known scheme is a path of the embedded metastore.

    `warehouse` is the directory for the tables of a new embedded metastore. A Hive Metastore has its own warehouse.
    Raises METASTORE_UNAVAILABLE.
    """
    scheme, colon, _ = uri.partition(":")
    if scheme != "sqlite" and colon and redacted(uri) != uri:
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=redacted(uri), reason="its URI takes no password")
    open_uri = _OPENERS.get(scheme if colon else "", _open_embedded)
    return open_uri(uri, warehouse)


def configured_metastore() -> str | None:
    """The URI of the Hive Metastore that `$HIVE_CONF_DIR/hive-site.xml` names, or None.

    Raises METASTORE_UNAVAILABLE.
    """
    from acidsql.metastore.hive.hive_site import configured_uri

    return configured_uri()


def _open_embedded(uri: str, warehouse: str) -> OpenedMetastore:
    from acidsql.metastore.sqlite.sqlite_metastore import open_sqlite

    return OpenedMetastore(open_sqlite(uri, warehouse), warehouse)


def _open_thrift(uri: str, warehouse: str) -> OpenedMetastore:
    metastore = open_hive(uri)
    return OpenedMetastore(metastore, metastore.database(DEFAULT_DATABASE).location)


def open_hive(uri: str) -> HiveMetastore:
    """Opens a Hive Metastore, `thrift://HOST:PORT[,HOST:PORT..]`. Needs the extra `hms`.

    `service_uri.parse_address` tells the form of the URI. Raises METASTORE_UNAVAILABLE.
    """
    from acidsql.metastore.hive.service_uri import parse_address

    address = parse_address(uri)
    try:
        # These packages take half a second to import, and acidsql works without them.
        from acidsql.metastore.hive.hive_metastore import HiveMetastore
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _HIVE_PACKAGES:
            raise
        reason = f"the package {package} is not installed"
        hint = "pip install 'acidsql[hms]'"
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason, hint=hint) from error
    return HiveMetastore(address)


_OPENERS: Final[Mapping[str, Callable[[str, str], OpenedMetastore]]] = {
    "sqlite": _open_embedded,
    "thrift": _open_thrift,
}
