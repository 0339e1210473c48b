"""Errors of a Hive Metastore about transactions, as acidsql's conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pymetastore.hive_metastore import ttypes as t

from acidsql.acid.write_ids import TxnId
from acidsql.errors import AcidSqlError, Condition

_CONFLICT: Final = re.compile(
    r"Aborting \[txnid:(?P<txn_id>\d+),(?P<commit_id>\d+)\] due to a write conflict on (?P<resource>.+) committed by"
    r" \[txnid:(?P<other_txn_id>\d+),(?P<other_commit_id>\d+)\] (?P<operations>\w/\w)"
)
"""TxnHandler.commitTxn."""


@contextmanager
def txn_errors(txn: TxnId) -> Iterator[None]:
    """Raises NO_SUCH_TRANSACTION, TRANSACTION_ABORTED, WRITE_CONFLICT."""
    try:
        yield
    except t.NoSuchTxnException as error:
        raise AcidSqlError(Condition.NO_SUCH_TRANSACTION, txn_id=f"txnid:{txn}") from error
    except t.NoSuchLockException as error:
        raise _aborted(txn, f"its lock has timed out ({error.message})") from error
    except t.TxnAbortedException as error:
        conflict = _CONFLICT.search(error.message or "")
        if conflict is None:
            raise _aborted(txn, error.message or "") from error
        raise _conflict(**conflict.groupdict()) from error


def _aborted(txn: TxnId, reason: str) -> AcidSqlError:
    return AcidSqlError(Condition.TRANSACTION_ABORTED, txn_id=f"txnid:{txn}", reason=reason)


def _conflict(**parameters: object) -> AcidSqlError:
    return AcidSqlError(Condition.WRITE_CONFLICT, span=None, hint="", **parameters)
