"""Faults that a developer could make in a refactoring, each of which some test must find.

A fault replaces one text of a source file, which occurs there once, by another one that still imports and parses. The
names say what the faulty program does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in the file `path`, which is relative to the top of the checkout.

    `first` are test files that find it soon, the quickest first. They only save time: any test may find a fault.
    """

    name: str
    path: str
    before: str
    after: str
    first: tuple[str, ...] = ()


_COMMIT = (
    Fault(
        "The times of commits follow a clock that was set back",
        "acidsql/metastore/sqlite/commit_rows.py",
        "max(last_commit + 1, ?)",
        "max(0, ?)",
        ("tests/metastore/test_commit_history.py",),
    ),
    Fault(
        "The transaction that was opened last conflicts with nobody",
        "acidsql/metastore/sqlite/transaction_rows.py",
        "FROM write_set WHERE commit_id >= :txn",
        "FROM write_set WHERE commit_id > :txn",
        ("tests/metastore/test_transactions_contract.py",),
    ),
    Fault(
        "An UPDATE and a DELETE of the same place do not conflict",
        "acidsql/metastore/sqlite/transaction_rows.py",
        "            if (common := resources.overlapping(place)) is not None:\n",
        '            common = resources.overlapping(place) if my_operation == row["operation"] else None\n'
        "            if common is not None:\n",
        ("tests/metastore/test_transactions_contract.py",),
    ),
    Fault(
        "A transaction that fails leaves the directories that it has published",
        "acidsql/writing/write_transaction.py",
        "return remove(target, write.made if is_own else ())",
        "return remove(target, () if is_own else write.made)",
        ("tests/crash/test_failed_statements.py",),
    ),
    Fault(
        "A statement publishes its files into a directory that another writer has made",
        "acidsql/writing/publishing.py",
        "        target.files.make_new_directory(directory, names)\n",
        "        target.files.make_directories(directory)\n",
        ("tests/crash/test_failed_statements.py",),
    ),
    Fault(
        "Each statement of a transaction takes a snapshot of its own",
        "acidsql/writing/write_transaction.py",
        "        if self._txns is None:\n            self._txns = self.metastore.valid_txns(self.id)\n",
        "        self._txns = self.metastore.valid_txns(self.id)\n",
        ("tests/concurrency/test_transactions.py",),
    ),
)

_SNAPSHOTS = (
    Fault(
        "A delta that is obsolete makes the reader forget what else is covered",
        "acidsql/acid/snapshot_selection.py",
        "        covered = max(covered, high)\n",
        "        covered = high\n",
        ("tests/acid/test_snapshot_cases.py",),
    ),
    Fault(
        "A reader reads a compacted base above its high watermark",
        "acidsql/acid/snapshot_selection.py",
        "return write_id < writeids.min_open and write_id <= writeids.high_watermark",
        "return write_id < writeids.min_open",
        ("tests/acid/test_snapshot_cases.py",),
    ),
    Fault(
        "A reader sees the events of open transactions in the delta of a batch",
        "acidsql/acid/write_ids.py",
        "listed = (i for i in (*self.open, *self.aborted) if low <= i <= high)",
        "listed = (i for i in self.aborted if low <= i <= high)",
        ("tests/acid/test_writeids.py", "tests/acid/test_snapshot_cases.py"),
    ),
    Fault(
        "A reader reads the directories of a compaction that has not committed",
        "acidsql/acid/snapshot_selection.py",
        "return directory.visibility_txn is None or txns.is_valid(directory.visibility_txn)",
        "return directory.visibility_txn not in txns.aborted",
        ("tests/acid/test_snapshot_cases.py",),
    ),
)

