"""Where a Hive Metastore (4.0.1, 3.1.3) differs from the contract, and why: each is a test that must fail on it."""

from __future__ import annotations

from typing import Final

_PARTITIONS_AS_TEXT: Final = (
    "TxnHandler compares partitions by name: a write of the whole table and one of a partition, or of `p=a` and"
    " `p=a/q=1`, meet neither as locks nor in a commit (checkForWriteConflict)"
)
_NARROWED: Final = "TxnHandler.addDynamicPartitions takes away all components on the whole table, whatever wrote them"

_FROM_THE_OPENING: Final = (
    "a conflict counts from the opening of a transaction on, not from its first locks (TxnHandler)"
)

_HIVE_4: Final = {
    # -- catalog
    "test_the_database_default_lies_in_the_warehouse": "the warehouse is the metastore's",
    "test_every_field_of_a_table_is_read_back": (
        "HMSHandler refuses what Hive would not make (an external ACID table) and sets the time of creation itself;"
        " test_a_table_is_read_back_unchanged holds"
    ),
    # -- locks
    "test_only_overlapping_resources_are_excluded[one2-two2-True]": _PARTITIONS_AS_TEXT,
    "test_a_timeout_names_the_narrower_resource_and_the_holders_process": _PARTITIONS_AS_TEXT,
    "test_the_list_has_the_operation_of_each_lock": "HIVE_LOCKS has no column for the operation",
    "test_a_refused_request_is_not_added_to_the_write_set": (
        "TxnHandler.lock enters the write set before it looks whether it must wait: a conflict too many, never one less"
    ),
    "test_a_transaction_that_holds_locks_does_not_wait_for_one_that_waits_for_them": (
        "TxnHandler.checkLock serves all requests in their order: it is a deadlock, and one of them is aborted"
    ),
    # -- transactions
    "test_the_writer_of_a_write_id_is_known": "no call of the metastore gives the transaction of a write ID",
    "test_a_transaction_that_lost_a_conflict_says_so_when_it_is_used_again": (
        "TXNS has no column for the reason of an abort that came from a commit"
    ),
    "test_a_conflict_needs_a_common_partition[p=a/q=1-None-True]": _PARTITIONS_AS_TEXT,
    "test_a_conflict_needs_a_common_partition[None-p=a/q=1-True]": _PARTITIONS_AS_TEXT,
    "test_a_conflict_needs_a_common_partition[p=a-p=a/q=1-True]": _PARTITIONS_AS_TEXT,
    "test_a_conflict_needs_a_common_partition[p=a/q=1-p=a-True]": _PARTITIONS_AS_TEXT,
    "test_until_it_is_narrowed_a_dynamic_write_conflicts_with_every_partition": _PARTITIONS_AS_TEXT,
    "test_narrowing_keeps_the_locks_of_other_statements": _NARROWED,
    "test_open_and_aborted_write_ids_of_an_adopted_table_stay_invalid": (
        "open write IDs of an adopted table are aborted ones there, for each write ID is some transaction's;"
        " test_the_committed_write_ids_of_an_adopted_table_are_visible holds"
    ),
    "test_new_transactions_start_above_those_of_adopted_tables": (
        "transaction IDs are the metastore's: a table that was compacted under others is refused"
    ),
    "test_an_adopted_transaction_counts_as_committed_though_its_number_was_aborted_here": (
        "transaction IDs are the metastore's: a table that was compacted under others is refused"
    ),
    # -- compactions
    "test_a_compaction_that_is_given_back_waits_again": (
        "no call of the metastore returns an entry to the queue: the entry fails, and its initiator asks again"
    ),
    "test_the_list_has_all_facts_of_a_request": (
        "ShowCompactHandler reads neither properties nor ORDER BY nor buckets of an entry; its worker gets them"
    ),
}

_SHARED_WRITE: Final = "EXCL_WRITE came with Hive 4: writers of rows take SHARED_WRITE, and Hive 3 grants one at a time"
_AT_THE_COMMIT: Final = "Hive 3 finds conflicts at the commit only, and counts them from the opening of a transaction"

_HIVE_3: Final = {
    "test_a_table_has_a_number_by_which_another_one_of_its_name_is_told_from_it": "its get_table tells no number",
    "test_a_database_gets_an_owner_and_other_directories": "a database of Hive 3 has no MANAGEDLOCATION",
    "test_exclusive_writers_take_turns_and_shared_ones_do_not": _SHARED_WRITE,
    "test_a_transaction_does_not_wait_for_itself": _SHARED_WRITE,
    "test_the_list_has_the_holder_of_each_lock": _SHARED_WRITE,
    "test_a_commit_before_the_locks_is_no_conflict": _AT_THE_COMMIT,
    "test_lock_tells_whether_a_commit_before_the_locks_will_be_a_conflict": _AT_THE_COMMIT,
}

DIFFERENCES: Final = {"hive": _HIVE_4, "hive3": {**_HIVE_4, **_HIVE_3}}
"""By metastore, and by test or test[parameters]."""

NOT_ON_HIVE_3: Final = {
    "test_a_table_has_a_number_by_which_another_one_of_its_name_is_told_from_it": "its get_table tells no number",
    "test_compaction_queue_contract": "its queue has no call that gives a compaction to acidsql's workers",
    "test_streams_contract": "its commit takes no offset",
    "test_transactions_contract": "two transactions write one table at once there, and Hive 3 lets them take turns",
}
"""Files of the contract that do not run on a metastore of Hive 3. test_hive3_metastore.py holds what is refused there,
and what its transactions do."""
