"""Each setting of the connectors of GCS, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from acidsql.storage.stores.gcs_rules import GCS_RULES
from acidsql.storage.stores.gcs_settings import GcsOptions, gcs_options
from acidsql.storage.stores.not_understood import NotUnderstood

NOWHERE = {"HOME": "/dev/null"}


def _options(settings: Mapping[str, str], environment: Mapping[str, str] = NOWHERE) -> GcsOptions:
    options = gcs_options(settings, "b", environment, can_import=lambda _: True)
    assert isinstance(options, GcsOptions), options
    return options


def _reason(settings: Mapping[str, str], environment: Mapping[str, str] = NOWHERE) -> str:
    options = gcs_options(settings, "b", environment, can_import=lambda _: False)
    assert isinstance(options, NotUnderstood)
    return options.reason


KEY = "fs.gs.auth.service.account"
CONFIG: list[tuple[dict[str, str], dict[str, str]]] = [
    ({}, {"base_url": "https://storage.googleapis.com", "skip_signature": "false"}),
    ({"fs.gs.storage.root.url": "http://fake:4443/"}, {"base_url": "http://fake:4443"}),
    ({f"{KEY}.json.keyfile": "/k"}, {"service_account": "/k"}),
    ({"google.cloud.auth.service.account.json.keyfile": "/k"}, {"service_account": "/k"}),
    (
        {"google.cloud.auth.service.account.json.keyfile": "/old", f"{KEY}.json.keyfile": "/k"},
        {"service_account": "/k"},
    ),
    ({"fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE", f"{KEY}.json.keyfile": "/k"}, {"service_account": "/k"}),
    ({"fs.gs.auth.type": "unauthenticated"}, {"skip_signature": "true"}),
    ({"fs.gs.auth.null.enable": "true"}, {"skip_signature": "true"}),
    ({"fs.gs.auth.type": "COMPUTE_ENGINE"}, {"skip_signature": "false"}),
]


@pytest.mark.parametrize(("settings", "expected"), CONFIG)
def test_a_setting_becomes_an_entry_of_the_configuration(settings: dict[str, str], expected: dict[str, str]) -> None:
    options = _options(settings)
    assert expected.items() <= options.config.items()
    plain = options.config["base_url"].startswith("http:")
    assert options.client_options["allow_http"] == ("true" if plain else "false")


def test_a_key_in_settings_becomes_a_file_of_keys() -> None:
    options = _options({f"{KEY}.email": "e", f"{KEY}.private.key": "a\\nb", f"{KEY}.private.key.id": "i"})
    assert json.loads(options.config["service_account_key"]) == {
        "type": "service_account",
        "client_email": "e",
        "private_key": "a\nb",
        "private_key_id": "i",
    }
    assert "a\\nb" not in repr(options)


def test_without_a_service_account_application_default_credentials_are_used(tmp_path: Path) -> None:
    file = tmp_path / "adc.json"
    file.write_text('{"type": "authorized_user"}', encoding="utf-8")
    named = {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
    off = {f"{KEY}.enable": "false", f"{KEY}.json.keyfile": "/k"}
    for settings in ({}, {"fs.gs.auth.type": "APPLICATION_DEFAULT"}, off):
        assert _options(settings, named).config["application_credentials"] == str(file)
    assert "excludes" in _reason({"fs.gs.auth.type": "COMPUTE_ENGINE"}, named)


def test_application_default_credentials_lie_in_the_home_directory(tmp_path: Path) -> None:
    (tmp_path / ".config" / "gcloud").mkdir(parents=True)
    file = tmp_path / ".config" / "gcloud" / "application_default_credentials.json"
    file.write_text('{"type": "service_account"}', encoding="utf-8")
    assert _options({}, {"HOME": str(tmp_path)}).config["application_credentials"] == str(file)


def test_other_application_default_credentials_need_google_auth(tmp_path: Path) -> None:
    file = tmp_path / "adc.json"
    file.write_text('{"type": "external_account"}', encoding="utf-8")
    named = {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
    assert _options({}, named).by_google_auth
    assert "needs google-auth (pip install google-auth requests)" in _reason({}, named)
    file.write_text("hush", encoding="utf-8")
    assert _reason({}, named) == f"acidsql's own client cannot read {file}"
    assert _reason({}, {"GOOGLE_APPLICATION_CREDENTIALS": "/nowhere"}) == "/nowhere does not exist"


CLIENT: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"fs.gs.http.connect-timeout": "2000"}, {"connect_timeout": "2000ms", "timeout": "900000ms"}),
    ({"fs.gs.http.read-timeout": "3s"}, {"read_timeout": "3000ms"}),
    ({"fs.gs.proxy.address": "p:3128"}, {"proxy_url": "http://p:3128"}),
    (
        {"fs.gs.proxy.address": "http://p:1", "fs.gs.proxy.username": "u", "fs.gs.proxy.password": "w"},
        {"proxy_url": "http://u:w@p:1"},
    ),
]


@pytest.mark.parametrize(("settings", "expected"), CLIENT)
def test_a_setting_becomes_an_option_of_the_connections(settings: dict[str, str], expected: dict[str, str]) -> None:
    assert expected.items() <= _options(settings).client_options.items()


def test_how_often_a_request_is_repeated() -> None:
    retries = _options({"fs.gs.http.max.retry": "4"}).retries
    assert (retries.limit, retries.first_wait) == (4, None)


NOT_UNDERSTOOD: list[tuple[dict[str, str], str]] = [
    ({"fs.gs.auth.type": "USER_CREDENTIALS"}, "the setting fs.gs.auth.type is USER_CREDENTIALS"),
    ({"fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE"}, "which is not set"),
    ({f"{KEY}.private.key": "hush"}, f"{KEY}.private.key is set without {KEY}.email"),
    ({"fs.gs.http.max.retry": "often"}, "no number"),
    ({"fs.gs.http.read-timeout": "soon"}, "no duration"),
    ({"fs.gs.proxy.address": "p"}, "are not host:port"),
    ({"fs.gs.proxy.address": "p:1", "fs.gs.proxy.username": "hush"}, "are not host:port"),
    ({"fs.gs.no.such.key": "hush"}, "the setting fs.gs.no.such.key is set"),
    ({"google.cloud.service.account.auth.keyfile": "hush"}, "fs.gs.auth.service.account.keyfile is set"),
]


@pytest.mark.parametrize(("settings", "reason"), NOT_UNDERSTOOD)
def test_a_setting_that_obstore_cannot_obey_is_not_understood(settings: dict[str, str], reason: str) -> None:
    assert reason in _reason(settings)
    assert "hush" not in _reason(settings)


@pytest.mark.parametrize("key", sorted(GCS_RULES.refused))
def test_a_refused_setting_is_named(key: str) -> None:
    name = f"{key}x" if key.endswith(".") else key
    assert _reason({name: "hush"}).startswith(f"the setting {name} is set, and acidsql's own client ")
    harmless = GCS_RULES.refused[key].harmless
    assert all(_options({name: value.upper()}) == _options({}) for value in harmless)


@pytest.mark.parametrize("key", sorted(GCS_RULES.ignored))
def test_an_ignored_setting_changes_nothing(key: str) -> None:
    assert _options({f"{key}x" if key.endswith(".") else key: "5"}) == _options({})


@pytest.mark.parametrize("name", ["GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_KEY", "SERVICE_ACCOUNT"])
def test_a_variable_that_only_obstore_obeys_is_not_understood(name: str) -> None:
    assert f"the environment has {name}, which" in _reason({}, {name: "hush"})


def test_every_obeyed_setting_has_a_case() -> None:
    used = {key for cases in (CONFIG, CLIENT, NOT_UNDERSTOOD) for case in cases for key in case[0]}
    by_hand = {f"{KEY}.enable", f"{KEY}.email", f"{KEY}.private.key.id"}
    assert set(GCS_RULES.obeyed) - used - by_hand == set()
