"""A Hive Metastore as acidsql's metastore: `thrift://HOST:PORT[,HOST:PORT..]`. Needs the extra `hms`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive.service_uri import parse_address

if TYPE_CHECKING:
    from acidsql.metastore.hive.hive_metastore import HiveMetastore

_EXTRA: Final = ("pymetastore", "thrift")


def open_hive(uri: str) -> HiveMetastore:
    """Opens a metastore; service_uri.py says what the URI may hold. Raises METASTORE_UNAVAILABLE."""
    address = parse_address(uri)
    try:
        # Here and nowhere else: acidsql works without these packages, and they take half a second to import.
        from acidsql.metastore.hive.hive_metastore import HiveMetastore
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA:
            raise
        reason = f"the package {package} is not installed"
        hint = "pip install 'acidsql[hms]'"
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason, hint=hint) from error
    return HiveMetastore(address)
