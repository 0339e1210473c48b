"""Addresses of name nodes, written so that hdfs-native finds them as Hadoop's client does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.setting_values import address as parts_of

_NAME_NODES: Final = "dfs.ha.namenodes."
_RPC_ADDRESS: Final = "dfs.namenode.rpc-address."
_PROVIDER: Final = "dfs.client.failover.proxy.provider."
_MOUNTS: Final = "fs.viewfs.mounttable."
_PORT: Final = 8020
"""That of a name node without one (HdfsClientConfigKeys.DFS_NAMENODE_RPC_PORT_DEFAULT)."""
_PACKAGE: Final = "org.apache.hadoop.hdfs.server.namenode.ha."
_CONFIGURED: Final = f"{_PACKAGE}ConfiguredFailoverProxyProvider"
_PROVIDERS: Final = {
    _CONFIGURED: _CONFIGURED,
    f"{_PACKAGE}RequestHedgingProxyProvider": _CONFIGURED,  # it asks the same name nodes, at once
    f"{_PACKAGE}ObserverReadProxyProvider": f"{_PACKAGE}ObserverReadProxyProvider",
    f"{_PACKAGE}RouterObserverReadConfiguredFailoverProxyProvider": (
        f"{_PACKAGE}RouterObserverReadConfiguredFailoverProxyProvider"
    ),
}
"""hdfs-native takes any other class for the first of these (proxy.rs of 0.14.7)."""


def completed_address(settings: Mapping[str, str], url: str) -> str | NotUnderstood:
    """The address of a file system without its path: hdfs-native finds what is behind it.

    Hadoop's client knows a name node without a port and a name service of one name node, and hdfs-native does not.

    >>> completed_address({}, "hdfs://nn/warehouse"), completed_address({"fs.defaultFS": "hdfs://nn:9000"}, "hdfs:///w")
    ('hdfs://nn:8020', 'hdfs://nn:9000')
    """
    parts = parts_of(url)
    authority = parts.netloc or _default_authority(settings, parts.scheme)
    if parts.scheme == "viewfs":
        return f"viewfs://{authority or settings.get('fs.viewfs.mounttable.default.name.key') or 'default'}"
    if parts.scheme != "hdfs" or not authority:
        return NotUnderstood("its address has no name node, and fs.defaultFS has none")
    if "@" in authority:
        return NotUnderstood("its address names a user")
    if ":" in authority:
        return f"hdfs://{authority}"
    if settings.get(_NAME_NODES + authority):
        return _name_service(settings, authority)
    single = settings.get(_RPC_ADDRESS + authority) or authority
    return f"hdfs://{single}" if ":" in single else f"hdfs://{single}:{_PORT}"


def _default_authority(settings: Mapping[str, str], scheme: str) -> str:
    default = parts_of(settings.get("fs.defaultFS", ""))
    return default.netloc if default.scheme == scheme else ""


def _name_service(settings: Mapping[str, str], name: str) -> str | NotUnderstood:
    provider = settings.get(_PROVIDER + name)
    if provider and provider not in _PROVIDERS:
        return NotUnderstood(f"the setting {_PROVIDER}{name} is {provider}, which hdfs-native does not know")
    for node in _names(settings[_NAME_NODES + name]):
        if not settings.get(f"{_RPC_ADDRESS}{name}.{node}"):
            return NotUnderstood(f"the setting {_RPC_ADDRESS}{name}.{node} is missing")
    return f"hdfs://{name}"


def name_service_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of name services in the form that hdfs-native reads: names without spaces, addresses with ports."""
    found: dict[str, str] = {}
    for key, value in settings.items():
        if not value:
            continue
        if key.startswith(_NAME_NODES):
            found[key] = ",".join(_names(value))
        elif key.startswith(_RPC_ADDRESS):
            found[key] = value if ":" in value else f"{value}:{_PORT}"
        elif key.startswith(_PROVIDER):
            found[key] = _PROVIDERS.get(value, value)
    return found


def mount_table(settings: Mapping[str, str], address: str) -> dict[str, str] | NotUnderstood:
    """The mount table of viewfs. hdfs-native knows links to places in HDFS, and wants one for all other paths."""
    prefix = f"{_MOUNTS}{parts_of(address).netloc}."
    links: dict[str, str] = {}
    for key, value in settings.items():
        name = key.removeprefix(prefix)
        if not key.startswith(prefix) or name == "homedir":
            continue
        if not name.startswith("link./") and name != "linkFallback":
            return NotUnderstood(f"the setting {key} is set, which hdfs-native does not know")
        target = completed_address(settings, value) if value.startswith("hdfs:") else None
        if not isinstance(target, str):
            return NotUnderstood(f"the setting {key} does not name a place in HDFS")
        links[key] = target + parts_of(value).path
    if f"{prefix}linkFallback" not in links:
        return NotUnderstood(f"the setting {prefix}linkFallback is missing, which hdfs-native needs")
    return links


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
