"""obstore and hdfs-native take the options, and what it makes of them is not changed by the environment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import hdfs_native
import pytest
from obstore.store import S3Store

from acidsql.storage.stores.hdfs_settings import HdfsOptions, hdfs_options
from acidsql.storage.stores.s3_credential_providers import credential_provider
from acidsql.storage.stores.s3_settings import S3Options, s3_options

S3_CASES: list[dict[str, str]] = [
    {"fs.s3a.access.key": "AK", "fs.s3a.secret.key": "SK"},
    {"fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"},
    {"fs.s3a.encryption.algorithm": "SSE-KMS", "fs.s3a.encryption.key": "k"},
    {"fs.s3a.encryption.algorithm": "DSSE-KMS"},
    {"fs.s3a.encryption.algorithm": "SSE-C", "fs.s3a.encryption.key": 43 * "A" + "="},
    {"fs.s3a.encryption.algorithm": "AES256", "fs.s3a.create.checksum.algorithm": "CRC64NVME"},
    {"fs.s3a.create.conditional.enabled": "false", "fs.s3a.requester.pays.enabled": "true"},
    {"fs.s3a.proxy.host": "p", "fs.s3a.proxy.username": "u", "fs.s3a.proxy.password": "p", "fs.s3a.endpoint": "h"},
]


def _s3_store(options: S3Options) -> S3Store:
    return S3Store(
        options.bucket,
        config=cast(Any, dict(options.config)),
        client_options=cast(Any, dict(options.client_options)),
        credential_provider=cast(Any, credential_provider(options.credentials)),
    )


@pytest.mark.parametrize("settings", S3_CASES)
def test_obstore_takes_the_options_of_s3(settings: dict[str, str]) -> None:
    options = s3_options(settings, "b1b", {"HOME": "/dev/null"})
    assert isinstance(options, S3Options)
    assert dict(_s3_store(options).config).items() >= {"region": options.config["region"]}.items()


@contextmanager
def _listening() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server's address, and the headers of the requests that it has had, with their `path`."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({**{name.lower(): value for name, value in self.headers.items()}, "path": self.path})
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.send_header("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT")
            self.send_header("ETag", '"x"')
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


CONTRARY = {
    "AWS_ACCESS_KEY_ID": "EA",
    "AWS_SECRET_ACCESS_KEY": "ES",
    "AWS_SESSION_TOKEN": "ET",
    "AWS_ENDPOINT": "http://127.0.0.1:1",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1",
    "AWS_REGION": "eu-south-9",
    "AWS_SKIP_SIGNATURE": "true",
    "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true",
    "AWS_UNSIGNED_PAYLOAD": "true",
    "AWS_REQUEST_PAYER": "true",
    "AWS_S3_EXPRESS": "true",
    "AWS_ALLOW_HTTP": "false",
    "AWS_PROXY_URL": "http://127.0.0.1:1",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere",
    "AWS_ROLE_ARN": "arn",
}
"""Variables of which obstore obeys each."""


@pytest.mark.parametrize("anonymous", [False, True])
def test_the_environment_does_not_change_what_settings_say(monkeypatch: pytest.MonkeyPatch, anonymous: bool) -> None:
    for name, value in CONTRARY.items():
        monkeypatch.setenv(name, value)
    name = "Anonymous" if anonymous else "Simple"
    with _listening() as (address, seen):
        settings = {
            "fs.s3a.endpoint": address,
            "fs.s3a.endpoint.region": "here",
            "fs.s3a.access.key": "AK",
            "fs.s3a.secret.key": "SK",
            "fs.s3a.aws.credentials.provider": f"org.apache.hadoop.fs.s3a.{name}AWSCredentialsProvider",
        }
        options = s3_options(settings, "b1b", CONTRARY)
        assert isinstance(options, S3Options)
        _s3_store(options).get("key")
    [request] = seen
    assert request["path"] == "/b1b/key"
    assert "x-amz-security-token" not in request
    assert "x-amz-request-payer" not in request
    if anonymous:
        assert "authorization" not in request
    else:
        assert "Credential=AK/" in request["authorization"]
        assert "/here/s3/" in request["authorization"]


HDFS_CASES: list[tuple[str, dict[str, str]]] = [
    ("hdfs://nn", {}),
    ("hdfs://ns/x", {"dfs.ha.namenodes.ns": "a, b", **{f"dfs.namenode.rpc-address.ns.{n}": n for n in "ab"}}),
    ("viewfs://c/x", {"fs.viewfs.mounttable.c.linkFallback": "hdfs://nn/x"}),
]


@pytest.mark.parametrize(("url", "settings"), HDFS_CASES)
def test_hdfs_native_takes_the_options(monkeypatch: pytest.MonkeyPatch, url: str, settings: dict[str, str]) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", "/nowhere")
    options = hdfs_options(settings, url, {})
    assert isinstance(options, HdfsOptions)
    hdfs_native.Client(options.url, dict(options.config), options.config_dir)
