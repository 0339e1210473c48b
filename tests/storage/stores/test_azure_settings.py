"""Each setting of ABFS, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest

from acidsql.storage.stores.azure_rules import AZURE_RULES
from acidsql.storage.stores.azure_settings import AzureOptions, azure_options
from acidsql.storage.stores.not_understood import NotUnderstood

HOST = "acc.dfs.core.windows.net"
KEY = {f"fs.azure.account.key.{HOST}": "K"}
OAUTH = "fs.azure.account.oauth2"
PROVIDER = "fs.azure.account.oauth.provider.type"
CLASSES = "org.apache.hadoop.fs.azurebfs.oauth2."


def _options(settings: Mapping[str, str], environment: Mapping[str, str] | None = None) -> AzureOptions:
    options = azure_options(settings, f"con@{HOST}", environment or {})
    assert isinstance(options, AzureOptions), options
    return options


def _reason(settings: Mapping[str, str], environment: Mapping[str, str] | None = None) -> str:
    options = azure_options(settings, f"con@{HOST}", environment or {})
    assert isinstance(options, NotUnderstood)
    return options.reason


def _token(provider: str, **of_client: str) -> dict[str, str]:
    named = {f"{OAUTH}.{name.replace('_', '.')}": value for name, value in of_client.items()}
    return {"fs.azure.account.auth.type": "OAuth", PROVIDER: CLASSES + provider, **named}


SECRET = _token(
    "ClientCredsTokenProvider", client_id="I", client_secret="S", client_endpoint="https://h/T/oauth2/token"
)
WORKLOAD = _token("WorkloadIdentityTokenProvider", client_id="I", msi_tenant="T")
CONFIG: list[tuple[dict[str, str], dict[str, str]]] = [
    (
        KEY,
        {
            "account_name": "acc",
            "endpoint": "https://acc.blob.core.windows.net",
            "credential_type": "access_key",
            "account_key": "K",
            "use_emulator": "false",
            "skip_signature": "false",
        },
    ),
    ({"fs.azure.account.key": "G"}, {"account_key": "G"}),
    ({"fs.azure.account.key": "G", **KEY}, {"account_key": "K"}),
    ({**KEY, "fs.azure.account.key.other.dfs.core.windows.net": "O"}, {"account_key": "K"}),
    ({**KEY, "fs.azure.account.key.acc.blob.core.windows.net": "W"}, {"account_key": "K"}),
    (
        {f"fs.azure.account.auth.type.{HOST}": "SAS", f"fs.azure.sas.fixed.token.{HOST}": "sv=1&sig=2"},
        {"credential_type": "sas_token", "sas_key": "sv=1&sig=2"},
    ),
    ({"fs.azure.account.auth.type": "sas", "fs.azure.sas.fixed.token": "sv=1"}, {"sas_key": "sv=1"}),
    (
        SECRET,
        {
            "credential_type": "client_secret",
            "client_id": "I",
            "client_secret": "S",
            "tenant_id": "T",
            "authority_host": "https://h",
        },
    ),
    ({**SECRET, f"{OAUTH}.client.endpoint": "https://h/T/oauth2/v2.0/token"}, {"tenant_id": "T"}),
    (
        _token("MsiTokenProvider", client_id="I", msi_endpoint="http://m", msi_tenant="T", msi_authority="A"),
        {"credential_type": "managed_identity", "client_id": "I", "msi_endpoint": "http://m"},
    ),
    (
        WORKLOAD,
        {
            "credential_type": "workload_identity",
            "tenant_id": "T",
            "authority_host": "https://login.microsoftonline.com",
            "federated_token_file": "/var/run/secrets/azure/tokens/azure-identity-token",
        },
    ),
    (
        {**WORKLOAD, f"{OAUTH}.msi.authority": "https://h/", f"{OAUTH}.token.file": "/t"},
        {"authority_host": "https://h", "federated_token_file": "/t"},
    ),
    ({**KEY, f"fs.azure.encryption.encoded.client-provided-key.{HOST}": "E"}, {"encryption_key": "E"}),
    ({**KEY, "fs.azure.encryption.encoded.client-provided-key": "E"}, {"encryption_key": "E"}),
]


@pytest.mark.parametrize(("settings", "expected"), CONFIG)
def test_a_setting_becomes_an_entry_of_the_configuration(settings: dict[str, str], expected: dict[str, str]) -> None:
    assert expected.items() <= _options(settings).config.items()


CLIENT: list[tuple[dict[str, str], dict[str, str]]] = [
    ({}, {"allow_http": "false", "timeout": "900000ms"}),
    ({"fs.azure.http.connection.timeout": "2000"}, {"connect_timeout": "2000ms"}),
    ({"fs.azure.http.read.timeout": "30s"}, {"read_timeout": "30000ms"}),
]


@pytest.mark.parametrize(("settings", "expected"), CLIENT)
def test_a_setting_becomes_an_option_of_the_connections(settings: dict[str, str], expected: dict[str, str]) -> None:
    assert expected.items() <= _options({**KEY, **settings}).client_options.items()


RETRIES = {"fs.azure.io.retry.max.retries": "4", "fs.azure.io.retry.backoff.interval": "500"}


def test_how_often_a_request_is_repeated() -> None:
    retries = _options({**KEY, **RETRIES}).retries
    assert (retries.limit, retries.first_wait) == (4, timedelta(milliseconds=500))


NOT_UNDERSTOOD: list[tuple[dict[str, str], str]] = [
    ({}, "the setting fs.azure.account.key is missing"),
    ({"fs.azure.account.auth.type": "Custom"}, "the setting fs.azure.account.auth.type is Custom"),
    ({"fs.azure.account.auth.type": "SAS"}, "the setting fs.azure.sas.fixed.token is missing"),
    (_token("UserPasswordTokenProvider"), f"the setting {PROVIDER} names a provider"),
    ({**SECRET, f"{OAUTH}.client.endpoint": "https://h/"}, "is not of the form https://HOST/TENANT/oauth2/token"),
    ({**SECRET, f"{OAUTH}.client.secret": ""}, f"the setting {OAUTH}.client.secret is missing"),
    (_token("WorkloadIdentityTokenProvider", client_id="I"), f"the setting {OAUTH}.msi.tenant is missing"),
    ({f"fs.azure.account.key.con.{HOST}": "hush"}, f"fs.azure.account.key.con.{HOST} is set, for one container"),
    ({**KEY, "fs.azure.io.retry.max.retries": "often"}, "no number"),
    ({**KEY, "fs.azure.io.retry.backoff.interval": "soon"}, "no duration"),
    ({**KEY, "fs.azure.no.such.key": "hush"}, "the setting fs.azure.no.such.key is set"),
]


@pytest.mark.parametrize(("settings", "reason"), NOT_UNDERSTOOD)
def test_a_setting_that_obstore_cannot_obey_is_not_understood(settings: dict[str, str], reason: str) -> None:
    assert reason in _reason(settings)
    assert "hush" not in _reason(settings)


@pytest.mark.parametrize("authority", [HOST, "con@acc.blob.core.windows.net", "con@host", "@acc.dfs.x"])
def test_an_address_without_container_and_account_is_not_understood(authority: str) -> None:
    assert isinstance(azure_options(KEY, authority, {}), NotUnderstood)


@pytest.mark.parametrize("key", sorted(AZURE_RULES.refused))
def test_a_refused_setting_is_named(key: str) -> None:
    assert _reason({**KEY, key: "hush"}).startswith(f"the setting {key} is set, and acidsql's own client ")
    assert all(_options({**KEY, key: value.upper()}) == _options(KEY) for value in AZURE_RULES.refused[key].harmless)


@pytest.mark.parametrize("key", sorted(AZURE_RULES.ignored))
def test_an_ignored_setting_changes_nothing(key: str) -> None:
    assert _options({**KEY, f"{key}x" if key.endswith(".") else key: "5"}) == _options(KEY)


def test_variables_that_only_obstore_obeys_are_not_understood() -> None:
    machine = _token("MsiTokenProvider")
    assert "the environment has AZURE_CLIENT_ID, which" in _reason(machine, {"AZURE_CLIENT_ID": "x"})
    assert "AZURE_STORAGE_ENCRYPTION_KEY" in _reason(KEY, {"AZURE_STORAGE_ENCRYPTION_KEY": "x"})
    assert _options(KEY, {"AZURE_CLIENT_ID": "x"}) == _options(KEY)
    assert _options({**machine, f"{OAUTH}.client.id": "I"}, {"AZURE_CLIENT_ID": "x"}).config["client_id"] == "I"


def test_every_obeyed_setting_has_a_case() -> None:
    used = {key for cases in (CONFIG, CLIENT, NOT_UNDERSTOOD) for case in cases for key in case[0]} | set(RETRIES)
    assert set(AZURE_RULES.obeyed) - used == set()


def test_options_show_no_values() -> None:
    assert "hush" not in repr(_options({"fs.azure.account.key": "hush"}))
