"""The settings of HDFS as arguments of hdfs-native's Client.

hdfs-native ignores what it does not know, and knows less than Hadoop's client about names of name nodes. So addresses
are completed here, and settings that it would silently not obey are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.storage.stores.hdfs_addresses import completed_address, mount_table, name_service_settings
from acidsql.storage.stores.hdfs_rules import HDFS_RULES
from acidsql.storage.stores.not_understood import NotUnderstood, unknown_setting
from acidsql.storage.stores.setting_values import size
from acidsql.storage.stores.store_options import HiddenValues, frozen

_KEY_PROVIDER: Final = "hadoop.security.key.provider.path"
_OLD_KEY_PROVIDER: Final = "dfs.encryption.key.provider.uri"
_AUTHENTICATION: Final = "hadoop.security.authentication"
_NO_DIRECTORY: Final = "/dev/null"
"""A directory without files, so that hdfs-native does not read those of $HADOOP_CONF_DIR or $HADOOP_HOME itself."""


@dataclass(frozen=True, slots=True, repr=False)
class HdfsOptions(HiddenValues):
    """The arguments of hdfs_native.Client, and what Hadoop's client takes from its settings when it writes.

    hdfs-native reads HADOOP_USER_NAME, HADOOP_TOKEN_FILE_LOCATION and KRB5CCNAME in the environment, as Hadoop does.
    """

    url: str
    config: Mapping[str, str]
    config_dir: str
    kerberos_principal: str | None
    kerberos_keytab: str | None
    replication: int
    block_size: int
    umask: int


def hdfs_options(
    settings: Mapping[str, str],
    url: str,
    environment: Mapping[str, str],
    *,
    principal: str | None = None,
    keytab: str | None = None,
) -> HdfsOptions | NotUnderstood:
    """The options of a file system. `url` is `hdfs://..` or `viewfs://..`, of which the path does not count.

    `principal` and `keytab` are those of Spark: `spark.kerberos.principal` and `spark.kerberos.keytab`.
    """
    refused = HDFS_RULES.first_refused(settings)
    if refused is not None:
        return refused
    security = _security(settings, environment)
    if isinstance(security, NotUnderstood):
        return security
    address = completed_address(settings, url)
    if isinstance(address, NotUnderstood):
        return address
    services = mount_table(settings, address) if address.startswith("viewfs:") else {}
    if isinstance(services, NotUnderstood):
        return services
    config = {**_known(settings), **name_service_settings(settings), **services, **security}
    return _with_written(settings, address, config, principal, keytab if principal else None)


def _known(settings: Mapping[str, str]) -> dict[str, str]:
    """What hdfs-native looks at. An empty value would be one to it."""
    names = tuple(HDFS_RULES.obeyed)
    prefixes = tuple(name for name in names if name.endswith("."))
    return {key: value for key, value in settings.items() if value and (key in names or key.startswith(prefixes))}


def _security(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    method = settings.get(_AUTHENTICATION, "").lower() or "simple"
    if method not in ("simple", "kerberos"):
        return NotUnderstood(f"the setting {_AUTHENTICATION} is {method}, which hdfs-native does not know")
    if method == "simple" and environment.get("HADOOP_PROXY_USER"):
        return NotUnderstood("the environment has HADOOP_PROXY_USER, which hdfs-native obeys with Kerberos only")
    provider = settings.get(_KEY_PROVIDER) or settings.get(_OLD_KEY_PROVIDER) or ""
    if provider and not provider.startswith(("kms://http@", "kms://https@")):
        return NotUnderstood(f"the setting {_KEY_PROVIDER} names no KMS of the form kms://https@HOST:PORT/kms")
    return {_AUTHENTICATION: method, **({_KEY_PROVIDER: provider} if provider else {})}


def _with_written(
    settings: Mapping[str, str], address: str, config: Mapping[str, str], principal: str | None, keytab: str | None
) -> HdfsOptions | NotUnderstood:
    """What Hadoop's client, and not the name node, decides about new files."""
    replication = settings.get("dfs.replication") or "3"
    if not replication.isdecimal():
        return unknown_setting("dfs.replication", "to something that is no number")
    block_size = size(settings.get("dfs.blocksize") or "128m")
    if block_size is None:
        return unknown_setting("dfs.blocksize", "to something that is no size")
    umask = settings.get("fs.permissions.umask-mode") or "022"
    if not umask.isdecimal() or set(umask) & {"8", "9"}:
        return unknown_setting("fs.permissions.umask-mode", "to something that is no octal number")
    return HdfsOptions(
        url=address,
        config=frozen(config),
        config_dir=_NO_DIRECTORY,
        kerberos_principal=principal,
        kerberos_keytab=keytab,
        replication=int(replication),
        block_size=block_size,
        umask=int(umask, 8),
    )
