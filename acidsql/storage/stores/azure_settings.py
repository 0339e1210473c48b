"""The settings of ABFS as options of obstore's AzureStore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.storage.stores.azure_rules import AZURE_RULES
from acidsql.storage.stores.not_understood import NotUnderstood, unknown_setting
from acidsql.storage.stores.setting_values import address, duration, milliseconds
from acidsql.storage.stores.store_options import HiddenValues, Retries, frozen

_ACCOUNT: Final = "fs.azure.account."
_OAUTH: Final = f"{_ACCOUNT}oauth2."
_TOKEN_PROVIDERS: Final = "org.apache.hadoop.fs.azurebfs.oauth2."
_OF_ALL_STORES: Final = (
    "hadoop.security.credential.provider.path",
    "fs.abfs.impl",
    "fs.abfss.impl",
    "fs.AbstractFileSystem.abfs.impl",
    "fs.AbstractFileSystem.abfss.impl",
)
_AUTHORITY: Final = "https://login.microsoftonline.com/"
_METADATA: Final = "http://169.254.169.254/metadata/identity/oauth2/token"
_TOKEN_FILE: Final = "/var/run/secrets/azure/tokens/azure-identity-token"
"""Defaults of org.apache.hadoop.fs.azurebfs.constants.AuthConfigurations."""
_WHOLE_REQUEST: Final = "900000ms"
"""obstore's own limit of 30 s includes the body of an upload."""
_VARIABLES: Final = {
    "AZURE_STORAGE_ENCRYPTION_KEY": "encryption_key",
    "AZURE_CLIENT_ID": "client_id",
    "AZURE_STORAGE_CLIENT_ID": "client_id",
    "AZURE_OBJECT_ID": "object_id",
    "AZURE_MSI_RESOURCE_ID": "msi_resource_id",
}
"""Variables that obstore obeys beside the chosen type of credentials, that ABFS does not know, and that an option can
change but not undo."""
_OF_MACHINES: Final = {"client_id", "object_id", "msi_resource_id"}


@dataclass(frozen=True, slots=True, repr=False)
class AzureOptions(HiddenValues):
    """What obstore's AzureStore is made of. It speaks the protocol of blobs, not that of ABFS."""

    container: str
    config: Mapping[str, str]
    client_options: Mapping[str, str]
    """To be given even if it were empty: it replaces what obstore reads in the environment."""
    retries: Retries


def azure_options(
    settings: Mapping[str, str], authority: str, environment: Mapping[str, str]
) -> AzureOptions | NotUnderstood:
    """The options of a container. `authority` is that of `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net`."""
    container, at, host = authority.partition("@")
    account, dot, domain = host.partition(".dfs.")
    if not at or not dot or not container or not account:
        return NotUnderstood("its address is not of the form abfss://CONTAINER@ACCOUNT.dfs.DOMAIN")
    own = account_settings(settings, container, host)
    if isinstance(own, NotUnderstood):
        return own
    refused = AZURE_RULES.first_refused(own) or AZURE_RULES.first_unknown(own)
    if refused is not None:
        return refused
    identity = _identity(own)
    if isinstance(identity, NotUnderstood):
        return identity
    place = {"account_name": account, "endpoint": f"https://{account}.blob.{domain}"}
    config = {**place, **_constant(), **identity, **_encryption(own)}
    left = _contrary(config, environment)
    if left is not None:
        return NotUnderstood(f"the environment has {left}, which obstore obeys and ABFS does not")
    return _with_connections(own, container, config)


def account_settings(settings: Mapping[str, str], container: str, host: str) -> dict[str, str] | NotUnderstood:
    """The settings of ABFS with those of the account, without those of other accounts.

    >>> account_settings({"fs.azure.account.key.a.dfs.x": "k", "fs.azure.account.key.b.dfs.x": "l"}, "c", "a.dfs.x")
    {'fs.azure.account.key': 'k'}
    """
    of_azure = {key for key in settings if key.startswith("fs.azure.") and ".blob." not in key}  # those are WASB's
    of_accounts = {key for key in of_azure if ".dfs." in key}
    own = {key: settings[key] for key in of_azure - of_accounts}
    for key in sorted(of_accounts):
        if key.endswith(f".{container}.{host}"):
            return unknown_setting(key, "for one container, which acidsql's own client does not know")
        if key.endswith(f".{host}"):
            own[key.removesuffix(f".{host}")] = settings[key]
    return own | {key: settings[key] for key in _OF_ALL_STORES if key in settings}


def _constant() -> dict[str, str]:
    return {
        "use_emulator": "false",
        "use_fabric_endpoint": "false",
        "use_azure_cli": "false",
        "skip_signature": "false",
        "disable_tagging": "false",
    }


