"""The settings of the connectors of GCS as options of obstore's GCSStore."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acidsql.storage.stores.gcs_rules import GCS_RULES
from acidsql.storage.stores.not_understood import NotUnderstood, unknown_setting
from acidsql.storage.stores.setting_values import boolean, duration, milliseconds, proxy_url
from acidsql.storage.stores.store_options import HiddenValues, Retries, frozen

_PREFIX: Final = "fs.gs."
_OLD_PREFIX: Final = "google.cloud."
_OLD_NAMES: Final = {
    "enable.service.account.auth": "auth.service.account.enable",
    "service.account.auth.email": "auth.service.account.email",
    "service.account.auth.keyfile": "auth.service.account.keyfile",
}
_OF_ALL_STORES: Final = ("hadoop.security.credential.provider.path", "fs.AbstractFileSystem.gs.impl")
_GOOGLE: Final = "https://storage.googleapis.com"
_WHOLE_REQUEST: Final = "900000ms"
"""obstore's own limit of 30 s includes the body of an upload."""
_READ_BY_OBSTORE: Final = ("service_account", "authorized_user")
"""Types of files of application default credentials (object_store 0.14.2, gcp/credential.rs)."""
_VARIABLES: Final = (
    "SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BEARER_TOKEN",
)
"""Variables that obstore obeys, that the connectors do not know, and that an option cannot undo."""


@dataclass(frozen=True, slots=True, repr=False)
class GcsOptions(HiddenValues):
    """What obstore's GCSStore is made of."""

    bucket: str
    config: Mapping[str, str]
    client_options: Mapping[str, str]
    """To be given even if it were empty: it replaces what obstore reads in the environment."""
    retries: Retries
    by_google_auth: bool
    """The argument `credential_provider` is obstore.auth.google.GoogleCredentialProvider()."""


@dataclass(frozen=True, slots=True, repr=False)
class _Identity(HiddenValues):
    config: Mapping[str, str]
    by_google_auth: bool = False


def gcs_options(
    settings: Mapping[str, str],
    bucket: str,
    environment: Mapping[str, str],
    *,
    can_import: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
) -> GcsOptions | NotUnderstood:
    """The options of a bucket. `environment` is `os.environ`; application default credentials are found by it."""
    own = _own_settings(settings)
    refused = GCS_RULES.first_refused(own) or GCS_RULES.first_unknown(own)
    if refused is not None:
        return refused
    left = next((name for name in _VARIABLES if name in environment), None)
    if left is not None:
        return NotUnderstood(f"the environment has {left}, which obstore obeys and the connector of GCS does not")
    identity = _identity(own, environment, can_import)
    if isinstance(identity, NotUnderstood):
        return identity
    base = (own.get("fs.gs.storage.root.url") or _GOOGLE).rstrip("/")
    client = _client_options(own, base)
    if isinstance(client, NotUnderstood):
        return client
    limit = own.get("fs.gs.http.max.retry") or None
    if limit is not None and not limit.isdecimal():
        return unknown_setting("fs.gs.http.max.retry", "to something that is no number")
    config = frozen({"base_url": base, "skip_signature": "false", **identity.config})
    return GcsOptions(
        bucket, config, frozen(client), Retries(None if limit is None else int(limit)), identity.by_google_auth
    )


