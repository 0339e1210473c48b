"""The settings of S3A as options of obstore's S3Store, which get a bucket as S3A gets it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from acidsql.storage.stores.not_understood import NotUnderstood, unknown_setting
from acidsql.storage.stores.s3_credentials import (
    Anonymous,
    ContainerRole,
    InstanceRole,
    S3Credentials,
    Surroundings,
    WebIdentity,
    credentials_of,
)
from acidsql.storage.stores.s3_endpoint import Endpoint, endpoint_of
from acidsql.storage.stores.s3_rules import S3_RULES
from acidsql.storage.stores.setting_values import boolean, duration, milliseconds, proxy_url
from acidsql.storage.stores.store_options import HiddenValues, Retries, frozen

_PREFIX: Final = "fs.s3a."
_FILE_SYSTEM: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_DIRECTORY_BUCKETS: Final = ("--x-s3", "--xa-s3")
_OF_ALL_STORES: Final = ("hadoop.security.credential.provider.path", "fs.AbstractFileSystem.s3a.impl")
_ENCRYPTIONS: Final = {"AES256": "AES256", "SSE-KMS": "aws:kms", "DSSE-KMS": "aws:kms:dsse", "SSE-C": "sse-c"}
_METADATA_OF_MACHINES: Final = "http://169.254.169.254"
_CHECKSUMS: Final = {"SHA256", "CRC64NVME"}
_UNSET_VARIABLES: Final = {
    "AWS_SERVER_SIDE_ENCRYPTION": "server_side_encryption",
    "AWS_SSE_KMS_KEY_ID": "sse_kms_key_id",
    "AWS_SSE_BUCKET_KEY_ENABLED": "sse_bucket_key_enabled",
    "AWS_SSE_CUSTOMER_KEY_BASE64": "sse_customer_key_base64",
    "AWS_CHECKSUM_ALGORITHM": "checksum_algorithm",
    "AWS_COPY_IF_NOT_EXISTS": "copy_if_not_exists",
}
"""Variables that obstore obeys, that S3A does not know, and that an option can change but not undo."""


@dataclass(frozen=True, slots=True, repr=False)
class S3Options(HiddenValues):
    """What obstore's S3Store is made of. `config` has an entry for each variable that obstore reads, so that none of
    the environment contradicts the settings."""

    bucket: str
    config: Mapping[str, str]
    client_options: Mapping[str, str]
    """To be given even if it were empty: it replaces what obstore reads in the environment."""
    retries: Retries
    credentials: S3Credentials
    """`s3_credential_providers.credential_provider` makes obstore's argument of them."""
    endpoint: Endpoint

    @property
    def asks_region(self) -> bool:
        """No setting tells the region. S3 answers a HEAD of the bucket with `x-amz-bucket-region`; see `in_region`."""
        return self.endpoint.asks_region

    def in_region(self, region: str) -> S3Options:
        """The same bucket, in the region that S3 has told."""
        endpoint = replace(self.endpoint, region=region, asks_region=False)
        config = {**self.config, **_place(endpoint, self.bucket)}
        return replace(self, endpoint=endpoint, config=frozen(config))


def s3_options(
    settings: Mapping[str, str],
    bucket: str,
    environment: Mapping[str, str],
    *,
    scheme: str = "s3a",
    can_import: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
) -> S3Options | NotUnderstood:
    """The options of a bucket. `environment` is `os.environ`; files of AWS's profiles are found by it.

    `scheme` is that of the bucket's address: `s3` is S3A only if the setting `fs.s3.impl` says so. `can_import` tells
    whether a package is installed.
    """
    own = bucket_settings(settings, bucket)
    refused = _refused(settings, own, bucket, scheme)
    if refused is not None:
        return refused
    endpoint = endpoint_of(own, environment)
    if isinstance(endpoint, NotUnderstood):
        return endpoint
    credentials = credentials_of(Surroundings(own, environment, can_import))
    if isinstance(credentials, NotUnderstood):
        return credentials
    stored = _stored(own)
    if isinstance(stored, NotUnderstood):
        return stored
    client = _client_options(own, endpoint)
    if isinstance(client, NotUnderstood):
        return client
    retries = _retries(own)
    if isinstance(retries, NotUnderstood):
        return retries
    config = {**_place(endpoint, bucket), **_requests(own), **stored, **_of_credentials(credentials)}
    left = next((name for name, key in _UNSET_VARIABLES.items() if name in environment and key not in config), None)
    if left is not None:
        return NotUnderstood(f"the environment has {left}, which obstore obeys and S3A does not")
    return S3Options(bucket, frozen(config), frozen(client), retries, credentials, endpoint)


