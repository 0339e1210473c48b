"""Each setting of S3A, and the options of obstore that it becomes or the reason why it becomes none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta

import pytest

from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.s3_rules import S3_RULES
from acidsql.storage.stores.s3_settings import S3Options, bucket_settings, s3_options

KEYS = {"fs.s3a.access.key": "AK", "fs.s3a.secret.key": "SK"}
NOWHERE = {"HOME": os.devnull}


def _options(settings: Mapping[str, str], environment: Mapping[str, str] = NOWHERE, bucket: str = "b1b") -> S3Options:
    options = s3_options({**KEYS, **settings}, bucket, environment)
    assert isinstance(options, S3Options), options
    return options


def _reason(settings: Mapping[str, str], environment: Mapping[str, str] = NOWHERE, bucket: str = "b1b") -> str:
    options = s3_options({**KEYS, **settings}, bucket, environment)
    assert isinstance(options, NotUnderstood)
    return options.reason


CONFIG = [
    ({"fs.s3a.endpoint.region": "eu-west-1"}, {"region": "eu-west-1", "virtual_hosted_style_request": "true"}),
    ({"fs.s3a.requester.pays.enabled": "true"}, {"request_payer": "true"}),
    ({}, {"request_payer": "false", "skip_signature": "false", "conditional_put": "etag", "s3_express": "false"}),
    ({"fs.s3a.create.conditional.enabled": "false"}, {"conditional_put": "disabled"}),
    ({"fs.s3a.multiobjectdelete.enable": "false"}, {"disable_bulk_delete": "true"}),
    ({"fs.s3a.create.checksum.algorithm": "sha256"}, {"checksum_algorithm": "SHA256"}),
    ({"fs.s3a.encryption.algorithm": "aes256"}, {"server_side_encryption": "AES256"}),
    ({"fs.s3a.server-side-encryption-algorithm": "SSE-KMS"}, {"server_side_encryption": "aws:kms"}),
    (
        {"fs.s3a.encryption.algorithm": "SSE-KMS", "fs.s3a.encryption.key": "arn:aws:kms:x"},
        {"server_side_encryption": "aws:kms", "sse_kms_key_id": "arn:aws:kms:x"},
    ),
    (
        {"fs.s3a.encryption.algorithm": "DSSE-KMS", "fs.s3a.server-side-encryption.key": "k"},
        {"server_side_encryption": "aws:kms:dsse", "sse_kms_key_id": "k"},
    ),
    (
        {"fs.s3a.encryption.algorithm": "SSE-C", "fs.s3a.encryption.key": "a2V5"},
        {"server_side_encryption": "sse-c", "sse_customer_key_base64": "a2V5"},
    ),
]


@pytest.mark.parametrize(("settings", "expected"), CONFIG)
def test_a_setting_becomes_an_entry_of_the_configuration(settings: dict[str, str], expected: dict[str, str]) -> None:
    assert expected.items() <= _options(settings).config.items()


OF_CREDENTIALS_FOUND: list[tuple[dict[str, str], dict[str, str]]] = [
    ({}, {"metadata_endpoint": "http://169.254.169.254", "imdsv1_fallback": "true", "skip_signature": "false"}),
    (
        {"AWS_WEB_IDENTITY_TOKEN_FILE": "/t", "AWS_ROLE_ARN": "arn", "AWS_ROLE_SESSION_NAME": "n"},
        {"web_identity_token_file": "/t", "role_arn": "arn", "role_session_name": "n"},
    ),
    ({"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2"}, {"container_credentials_relative_uri": "/v2"}),
    (
        {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://e", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/t"},
        {"container_credentials_full_uri": "http://e", "container_authorization_token_file": "/t"},
    ),
]


@pytest.mark.parametrize(("environment", "expected"), OF_CREDENTIALS_FOUND)
def test_obstore_is_told_where_it_finds_keys(environment: dict[str, str], expected: dict[str, str]) -> None:
    options = s3_options({}, "b1b", {**NOWHERE, **environment})
    assert isinstance(options, S3Options)
    assert expected.items() <= options.config.items()


ENDPOINTS = [
    # settings of fs.s3a, bucket, url, whether the bucket's name is in the host, region
    ({"endpoint.region": "eu-west-1"}, "b1b", "https://b1b.s3.eu-west-1.amazonaws.com", "true", "eu-west-1"),
    ({"endpoint.region": "cn-north-1"}, "b1b", "https://b1b.s3.cn-north-1.amazonaws.com.cn", "true", "cn-north-1"),
    ({"endpoint.region": "eu-west-1"}, "b.c", "https://s3.eu-west-1.amazonaws.com", "false", "eu-west-1"),
    ({"endpoint.region": "eu-west-1"}, "B_C", "https://s3.eu-west-1.amazonaws.com", "false", "eu-west-1"),
    ({"endpoint": "s3.amazonaws.com"}, "b1b", "https://b1b.s3.us-east-2.amazonaws.com", "true", "us-east-2"),
    ({"endpoint": "s3.eu-west-1.amazonaws.com"}, "b1b", "https://b1b.s3.eu-west-1.amazonaws.com", "true", "eu-west-1"),
    ({"endpoint": "s3-us-west-2.amazonaws.com"}, "b1b", "https://b1b.s3-us-west-2.amazonaws.com", "true", "us-west-2"),
    (
        {"endpoint": "https://bucket.vpce-1-2.s3.eu-west-1.vpce.amazonaws.com"},
        "b1b",
        "https://b1b.bucket.vpce-1-2.s3.eu-west-1.vpce.amazonaws.com",
        "true",
        "eu-west-1",
    ),
    ({"endpoint": "minio:9000"}, "b1b", "https://b1b.minio:9000", "true", "us-east-2"),
    ({"endpoint": "http://minio:9000/"}, "b.c", "http://b.c.minio:9000", "true", "us-east-2"),
    ({"endpoint": "http://127.0.0.1:9000"}, "b1b", "http://127.0.0.1:9000", "false", "us-east-2"),
    ({"endpoint": "http://[::1]:9000"}, "b1b", "http://[::1]:9000", "false", "us-east-2"),
    ({"endpoint": "http://minio", "path.style.access": "true"}, "b1b", "http://minio", "false", "us-east-2"),
    ({"endpoint": "minio", "connection.ssl.enabled": "false"}, "b1b", "http://b1b.minio", "true", "us-east-2"),
    ({"endpoint": "minio", "endpoint.region": "r"}, "b1b", "https://b1b.minio", "true", "r"),
    (
        {"endpoint.fips": "true", "endpoint.region": "us-east-1"},
        "b1b",
        "https://b1b.s3-fips.us-east-1.amazonaws.com",
        "true",
        "us-east-1",
    ),
]


@pytest.mark.parametrize(("settings", "bucket", "url", "in_host", "region"), ENDPOINTS)
def test_the_address_of_a_bucket(settings: dict[str, str], bucket: str, url: str, in_host: str, region: str) -> None:
    options = _options({f"fs.s3a.{key}": value for key, value in settings.items()}, bucket=bucket)
    config = options.config
    found = config["aws_endpoint_url_s3"], config["virtual_hosted_style_request"], config["region"]
    assert found == (url, in_host, region)
    assert options.client_options["allow_http"] == ("true" if url.startswith("http:") else "false")


def test_the_region_of_a_bucket_of_amazon_is_asked_for_if_nothing_tells_it() -> None:
    assert not _options({"fs.s3a.endpoint.region": "eu-west-1"}).asks_region
    assert not _options({"fs.s3a.endpoint": "http://minio:9000"}).asks_region
    options = _options({})
    assert options.asks_region
    told = options.in_region("eu-west-1")
    assert not told.asks_region
    assert told.config["aws_endpoint_url_s3"] == "https://b1b.s3.eu-west-1.amazonaws.com"


ENVIRONMENT = [
    ({"AWS_REGION": "eu-west-1"}, "https://b1b.s3.eu-west-1.amazonaws.com"),
    ({"AWS_DEFAULT_REGION": "eu-west-1"}, "https://b1b.s3.eu-west-1.amazonaws.com"),
    ({"AWS_ENDPOINT_URL": "http://x:1"}, "http://b1b.x:1"),
    ({"AWS_ENDPOINT_URL": "http://x:1", "AWS_ENDPOINT_URL_S3": "http://y:1"}, "http://b1b.y:1"),
    ({"AWS_ENDPOINT": "http://x:1"}, "https://b1b.s3.us-east-2.amazonaws.com"),
]


@pytest.mark.parametrize(("environment", "url"), ENVIRONMENT)
def test_variables_of_aws_tell_endpoint_and_region_where_settings_do_not(environment: dict[str, str], url: str) -> None:
    assert _options({}, {**NOWHERE, **environment}).config["aws_endpoint_url_s3"] == url
    given = _options({"fs.s3a.endpoint": "http://z", "fs.s3a.endpoint.region": "r"}, {**NOWHERE, **environment}).config
    assert (given["aws_endpoint_url_s3"], given["region"]) == ("http://b1b.z", "r")


CLIENT = [
    ({}, {"connect_timeout": "30000ms", "read_timeout": "200000ms", "timeout": "900000ms"}),
    ({"connection.establish.timeout": "5s"}, {"connect_timeout": "5000ms"}),
    ({"connection.timeout": "1000"}, {"read_timeout": "1000ms"}),
    ({"connection.timeout": "0"}, {"read_timeout": "86400000ms"}),
    ({"connection.idle.time": "1m"}, {"pool_idle_timeout": "60000ms"}),
    ({"connection.part.upload.timeout": "1h"}, {"timeout": "3600000ms"}),
    ({"connection.request.timeout": "2h"}, {"timeout": "7200000ms"}),
    ({"proxy.host": "p"}, {"proxy_url": "http://p:80"}),
    ({"proxy.host": "p", "proxy.ssl.enabled": "true"}, {"proxy_url": "https://p:443"}),
    (
        {"proxy.host": "p", "proxy.port": "3128", "proxy.username": "u", "proxy.password": "p/w"},
        {"proxy_url": "http://u:p%2Fw@p:3128"},
    ),
]


@pytest.mark.parametrize(("settings", "expected"), CLIENT)
def test_a_setting_becomes_an_option_of_the_connections(settings: dict[str, str], expected: dict[str, str]) -> None:
    options = _options({f"fs.s3a.{key}": value for key, value in settings.items()})
    assert expected.items() <= options.client_options.items()


RETRIES = [
    ({}, None, None),
    ({"fs.s3a.retry.limit": "3"}, 19, None),
    ({"fs.s3a.retry.limit": "3", "fs.s3a.attempts.maximum": "20"}, 79, None),
    ({"fs.s3a.retry.interval": "2s"}, None, timedelta(seconds=2)),
]


@pytest.mark.parametrize(("settings", "limit", "wait"), RETRIES)
def test_how_often_a_request_is_repeated(settings: dict[str, str], limit: int | None, wait: timedelta | None) -> None:
    retries = _options(settings).retries
    assert (retries.limit, retries.first_wait) == (limit, wait)


NOT_UNDERSTOOD = [
    ({"fs.s3a.encryption.algorithm": "CSE-KMS"}, "the setting fs.s3a.encryption.algorithm is CSE-KMS"),
    (
        {"fs.s3a.server-side-encryption-algorithm": "CSE-CUSTOM"},
        "fs.s3a.server-side-encryption-algorithm is CSE-CUSTOM",
    ),
    ({"fs.s3a.encryption.algorithm": "SSE-C"}, "without a key"),
    ({"fs.s3a.encryption.algorithm": "AES256", "fs.s3a.encryption.key": "hush"}, "beside a key"),
    ({"fs.s3a.create.checksum.algorithm": "CRC32"}, "to CRC32, which obstore does not compute"),
    ({"fs.s3a.connection.timeout": "soon"}, "the setting fs.s3a.connection.timeout is set, to something"),
    ({"fs.s3a.retry.limit": "often"}, "is no number"),
    ({"fs.s3a.retry.interval": "soon"}, "is no number"),
    ({"fs.s3a.proxy.port": "1"}, "without a host"),
    ({"fs.s3a.endpoint": "http://["}, "the setting fs.s3a.endpoint is no address"),
    ({"fs.s3a.connection.timeout": "999999999999999d"}, "no duration"),
    ({"fs.s3a.proxy.host": "p", "fs.s3a.proxy.password": "hush"}, "are not set both"),
    ({"fs.s3a.endpoint.fips": "true", "fs.s3a.endpoint": "x"}, "fs.s3a.endpoint.fips is true beside an endpoint"),
    ({"fs.s3a.no.such.key": "hush"}, "the setting fs.s3a.no.such.key is set, which acidsql's own client does not know"),
]


@pytest.mark.parametrize(("settings", "reason"), NOT_UNDERSTOOD)
def test_a_setting_that_obstore_cannot_obey_is_not_understood(settings: dict[str, str], reason: str) -> None:
    given = _reason(settings)
    assert reason in given
    assert "hush" not in given


@pytest.mark.parametrize("key", sorted(S3_RULES.refused))
def test_a_refused_setting_is_named(key: str) -> None:
    name = f"{key}x" if key.endswith(".") else key
    assert _reason({name: "hush"}).startswith(f"the setting {name} is set, and acidsql's own client ")
    assert "hush" not in _reason({name: "hush"})


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key in S3_RULES.refused for value in S3_RULES.refused[key].harmless]
)
def test_a_refused_setting_may_have_the_value_that_changes_nothing(key: str, value: str) -> None:
    assert _options({f"{key}x" if key.endswith(".") else key: value.upper()}) == _options({})


@pytest.mark.parametrize("key", sorted(S3_RULES.ignored))
def test_an_ignored_setting_changes_nothing(key: str) -> None:
    name = f"{key}x" if key.endswith(".") else key
    assert _options({name: "5"}) == _options({})


OF_CREDENTIALS = ("access.key", "secret.key", "session.token", "aws.credentials", "auth.profile", "assumed.role")


def test_every_obeyed_setting_has_a_case() -> None:
    settings = [*(case[0] for case in CONFIG), *(case[0] for case in RETRIES), *(case[0] for case in NOT_UNDERSTOOD)]
    short = [*(case[0] for case in ENDPOINTS), *(case[0] for case in CLIENT)]
    used = {key for case in settings for key in case} | {f"fs.s3a.{key}" for case in short for key in case}
    left = set(S3_RULES.obeyed) - used
    assert {key for key in left if not key.removeprefix("fs.s3a.").startswith(OF_CREDENTIALS)} == set()


def test_settings_of_the_bucket_win_and_those_of_other_buckets_do_not_count() -> None:
    settings = {
        "fs.s3a.endpoint": "http://a",
        "fs.s3a.bucket.b1b.endpoint": "http://b",
        "fs.s3a.bucket.other.endpoint": "http://c",
        "fs.s3a.bucket.other.no.such.key": "x",
        "fs.s3a.bucket.b1b.impl": "ignored",
        "fs.s3a.bucket.probe": "0",
        "fs.defaultFS": "hdfs://x",
    }
    assert _options(settings).config["aws_endpoint_url_s3"] == "http://b1b.b"
    assert bucket_settings(settings, "b1b") == {"fs.s3a.endpoint": "http://b", "fs.s3a.bucket.probe": "0"}


def test_the_scheme_s3_is_s3a_only_if_a_setting_says_so() -> None:
    assert isinstance(s3_options(KEYS, "b1b", NOWHERE, scheme="s3"), NotUnderstood)
    named = {**KEYS, "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}
    assert isinstance(s3_options(named, "b1b", NOWHERE, scheme="s3"), S3Options)


def test_a_directory_bucket_is_not_understood() -> None:
    assert _reason({}, bucket="b--use1-az4--x-s3") == "it is a directory bucket, whose listings have no order"


@pytest.mark.parametrize("name", ["AWS_SERVER_SIDE_ENCRYPTION", "AWS_SSE_KMS_KEY_ID", "AWS_CHECKSUM_ALGORITHM"])
def test_a_variable_that_only_obstore_obeys_is_not_understood(name: str) -> None:
    assert _reason({}, {**NOWHERE, name: "hush"}) == f"the environment has {name}, which obstore obeys and S3A does not"


def test_options_show_no_values() -> None:
    secret = {
        "fs.s3a.access.key": "hush1",
        "fs.s3a.secret.key": "hush2",
        "fs.s3a.session.token": "hush3",
        "fs.s3a.encryption.algorithm": "SSE-C",
        "fs.s3a.encryption.key": "hush4",
        "fs.s3a.proxy.host": "p",
        "fs.s3a.proxy.username": "hush5",
        "fs.s3a.proxy.password": "hush6",
    }
    assert "hush" not in repr(_options(secret))
    assert "sse_customer_key_base64" in repr(_options(secret))
