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
PROXY_VARIABLE: Final = "HADOOP_PROXY_USER"
"""Names the user for whom Hadoop's clients act, where Kerberos is used (HiveMetaStoreClient)."""

_SCHEME: Final = "thrift://"
_PORT: Final = 9083
"""Hive's default (metastore.thrift.port)."""
_TIMEOUT: Final = 600.0
"""hive.metastore.client.socket.timeout."""
_PATH: Final = "metastore"
"""metastore.client.thrift.http.path."""
_PLAIN: Final = ("none", "nosasl")
_KERBEROS: Final = ("kerberos", "gssapi")
_PRINCIPAL: Final = "hive/_HOST"
_TRUTH: Final = {"true": True, "false": False}


class Transport(Enum):
    """What carries the calls (metastore.client.thrift.transport.mode)."""

    BINARY = "binary"
    HTTP = "http"


class Authentication(Enum):
    """How the two sides prove who they are (hive.metastore.sasl.enabled)."""

    NONE = "none"
    KERBEROS = "kerberos"
    """By Kerberos, or by a delegation token that somebody has got with it."""


class Option(Enum):
    """The settings that may follow the `?` of a URI."""

    AUTH = "auth"
    PRINCIPAL = "principal"
    KEYTAB = "keytab"
    USER = "user"
    PROXY_USER = "proxy_user"
    TIMEOUT = "timeout"
    TLS = "tls"
    CA = "ca"
    TRANSPORT = "transport"
    PATH = "path"


_OF_KERBEROS: Final = (Option.PRINCIPAL, Option.KEYTAB, Option.USER, Option.PROXY_USER)


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
    authentication: Authentication = Authentication.NONE
    principal: str = _PRINCIPAL
    """The metastore's (hive.metastore.kerberos.principal). _HOST stands for its host."""
    keytab: str | None = None
    """A file with keys of the user; None stands for the ticket that is there."""
    user: str | None = None
    """The user's principal; None stands for that of the ticket cache, or the first one of the keytab."""
    proxy_user: str | None = None
    """The user for whom the calls are made, by the rights that hadoop.proxyuser.* of the metastore gives `user`."""

    def __str__(self) -> str:
        return ",".join(map(str, self.places))


def parse_address(uri: str) -> Address:
    """Reads `thrift://HOST[:PORT]`, or several separated by commas, each with or without `thrift://`, as in
    hive.metastore.uris. Settings may follow, such as `?timeout=SECONDS&tls=true&ca=FILE` or `?transport=http`.

    `auth`, or $ACIDSQL_METASTORE_AUTH, is `none` (hive.metastore.sasl.enabled=false) or `kerberos`; other SASL is
    refused. With Kerberos, `proxy_user`, or $HADOOP_PROXY_USER, is the user for whom the calls are made. Raises
    METASTORE_UNAVAILABLE.

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
    authentication = _authentication(uri, given.get(Option.AUTH, os.environ.get(AUTH_VARIABLE, "none")))
    _check_kerberos(uri, given, authentication)
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
        authentication,
        given.get(Option.PRINCIPAL, _PRINCIPAL),
        given.get(Option.KEYTAB),
        given.get(Option.USER),
        _proxy_user(given, authentication),
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


def _authentication(uri: str, auth: str) -> Authentication:
    if auth.lower() in _PLAIN:
        return Authentication.NONE
    if auth.lower() in _KERBEROS:
        return Authentication.KERBEROS
    reason = f"authentication '{auth}' is not one of acidsql: there are none and kerberos"
    hint = f"Set auth=none or auth=kerberos, or {AUTH_VARIABLE}."
    raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason, hint=hint)


def _check_kerberos(uri: str, settings: Mapping[Option, str], authentication: Authentication) -> None:
    named = [one.value for one in _OF_KERBEROS if one in settings]
    if authentication is Authentication.NONE and named:
        raise _unavailable(uri, f"{named[0]} is a setting of Kerberos, and auth=kerberos is missing")
    if authentication is Authentication.KERBEROS and _transport(uri, settings) is Transport.HTTP:
        raise _unavailable(uri, "Kerberos needs transport=binary: a metastore that speaks HTTP does not take it")


def _proxy_user(settings: Mapping[Option, str], authentication: Authentication) -> str | None:
    if authentication is Authentication.NONE:
        return None
    return settings.get(Option.PROXY_USER, os.environ.get(PROXY_VARIABLE)) or None


def _unavailable(uri: str, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=uri, reason=reason)
