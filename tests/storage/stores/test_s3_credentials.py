"""Which credentials are found, by the providers that are set and by what settings, environment and files have."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.s3_credential_providers import credential_provider
from acidsql.storage.stores.s3_credentials import (
    PROVIDERS,
    Anonymous,
    AssumedRole,
    BotoProfile,
    ContainerRole,
    InstanceRole,
    S3Credentials,
    StaticKeys,
    Surroundings,
    WebIdentity,
    credentials_of,
)

S3A = "org.apache.hadoop.fs.s3a."
SDK1 = "com.amazonaws.auth."
SDK2 = "software.amazon.awssdk.auth.credentials."
KEYS = {"fs.s3a.access.key": "AK", "fs.s3a.secret.key": "SK"}
TOKEN = {"fs.s3a.session.token": "TK"}
ENV_KEYS = {"AWS_ACCESS_KEY_ID": "EA", "AWS_SECRET_ACCESS_KEY": "ES", "AWS_SESSION_TOKEN": "ET"}
ENV_WEB = {"AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ROLE_ARN": "arn", "AWS_ROLE_SESSION_NAME": "name"}
ENV_ECS = {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2"}
ENV_EKS = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://e", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "/t"}
INSTANCE = InstanceRole(None, first_protocol=True)


def _found(
    settings: Mapping[str, str], environment: Mapping[str, str], *names: str, boto3: bool = True
) -> S3Credentials | NotUnderstood:
    named = {"fs.s3a.aws.credentials.provider": ",\n ".join(names)} if names else {}
    return credentials_of(Surroundings({**settings, **named}, environment, lambda _: boto3))


CASES = [
    (KEYS, {}, [], StaticKeys("AK", "SK")),
    ({**KEYS, **TOKEN}, {}, [], StaticKeys("AK", "SK", "TK")),
    (KEYS, ENV_KEYS, [], StaticKeys("AK", "SK")),
    ({}, ENV_KEYS, [], StaticKeys("EA", "ES", "ET")),
    ({}, ENV_WEB, [], WebIdentity("/token", "arn", "name")),
    ({}, ENV_ECS, [], ContainerRole(relative_uri="/v2")),
    ({}, ENV_EKS, [], ContainerRole(full_uri="http://e", token_file="/t")),
    ({}, {}, [], INSTANCE),
    ({**KEYS, **TOKEN}, {}, [f"{S3A}SimpleAWSCredentialsProvider"], StaticKeys("AK", "SK")),
    ({**KEYS, **TOKEN}, {}, [f"{S3A}TemporaryAWSCredentialsProvider"], StaticKeys("AK", "SK", "TK")),
    (KEYS, ENV_KEYS, [f"{SDK2}EnvironmentVariableCredentialsProvider"], StaticKeys("EA", "ES", "ET")),
    (KEYS, ENV_KEYS, [f"{SDK1}EnvironmentVariableCredentialsProvider"], StaticKeys("EA", "ES", "ET")),
    (KEYS, ENV_KEYS, [f"{S3A}SimpleAWSCredentialsProvider"], StaticKeys("AK", "SK")),
    (KEYS, ENV_KEYS, [f"{S3A}AnonymousAWSCredentialsProvider"], Anonymous()),
    ({}, {}, [f"{SDK1}AnonymousAWSCredentials"], Anonymous()),
    ({}, {}, [f"{SDK2}AnonymousCredentialsProvider"], Anonymous()),
    ({}, {}, [f"{S3A}SimpleAWSCredentialsProvider", f"{S3A}AnonymousAWSCredentialsProvider"], Anonymous()),
    ({}, ENV_ECS, [f"{S3A}auth.IAMInstanceCredentialsProvider"], ContainerRole(relative_uri="/v2")),
    ({}, {}, [f"{S3A}auth.IAMInstanceCredentialsProvider"], INSTANCE),
    ({}, {}, [f"{SDK1}InstanceProfileCredentialsProvider"], INSTANCE),
    ({}, {}, [f"{SDK1}EC2ContainerCredentialsProviderWrapper"], INSTANCE),
    ({}, {}, [f"{SDK2}InstanceProfileCredentialsProvider"], INSTANCE),
    ({}, ENV_ECS, [f"{SDK1}ContainerCredentialsProvider"], ContainerRole(relative_uri="/v2")),
    ({}, ENV_ECS, [f"{SDK2}ContainerCredentialsProvider"], ContainerRole(relative_uri="/v2")),
    ({}, ENV_WEB, [f"{SDK1}WebIdentityTokenCredentialsProvider"], WebIdentity("/token", "arn", "name")),
    ({}, ENV_WEB, [f"{SDK2}WebIdentityTokenFileCredentialsProvider"], WebIdentity("/token", "arn", "name")),
    (KEYS, ENV_WEB, [f"{SDK2}DefaultCredentialsProvider"], WebIdentity("/token", "arn", "name")),
    (KEYS, ENV_KEYS, [f"{SDK1}DefaultAWSCredentialsProviderChain"], StaticKeys("EA", "ES", "ET")),
    (
        {"fs.s3a.aws.credentials.provider.mapping": f"a.B={S3A}SimpleAWSCredentialsProvider", **KEYS},
        {},
        ["a.B"],
        StaticKeys("AK", "SK"),
    ),
    ({}, {"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://m"}, [], InstanceRole("http://m", first_protocol=True)),
    ({}, {"AWS_EC2_METADATA_V1_DISABLED": "true"}, [], InstanceRole(None, first_protocol=False)),
]


@pytest.mark.parametrize(("settings", "environment", "names", "expected"), CASES)
def test_the_first_provider_that_has_credentials_gives_them(
    settings: dict[str, str], environment: dict[str, str], names: list[str], expected: S3Credentials
) -> None:
    assert _found(settings, environment, *names) == expected


NOT_UNDERSTOOD = [
    (KEYS, {}, ["com.example.Provider"], "names com.example.Provider, which"),
    ({}, ENV_KEYS, [f"{S3A}SimpleAWSCredentialsProvider"], "finds no credentials"),
    (KEYS, ENV_KEYS, [f"{S3A}TemporaryAWSCredentialsProvider"], "finds no credentials"),
    (KEYS, {"AWS_EC2_METADATA_DISABLED": "true"}, [f"{SDK2}InstanceProfileCredentialsProvider"], "finds no"),
    ({}, {**ENV_KEYS, **ENV_WEB}, [f"{SDK1}WebIdentityTokenCredentialsProvider"], "use AWS_ACCESS_KEY_ID of"),
    ({}, {**ENV_WEB, **ENV_ECS}, [f"{SDK2}ContainerCredentialsProvider"], "use AWS_WEB_IDENTITY_TOKEN_FILE of"),
    ({}, ENV_ECS, [f"{SDK2}InstanceProfileCredentialsProvider"], "use AWS_CONTAINER_CREDENTIALS_RELATIVE_URI of"),
    ({}, {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "x"}, [], "without AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
    (KEYS, {}, [f"{S3A}auth.AssumedRoleCredentialProvider"], "without a right fs.s3a.assumed.role.arn"),
]


@pytest.mark.parametrize(("settings", "environment", "names", "reason"), NOT_UNDERSTOOD)
def test_credentials_that_obstore_would_not_use_are_not_understood(
    settings: dict[str, str], environment: dict[str, str], names: list[str], reason: str
) -> None:
    found = _found(settings, environment, *names)
    assert isinstance(found, NotUnderstood)
    assert reason in found.reason


def test_every_provider_has_a_case() -> None:
    profiles = {name for name in PROVIDERS if "Profile" in name and "Instance" not in name}
    named = {name for case in CASES for name in case[2]}
    assert set(PROVIDERS) - named == profiles | {f"{S3A}auth.AssumedRoleCredentialProvider"}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A home directory with profiles."""
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = DA\naws_secret_access_key = D%S\n"
        "[work]\naws_access_key_id=WA\naws_secret_access_key=WS\naws_session_token=WT\n",
        encoding="utf-8",
    )
    (tmp_path / ".aws" / "config").write_text(
        "[default]\nregion = eu-west-1\ns3 =\n  max_concurrent_requests = 20\n"
        "[profile role]\nrole_arn = arn\nsource_profile = work\n"
        "[profile  sso]\nsso_session = s\n[sso-session s]\nsso_region = x\n[profile empty]\nregion = x\n",
        encoding="utf-8",
    )
    return {"HOME": str(tmp_path)}


