"""Which statements may stand between START TRANSACTION and COMMIT."""

from __future__ import annotations

from typing import assert_never

from acidsql.grammar import statements as s


def may_run_in_transaction(statement: s.Statement) -> bool:
    """Whether a statement may stand between START TRANSACTION and COMMIT: DDL opens transactions of its own, and a
    transaction cannot hold another one."""
    match statement:
        case s.Query() | s.Insert() | s.MultiInsert() | s.Update() | s.Delete() | s.Merge() | s.RestoreTable():
            return True
        case s.Commit() | s.Rollback() | s.Show() | s.Describe() | s.Explain() | s.SetSetting() | s.UseDatabase():
            return True
        case s.DescribeHistory() | s.SetAutocommit():
            return True
        case s.ResetSettings() | s.NoEffect() | s.CreateMacro() | s.DropMacro() | s.CreateFunction() | s.DropFunction():
            return True
        case s.RepairTable() | s.AnalyzeTable():
            return False
        case s.CreateTable() | s.DropTable() | s.TruncateTable() | s.AlterTable() | s.LoadData():
            return False
        case s.InsertDirectory():
            return False
        case s.CreateDatabase() | s.AlterDatabase() | s.DropDatabase() | s.CreateView() | s.AlterView() | s.DropView():
            return False
        case s.StartTransaction() | s.AbortTransactions() | s.AbortCompactions():
            return False
        case _:
            assert_never(statement)
