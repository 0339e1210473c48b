"""The URI of a Hive Metastore."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from acidsql.errors import AcidSqlError, Condition

AUTH_VARIABLE: Final = "ACIDSQL_METASTORE_AUTH"

_SCHEME: Final = "thrift://"
_PORT: Final = 9083
"""Hive's default (metastore.thrift.port)."""
_TIMEOUT: Final = 600.0
"""hive.metastore.client.socket.timeout."""
_PLAIN: Final = ("none", "nosasl")
_AUTH, _TIMEOUT_SETTING = "auth", "timeout"


@dataclass(frozen=True, slots=True)
class Place:
    """The address of one metastore."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{_SCHEME}{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Address:
    """The addresses of metastores over one database. The first one that answers is used.

    `timeout` is how many seconds an answer may take.
    """

    places: tuple[Place, ...]
    timeout: float = _TIMEOUT

    def __str__(self) -> str:
        return ",".join(map(str, self.places))


def parse_address(uri: str) -> Address:
    """Reads `thrift://HOST[:PORT]`, or several separated by commas, each with or without `thrift://`, as in
    hive.metastore.uris. `?timeout=SECONDS` and `&auth=none` may follow.

    `auth`, or $ACIDSQL_METASTORE_AUTH, is `none` (hive.metastore.sasl.enabled=false); Kerberos and other SASL are
    refused. Raises METASTORE_UNAVAILABLE.

    >>> str(parse_address("thrift://one:9083,two"))
    'thrift://one:9083,thrift://two:9083'
    """
    places, _, text = uri.partition("?")
    settings = dict(parse_qsl(text, keep_blank_values=True))
    unknown = settings.keys() - {_AUTH, _TIMEOUT_SETTING}
    if unknown:
        raise _unavailable(
            uri, f"{min(unknown)} is not a setting of this URI; its settings are {_AUTH} and {_TIMEOUT_SETTING}"
        )
    _check_auth(uri, settings.get(_AUTH, os.environ.get(AUTH_VARIABLE, "none")))
    found = tuple(_place(uri, part.strip()) for part in places.split(",") if part.strip())
    if not found:
        raise _unavailable(uri, f"it names no host: {_SCHEME}HOST:PORT")
    return Address(found, _timeout(uri, settings))


def _place(uri: str, text: str) -> Place:
    host, colon, port = text.removeprefix(_SCHEME).rstrip("/").rpartition(":")
    if not colon:
        host, port = port, str(_PORT)
    if not host or "/" in host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise _unavailable(uri, f"{text} is not {_SCHEME}HOST:PORT")
    return Place(host.strip("[]"), int(port))


def _timeout(uri: str, settings: Mapping[str, str]) -> float:
    try:
        seconds = float(settings.get(_TIMEOUT_SETTING, _TIMEOUT))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise _unavailable(uri, f"{_TIMEOUT_SETTING} is a number of seconds, not {settings[_TIMEOUT_SETTING]!r}")
    return seconds


def _check_auth(uri: str, auth: str) -> None:
    if auth.lower() not in _PLAIN:
        reason = (
            f"authentication '{auth}' needs SASL (hive.metastore.sasl.enabled), for which acidsql has no extra yet:"
            " there is acidsql[hms], which speaks plain Thrift only"
        )
        hint = f"Set auth=none, or {AUTH_VARIABLE}=none, for a metastore without SASL."
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason, hint=hint)


def _unavailable(uri: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason)