def bucket_settings(settings: Mapping[str, str], bucket: str) -> dict[str, str]:
    """The settings of S3A with those of the bucket (S3AUtils.propagateBucketOptions), without those of other buckets.

    >>> bucket_settings({"fs.s3a.endpoint": "a", "fs.s3a.bucket.b.endpoint": "b", "fs.s3a.bucket.c.endpoint": "c"}, "b")
    {'fs.s3a.endpoint': 'b'}
    """
    own = {key: value for key, value in settings.items() if key.startswith(_PREFIX)}
    of_buckets = {key for key in own if key.startswith(f"{_PREFIX}bucket.")} - {f"{_PREFIX}bucket.probe"}
    merged = {key: value for key, value in own.items() if key not in of_buckets}
    prefix = f"{_PREFIX}bucket.{bucket}."
    for key in sorted(of_buckets):
        rest = key.removeprefix(prefix)
        if key.startswith(prefix) and rest and rest != "impl" and not rest.startswith("bucket."):
            merged[_PREFIX + rest] = own[key]
    return merged | {key: settings[key] for key in _OF_ALL_STORES if key in settings}


def _refused(settings: Mapping[str, str], own: Mapping[str, str], bucket: str, scheme: str) -> NotUnderstood | None:
    if scheme != "s3a" and settings.get(f"fs.{scheme}.impl") != _FILE_SYSTEM:
        return NotUnderstood(f"the setting fs.{scheme}.impl does not name {_FILE_SYSTEM}")
    if bucket.endswith(_DIRECTORY_BUCKETS):
        return NotUnderstood("it is a directory bucket, whose listings have no order")
    return S3_RULES.first_refused(own) or S3_RULES.first_unknown(own)


def _place(endpoint: Endpoint, bucket: str) -> dict[str, str]:
    """`aws_endpoint_url_s3` goes before the other name of the same option and before `s3_express`."""
    return {
        "region": endpoint.region,
        "aws_endpoint_url_s3": endpoint.url(bucket),
        "virtual_hosted_style_request": _word(endpoint.bucket_host(bucket)),
    }


def _requests(own: Mapping[str, str]) -> dict[str, str]:
    """How requests are made. What S3A has no setting for is set as S3A does it."""
    conditional = boolean(own, "fs.s3a.create.conditional.enabled", default=True)
    return {
        "request_payer": _word(boolean(own, "fs.s3a.requester.pays.enabled", default=False)),
        "disable_bulk_delete": _word(not boolean(own, "fs.s3a.multiobjectdelete.enable", default=True)),
        "conditional_put": "etag" if conditional else "disabled",
        "unsigned_payload": "false",
        "disable_tagging": "false",
        "s3_express": "false",
    }


