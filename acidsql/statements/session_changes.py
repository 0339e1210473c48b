"""Statements that change the session itself: settings, variables, macros and temporary functions."""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.compactor.background import Background
from acidsql.errors import AcidSqlError, Condition
from acidsql.grammar import statements as s
from acidsql.metastore.client import Metastore
from acidsql.planner.ddl.ddl_settings import ignores_missing
from acidsql.planner.lock_requests import CONFLICTS
from acidsql.planner.queries.macro_expansion import Macro
from acidsql.request import Request
from acidsql.show import show
from acidsql.show.function_documentation import check_function_name
from acidsql.spark.engine import Engine
from acidsql.statements.plans import StatementPlans
from acidsql.statements.results import Done, Result, rows_result
from acidsql.statements.settings import OPEN_TXNS, Settings, note_on_unknown
from acidsql.statements.variables import HIVEVAR, Variables
from acidsql.storage.warehouse_files import WarehouseFiles


@dataclass(frozen=True, slots=True)
class SessionChanges:
    """What SET, RESET, and the statements about macros and temporary functions change."""

    metastore: Metastore
    engine: Engine
    files: WarehouseFiles
    plans: StatementPlans
    settings: Settings
    variables: Variables
    macros: dict[str, Macro]
    """The session's macros by name, which `with_macros` expands."""
    background: Background

    # -- settings and variables

    def set(self, statement: s.SetSetting) -> Result:
        key, value = statement.key, statement.value
        if key is not None and value is not None:
            return Done("SET", note=self.set_setting(key, value))
        shown = self.settings.values | {f"{HIVEVAR}{name}": held for name, held in self.variables.hive.items()}
        if key is not None:
            current = self.engine.running.conf(key) if key.startswith("spark.") else self.variables.shown_value(key)
            shown = {key: "<undefined>" if current is None else current}
        return rows_result("SET", show.Answer(("key", "value"), tuple(sorted(shown.items()))))

    def set_setting(self, key: str, value: str) -> str:
        """Sets a setting or a variable. Returns a note on a setting that nobody knows, or an empty text."""
        setting = self.variables.set(key, value)
        if setting is None:
            return ""
        self._change_setting(setting, value)
        return note_on_unknown(setting)

    def _change_setting(self, key: str, value: str) -> None:
        if key.startswith("spark."):
            self.engine.set_conf(key, value)
            self.files.note_setting(key)
            return
        if key.lower() == CONFLICTS and not self.metastore.detects_row_conflicts:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"SET {CONFLICTS} with a Hive Metastore")
        self.settings.set(key, value)
        self._apply_settings()

    def reset(self, statement: s.ResetSettings) -> Result:
        """As in Hive, variables keep their values. Raises NOT_YET_SUPPORTED for a setting of Spark."""
        of_spark = next((key for key in statement.keys if key.startswith("spark.")), None)
        if of_spark is not None:
            raise AcidSqlError(Condition.NOT_YET_SUPPORTED, feature=f"RESET of a Spark setting ({of_spark})")
        self.settings.reset(statement.keys)
        self._apply_settings()
        return Done("RESET")

    def _apply_settings(self) -> None:
        """Hands the settings that act at once to those that act on them."""
        self.background.adjust()
        self.metastore.limit_open_txns(int(self.settings.values[OPEN_TXNS]))

    # -- functions

    def create_macro(self, statement: s.CreateMacro, request: Request) -> Result:
        """Defines a macro, or replaces the one of its name. Raises what `StatementPlans.macro` raises."""
        self.macros[statement.macro.name] = self.plans.macro(statement, request)
        return Done("CREATE TEMPORARY MACRO")

    def drop_macro(self, statement: s.DropMacro) -> Result:
        """As Hive's DropMacroAnalyzer. Raises INVALID_FUNCTION."""
        name = statement.macro
        is_known = name.database is None and name.name in self.macros
        if not is_known and not (statement.if_exists or ignores_missing(self.settings.values)):
            raise AcidSqlError(Condition.INVALID_FUNCTION, span=name.span, function=name, suggestion="")
        if is_known:
            del self.macros[name.name]
        return Done("DROP TEMPORARY MACRO")

    def create_function(self, statement: s.CreateFunction) -> Result:
        """Registers a function in the Spark session. It replaces a function or macro of its name, as in Hive.

        Raises INVALID_PYTHON_FUNCTION.
        """
        from acidsql.spark.python_functions import imported_function, register

        name = statement.function
        check_function_name(name, self.engine)  # starts Spark, which a module with functions of pyspark needs
        register(name.name, imported_function(statement.python_name, statement.python_name_span), self.engine)
        self.macros.pop(name.name, None)
        return Done("CREATE TEMPORARY FUNCTION")

    def drop_function(self, statement: s.DropFunction) -> Result:
        """Drops a function that is registered in the Spark session, or a macro, as in Hive. Raises INVALID_FUNCTION."""
        name = statement.function
        is_macro = name.database is None and self.macros.pop(name.name, None) is not None
        is_known = name.database is None and name.name in self.engine.running.temporary_functions()
        if is_known and not is_macro:
            self.engine.running.drop_temporary_function(name.name)
        elif not is_macro and not (statement.if_exists or ignores_missing(self.settings.values)):
            raise AcidSqlError(Condition.INVALID_FUNCTION, span=name.span, function=name, suggestion="")
        return Done("DROP TEMPORARY FUNCTION")
