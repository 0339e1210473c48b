"""What the options of all stores have in common: how often a request is repeated, and a `repr` without values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Retries:
    """How a failed request is repeated. `None` leaves the library's own limit: 10 times, after 100 ms at first."""

    limit: int | None = None
    first_wait: timedelta | None = None


class HiddenValues:
    """A dataclass whose `repr` shows names only, because its values may be secrets."""

    __slots__ = ()

    def __repr__(self) -> str:
        shown = ", ".join(_shown(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({shown})"


def _shown(options: object, name: str) -> str:
    value: object = getattr(options, name)
    if isinstance(value, Mapping):
        return f"{name}=<{', '.join(sorted(value))}>"
    if isinstance(value, HiddenValues | Retries | bool | int | None):
        return f"{name}={value!r}"
    return name


def frozen(values: Mapping[str, str]) -> Mapping[str, str]:
    """A copy that cannot be changed."""
    return MappingProxyType(dict(values))
