"""The set-up of a Hive 4.0.1: its settings, its class path, an empty metastore database."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from tests.interop.maven import class_path, compiled, java, kept_directory

_HERE: Final = Path(__file__).parent / "hive4"
_POM: Final = _HERE / "pom.xml"
_SOURCE: Final = _HERE / "HiveProcess.java"
_SCHEMA_TOOL: Final = "org.apache.hadoop.hive.metastore.tools.schematool.MetastoreSchemaTool"
_SCRIPTS: Final = "apache-hive-metastore-4.0.1-bin"
_ROW_GROUP_LOGGER: Final = "org.apache.orc.impl.RecordReaderImpl"
"""It says which row groups a predicate spares the reader."""
_OPENED: Final = (
    *(
        f"java.base/{package}"
        for package in (
            "java.io",
            "java.lang",
            "java.lang.invoke",
            "java.lang.reflect",
            "java.math",
            "java.net",
            "java.nio",
            "java.text",
            "java.time",
            "java.util",
            "java.util.concurrent",
            "java.util.concurrent.atomic",
            "java.util.regex",
            "sun.nio.ch",
            "sun.nio.cs",
            "sun.security.action",
            "sun.util.calendar",
        )
    ),
    "java.sql/java.sql",
)
"""Hadoop and Kryo reach into these packages; JDK 17 closed them."""

_CAPABILITIES: Final = (
    "EXTWRITE,EXTREAD,HIVEBUCKET2,HIVEFULLACIDREAD,HIVEFULLACIDWRITE,HIVECACHEINVALIDATE,HIVEMANAGESTATS,"
    "HIVEMANAGEDINSERTWRITE,HIVEMANAGEDINSERTREAD,HIVESQL,HIVEMQT,HIVEONLYMQTWRITE,ACCEPTS_UNMODIFIED_METADATA"
)
"""What HiveServer2 tells the metastore; without it ACID tables are refused."""

_FIXED_SETTINGS: Final = {
    "hive.metastore.client.capabilities": _CAPABILITIES,
    "fs.defaultFS": "file:///",
    "fs.file.impl": "HiveProcess$PlainLocalFiles",
    "fs.AbstractFileSystem.file.impl": "HiveProcess$PlainLocalFs",
    # the metastore
    "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
    "datanucleus.schema.autoCreateAll": "false",
    "metastore.thrift.bind.host": "127.0.0.1",
    "metastore.event.db.notification.api.auth": "false",
    "metastore.acidmetrics.thread.on": "false",
    "hive.notification.event.poll.interval": "0s",
    "hive.scheduled.queries.executor.enabled": "false",
    "hive.server2.materializedviews.registry.impl": "DUMMY",
    # transactions and compaction: only the compactions that a test asks for
    "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
    "hive.support.concurrency": "true",
    "hive.exec.dynamic.partition.mode": "nonstrict",
    "hive.lock.sleep.between.retries": "1s",
    "metastore.compactor.initiator.on": "false",
    "metastore.compactor.cleaner.on": "false",  # HiveProcess.java has one that a test can stop
    "hive.compactor.cleaner.run.interval": "300ms",
    "metastore.compactor.worker.threads": "0",  # HiveProcess.java has one, with a pool of its own
    "hive.compactor.worker.sleep.time": "200ms",
    "hive.compactor.worker.max.sleep.time": "200ms",
    # Tez within this process. Two tasks of one JVM share the state of their operators, so one at a time.
    "hive.execution.engine": "tez",
    "tez.local.mode": "true",
    "tez.local.mode.without.network": "true",
    "tez.ignore.lib.uris": "true",
    "tez.am.inline.task.execution.max-tasks": "1",
    "tez.runtime.optimize.local.fetch": "true",
    "tez.runtime.io.sort.mb": "32",
    "tez.task.resource.memory.mb": "512",
    "hive.tez.container.size": "512",
    "hive.tez.exec.print.summary": "false",
    "hive.tez.exec.inplace.progress": "false",
    "mapreduce.framework.name": "local",
    "mapreduce.client.completion.pollinterval": "50",  # of a compaction; else it waits for five seconds
    # answers are computed, never remembered
    "hive.query.results.cache.enabled": "false",
    "hive.compute.query.using.stats": "false",
    "hive.security.authorization.enabled": "false",
    "hive.session.silent": "true",
}


@dataclass(frozen=True, slots=True)
class HiveHome:
    """A directory with an empty Hive: `command` starts its process (HiveProcess.java says what it answers)."""

    root: Path
    port: int
    class_path: str

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse"

    @property
    def log(self) -> Path:
        return self.root / "hive.log"

    def command(self) -> list[str]:
        """The process's command line."""
        return [
            *java_command(self.root, "-Xms512m", "-Xmx2g", "-XX:MetaspaceSize=256m"),
            "-cp",
            f"{self.root / 'conf'}:{self.class_path}",
            "HiveProcess",
            str(self.port),
        ]


