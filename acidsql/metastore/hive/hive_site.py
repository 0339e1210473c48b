"""The address of the metastore in Hive's own configuration, `$HIVE_CONF_DIR/hive-site.xml`.

A host from which people use Hive has this file, and acidsql needs no other setting there. Each setting has two names,
an older one of Hive and one of the standalone metastore (MetastoreConf.ConfVars).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from xml.etree import ElementTree

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive.service_uri import Option
from acidsql.metastore.hive.time_settings import seconds_of

DIRECTORY_VARIABLE: Final = "HIVE_CONF_DIR"
FILE: Final = "hive-site.xml"

_URIS: Final = ("metastore.thrift.uris", "hive.metastore.uris")
_TIMEOUT: Final = ("metastore.client.socket.timeout", "hive.metastore.client.socket.timeout")
_SASL: Final = ("metastore.sasl.enabled", "hive.metastore.sasl.enabled")
_PRINCIPAL: Final = ("metastore.kerberos.principal", "hive.metastore.kerberos.principal")
_TLS: Final = ("metastore.use.SSL", "hive.metastore.use.SSL")
_TRANSPORT: Final = ("metastore.client.thrift.transport.mode", "hive.metastore.client.thrift.transport.mode")
_PATH: Final = ("metastore.client.thrift.http.path", "hive.metastore.client.thrift.http.path")
_VARIABLE: Final = re.compile(r"\$\{([^{}$\s]+)\}")
_DEPTH: Final = 20
"""How often Hadoop's Configuration replaces the variables of a value."""


def configured_uri() -> str | None:
    """The URI of the metastore that `$HIVE_CONF_DIR/hive-site.xml` names, in the form of service_uri.py.

    None without the variable or the file, and where the file names no metastore of its own process. Raises
    METASTORE_UNAVAILABLE if the file cannot be read.
    """
    directory = os.environ.get(DIRECTORY_VARIABLE)
    file = Path(directory, FILE) if directory else None
    if file is None or not file.is_file():
        return None
    return uri_of(_settings(file))


def uri_of(settings: Mapping[str, str]) -> str | None:
    """The URI of the metastore that Hive's settings name.

    >>> uri_of({"hive.metastore.uris": "thrift://one:9083", "hive.metastore.client.socket.timeout": "2min"})
    'thrift://one:9083?timeout=120.0'
    """

    def value(names: tuple[str, ...]) -> str:
        return next((_resolved(settings[name], settings).strip() for name in names if name in settings), "")

    places = value(_URIS)
    if not places:
        return None
    options = {}
    if timeout := value(_TIMEOUT):
        options[Option.TIMEOUT] = str(seconds_of(timeout, 600.0))
    if value(_SASL).lower() == "true":
        options[Option.AUTH] = "kerberos"
        if principal := value(_PRINCIPAL):
            options[Option.PRINCIPAL] = principal
    if value(_TLS).lower() == "true":
        options[Option.TLS] = "true"
    if transport := value(_TRANSPORT):
        options[Option.TRANSPORT] = transport
    if path := value(_PATH):
        options[Option.PATH] = path
    text = urlencode({option.value: setting for option, setting in options.items()})
    return f"{places}?{text}" if text else places


def _settings(file: Path) -> dict[str, str]:
    """The properties of a file of Hadoop's Configuration; of two with one name the last counts."""
    try:
        root = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=file, reason=f"it cannot be read: {error}") from error
    found = ((entry.findtext("name"), entry.findtext("value")) for entry in root.iter("property"))
    return {name.strip(): value or "" for name, value in found if name}


def _resolved(value: str, settings: Mapping[str, str]) -> str:
    """The value with its variables replaced: `${name}` by another setting, `${env.NAME}` by the environment's.

    What is unknown stays as it is (Configuration.substituteVars).
    """

    def replaced(found: re.Match[str]) -> str:
        name = found[1]
        if name.startswith("env."):
            return os.environ.get(name.removeprefix("env."), found[0])
        return settings.get(name, found[0])

    for _ in range(_DEPTH):
        value, before = _VARIABLE.sub(replaced, value), value
        if value == before:
            break
    return value
