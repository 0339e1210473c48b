"""The settings of HDFS that hdfs-native 0.14.7 obeys, and those that matter to a client and that it does not obey."""

from __future__ import annotations

from typing import Final

from acidsql.storage.stores.setting_rules import UNSET, Refusal, Rules

_OFF: Final = UNSET | {"false"}
_NO_FILE_SYSTEM: Final = "does not replace that file system"
_SOCKETS: Final = UNSET | {"org.apache.hadoop.net.StandardSocketFactory"}

HDFS_RULES: Final = Rules(
    obeyed={
        "fs.defaultFS": "the name node of an address without one",
        "dfs.ha.namenodes.": "the name nodes of a name service",
        "dfs.namenode.rpc-address.": "the address of a name node",
        "dfs.client.failover.proxy.provider.": "how the active name node is found, and reads from observers",
        "dfs.client.failover.resolve-needed.": "name nodes behind one name of DNS",
        "dfs.client.failover.resolver.useFQDN.": "name nodes behind one name of DNS",
        "dfs.client.failover.random.order.": "the order in which name nodes are tried",
        "dfs.client.failover.max.attempts": "how often another name node is tried",
        "dfs.client.failover.sleep.base.millis": "waiting times between name nodes",
        "dfs.client.failover.sleep.max.millis": "waiting times between name nodes",
        "dfs.client.use.datanode.hostname": "data nodes by their names",
        "dfs.client.socket-timeout": "how long a data node may be silent",
        "dfs.client.block.write.replace-datanode-on-failure.enable": "data nodes that fail during a write",
        "dfs.client.block.write.replace-datanode-on-failure.policy": "data nodes that fail during a write",
        "dfs.client.block.write.replace-datanode-on-failure.best-effort": "data nodes that fail during a write",
        "dfs.data.transfer.protection": "the strongest protection that data nodes offer",
        "dfs.user.home.dir.prefix": "home directories",
        "hadoop.security.authentication": "`simple` or `kerberos`",
        "hadoop.security.key.provider.path": "the KMS of encryption zones, `kms://..`",
        "dfs.encryption.key.provider.uri": "an old name of `hadoop.security.key.provider.path`",
        "fs.viewfs.mounttable.": "`link`, `linkFallback` and `homedir` of viewfs",
        "dfs.replication": "`WriteOptions.replication`; 3 if it is not set",
        "dfs.blocksize": "`WriteOptions.block_size`; 128 MiB if it is not set",
        "fs.permissions.umask-mode": "the permissions of new files and directories; 022 if it is not set",
    },
    refused={
        "fs.hdfs.impl": Refusal(_NO_FILE_SYSTEM, UNSET | {"org.apache.hadoop.hdfs.DistributedFileSystem"}),
        "fs.viewfs.impl": Refusal(_NO_FILE_SYSTEM, UNSET | {"org.apache.hadoop.fs.viewfs.ViewFileSystem"}),
        "fs.AbstractFileSystem.hdfs.impl": Refusal(_NO_FILE_SYSTEM, UNSET | {"org.apache.hadoop.fs.Hdfs"}),
        "fs.trash.classname": Refusal("has HDFS's own trash", UNSET | {"org.apache.hadoop.fs.TrashPolicyDefault"}),
        "hadoop.socks.server": Refusal("does not connect through SOCKS"),
        "hadoop.rpc.socket.factory.class.default": Refusal("does not connect through SOCKS", _SOCKETS),
        "hadoop.rpc.socket.factory.class.ClientProtocol": Refusal("does not connect through SOCKS", _SOCKETS),
        "dfs.client.retry.policy.enabled": Refusal("does not wait for a name node that restarts", _OFF),
        "dfs.client.failover.observer.auto-msync-period.": Refusal(
            "asks observers without a look at the active name node", UNSET | {"-1"}
        ),
        "dfs.trustedchannel.resolver.class": Refusal("does not run classes of the JVM"),
        "hadoop.security.saslproperties.resolver.class": Refusal("does not run classes of the JVM"),
        "dfs.data.transfer.saslproperties.resolver.class": Refusal("does not run classes of the JVM"),
    },
)
"""All other settings are those of servers, of other programs, or change nothing about what is stored."""
