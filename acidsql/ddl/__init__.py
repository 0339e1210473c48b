"""DDL: what changes the catalog and directories without a query: tables, columns, partitions, properties."""