_DELETES = (
    Fault(
        "A minor compaction drops the delete events of buckets in which it merges no rows",
        "acidsql/snapshot/delete_applicability.py",
        "_opened(bound, number, part, None, footers)",
        "_opened(bound, number, part, part.buckets, footers)",
        ("tests/snapshot/test_delete_applicability.py",),
    ),
    Fault(
        "Without Spark, a delete event is hidden by the write ID of its row, not by its own",
        "acidsql/arrow/scan/deleted_row_ids.py",
        "seen = visible_mask(deleter, file.hidden)",
        "seen = visible_mask(write_id, file.hidden)",
        ("tests/arrow/test_scan_snapshots.py",),
    ),
    Fault(
        "In Spark, the deleted rows of one partition are missing in all other ones too",
        "acidsql/spark/scan/deletes/bitmap.py",
        "        if self.parts.count > 1:  # the leading axis",
        "        if self.parts.count:  # the leading axis",
        ("tests/spark/test_deleted_rows.py",),
    ),
)

_MERGE = (
    Fault(
        "Of several WHEN clauses the last one whose condition is true acts",
        "planner/merge/actions.py",
        "    for clause in clauses:\n        number = exp.Literal.number(clause.statement_id)\n",
        "    for clause in reversed(clauses):\n        number = exp.Literal.number(clause.statement_id)\n",
        ("tests/planner/test_planner_cases.py",),
    ),
    Fault(
        "The cardinality check of several MATCHED clauses does not count those that DELETE",
        "planner/merge/merge_planner.py",
        "    if clause.when is When.MATCHED and check is not None:\n",
        "    if clause.when is When.MATCHED and clause.inserts and check is not None:\n",
        ("tests/planner/test_merge_cardinality.py", "tests/planner/test_planner_cases.py"),
    ),
    Fault(
        "NOT MATCHED BY SOURCE beside NOT MATCHED finds no rows",
        "planner/merge/merge_planner.py",
        '        case True, True:\n            return "FULL OUTER"\n',
        '        case True, True:\n            return "RIGHT OUTER"\n',
        ("tests/planner/test_planner_cases.py",),
    ),
    Fault(
        "Without Spark, a source row whose MATCHED clauses all decline is inserted",
        "acidsql/arrow/write/merged_rows.py",
        "    has_partner[matched.source] = True\n",
        "    has_partner[matched.source] = source.if_matched[matched.source] >= 0\n",
        ("tests/arrow/test_merges.py",),
    ),
    Fault(
        "MERGE gives its MATCHED clauses lower statement IDs than its NOT MATCHED ones",
        "planner/merge/actions.py",
        "_ORDER: Final = (When.NOT_MATCHED, When.MATCHED, When.NOT_MATCHED_BY_SOURCE)",
        "_ORDER: Final = (When.MATCHED, When.NOT_MATCHED, When.NOT_MATCHED_BY_SOURCE)",
        ("tests/planner/test_planner_cases.py",),
    ),
)

_LOCKS = (
    Fault(
        "A reader of a table does not wait for a statement that locks the table exclusively",
        "acidsql/metastore/lock_rules.py",
        "any(kind is LockType.SHARED_READ and len(place) == 1 for kind, place in pair)",
        "any(kind is LockType.SHARED_READ for kind, place in pair)",
        ("tests/metastore/test_locks.py",),
    ),
    Fault(
        "A statement that moves rows to other partitions locks only those that it reads",
        "planner/lock_requests.py",
        "return None if write.moves_rows else _read_partitions([s for s in write.scans if s.is_target], values_of)",
        "return _read_partitions([s for s in write.scans if s.is_target], values_of)",
        ("tests/planner/test_pruning.py",),
    ),
    Fault(
        "A MERGE that only inserts does not exclude another one that inserts the same key",
        "planner/lock_requests.py",
        "Effect.UPDATED in effects or (inserts and rules.exclusive_merge_insert)",
        "Effect.UPDATED in effects",
        ("tests/planner/test_planner_cases.py",),
    ),
)

_FOOTERS = (
    Fault(
        "The user metadata counts delete events as updates",
        "acidsql/storage/orc/orc_footers.py",
        'f"0,0,{rows}" if is_delete else f"{rows},0,0"',
        'f"0,{rows},0" if is_delete else f"{rows},0,0"',
        ("tests/writing/test_story_files.py",),
    ),
    Fault(
        "The key index of a stripe with several bucket properties has a row ID that is not the last one",
        "acidsql/storage/orc/orc_footers.py",
        "if write_ids and properties and rows and write_ids[0] == write_ids[1] and properties[0] == properties[1]:",
        "if write_ids and properties and rows and write_ids[0] == write_ids[1]:",
        ("tests/storage/test_orc_footer.py",),
    ),
    Fault(
        "The statistics of joined stripes are those of one stripe where those of another are missing",
        "acidsql/storage/orc/merged_statistics.py",
        "    if kind not in a or kind not in b:\n        return None\n",
        "    if kind not in a or kind not in b:\n"
        "        known = a if kind in a else b\n"
        "        return _bytes(known[kind]) if kind in known else None\n",
        ("tests/ingest/test_stripe_appending.py",),
    ),
)

