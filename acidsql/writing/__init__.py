"""Writes to tables, whichever engine computes the rows: transactions, staged files, and how they become visible.

`statement_transactions` runs a statement in a transaction, `session_transaction` is START TRANSACTION,
`write_transaction` knows what to undo, `event_files` writes ORC by pyarrow, `publishing` moves files to their places.
Begin with `statement_transactions`. Both engines and LOAD DATA write through here; streams take their rows' places from
`row_placement`.
"""