def _stored(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    """What the store does with the bytes: encryption and checksums."""
    checksum = own.get("fs.s3a.create.checksum.algorithm", "").upper()
    if checksum and checksum not in _CHECKSUMS:
        return unknown_setting("fs.s3a.create.checksum.algorithm", f"to {checksum}, which obstore does not compute")
    encryption = _encryption(own)
    if isinstance(encryption, NotUnderstood) or not checksum:
        return encryption
    return {**encryption, "checksum_algorithm": checksum}


def _encryption(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    new, old = "fs.s3a.encryption.algorithm", "fs.s3a.server-side-encryption-algorithm"
    key = new if own.get(new) else old
    algorithm = own.get(key, "").upper()
    if not algorithm:
        return {}
    if algorithm not in _ENCRYPTIONS:
        return NotUnderstood(f"the setting {key} is {algorithm}, which acidsql's own client does not know")
    secret = own.get("fs.s3a.encryption.key") or own.get("fs.s3a.server-side-encryption.key") or ""
    if algorithm == "AES256" and secret:
        return NotUnderstood(f"the setting {key} is AES256 beside a key, which S3A refuses")
    if algorithm == "SSE-C" and not secret:
        return NotUnderstood(f"the setting {key} is SSE-C without a key")
    name = "sse_customer_key_base64" if algorithm == "SSE-C" else "sse_kms_key_id"
    return {"server_side_encryption": _ENCRYPTIONS[algorithm], **({name: secret} if secret else {})}


def _of_credentials(credentials: S3Credentials) -> dict[str, str]:
    config = {"skip_signature": _word(isinstance(credentials, Anonymous)), "imdsv1_fallback": "false"}
    match credentials:
        case WebIdentity(file, role, session):
            config |= {"web_identity_token_file": file, "role_arn": role}
            return config | ({"role_session_name": session} if session else {})
        case ContainerRole(relative, full, file):
            given = {
                "container_credentials_relative_uri": relative,
                "container_credentials_full_uri": full,
                "container_authorization_token_file": file,
            }
            return config | {name: value for name, value in given.items() if value}
        case InstanceRole(endpoint, first_protocol):
            return config | {
                "imdsv1_fallback": _word(first_protocol),
                "metadata_endpoint": endpoint or _METADATA_OF_MACHINES,
            }
        case _:
            return config


def _client_options(own: Mapping[str, str], endpoint: Endpoint) -> dict[str, str] | NotUnderstood:
    proxy = _proxy(own)
    times = _timeouts(own)
    if isinstance(proxy, NotUnderstood):
        return proxy
    if isinstance(times, NotUnderstood):
        return times
    return {"allow_http": _word(endpoint.is_plain_http), **times, **proxy}


_TIMEOUTS: Final = {
    "fs.s3a.connection.establish.timeout": timedelta(seconds=30),
    "fs.s3a.connection.timeout": timedelta(seconds=200),
    "fs.s3a.connection.idle.time": timedelta(seconds=60),
    "fs.s3a.connection.request.timeout": timedelta(seconds=60),
    "fs.s3a.connection.part.upload.timeout": timedelta(minutes=15),
}
"""With S3A's defaults (Constants of Hadoop 3.5.0)."""
_NO_LIMIT: Final = timedelta(days=1)


def _timeouts(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    """S3A's limit of a request does not include the body of an answer, but obstore's does: it is that of an upload."""
    times = {key: duration(own[key]) if own.get(key) else default for key, default in _TIMEOUTS.items()}
    wrong = next((key for key, value in times.items() if value is None), None)
    if wrong is not None:
        return unknown_setting(wrong, "to something that is no duration")
    connect, read, idle, request, upload = (value or _NO_LIMIT for value in times.values())
    return {
        "connect_timeout": milliseconds(connect),
        "read_timeout": milliseconds(read),
        "pool_idle_timeout": milliseconds(idle),
        "timeout": milliseconds(max(request, upload)),
    }


def _proxy(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    host, port = own.get("fs.s3a.proxy.host", ""), own.get("fs.s3a.proxy.port", "")
    user, password = own.get("fs.s3a.proxy.username", ""), own.get("fs.s3a.proxy.password", "")
    if not host:
        return NotUnderstood("the setting fs.s3a.proxy.port is set without a host") if port else {}
    if bool(user) != bool(password):
        return NotUnderstood("the settings fs.s3a.proxy.username and fs.s3a.proxy.password are not set both")
    secure = boolean(own, "fs.s3a.proxy.ssl.enabled", default=False)
    scheme, usual = ("https", "443") if secure else ("http", "80")
    return {"proxy_url": proxy_url(scheme, host, port or usual, user, password)}


_ATTEMPTS: Final = {"fs.s3a.attempts.maximum": 5, "fs.s3a.retry.limit": 7}
"""With S3A's defaults: AWS's client sends a request so often, and S3A repeats all of that so often."""


def _retries(own: Mapping[str, str]) -> Retries | NotUnderstood:
    given = {key: own[key] for key in _ATTEMPTS if own.get(key)}
    wait = own.get("fs.s3a.retry.interval")
    first_wait = duration(wait) if wait else None
    if not all(limit.isdecimal() for limit in given.values()) or (wait and first_wait is None):
        return NotUnderstood("a setting of fs.s3a.retry.* or fs.s3a.attempts.maximum is no number")
    attempts, repeated = (int(given.get(key, default)) for key, default in _ATTEMPTS.items())
    return Retries(max(1, attempts) * (repeated + 1) - 1 if given else None, first_wait)


def _word(value: bool) -> str:
    return "true" if value else "false"
