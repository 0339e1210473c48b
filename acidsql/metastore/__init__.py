"""Catalog and transactions: two protocols (`client`) and their implementations."""