def _own_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of GCS by their newest names. A name with `fs.gs` wins over one with `google.cloud`."""
    own: dict[str, str] = {}
    for prefix in (_OLD_PREFIX, _PREFIX):
        of_prefix = {key.removeprefix(prefix): settings[key] for key in settings if key.startswith(prefix)}
        own |= {_PREFIX + _OLD_NAMES.get(name, name): value for name, value in of_prefix.items()}
    return own | {key: settings[key] for key in _OF_ALL_STORES if key in settings}


def _identity(
    own: Mapping[str, str], environment: Mapping[str, str], can_import: Callable[[str], bool]
) -> _Identity | NotUnderstood:
    kind = own.get("fs.gs.auth.type", "").upper()
    match kind:
        case "UNAUTHENTICATED":
            return _Identity({"skip_signature": "true"})
        case "SERVICE_ACCOUNT_JSON_KEYFILE":
            return _key_file(own) or NotUnderstood("fs.gs.auth.type asks for a file of keys, which is not set")
        case "APPLICATION_DEFAULT":
            return _application_default(environment, can_import)
        case "COMPUTE_ENGINE":
            return _machine(environment)
        case "":
            return _usual(own, environment, can_import)
        case _:
            return NotUnderstood(f"the setting fs.gs.auth.type is {kind}, which acidsql's own client does not know")


def _usual(
    own: Mapping[str, str], environment: Mapping[str, str], can_import: Callable[[str], bool]
) -> _Identity | NotUnderstood:
    """As the connector 2.2 finds credentials."""
    if boolean(own, "fs.gs.auth.null.enable", default=False):
        return _Identity({"skip_signature": "true"})
    if boolean(own, "fs.gs.auth.service.account.enable", default=True):
        found = _key_file(own) or _key(own)
        if found is not None:
            return found
    return _application_default(environment, can_import)


def _key_file(own: Mapping[str, str]) -> _Identity | None:
    file = own.get("fs.gs.auth.service.account.json.keyfile")
    return _Identity({"service_account": file}) if file else None


def _key(own: Mapping[str, str]) -> _Identity | NotUnderstood | None:
    prefix = "fs.gs.auth.service.account"
    key, email = own.get(f"{prefix}.private.key"), own.get(f"{prefix}.email")
    if not key:
        return None
    if not email:
        return NotUnderstood(f"the setting {prefix}.private.key is set without {prefix}.email")
    # In a file of properties the ends of lines of a key are written as \n.
    parts = {
        "type": "service_account",
        "client_email": email,
        "private_key": key.replace("\\n", "\n"),
        "private_key_id": own.get(f"{prefix}.private.key.id", ""),
    }
    return _Identity({"service_account_key": json.dumps(parts)})


def _application_default(
    environment: Mapping[str, str], can_import: Callable[[str], bool]
) -> _Identity | NotUnderstood:
    """The file of application default credentials; without one, the machine's account."""
    named = environment.get("GOOGLE_APPLICATION_CREDENTIALS")
    file = Path(named) if named else _usual_file(environment)
    if not file.is_file():
        return NotUnderstood(f"{file} does not exist") if named else _Identity({})
    try:
        kind = json.loads(file.read_text(encoding="utf-8")).get("type")
    except (OSError, ValueError, AttributeError):  # a message of json's would show the file
        return NotUnderstood(f"acidsql's own client cannot read {file}")
    if kind in _READ_BY_OBSTORE:
        return _Identity({"application_credentials": str(file)})
    if can_import("google.auth"):
        return _Identity({}, by_google_auth=True)
    return NotUnderstood(f"{file} is of the type {kind}, which needs google-auth (pip install google-auth requests)")


def _machine(environment: Mapping[str, str]) -> _Identity | NotUnderstood:
    """The account of the machine, before which obstore looks for application default credentials."""
    if environment.get("GOOGLE_APPLICATION_CREDENTIALS") or _usual_file(environment).is_file():
        return NotUnderstood("obstore would use application default credentials, which fs.gs.auth.type excludes")
    return _Identity({})


def _usual_file(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or os.devnull, ".config", "gcloud", "application_default_credentials.json")


def _client_options(own: Mapping[str, str], base: str) -> dict[str, str] | NotUnderstood:
    client = {"allow_http": "true" if base.startswith("http://") else "false", "timeout": _WHOLE_REQUEST}
    for key, option in {"connect-timeout": "connect_timeout", "read-timeout": "read_timeout"}.items():
        text = own.get(f"fs.gs.http.{key}")
        length = duration(text) if text else None
        if text and length is None:
            return unknown_setting(f"fs.gs.http.{key}", "to something that is no duration")
        if length:
            client[option] = milliseconds(length)
    address = own.get("fs.gs.proxy.address")
    if not address:
        return client
    host, _, port = address.rpartition("://")[2].rpartition(":")
    user, password = own.get("fs.gs.proxy.username", ""), own.get("fs.gs.proxy.password", "")
    if not host or not port.isdecimal() or bool(user) != bool(password):
        return NotUnderstood("the settings fs.gs.proxy.* are not host:port, and name and password of a user")
    return {**client, "proxy_url": proxy_url("http", host, port, user, password)}
