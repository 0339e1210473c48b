"""The variables of a session, which `${..}` in a statement stands for, and which SET changes and shows."""

from __future__ import annotations

import getpass
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar.variable_substitution import SubstitutedText, substitute
from acidsql.statements.settings import SUBSTITUTE, SUBSTITUTE_DEPTH, WAREHOUSE, Settings

ENV: Final = "env:"
SYSTEM: Final = "system:"
HIVECONF: Final = "hiveconf:"
HIVEVAR: Final = "hivevar:"

# The properties of the JVM that scripts use, as this process knows them: no JVM is asked.
_PROPERTIES: Final[Mapping[str, Callable[[], str]]] = {
    "file.separator": lambda: os.sep,
    "java.io.tmpdir": tempfile.gettempdir,
    "line.separator": lambda: os.linesep,
    "os.name": platform.system,
    "path.separator": lambda: os.pathsep,
    "user.dir": os.getcwd,
    "user.home": lambda: os.path.expanduser("~"),
    "user.name": getpass.getuser,
}


@dataclass(frozen=True, slots=True)
class Variables:
    """Hive's four namespaces: `hivevar` and `system` are kept here, `hiveconf` are the session's settings, and `env`
    is the environment of the process."""

    settings: Settings
    warehouse: str
    hive: dict[str, str] = field(default_factory=dict)
    system: dict[str, str] = field(default_factory=dict)

    def substituted(self, text: str) -> SubstitutedText:
        """The statement with its variables replaced. Raises VARIABLE_DEPTH, LIMIT_EXCEEDED."""
        if "${" not in text or self.settings.values[SUBSTITUTE] != "true":
            return SubstitutedText(text, text)
        return substitute(text, self.value, int(self.settings.values[SUBSTITUTE_DEPTH]))

    def value(self, name: str) -> str | None:
        """The value of a variable, or None if it is not set. A name without a namespace is a `hivevar`, as in
        VariableSubstitution.getSubstitute."""
        namespace, key = _split(name)
        match namespace:
            case "system:":
                return self._system_property(key)
            case "env:":
                return os.environ.get(key)
            case "hiveconf:":
                return self.setting(key)
            case _:
                return self.hive.get(key)

    def shown_value(self, name: str) -> str | None:
        """The value that `SET name` shows: a name without a namespace is a setting or else a `hivevar`, as in
        SetProcessor.dumpOption."""
        setting = self.setting(name)
        return self.value(name) if setting is None else setting

    def setting(self, key: str) -> str | None:
        """The value of a setting, or None. The warehouse's directory is known under Hive's name for it."""
        value = self.settings.get(key)
        return self.warehouse if value is None and key == WAREHOUSE else value

    def set(self, name: str, value: str) -> str | None:
        """Sets a variable. Returns the key of the setting where `name` is one, which is left for the caller to set.

        Raises INVALID_SETTING for a variable of the environment.
        """
        namespace, key = _split(name)
        match namespace:
            case "hivevar:":
                self.hive[key] = value
            case "system:":
                self.system[key] = value
            case "env:":
                rule = "env:* variables can not be set."
                raise AcidSqlError(Condition.INVALID_SETTING, name=name, value=value, rule=rule)
            case _:
                return key
        return None

    def _system_property(self, key: str) -> str | None:
        if key in self.system:
            return self.system[key]
        known = _PROPERTIES.get(key)
        try:
            return None if known is None else known()
        except (OSError, KeyError, ImportError):  # a process without a directory or a name of its user
            return None


def _split(name: str) -> tuple[str, str]:
    """The namespace of a name, or an empty text, and the rest.

    >>> _split("hivevar:day"), _split("day")
    (('hivevar:', 'day'), ('', 'day'))
    """
    namespace = next((prefix for prefix in (HIVEVAR, HIVECONF, SYSTEM, ENV) if name.startswith(prefix)), "")
    return namespace, name[len(namespace) :]