_ROW_IDS = (
    Fault(
        "A statement shares statement IDs with a MERGE before it in its transaction",
        "acidsql/writing/write_transaction.py",
        "        self._statement_ids = max(used, default=-1) + 1\n",
        "        self._statement_ids = len(self.writes)\n",
        ("tests/concurrency/test_transactions.py",),
    ),
    Fault(
        "New rows that the driver writes have the number of their branch in place of their statement ID",
        "acidsql/writing/event_files.py",
        "bucket = first << 16 | encode_bucket(0, target.statement_ids[file.branch])",
        "bucket = first << 16 | encode_bucket(0, file.branch)",
        ("tests/arrow/test_merges.py",),
    ),
    Fault(
        "Texts go to the bucket of the common Murmur3 instead of Hive's",
        "acidsql/acid/bucketing.py",
        "seen ^ _signed(data[whole + at]) << 8 * at",
        "seen ^ data[whole + at] << 8 * at",
        ("tests/acid/test_bucketing.py",),
    ),
)

_COMPACTION = (
    Fault(
        "A compaction merges a part of a delta to which a stream still writes",
        "acidsql/acid/compaction_scope.py",
        "return not isinstance(parsed, Delta) or parsed.max_write_id <= mark",
        "return not isinstance(parsed, Delta) or parsed.min_write_id <= mark",
        ("tests/acid/test_compaction.py",),
    ),
    Fault(
        "A compaction covers write IDs above one that is open",
        "acidsql/acid/compaction_scope.py",
        "    mark = WriteId(min(reader.high_watermark, reader.min_open - 1))\n",
        "    mark = reader.high_watermark\n",
        ("tests/acid/test_compaction.py",),
    ),
    Fault(
        "The cleaner does not wait for the oldest transaction, but for the newest",
        "acidsql/metastore/sqlite/compaction_rows.py",
        "next_txn_id <= (SELECT coalesce(min(id), next_txn_id) FROM txns",
        "next_txn_id <= (SELECT coalesce(max(id), next_txn_id) FROM txns",
        ("tests/metastore/test_sqlite_file.py",),
    ),
)

_STREAMS = (
    Fault(
        "A reader reads a file to which a stream writes beyond its committed length",
        "acidsql/snapshot/committed_lengths.py",
        "    return CommittedPart(length, is_whole=False)\n",
        "    return CommittedPart(max(length, size), is_whole=False)\n",
        ("tests/ingest/test_batch_files.py", "tests/streaming/test_streaming_files.py"),
    ),
    Fault(
        "An incomplete number at the end of a side file counts as a committed length",
        "acidsql/acid/data_files.py",
        "    end = len(content) // _NUMBER_BYTES * _NUMBER_BYTES\n",
        "    end = len(content) if len(content) >= _NUMBER_BYTES else 0\n",
        ("tests/acid/test_datafiles.py", "tests/streaming/test_streaming_files.py"),
    ),
    Fault(
        "The last committed batch of a streaming query is written again after a restart",
        "acidsql/batch_history.py",
        "return Action.PASS_OVER if batch <= self.batch else Action.WRITE",
        "return Action.PASS_OVER if batch < self.batch else Action.WRITE",
        ("tests/streaming/test_batch_history.py",),
    ),
    Fault(
        "A writer commits the offset of a stream over that of another writer",
        "acidsql/metastore/streams.py",
        "        if (txn, commits) == (self.before.txn, self.before.commits):\n",
        "        if commits >= self.before.commits:\n",
        ("tests/metastore/test_streams_contract.py",),
    ),
)

