"""Which credentials S3A would use: the first of its providers that has some."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from acidsql.storage.stores.aws_profiles import Profile, profile
from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.setting_values import duration
from acidsql.storage.stores.store_options import HiddenValues

PROVIDER: Final = "fs.s3a.aws.credentials.provider"
_ROLE: Final = "fs.s3a.assumed.role."


@dataclass(frozen=True, slots=True, repr=False)
class StaticKeys(HiddenValues):
    """Keys that do not change."""

    access_key: str
    secret_key: str
    session_token: str | None = None


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Requests are not signed."""


@dataclass(frozen=True, slots=True)
class WebIdentity:
    """A role that a token in a file allows, as in pods of EKS."""

    token_file: str
    role_arn: str
    session_name: str | None


@dataclass(frozen=True, slots=True)
class ContainerRole:
    """The role of a container: of ECS by `relative_uri`, of EKS by the others."""

    relative_uri: str | None = None
    full_uri: str | None = None
    token_file: str | None = None


@dataclass(frozen=True, slots=True)
class InstanceRole:
    """The role of the machine. `first_protocol` allows the first version of EC2's metadata service."""

    endpoint: str | None
    first_protocol: bool


@dataclass(frozen=True, slots=True)
class BotoProfile:
    """A profile of ~/.aws for which boto3 fetches keys."""

    name: str


@dataclass(frozen=True, slots=True, repr=False)
class AssumedRole(HiddenValues):
    """A role that boto3 assumes with other credentials."""

    base: StaticKeys | BotoProfile
    arn: str
    session_name: str
    session_duration: timedelta
    policy: str | None
    external_id: str | None
    sts_endpoint: str | None
    sts_region: str | None


S3Credentials: TypeAlias = (
    StaticKeys | Anonymous | WebIdentity | ContainerRole | InstanceRole | BotoProfile | AssumedRole
)


class _Source(enum.Enum):
    TEMPORARY = enum.auto()
    SIMPLE = enum.auto()
    ENVIRONMENT = enum.auto()
    ANONYMOUS = enum.auto()
    WEB_IDENTITY = enum.auto()
    PROFILE = enum.auto()
    CREDENTIALS_FILE = enum.auto()
    CONTAINER = enum.auto()
    INSTANCE = enum.auto()
    ASSUMED_ROLE = enum.auto()


_S3A: Final = "org.apache.hadoop.fs.s3a."
_SDK1: Final = "com.amazonaws.auth."
_SDK2: Final = "software.amazon.awssdk.auth.credentials."
_IAM: Final = (_Source.CONTAINER, _Source.INSTANCE)
_AMAZON: Final = (_Source.ENVIRONMENT, _Source.WEB_IDENTITY, _Source.PROFILE, *_IAM)

DEFAULT_CHAIN: Final = (_Source.TEMPORARY, _Source.SIMPLE, *_AMAZON)
"""S3A 3.5.0 has neither web identity nor profiles in it; who uses them would have to name their providers."""

PROVIDERS: Final[Mapping[str, tuple[_Source, ...]]] = {
    f"{_S3A}TemporaryAWSCredentialsProvider": (_Source.TEMPORARY,),
    f"{_S3A}SimpleAWSCredentialsProvider": (_Source.SIMPLE,),
    f"{_S3A}AnonymousAWSCredentialsProvider": (_Source.ANONYMOUS,),
    f"{_S3A}auth.IAMInstanceCredentialsProvider": _IAM,
    f"{_S3A}auth.AssumedRoleCredentialProvider": (_Source.ASSUMED_ROLE,),
    f"{_S3A}auth.ProfileAWSCredentialsProvider": (_Source.CREDENTIALS_FILE,),
    f"{_SDK1}AnonymousAWSCredentials": (_Source.ANONYMOUS,),
    f"{_SDK1}ContainerCredentialsProvider": (_Source.CONTAINER,),
    f"{_SDK1}DefaultAWSCredentialsProviderChain": _AMAZON,
    f"{_SDK1}EC2ContainerCredentialsProviderWrapper": _IAM,
    f"{_SDK1}EnvironmentVariableCredentialsProvider": (_Source.ENVIRONMENT,),
    f"{_SDK1}InstanceProfileCredentialsProvider": _IAM,  # as S3A maps it: CredentialProviderListFactory
    f"{_SDK1}WebIdentityTokenCredentialsProvider": (_Source.WEB_IDENTITY,),
    f"{_SDK1}profile.ProfileCredentialsProvider": (_Source.PROFILE,),
    f"{_SDK2}AnonymousCredentialsProvider": (_Source.ANONYMOUS,),
    f"{_SDK2}ContainerCredentialsProvider": (_Source.CONTAINER,),
    f"{_SDK2}DefaultCredentialsProvider": _AMAZON,
    f"{_SDK2}EnvironmentVariableCredentialsProvider": (_Source.ENVIRONMENT,),
    f"{_SDK2}InstanceProfileCredentialsProvider": (_Source.INSTANCE,),
    f"{_SDK2}ProfileCredentialsProvider": (_Source.PROFILE,),
    f"{_SDK2}WebIdentityTokenFileCredentialsProvider": (_Source.WEB_IDENTITY,),
}
"""Classes of S3A and of both versions of AWS's client, with where they look."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What credentials are looked for in. `settings` are those of the bucket."""

    settings: Mapping[str, str]
    environment: Mapping[str, str]
    can_import: Callable[[str], bool]


