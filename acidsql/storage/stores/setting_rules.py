"""Which keys a client knows: those it obeys, those that change nothing it does, and those that it must refuse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from acidsql.storage.stores.not_understood import NotUnderstood, unknown_setting

UNSET: Final = frozenset({""})
_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A key whose effect acidsql's own client does not have, unless its value is one of `harmless`, in any case."""

    meaning: str
    harmless: frozenset[str] = UNSET

    def allows(self, value: str) -> bool:
        """Whether Hadoop's client does with this value what it does without it."""
        return value.lower() in {harmless.lower() for harmless in self.harmless}


@dataclass(frozen=True, slots=True)
class Rules:
    """The keys of one kind of store. A key that ends with a dot stands for all keys that begin with it."""

    obeyed: Mapping[str, str]
    """What a key becomes, in the words of the documentation."""
    refused: Mapping[str, Refusal] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Keys that change nothing about what is stored or read, with what they do in Hadoop's client."""

    def first_refused(self, settings: Mapping[str, str]) -> NotUnderstood | None:
        """The first setting that is refused, in the order of the names."""
        for key in sorted(settings):
            refusal = self.refused.get(key) or _by_beginning(self.refused, key)
            if refusal is not None and not refusal.allows(settings[key]):
                return unknown_setting(key, f"and acidsql's own client {refusal.meaning}")
        return None

    def first_unknown(self, keys: Iterable[str]) -> NotUnderstood | None:
        """The first of these keys of which nothing is known."""
        for key in sorted(keys):
            if not any(
                key in known or _by_beginning(known, key) for known in (self.obeyed, self.refused, self.ignored)
            ):
                return unknown_setting(key)
        return None


def _by_beginning(known: Mapping[str, _Known], key: str) -> _Known | None:
    return next((value for name, value in known.items() if name.endswith(".") and key.startswith(name)), None)