def _identity(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    kind = own.get(f"{_ACCOUNT}auth.type", "") or "SharedKey"
    match kind.lower():
        case "sharedkey":
            return _given(own, "access_key", {"account_key": f"{_ACCOUNT}key"})
        case "sas":
            return _given(own, "sas_token", {"sas_key": "fs.azure.sas.fixed.token"})
        case "oauth":
            return _token(own)
        case _:
            return NotUnderstood(f"the setting {_ACCOUNT}auth.type is {kind}, which acidsql's own client does not know")


def _given(own: Mapping[str, str], kind: str, keys: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    """Settings that must be there, by the names that obstore has for them."""
    missing = next((key for key in keys.values() if not own.get(key)), None)
    if missing is not None:
        return NotUnderstood(f"the setting {missing} is missing")
    return {"credential_type": kind, **{option: own[key] for option, key in keys.items()}}


def _token(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    key = f"{_ACCOUNT}oauth.provider.type"
    match own.get(key, "").removeprefix(_TOKEN_PROVIDERS):
        case "ClientCredsTokenProvider":
            return _client_secret(own)
        case "MsiTokenProvider":
            return _managed_identity(own)
        case "WorkloadIdentityTokenProvider":
            return _workload_identity(own)
        case _:
            return NotUnderstood(f"the setting {key} names a provider that acidsql's own client does not know")


def _client_secret(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    """The endpoint is https://login.microsoftonline.com/TENANT/oauth2/token, or TENANT/oauth2/v2.0/token."""
    key = f"{_OAUTH}client.endpoint"
    url = address(own.get(key, ""))
    tenant, _, rest = url.path.strip("/").partition("/")
    if url.scheme != "https" or not tenant or rest not in ("oauth2/token", "oauth2/v2.0/token"):
        return NotUnderstood(f"the setting {key} is not of the form https://HOST/TENANT/oauth2/token")
    keys = {"client_id": f"{_OAUTH}client.id", "client_secret": f"{_OAUTH}client.secret"}
    found = _given(own, "client_secret", keys)
    if isinstance(found, NotUnderstood):
        return found
    return {**found, "authority_host": f"https://{url.netloc}", "tenant_id": tenant}


def _managed_identity(own: Mapping[str, str]) -> dict[str, str]:
    client = own.get(f"{_OAUTH}client.id")
    endpoint = own.get(f"{_OAUTH}msi.endpoint") or _METADATA
    return {
        "credential_type": "managed_identity",
        "msi_endpoint": endpoint,
        **({"client_id": client} if client else {}),
    }


def _workload_identity(own: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    keys = {"client_id": f"{_OAUTH}client.id", "tenant_id": f"{_OAUTH}msi.tenant"}
    found = _given(own, "workload_identity", keys)
    if isinstance(found, NotUnderstood):
        return found
    authority = (own.get(f"{_OAUTH}msi.authority") or _AUTHORITY).rstrip("/")
    file = own.get(f"{_OAUTH}token.file") or _TOKEN_FILE
    return {**found, "authority_host": authority, "federated_token_file": file}


def _encryption(own: Mapping[str, str]) -> dict[str, str]:
    key = own.get("fs.azure.encryption.encoded.client-provided-key")
    return {"encryption_key": key} if key else {}


def _contrary(config: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    """A variable that would change what the settings say."""
    for name, option in _VARIABLES.items():
        matters = option not in _OF_MACHINES or config["credential_type"] == "managed_identity"
        if name in environment and option not in config and matters:
            return name
    return None


def _with_connections(
    own: Mapping[str, str], container: str, config: Mapping[str, str]
) -> AzureOptions | NotUnderstood:
    durations: dict[str, str] = {}
    keys = {
        "fs.azure.http.connection.timeout": "connect_timeout",
        "fs.azure.http.read.timeout": "read_timeout",
        "fs.azure.io.retry.backoff.interval": "",
    }
    for key, option in keys.items():
        length = duration(own[key]) if own.get(key) else None
        if own.get(key) and length is None:
            return unknown_setting(key, "to something that is no duration")
        if length and option:
            durations[option] = milliseconds(length)
    limit = own.get("fs.azure.io.retry.max.retries")
    if limit and not limit.isdecimal():
        return unknown_setting("fs.azure.io.retry.max.retries", "to something that is no number")
    wait = own.get("fs.azure.io.retry.backoff.interval")
    retries = Retries(int(limit) if limit else None, duration(wait) if wait else None)
    client = {"allow_http": "false", "timeout": _WHOLE_REQUEST, **durations}
    return AzureOptions(container, frozen(config), frozen(client), retries)
