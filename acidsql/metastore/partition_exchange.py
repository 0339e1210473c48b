"""The steps by which a partition goes to another table, where no metastore takes them at once."""

from __future__ import annotations

from acidsql.metastore.catalog import Catalog, Partition, Redefinition


def exchange_in_steps(metastore: Catalog, partition: Partition, source: Redefinition, target: Redefinition) -> None:
    """`Catalog.exchange_partition` as one call after the other. The partition is in the new table before it leaves the
    old one: if the process dies in between, both tables have it, and no row is lost."""
    metastore.add_partitions(target[0], [partition], found=True)
    metastore.drop_partitions(source[0], [partition.values])
    for before, after in (target, source):
        if before != after:
            metastore.alter_table(before, after)