PROFILES = [
    (None, StaticKeys("DA", "D%S")),
    ("work", StaticKeys("WA", "WS", "WT")),
    ("role", BotoProfile("role")),
    ("sso", BotoProfile("sso")),
]


@pytest.mark.parametrize(("name", "expected"), PROFILES)
@pytest.mark.parametrize(
    "provider", [None, f"{SDK2}ProfileCredentialsProvider", f"{SDK1}profile.ProfileCredentialsProvider"]
)
def test_a_profile_gives_its_keys_or_asks_boto3(
    home: dict[str, str], name: str | None, expected: S3Credentials, provider: str | None
) -> None:
    environment = home if name is None else {**home, "AWS_PROFILE": name}
    assert _found({}, environment, *filter(None, [provider])) == expected


def test_a_profile_without_keys_is_passed_over(home: dict[str, str]) -> None:
    assert _found({}, {**home, "AWS_PROFILE": "empty"}) == INSTANCE


def test_a_profile_that_needs_boto3_says_what_to_install(home: dict[str, str]) -> None:
    found = _found({}, {**home, "AWS_PROFILE": "role"}, boto3=False)
    assert found == NotUnderstood("the profile role of ~/.aws has role_arn, which needs boto3 (pip install boto3)")


def test_files_of_profiles_may_lie_elsewhere(home: dict[str, str], tmp_path: Path) -> None:
    there = {"AWS_SHARED_CREDENTIALS_FILE": f"{home['HOME']}/.aws/credentials", "HOME": str(tmp_path / "other")}
    assert _found({}, there) == StaticKeys("DA", "D%S")
    config = {"AWS_CONFIG_FILE": f"{home['HOME']}/.aws/config", "AWS_PROFILE": "sso"}
    assert _found({}, config) == BotoProfile("sso")


