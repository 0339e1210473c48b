"""SET: the settings of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from acidsql.errors import AcidSqlError, Condition, suggestion
from acidsql.planner.events import STORE_ASSIGNMENT
from acidsql.planner.merge import CARDINALITY_CHECK

_BOOLEAN: Final = ("true", "false")
KNOWN: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    STORE_ASSIGNMENT: ("hive", ("hive", "ansi")),
    CARDINALITY_CHECK: ("true", _BOOLEAN),
}
"""Settings that acidsql acts on: their default and the values they take."""


@dataclass(slots=True)
class Settings:
    """Values by key. Keys of Hive's that acidsql has no use for are kept and shown, so that scripts run."""

    values: dict[str, str] = field(default_factory=lambda: {key: default for key, (default, _) in KNOWN.items()})

    def set(self, key: str, value: str) -> None:
        """Raises UNKNOWN_SETTING for an `acidsql.` key that is none, INVALID_SETTING."""
        key = key.lower() if key.lower() in KNOWN else key
        if key in KNOWN:
            allowed = KNOWN[key][1]
            if value.lower() not in allowed:
                rule = f"it takes {' or '.join(allowed)}"
                raise AcidSqlError(Condition.INVALID_SETTING, name=key, value=value, rule=rule)
            value = value.lower()
        elif key.lower().startswith("acidsql."):
            raise AcidSqlError(Condition.UNKNOWN_SETTING, name=key, suggestion=suggestion(key, sorted(KNOWN)))
        self.values[key] = value

    def get(self, key: str) -> str | None:
        return self.values.get(key.lower() if key.lower() in KNOWN else key)
