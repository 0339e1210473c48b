"""The URI of a Hive Metastore."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final
from urllib.parse import parse_qsl

from acidsql.errors import AcidSqlError, Condition

AUTH_VARIABLE: Final = "ACIDSQL_METASTORE_AUTH"

_SCHEME: Final = "thrift://"
_PORT: Final = 9083
"""Hive's default (metastore.thrift.port)."""
_TIMEOUT: Final = 600.0
"""hive.metastore.client.socket.timeout."""
_PATH: Final = "metastore"
"""metastore.client.thrift.http.path."""
_PLAIN: Final = ("none", "nosasl")
_TRUTH: Final = {"true": True, "false": False}


class Transport(Enum):
    """What carries the calls (metastore.client.thrift.transport.mode)."""

    BINARY = "binary"
    HTTP = "http"


class Option(Enum):
    """The settings that may follow the `?` of a URI."""

    AUTH = "auth"
    TIMEOUT = "timeout"
    TLS = "tls"
    CA = "ca"
    TRANSPORT = "transport"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Place:
    """The address of one metastore."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{_SCHEME}{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Address:
    """The addresses of metastores over one database, and how they are spoken to. The first one that answers is used."""

    places: tuple[Place, ...]
    timeout: float = _TIMEOUT
    """How many seconds an answer may take."""
    tls: bool = False
    """Whether the connection is encrypted (metastore.use.SSL). The metastore's certificate must name its host."""
    authorities: str | None = None
    """A PEM file with the certificates that are trusted; None stands for those of the operating system."""
    transport: Transport = Transport.BINARY
    path: str = _PATH
    """The path of the metastore's servlet; of HTTP only."""

    def __str__(self) -> str:
        return ",".join(map(str, self.places))


def parse_address(uri: str) -> Address:
    """Reads `thrift://HOST[:PORT]`, or several separated by commas, each with or without `thrift://`, as in
    hive.metastore.uris. Settings may follow, such as `?timeout=SECONDS&tls=true&ca=FILE` or `?transport=http`.

    `auth`, or $ACIDSQL_METASTORE_AUTH, is `none` (hive.metastore.sasl.enabled=false); Kerberos and other SASL are
    refused. Raises METASTORE_UNAVAILABLE.

    >>> str(parse_address("thrift://one:9083,two"))
    'thrift://one:9083,thrift://two:9083'
    """
    places, _, text = uri.partition("?")
    settings = dict(parse_qsl(text, keep_blank_values=True))
    known = [option.value for option in Option]
    unknown = sorted(settings.keys() - set(known))
    if unknown:
        raise _unavailable(uri, f"{unknown[0]} is not a setting of this URI; its settings are {', '.join(known)}")
    given = {Option(name): value for name, value in settings.items()}
    _check_auth(uri, given.get(Option.AUTH, os.environ.get(AUTH_VARIABLE, "none")))
    found = tuple(_place(uri, part.strip()) for part in places.split(",") if part.strip())
    if not found:
        raise _unavailable(uri, f"it names no host: {_SCHEME}HOST:PORT")
    return Address(
        found,
        _timeout(uri, given),
        _tls(uri, given),
        given.get(Option.CA),
        _transport(uri, given),
        given.get(Option.PATH, _PATH).strip("/"),
    )


def _place(uri: str, text: str) -> Place:
    host, colon, port = text.removeprefix(_SCHEME).rstrip("/").rpartition(":")
    if not colon:
        host, port = port, str(_PORT)
    if not host or "/" in host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise _unavailable(uri, f"{text} is not {_SCHEME}HOST:PORT")
    return Place(host.strip("[]"), int(port))


def _timeout(uri: str, settings: Mapping[Option, str]) -> float:
    try:
        seconds = float(settings.get(Option.TIMEOUT, _TIMEOUT))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise _unavailable(uri, f"timeout is a number of seconds, not {settings[Option.TIMEOUT]!r}")
    return seconds


def _tls(uri: str, settings: Mapping[Option, str]) -> bool:
    text = settings.get(Option.TLS, "false")
    if text.lower() not in _TRUTH:
        raise _unavailable(uri, f"tls is true or false, not {text!r}")
    if Option.CA in settings and not _TRUTH[text.lower()]:
        raise _unavailable(uri, "ca names the certificates that a connection by TLS trusts, and tls=true is missing")
    return _TRUTH[text.lower()]


def _transport(uri: str, settings: Mapping[Option, str]) -> Transport:
    text = settings.get(Option.TRANSPORT, Transport.BINARY.value)
    known = {transport.value: transport for transport in Transport}
    if text.lower() not in known:
        raise _unavailable(uri, f"transport is {' or '.join(known)}, not {text!r}")
    return known[text.lower()]


def _check_auth(uri: str, auth: str) -> None:
    if auth.lower() not in _PLAIN:
        reason = (
            f"authentication '{auth}' needs SASL (hive.metastore.sasl.enabled), for which acidsql has no extra yet:"
            " there is acidsql[hms], which speaks Thrift without SASL only"
        )
        hint = f"Set auth=none, or {AUTH_VARIABLE}=none, for a metastore without SASL."
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason, hint=hint)


def _unavailable(uri: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason)
