"""The settings of the connectors of GCS (Google's 2.2 and 3.0, Hadoop's own of 3.5), and what becomes of each."""

from __future__ import annotations

from typing import Final

from acidsql.storage.stores.setting_rules import UNSET, Refusal, Rules

_OFF: Final = UNSET | {"false"}
_NO_USER: Final = "takes keys of users from application default credentials only"
_NO_FILE_SYSTEM: Final = "does not replace that file system"

GCS_RULES: Final = Rules(
    obeyed={
        "fs.gs.auth.type": "`SERVICE_ACCOUNT_JSON_KEYFILE`, `APPLICATION_DEFAULT`, `COMPUTE_ENGINE`, `UNAUTHENTICATED`",
        "fs.gs.auth.null.enable": "`skip_signature`",
        "fs.gs.auth.service.account.enable": "if it is false, application default credentials",
        "fs.gs.auth.service.account.json.keyfile": "`service_account`",
        "fs.gs.auth.service.account.email": "`service_account_key`",
        "fs.gs.auth.service.account.private.key": "`service_account_key`",
        "fs.gs.auth.service.account.private.key.id": "`service_account_key`",
        "fs.gs.storage.root.url": "`base_url`",
        "fs.gs.proxy.address": "`proxy_url`",
        "fs.gs.proxy.username": "`proxy_url`",
        "fs.gs.proxy.password": "`proxy_url`",
        "fs.gs.http.max.retry": "`max_retries`, by default 10",
        "fs.gs.http.connect-timeout": "`connect_timeout`, by default 5 s",
        "fs.gs.http.read-timeout": "`read_timeout`",
    },
    refused={
        "fs.gs.impl": Refusal(
            _NO_FILE_SYSTEM,
            UNSET
            | {
                "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
                "org.apache.hadoop.fs.gs.GoogleHadoopFileSystem",
            },
        ),
        "fs.AbstractFileSystem.gs.impl": Refusal(
            _NO_FILE_SYSTEM,
            UNSET | {"com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS", "org.apache.hadoop.fs.gs.Gs"},
        ),
        "hadoop.security.credential.provider.path": Refusal("does not read files of credentials (JCEKS)"),
        "fs.gs.auth.access.token.provider": Refusal("does not run classes of the JVM"),
        "fs.gs.auth.access.token.provider.": Refusal("does not run classes of the JVM"),
        "fs.gs.auth.client.id": Refusal(_NO_USER),
        "fs.gs.auth.client.secret": Refusal(_NO_USER),
        "fs.gs.auth.refresh.token": Refusal(_NO_USER),
        "fs.gs.auth.client.file": Refusal(_NO_USER),
        "fs.gs.auth.impersonation.": Refusal("does not impersonate"),
        "fs.gs.auth.service.account.keyfile": Refusal("does not read keys in files of PKCS #12"),
        "fs.gs.auth.workload.identity.federation.credential.config.file": Refusal("does not read this file"),
        "fs.gs.authorization.handler.": Refusal("does not run classes of the JVM"),
        "fs.gs.cooperative.locking.enable": Refusal("does not take these locks", _OFF),
        "fs.gs.delegation.token.binding": Refusal("does not know delegation tokens of GCS"),
        "fs.gs.encryption.algorithm": Refusal("cannot give keys of encryption"),
        "fs.gs.encryption.key": Refusal("cannot give keys of encryption"),
        "fs.gs.encryption.key.hash": Refusal("cannot give keys of encryption"),
        "fs.gs.requester.pays.mode": Refusal("does not let the requester pay", UNSET | {"DISABLED"}),
        "fs.gs.storage.http.headers.": Refusal("cannot send it with each request"),
        "fs.gs.storage.service.path": Refusal("has the usual paths of the service", UNSET | {"storage/v1/"}),
        "fs.gs.token.server.url": Refusal(
            "has the usual server of tokens", UNSET | {"https://oauth2.googleapis.com/token"}
        ),
    },
    ignored={
        "fs.gs.application.name.suffix": "how the client names itself",
        "fs.gs.batch.threads": "threads",
        "fs.gs.block.size": "splits of Hadoop's jobs",
        "fs.gs.bucket.delete.enable": "buckets, which acidsql does not delete",
        "fs.gs.checksum.type": "checksums that Hadoop reports",
        "fs.gs.client.": "protocol and uploads",
        "fs.gs.cooperative.locking.": "without `fs.gs.cooperative.locking.enable`",
        "fs.gs.copy.with.rewrite.enable": "how objects are copied",
        "fs.gs.create.items.conflict.check.enable": "checks before a file is written",
        "fs.gs.fadvise.": "how files are read",
        "fs.gs.glob.": "searches for names",
        "fs.gs.grpc.": "the protocol",
        "fs.gs.hierarchical.namespace.folders.enable": "directories, which the store makes as well",
        "fs.gs.http.transport.type": "the library of HTTP",
        "fs.gs.impl.disable.cache": "objects of the JVM",
        "fs.gs.implicit.dir.": "markers of directories",
        "fs.gs.inputstream.": "how files are read",
        "fs.gs.io.": "buffers",
        "fs.gs.lazy.init.enable": "when the client begins",
        "fs.gs.list.max.items.per.call": "the size of requests",
        "fs.gs.marker.file.pattern": "marks of Hadoop's jobs",
        "fs.gs.max.requests.per.batch": "the size of requests",
        "fs.gs.max.wait.for.empty.object.creation.ms": "waiting times",
        "fs.gs.metrics.sink": "statistics",
        "fs.gs.operation.": "threads and logs",
        "fs.gs.outputstream.": "how files are written",
        "fs.gs.performance.cache.": "statuses that Hadoop remembers",
        "fs.gs.project.id": "lists of buckets, which acidsql does not read",
        "fs.gs.reported.permissions": "permissions that Hadoop reports",
        "fs.gs.requester.pays.": "without `fs.gs.requester.pays.mode`",
        "fs.gs.rewrite.": "how objects are copied",
        "fs.gs.status.parallel.enable": "threads",
        "fs.gs.tracelog.": "logs",
        "fs.gs.working.dir": "relative paths, which acidsql does not use",
        "fs.gs.write.": "how files are written",
    },
)
"""`google.cloud.*` are older names of `fs.gs.*`."""
