"""The settings of HDFS that hdfs-native obeys, the addresses that it needs, and what it would not obey."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from acidsql.storage.stores.hdfs_rules import HDFS_RULES
from acidsql.storage.stores.hdfs_settings import HdfsOptions, hdfs_options
from acidsql.storage.stores.not_understood import NotUnderstood

HA = "org.apache.hadoop.hdfs.server.namenode.ha."
SERVICE = {
    "dfs.nameservices": "ns",
    "dfs.ha.namenodes.ns": "a, b",
    "dfs.namenode.rpc-address.ns.a": "nn1:8020",
    "dfs.namenode.rpc-address.ns.b": "nn2",
}
PROXY = "dfs.client.failover.proxy.provider.ns"


def _options(
    settings: Mapping[str, str], url: str = "hdfs://nn:9000", environment: Mapping[str, str] | None = None
) -> HdfsOptions:
    options = hdfs_options(settings, url, environment or {})
    assert isinstance(options, HdfsOptions), options
    return options


def _reason(
    settings: Mapping[str, str], url: str = "hdfs://nn:9000", environment: Mapping[str, str] | None = None
) -> str:
    options = hdfs_options(settings, url, environment or {})
    assert isinstance(options, NotUnderstood), options
    return options.reason


ADDRESSES: list[tuple[dict[str, str], str, str]] = [
    ({}, "hdfs://nn:9000/w", "hdfs://nn:9000"),
    ({}, "hdfs://nn/w", "hdfs://nn:8020"),
    ({"fs.defaultFS": "hdfs://nn:9000"}, "hdfs:///w", "hdfs://nn:9000"),
    (SERVICE, "hdfs://ns/w", "hdfs://ns"),
    ({**SERVICE, "fs.defaultFS": "hdfs://ns"}, "hdfs:/w", "hdfs://ns"),
    ({"dfs.namenode.rpc-address.one": "nn:9000"}, "hdfs://one/w", "hdfs://nn:9000"),
    ({"dfs.namenode.rpc-address.one": "nn"}, "hdfs://one/w", "hdfs://nn:8020"),
    ({"fs.viewfs.mounttable.c.linkFallback": "hdfs://nn/x"}, "viewfs://c/w", "viewfs://c"),
    ({"fs.viewfs.mounttable.default.linkFallback": "hdfs://nn/x"}, "viewfs:///w", "viewfs://default"),
]


@pytest.mark.parametrize(("settings", "url", "expected"), ADDRESSES)
def test_an_address_is_completed(settings: dict[str, str], url: str, expected: str) -> None:
    assert _options(settings, url).url == expected


CONFIG: list[tuple[dict[str, str], dict[str, str]]] = [
    (
        SERVICE,
        {
            "dfs.ha.namenodes.ns": "a,b",
            "dfs.namenode.rpc-address.ns.a": "nn1:8020",
            "dfs.namenode.rpc-address.ns.b": "nn2:8020",
        },
    ),
    ({PROXY: f"{HA}ConfiguredFailoverProxyProvider"}, {PROXY: f"{HA}ConfiguredFailoverProxyProvider"}),
    ({PROXY: f"{HA}RequestHedgingProxyProvider"}, {PROXY: f"{HA}ConfiguredFailoverProxyProvider"}),
    ({PROXY: f"{HA}ObserverReadProxyProvider"}, {PROXY: f"{HA}ObserverReadProxyProvider"}),
    ({}, {"hadoop.security.authentication": "simple"}),
    ({"hadoop.security.authentication": "KERBEROS"}, {"hadoop.security.authentication": "kerberos"}),
    (
        {"hadoop.security.key.provider.path": "kms://https@k:9600/kms"},
        {"hadoop.security.key.provider.path": "kms://https@k:9600/kms"},
    ),
    (
        {"dfs.encryption.key.provider.uri": "kms://http@a;b:9600/kms"},
        {"hadoop.security.key.provider.path": "kms://http@a;b:9600/kms"},
    ),
]


@pytest.mark.parametrize(("settings", "expected"), CONFIG)
def test_a_setting_is_given_as_hdfs_native_reads_it(settings: dict[str, str], expected: dict[str, str]) -> None:
    assert expected.items() <= _options({**SERVICE, **settings}, "hdfs://ns").config.items()


@pytest.mark.parametrize(
    "key",
    sorted(
        key
        for key in HDFS_RULES.obeyed
        if key.startswith(("dfs.client.", "dfs.data.", "dfs.user.")) and PROXY[:30] not in key
    ),
)
def test_other_settings_are_given_as_they_are(key: str) -> None:
    name = f"{key}ns" if key.endswith(".") else key
    assert _options({name: "x"}).config[name] == "x"
    assert name not in _options({name: ""}).config


def test_files_of_hadoop_are_not_read_a_second_time() -> None:
    assert _options({}).config_dir == "/dev/null"


def test_settings_of_servers_and_programs_are_left_out() -> None:
    assert _options({"dfs.datanode.data.dir": "/d", "yarn.acl.enable": "true"}) == _options({})


def test_what_hadoop_decides_about_new_files_is_told() -> None:
    usual = _options({})
    assert (usual.replication, usual.block_size, usual.umask) == (3, 134217728, 0o022)
    given = _options({"dfs.replication": "2", "dfs.blocksize": "64m", "fs.permissions.umask-mode": "027"})
    assert (given.replication, given.block_size, given.umask) == (2, 67108864, 0o027)


MOUNTS = {
    "fs.viewfs.mounttable.c.homedir": "/home",
    "fs.viewfs.mounttable.c.link./w": "hdfs://ns/warehouse",
    "fs.viewfs.mounttable.c.linkFallback": "hdfs://nn/rest",
}


def test_a_mount_table_has_addresses_that_are_complete() -> None:
    assert {**SERVICE, **MOUNTS}.keys() <= {*_options({**SERVICE, **MOUNTS}, "viewfs://c").config, "dfs.nameservices"}
    config = _options({**SERVICE, **MOUNTS}, "viewfs://c").config
    assert config["fs.viewfs.mounttable.c.link./w"] == "hdfs://ns/warehouse"
    assert config["fs.viewfs.mounttable.c.linkFallback"] == "hdfs://nn:8020/rest"


NOT_UNDERSTOOD: list[tuple[dict[str, str], str, str]] = [
    ({}, "hdfs:///w", "its address has no name node"),
    ({}, "hdfs://ann@nn/w", "its address names a user"),
    ({**SERVICE, PROXY: f"{HA}IPFailoverProxyProvider"}, "hdfs://ns", f"the setting {PROXY} is {HA}IPFailover"),
    ({"dfs.ha.namenodes.ns": "a"}, "hdfs://ns", "the setting dfs.namenode.rpc-address.ns.a is missing"),
    ({"hadoop.security.authentication": "token"}, "hdfs://nn", "the setting hadoop.security.authentication is token"),
    ({"hadoop.security.key.provider.path": "jceks://file/x"}, "hdfs://nn", "names no KMS"),
    ({"dfs.replication": "x"}, "hdfs://nn", "no number"),
    ({"dfs.blocksize": "x"}, "hdfs://nn", "no size"),
    ({"fs.permissions.umask-mode": "u=rwx,g=,o="}, "hdfs://nn", "no octal number"),
    ({}, "viewfs://c", "fs.viewfs.mounttable.c.linkFallback is missing"),
    ({**MOUNTS, "fs.viewfs.mounttable.c.linkNfly../x": "y"}, "viewfs://c", "linkNfly../x is set"),
    ({**MOUNTS, "fs.viewfs.mounttable.c.link./s3": "s3a://b/x"}, "viewfs://c", "does not name a place in HDFS"),
]


@pytest.mark.parametrize(("settings", "url", "reason"), NOT_UNDERSTOOD)
def test_what_hdfs_native_cannot_do_is_not_understood(settings: dict[str, str], url: str, reason: str) -> None:
    assert reason in _reason(settings, url)


@pytest.mark.parametrize("key", sorted(HDFS_RULES.refused))
def test_a_refused_setting_is_named(key: str) -> None:
    name = f"{key}ns" if key.endswith(".") else key
    assert _reason({name: "other"}).startswith(f"the setting {name} is set, and acidsql's own client ")
    assert all(_options({name: value}) == _options({}) for value in HDFS_RULES.refused[key].harmless)


def test_a_proxy_user_is_understood_with_kerberos_only() -> None:
    proxy = {"HADOOP_PROXY_USER": "ann"}
    assert "HADOOP_PROXY_USER" in _reason({}, environment=proxy)
    _options({"hadoop.security.authentication": "kerberos"}, environment=proxy)


def test_the_keytab_of_spark_is_given_with_its_principal() -> None:
    options = hdfs_options({}, "hdfs://nn", {}, principal="ann@X", keytab="/k")
    assert isinstance(options, HdfsOptions)
    assert (options.kerberos_principal, options.kerberos_keytab) == ("ann@X", "/k")