def test_a_file_that_is_no_file_of_profiles_is_not_understood_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text("hush", encoding="utf-8")
    found = _found({}, {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials")})
    assert found == NotUnderstood(f"acidsql's own client cannot read {tmp_path}/credentials")


def test_the_profile_of_hadoop_is_in_the_file_of_credentials_only(home: dict[str, str]) -> None:
    provider = f"{S3A}auth.ProfileAWSCredentialsProvider"
    assert _found({}, home, provider) == StaticKeys("DA", "D%S")
    assert _found({"fs.s3a.auth.profile.name": "work"}, home, provider) == StaticKeys("WA", "WS", "WT")
    file = {"fs.s3a.auth.profile.file": f"{home['HOME']}/.aws/credentials"}
    assert _found(file, {"AWS_PROFILE": "work"}, provider) == StaticKeys("WA", "WS", "WT")
    assert isinstance(_found({"fs.s3a.auth.profile.name": "role"}, home, provider), NotUnderstood)


def test_a_role_is_assumed_with_the_keys_of_the_settings() -> None:
    settings = {
        **KEYS,
        "fs.s3a.assumed.role.arn": "arn",
        "fs.s3a.assumed.role.session.duration": "1h",
        "fs.s3a.assumed.role.policy": "{}",
        "fs.s3a.assumed.role.external.id": "x",
        "fs.s3a.assumed.role.sts.endpoint": "sts.local",
        "fs.s3a.assumed.role.sts.endpoint.region": "eu-west-1",
    }
    provider = f"{S3A}auth.AssumedRoleCredentialProvider"
    expected = AssumedRole(
        StaticKeys("AK", "SK"), "arn", "ann-x", timedelta(hours=1), "{}", "x", "sts.local", "eu-west-1"
    )
    assert _found(settings, {"USER": "ann x"}, provider) == expected
    named = _found({**settings, "fs.s3a.assumed.role.session.name": "n"}, {}, provider)
    assert isinstance(named, AssumedRole)
    assert named.session_name == "n"
    assert isinstance(_found(settings, {}, provider, boto3=False), NotUnderstood)


def test_a_role_is_assumed_with_keys_and_profiles_only(home: dict[str, str]) -> None:
    key = "fs.s3a.assumed.role.credentials.provider"
    role = {"fs.s3a.assumed.role.arn": "arn", key: f"{SDK2}ProfileCredentialsProvider"}
    provider = f"{S3A}auth.AssumedRoleCredentialProvider"
    found = _found(role, {**home, "AWS_PROFILE": "role"}, provider)
    assert isinstance(found, AssumedRole)
    assert found.base == BotoProfile("role")
    machine = _found({**role, key: f"{S3A}auth.IAMInstanceCredentialsProvider"}, {}, provider)
    assert machine == NotUnderstood(f"the setting {key} names other credentials than keys and profiles")


def test_static_keys_are_given_to_obstore_by_a_function() -> None:
    provider = credential_provider(StaticKeys("AK", "SK"))
    assert provider is not None
    assert provider() == {"access_key_id": "AK", "secret_access_key": "SK", "token": None, "expires_at": None}
    assert credential_provider(INSTANCE) is None
    assert "SK" not in repr(StaticKeys("AK", "SK"))