def credentials_of(around: Surroundings) -> S3Credentials | NotUnderstood:
    """The credentials that S3A would use."""
    chain = _chain(around, PROVIDER, DEFAULT_CHAIN)
    return chain if isinstance(chain, NotUnderstood) else _first(around, chain, PROVIDER)


def _chain(around: Surroundings, key: str, default: tuple[_Source, ...]) -> tuple[_Source, ...] | NotUnderstood:
    mapped = dict(
        pair.split("=", 1)
        for pair in re.split(r"[\s,]+", around.settings.get(f"{PROVIDER}.mapping", ""))
        if "=" in pair
    )
    chain: list[_Source] = []
    for name in around.settings.get(key, "").replace(",", " ").split():
        sources = PROVIDERS.get(name) or PROVIDERS.get(mapped.get(name, ""))
        if sources is None:
            return NotUnderstood(f"the setting {key} names {name}, which acidsql's own client does not know")
        chain += sources
    return tuple(chain) or default


def _first(around: Surroundings, chain: tuple[_Source, ...], key: str) -> S3Credentials | NotUnderstood:
    for source in chain:
        found = _found(around, source)
        if found is not None:
            return found
    return NotUnderstood(f"acidsql's own client finds no credentials by the providers of {key}")


def _found(around: Surroundings, source: _Source) -> S3Credentials | NotUnderstood | None:
    match source:
        case _Source.TEMPORARY:
            keys = _keys(around.settings, "fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.session.token")
            return keys if keys is not None and keys.session_token else None
        case _Source.SIMPLE:  # it does not look at the token (SimpleAWSCredentialsProvider)
            return _keys(around.settings, "fs.s3a.access.key", "fs.s3a.secret.key")
        case _Source.ENVIRONMENT:
            return _keys(around.environment, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        case _Source.ANONYMOUS:
            return Anonymous()
        case _Source.WEB_IDENTITY:
            return _web_identity(around.environment)
        case _Source.PROFILE:
            return _of_profile(around, profile(around.environment))
        case _Source.CREDENTIALS_FILE:
            return _of_credentials_file(around)
        case _Source.CONTAINER:
            return _container(around.environment)
        case _Source.INSTANCE:
            return _instance(around.environment)
        case _Source.ASSUMED_ROLE:
            return _assumed_role(around)


def _keys(values: Mapping[str, str], access: str, secret: str, token: str = "") -> StaticKeys | None:
    if values.get(access) and values.get(secret):
        return StaticKeys(values[access], values[secret], values.get(token) or None)
    return None


_ACCESS_KEYS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_TOKEN_FILE: Final = "AWS_WEB_IDENTITY_TOKEN_FILE"
_RELATIVE: Final = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
_FULL: Final = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
_FULL_TOKEN: Final = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"


def _web_identity(environment: Mapping[str, str]) -> WebIdentity | NotUnderstood | None:
    file, role = environment.get(_TOKEN_FILE), environment.get("AWS_ROLE_ARN")
    if not file or not role:
        return None
    before = _obstore_prefers(environment, _ACCESS_KEYS)
    return before or WebIdentity(file, role, environment.get("AWS_ROLE_SESSION_NAME") or None)


def _container(environment: Mapping[str, str]) -> ContainerRole | NotUnderstood | None:
    if environment.get(_RELATIVE):
        before = _obstore_prefers(environment, (*_ACCESS_KEYS, _TOKEN_FILE))
        return before or ContainerRole(relative_uri=environment[_RELATIVE])
    if not environment.get(_FULL):
        return None
    if not environment.get(_FULL_TOKEN):
        return NotUnderstood(f"the environment has {_FULL} without {_FULL_TOKEN}, which obstore needs")
    before = _obstore_prefers(environment, (*_ACCESS_KEYS, _TOKEN_FILE))
    return before or ContainerRole(full_uri=environment[_FULL], token_file=environment[_FULL_TOKEN])


def _instance(environment: Mapping[str, str]) -> InstanceRole | NotUnderstood | None:
    if environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    first_protocol = environment.get("AWS_EC2_METADATA_V1_DISABLED", "").lower() != "true"
    before = _obstore_prefers(environment, (*_ACCESS_KEYS, _TOKEN_FILE, _RELATIVE, _FULL))
    return before or InstanceRole(environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or None, first_protocol)


def _obstore_prefers(environment: Mapping[str, str], names: tuple[str, ...]) -> NotUnderstood | None:
    """obstore reads the environment by itself, in this order (object_store 0.14.2, aws/builder.rs)."""
    found = next((name for name in names if name in environment), None)
    if found is None:
        return None
    return NotUnderstood(f"obstore would use {found} of the environment, which the setting {PROVIDER} excludes")


def _of_profile(
    around: Surroundings, found: Profile | NotUnderstood
) -> StaticKeys | BotoProfile | NotUnderstood | None:
    if isinstance(found, NotUnderstood):
        return found
    if found.needs_boto3 is None:
        return _keys(found.entries, "aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    missing = _missing_boto3(around, f"the profile {found.name} of ~/.aws has {found.needs_boto3}")
    return missing or BotoProfile(found.name)


def _of_credentials_file(around: Surroundings) -> StaticKeys | BotoProfile | NotUnderstood | None:
    """org.apache.hadoop.fs.s3a.auth.ProfileAWSCredentialsProvider, which does not read ~/.aws/config."""
    home = around.environment.get("HOME", "")
    file = (
        around.settings.get("fs.s3a.auth.profile.file")
        or around.environment.get("AWS_SHARED_CREDENTIALS_FILE")
        or f"{home}/.aws/credentials"
    )
    found = profile(around.environment, around.settings.get("fs.s3a.auth.profile.name"), file)
    if isinstance(found, Profile) and found.needs_boto3:
        return NotUnderstood(f"the profile {found.name} of {file} has {found.needs_boto3}, and obstore needs keys")
    return _of_profile(around, found)


def _missing_boto3(around: Surroundings, why: str) -> NotUnderstood | None:
    return None if around.can_import("boto3") else NotUnderstood(f"{why}, which needs boto3 (pip install boto3)")


def _assumed_role(around: Surroundings) -> AssumedRole | NotUnderstood:
    settings = around.settings
    arn = settings.get(f"{_ROLE}arn")
    length = duration(settings.get(f"{_ROLE}session.duration") or "30m", "s")
    if not arn or length is None:
        return NotUnderstood(f"a role is to be assumed without a right {_ROLE}arn or {_ROLE}session.duration")
    base = _base(around)
    if isinstance(base, NotUnderstood):
        return base
    return _missing_boto3(around, f"the setting {PROVIDER} asks for an assumed role") or AssumedRole(
        base=base,
        arn=arn,
        session_name=_session_name(around),
        session_duration=length,
        policy=settings.get(f"{_ROLE}policy") or None,
        external_id=settings.get(f"{_ROLE}external.id") or None,
        sts_endpoint=settings.get(f"{_ROLE}sts.endpoint") or None,
        sts_region=settings.get(f"{_ROLE}sts.endpoint.region") or settings.get("fs.s3a.endpoint.region") or None,
    )


def _base(around: Surroundings) -> StaticKeys | BotoProfile | NotUnderstood:
    """The credentials with which a role is assumed, by default SimpleAWSCredentialsProvider (core-default.xml)."""
    key = f"{_ROLE}credentials.provider"
    chain = _chain(around, key, (_Source.SIMPLE,))
    base = chain if isinstance(chain, NotUnderstood) else _first(around, chain, key)
    if isinstance(base, StaticKeys | BotoProfile | NotUnderstood):
        return base
    return NotUnderstood(f"the setting {key} names other credentials than keys and profiles")


def _session_name(around: Surroundings) -> str:
    """AssumedRoleCredentialProvider.buildSessionName: the user's name with what AWS allows."""
    user = around.environment.get("HADOOP_USER_NAME") or around.environment.get("USER") or "acidsql"
    return around.settings.get(f"{_ROLE}session.name") or re.sub(r"[^a-zA-Z0-9,.@-]", "-", user)