_STORE_ASSIGNMENT = (
    Fault(
        "A DECIMAL beyond INT becomes another number where it is cast to INT",
        "planner/stored_values/integer_casts.py",
        'return longs if target == "BIGINT" else _try_cast(longs, target)',
        'return longs if target == "BIGINT" else exp.cast(longs, target)',
        ("tests/expressions/test_integer_casts.py",),
    ),
    Fault(
        "A DECIMAL that a query computes becomes another number in an integer column instead of NULL",
        "planner/stored_values/store_assignment.py",
        "        number = exact_sql(value, target)\n",
        "        number = value\n",
        ("tests/expressions/test_integer_casts.py",),
    ),
    Fault(
        "A method with a frame stores what does not fit, as SQL does",
        "acidsql/request.py",
        "{**of_session, STORE_ASSIGNMENT: STRICT} if self.strict else of_session",
        "of_session",
        ("tests/dml/test_strict_methods.py",),
    ),
    Fault(
        "MERGE tells misfits of clauses that did not act",
        "planner/merge/merge_planner.py",
        'StoredValue(clause.value_name(target), target, span, f"{name_sql(ACTION)} = {clause.statement_id}")',
        "StoredValue(clause.value_name(target), target, span)",
        ("tests/dml/test_misfits.py",),
    ),
)

_PARAMETERS_AND_FRAMES = (
    Fault(
        "A text or a Decimal that is a parameter does not get the rules of a literal",
        "grammar/parameter_literals.py",
        "    literal = literal_for(node, value)\n",
        "    literal = None if isinstance(value, str | Decimal) else literal_for(node, value)\n",
        ("tests/dml/test_parameters_as_literals.py",),
    ),
    Fault(
        "The blanks that a reader gives CHAR values count where they come back in a frame",
        "planner/expressions/typed_rules/frame_texts.py",
        "return kind is FRAME_TEXT and isinstance(beside, Char)",
        "return False",
        ("tests/frame_api/test_write_back.py",),
    ),
)

_WHOSE_FILES = (
    Fault(
        "A file is taken for an older one whose inode number it has",
        "acidsql/ingest/file_identity.py",
        "(born == other_born if born and other_born else device == other_device)",
        "device == other_device",
        ("tests/ingest/test_rotated_files.py", "tests/ingest/test_text_sources.py"),
    ),
    Fault(
        "A table that was made anew is taken for the one that had its name",
        "acidsql/acid/table.py",
        "return self.id is None or other.id is None or self.id == other.id",
        "return True",
        ("tests/arrow/test_table_identity.py",),
    ),
    Fault(
        "Another file of the same length is taken for the file that a reader has listed",
        "acidsql/storage/file_identity.py",
        "        is_same = sized(file.path, found) == file\n",
        "        is_same = found.length == file.size\n",
        ("tests/arrow/test_replaced_files.py",),
    ),
    Fault(
        "A reader does not miss a single file that is gone",
        "acidsql/snapshot/lost_files.py",
        "        if found:\n",
        "        if len(found) > 1:\n",
        ("tests/arrow/test_lost_files.py",),
    ),
    Fault(
        "A directory with the next write ID is taken for one that the metastore has given out",
        "acidsql/snapshot/foreign_directories.py",
        "        if _highest(directory) > last:\n",
        "        if _highest(directory) > last + 1:\n",
        ("tests/arrow/test_copied_warehouses.py",),
    ),
    Fault(
        "A copied catalog writes to the one table that it shares with the original",
        "acidsql/metastore/sqlite/catalog_home.py",
        "    if not has_moved(db, file) or not (names := left_behind(db)):\n",
        "    if not has_moved(db, file) or len(names := left_behind(db)) < 2:\n",
        ("tests/arrow/test_copied_warehouses.py",),
    ),
)

FAULTS = (
    *_COMMIT,
    *_SNAPSHOTS,
    *_DELETES,
    *_MERGE,
    *_LOCKS,
    *_FOOTERS,
    *_ROW_IDS,
    *_COMPACTION,
    *_STREAMS,
    *_STORE_ASSIGNMENT,
    *_PARAMETERS_AND_FRAMES,
    *_WHOSE_FILES,
)
