"""Credentials as obstore takes them: functions that give keys. boto3 is imported where its keys are needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypedDict, cast

from acidsql.storage.stores.s3_credentials import AssumedRole, BotoProfile, S3Credentials, StaticKeys


class GivenKeys(TypedDict):
    """obstore.store.S3Credential. Keys without an end are asked for once."""

    access_key_id: str
    secret_access_key: str
    token: str | None
    expires_at: datetime | None


CredentialProvider: TypeAlias = Callable[[], GivenKeys]


def credential_provider(credentials: S3Credentials) -> CredentialProvider | None:
    """The argument `credential_provider` of obstore's S3Store, None where obstore finds the keys by itself.

    What it gives wins over keys in the environment, which `S3Store` reads as well.
    """
    match credentials:
        case StaticKeys():
            return _static(credentials)
        case BotoProfile(name):
            session = importlib.import_module("boto3").Session(profile_name=name)
            return cast(
                CredentialProvider, importlib.import_module("obstore.auth.boto3").Boto3CredentialProvider(session)
            )
        case AssumedRole():
            return _assumed(credentials)
        case _:
            return None


def _static(keys: StaticKeys) -> CredentialProvider:
    given = GivenKeys(
        access_key_id=keys.access_key, secret_access_key=keys.secret_key, token=keys.session_token, expires_at=None
    )
    return lambda: given


def _assumed(role: AssumedRole) -> CredentialProvider:
    """obstore's own StsCredentialProvider has no endpoint of STS."""
    client = _session(role).client("sts", endpoint_url=_with_scheme(role.sts_endpoint))
    wanted = {
        "RoleArn": role.arn,
        "RoleSessionName": role.session_name,
        "DurationSeconds": round(role.session_duration.total_seconds()),
        "Policy": role.policy,
        "ExternalId": role.external_id,
    }
    request = {name: value for name, value in wanted.items() if value is not None}

    def assume() -> GivenKeys:
        keys = client.assume_role(**request)["Credentials"]
        return GivenKeys(
            access_key_id=keys["AccessKeyId"],
            secret_access_key=keys["SecretAccessKey"],
            token=keys["SessionToken"],
            expires_at=keys["Expiration"].astimezone(UTC),
        )

    return assume


def _session(role: AssumedRole) -> Any:
    boto3 = importlib.import_module("boto3")
    match role.base:
        case BotoProfile(name):
            return boto3.Session(profile_name=name, region_name=role.sts_region)
        case StaticKeys():
            return boto3.Session(
                aws_access_key_id=role.base.access_key,
                aws_secret_access_key=role.base.secret_key,
                aws_session_token=role.base.session_token,
                region_name=role.sts_region,
            )


def _with_scheme(endpoint: str | None) -> str | None:
    return f"https://{endpoint}" if endpoint and "://" not in endpoint else endpoint
