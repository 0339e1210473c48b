"""The registry of metastores: which scheme of a URI is opened by which implementation.

A new metastore is a class that implements `Metastore` (client.py) and one entry in `_OPENERS`. Each opener imports its
implementation when it is called, so that a session on the embedded metastore never imports Thrift.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.catalog import DEFAULT_DATABASE
from acidsql.metastore.client import Metastore
from acidsql.redaction import redacted
from acidsql.similar_names import similar_names

if TYPE_CHECKING:
    from acidsql.metastore.hive.hive_metastore import HiveMetastore

_HIVE_PACKAGES: Final = ("pymetastore", "thrift")
_FORMS: Final = "sqlite:///PATH is an embedded metastore, and thrift://HOST:PORT a Hive Metastore."
_PATH: Final = re.compile(r"[/~]|\.(db|sqlite3?)$", re.IGNORECASE)
"""What is likely a path, and no host."""


@dataclass(frozen=True, slots=True)
class OpenedMetastore:
    """A metastore, and the warehouse directory of the tables in its database `default`."""

    metastore: Metastore
    warehouse: str


def open_metastore(uri: str, warehouse: str) -> OpenedMetastore:
    """Opens the metastore that `uri` names.

    `warehouse` is the directory for the tables of a new embedded metastore. A Hive Metastore has its own warehouse.
    Raises METASTORE_UNAVAILABLE, also for a name without a scheme: `localhost:9083` would be the path of an embedded
    metastore, which answers that there are no tables.
    """
    scheme, colon, _ = uri.partition(":")
    if scheme != "sqlite" and colon and redacted(uri) != uri:
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=redacted(uri), reason="its URI takes no password")
    if not colon or scheme not in _OPENERS:
        raise _without_scheme(uri)
    return _OPENERS[scheme](uri, warehouse)


def _without_scheme(uri: str) -> AcidSqlError:
    """The error of a URI whose scheme is missing or unknown, with the URI that is most likely meant."""
    scheme, separator, rest = uri.partition("://")
    likely = _likely(scheme, rest) if separator else _likely_place(uri)
    reason = f"{scheme} is not the scheme of a metastore" if separator else "its scheme is missing"
    question = "" if likely is None else f". Did you mean {likely}?"
    return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=f"{reason}{question}", hint=_FORMS)


def _likely(scheme: str, rest: str) -> str | None:
    match similar_names(scheme.lower(), _OPENERS, most=1, cutoff=0.6):
        case ["sqlite"]:
            return f"sqlite:///{rest.removeprefix('/')}"
        case ["thrift"]:
            return f"thrift://{rest}"
        case _:
            return None


def _likely_place(uri: str) -> str:
    if _PATH.search(uri):
        return f"sqlite:///{uri}"
    return f"thrift://{uri}" if ":" in uri else f"thrift://{uri}:9083"


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
