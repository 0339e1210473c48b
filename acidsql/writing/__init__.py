"""Writes to tables, whatever computes the rows: transactions, staged files, and how they become visible."""
