"""Profiles of AWS in ~/.aws/credentials and ~/.aws/config, without AWS's client, which need not be installed."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.store_options import HiddenValues

_NEEDS_BOTO3: Final = (
    "credential_process",
    "credential_source",
    "role_arn",
    "source_profile",
    "sso_account_id",
    "sso_session",
    "sso_start_url",
    "web_identity_token_file",
)
"""Entries of a profile whose keys AWS's client fetches from somewhere."""


@dataclass(frozen=True, slots=True, repr=False)
class Profile(HiddenValues):
    """The entries of one profile, of both files."""

    name: str
    entries: Mapping[str, str]

    @property
    def needs_boto3(self) -> str | None:
        """The entry for which AWS's client is needed."""
        return next((entry for entry in _NEEDS_BOTO3 if self.entries.get(entry)), None)

    def entry(self, name: str) -> str | None:
        """The value of an entry, None if it is missing or empty."""
        return self.entries.get(name) or None


def profile(
    environment: Mapping[str, str], name: str | None = None, credentials_file: str | None = None
) -> Profile | NotUnderstood:
    """A profile, which has no entries if it is in no file. Without a name, that of `AWS_PROFILE` or the default one.

    With `credentials_file`, that file alone.
    """
    chosen = name or environment.get("AWS_PROFILE") or "default"
    if credentials_file is not None:
        found = _sections(credentials_file)
        return found if isinstance(found, NotUnderstood) else Profile(chosen, found.get(chosen, {}))
    home = os.path.join(environment.get("HOME") or os.devnull, ".aws")
    config = _sections(environment.get("AWS_CONFIG_FILE") or os.path.join(home, "config"))
    if isinstance(config, NotUnderstood):
        return config
    credentials = _sections(environment.get("AWS_SHARED_CREDENTIALS_FILE") or os.path.join(home, "credentials"))
    if isinstance(credentials, NotUnderstood):
        return credentials
    in_config = config.get(f"profile {chosen}") or (config.get("default", {}) if chosen == "default" else {})
    return Profile(chosen, {**in_config, **credentials.get(chosen, {})})


def _sections(path: str) -> dict[str, dict[str, str]] | NotUnderstood:
    file = Path(path)
    if not file.is_file():
        return {}
    # [default] is an ordinary section here, and % has no meaning.
    parser = configparser.RawConfigParser(strict=False, default_section="", allow_no_value=True)
    try:
        parser.read_string(file.read_text(encoding="utf-8"))
    except (configparser.Error, OSError, ValueError):  # the message of a parser shows lines of the file
        return NotUnderstood(f"acidsql's own client cannot read {path}")
    return {
        " ".join(name.split()): {key: value or "" for key, value in parser[name].items()} for name in parser.sections()
    }