def make_hive_home(root: Path, port: int, settings: Mapping[str, str], more_jars: str = "") -> HiveHome:
    """Puts an empty Hive below `root`, with jars behind its own. Skips the test where Java is missing or Maven's
    repository is out of reach.

    Hive reads tables below a hidden directory as empty, so `root` may not lie in one.
    """
    hidden = [part for part in root.parts if part.startswith((".", "_"))]
    assert not hidden, f"{root} lies in a directory that is hidden from Hive: {hidden}"
    jars = class_path(_POM, "dependency:unpack")
    home = HiveHome(root, port, f"{compiled(_SOURCE, jars)}:{jars}:{more_jars}")
    for name in ("conf", "warehouse", "scratch"):
        (root / name).mkdir()
    _write_settings(home, settings)
    shutil.copytree(_empty_metastore(home), root / "metastore_db")
    return home


def _write_settings(home: HiveHome, more: Mapping[str, str]) -> None:
    scratch = home.root / "scratch"
    settings = {
        **_FIXED_SETTINGS,
        "hive.metastore.uris": f"thrift://127.0.0.1:{home.port}",
        "hive.metastore.warehouse.dir": f"file://{home.warehouse}",
        "hive.metastore.warehouse.external.dir": f"file://{home.warehouse}",
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={home.root}/metastore_db",
        "hadoop.tmp.dir": f"{scratch}/hadoop",
        "tez.staging-dir": f"{scratch}/tez",
        "hive.exec.scratchdir": f"{scratch}/hive",
        "hive.exec.local.scratchdir": f"{scratch}/local",
        "hive.downloaded.resources.dir": f"{scratch}/resources",
        "hive.user.install.directory": f"file://{scratch}/install",
        "hive.querylog.location": f"{scratch}/querylog",
        "mapreduce.cluster.local.dir": f"{scratch}/mapreduce",
        "yarn.app.mapreduce.am.staging-dir": f"{scratch}/mapreduce-staging",
        **more,
    }
    properties = "".join(
        f"<property><name>{k}</name><value>{escape(v)}</value></property>\n" for k, v in settings.items()
    )
    for name in ("hive-site", "metastore-site", "tez-site", "core-site"):
        (home.root / "conf" / f"{name}.xml").write_text(f"<configuration>\n{properties}</configuration>\n")
    log = "rootLogger.level=warn\nrootLogger.appenderRefs=e\nrootLogger.appenderRef.e.ref=e\nappenders=e\n"
    log += f"loggers=orc\nlogger.orc.name={_ROW_GROUP_LOGGER}\nlogger.orc.level=debug\n"
    log += "appender.e.type=Console\nappender.e.name=e\nappender.e.target=SYSTEM_ERR\n"
    log += "appender.e.layout.type=PatternLayout\nappender.e.layout.pattern=%d{ISO8601} %p [%t] %c{2}: %m%n\n"
    for name in ("log4j2", "hive-log4j2"):
        (home.root / "conf" / f"{name}.properties").write_text(log)


def _empty_metastore(home: HiveHome) -> Path:
    """A Derby database with the metastore's schema; made once, in some ten seconds."""
    kept = kept_directory(_POM) / "metastore_db"
    if kept.exists():
        return kept
    tool = [*java_command(home.root), "-cp", f"{home.root / 'conf'}:{home.class_path}", _SCHEMA_TOOL]
    environment = {**os.environ, "METASTORE_HOME": str(kept_directory(_POM) / _SCRIPTS)}
    (kept_directory(_POM) / _SCRIPTS / "lib").mkdir(exist_ok=True)
    made = home.root / "metastore_db"
    url = f"jdbc:derby:;databaseName={made};create=true"
    arguments = ["-dbType", "derby", "-initSchema", "-url", url, "-userName", "APP", "-passWord", "mine"]
    done = subprocess.run(
        [*tool, *arguments], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    fresh = kept.with_name(f"metastore_db.{os.getpid()}")
    shutil.move(made, fresh)
    (fresh / "db.lck").unlink(missing_ok=True)
    try:
        fresh.rename(kept)
    except OSError:  # another process was faster
        shutil.rmtree(fresh)
    return kept


def java_command(root: Path, *options: str) -> list[str]:
    opened = [word for package in _OPENED for word in ("--add-opens", f"{package}=ALL-UNNAMED")]
    return [
        java("java"),
        *options,
        *opened,
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:+DisplayVMOutputToStderr",  # where its threads are, when it is asked; the answers are on the other one
        "-Duser.timezone=UTC",
        "-Dfile.encoding=UTF-8",
        "-Djava.net.preferIPv4Stack=true",
        f"-Dderby.system.home={root}",
        # Two clients of the metastore may deadlock in Derby, where it then retries ten times.
        "-Dderby.locks.deadlockTimeout=1",
        "-Dderby.locks.waitTimeout=2",
        f"-Dderby.stream.error.file={root}/derby.log",
    ]
