"""Which test shows which kind of statement on which component, and what it injects: the facts of tested_page.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Kind(Enum):
    """The kinds of statements, and faults, which are a kind of their own."""

    QUERY = "query"
    INSERT = "INSERT"
    CHANGE = "UPDATE, DELETE, MERGE"
    COMPACTION = "compaction"
    STREAMING = "streaming"
    DDL = "DDL"
    FAULTS = "faults"


@dataclass(frozen=True, slots=True)
class Shown:
    """A test, `tests/FILE.py::NAME`, and what it injects, if it does."""

    test: str
    injected: str = ""
    is_refused: bool = False
    """Whether it shows one clear error, before anything is written."""


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    what: str
    """What the tests start."""
    shown: Mapping[Kind, Sequence[Shown]]


_CLUSTER: Final = "tests/cluster/test_standalone_cluster.py"
_HDFS: Final = "tests/interop/test_tables_on_hdfs.py"
_HDFS_FEATURES: Final = "tests/interop/test_hdfs_features.py"
_HDFS_RESTARTS: Final = "tests/interop/test_hdfs_restarts.py"
_VIEWFS: Final = "tests/storage/test_hadoop_file_system.py"
_ON_HIVE: Final = "tests/interop/test_statements_on_hive_metastore.py"
_HIVE_3: Final = "tests/interop/test_hive3_metastore.py"
_TRANSPORTS: Final = "tests/metastore/test_hive_transports.py"
_KERBEROS: Final = "tests/metastore/test_kerberos.py"
_CONNECTION: Final = "tests/metastore/test_hive_connection.py"
_CONNECT: Final = "tests/spark/test_spark_connect.py"
_BESIDE: Final = "tests/engines/test_beside_spark_connect.py"

_ALL_WRITES: Final = Shown(f"{_CLUSTER}::test_every_kind_of_write")
_SMOKE: Final = Shown(
    "tests/cluster/test_cluster_smoke.py::test_statements_run_on_a_cluster_whose_executors_have_no_acidsql"
)
_YARN_PROGRAM: Final = Shown("tests/cluster/test_yarn.py::test_a_program_in_cluster_mode_brings_its_environment")
_YARN_SHELL: Final = Shown("tests/cluster/test_yarn.py::test_the_shell_runs_a_script_in_client_mode")
_HDFS_LOGICAL: Final = Shown(f"{_HDFS_FEATURES}::test_a_warehouse_behind_a_logical_name_of_name_nodes")
_GOLDEN_CHANGES: Final = Shown(
    "tests/spark/test_golden_tables.py::test_an_update_a_delete_and_a_merge_change_the_rows_as_the_model_does"
)
_GOLDEN_READS: Final = Shown("tests/spark/test_golden_tables.py::test_rows_row_ids_and_files_are_those_that_hive_reads")
_HDFS_WITH_HIVE: Final = Shown(f"{_HDFS}::test_hive_reads_and_changes_what_acidsql_wrote_to_hdfs")
_HDFS_EMBEDDED: Final = Shown(f"{_HDFS}::test_a_warehouse_on_hdfs_with_the_embedded_metastore")
_S3: Final = "tests/storage/test_tables_on_s3.py"
_S3_STORY: Final = Shown(f"{_S3}::test_every_kind_of_statement_leaves_the_rows_and_the_files_that_it_must")
_S3_WITH_HIVE: Final = Shown(
    "tests/interop/test_tables_on_s3_with_hive.py::test_hive_reads_and_changes_what_acidsql_wrote_to_s3"
)
_STORES: Final = "tests/cluster/test_stores.py::test_rows_on_a_store_that_driver_and_executors_share"
_VIEWFS_STORY: Final = Shown(f"{_VIEWFS}::test_a_full_acid_table_is_written_changed_compacted_and_dropped")
_HIVE_3_WRITES: Final = Shown(f"{_HIVE_3}::test_tables_with_constraints_and_row_level_writes")
_HIVE_3_BY_SPARK: Final = Shown(f"{_HIVE_3}::test_every_kind_of_write_by_spark")
_HIVE_3_REFUSES: Final = Shown(
    f"{_HIVE_3}::test_what_hive_3_has_no_call_for_is_refused_before_anything_is_written", is_refused=True
)
_BEHIND_TLS: Final = Shown(f"{_TRANSPORTS}::test_each_kind_of_statement_runs_behind_tls")
_BY_HTTP: Final = Shown(f"{_TRANSPORTS}::test_each_kind_of_statement_runs_by_http")
_TICKET: Final = Shown(f"{_KERBEROS}::test_a_ticket_of_the_cache_opens_the_metastore_and_statements_run")
_BESIDE_CONNECT: Final = Shown(f"{_BESIDE}::test_what_needs_no_spark_works_and_the_rest_is_refused_before_it_writes")
_REFUSED_CONNECT: Final = Shown(
    f"{_CONNECT}::test_a_session_of_spark_connect_that_is_given_is_one_clear_error", is_refused=True
)
_LEDGER: Final = Shown(
    "tests/crash/test_soak_ledger.py::test_a_ledger_adds_up_in_every_snapshot_of_many_writing_processes"
)

COMPONENTS: Final = (
    Component(
        "Local disk",
        "Spark in this process, files on a disk of this machine, the embedded metastore.",
        {
            Kind.QUERY: (
                _GOLDEN_READS,
                Shown("tests/arrow/test_answers_as_spark.py::test_the_arrow_table_is_that_of_spark"),
            ),
            Kind.INSERT: (Shown("tests/writing/test_driver_writes.py::test_dml_writes_the_same_events"),),
            Kind.CHANGE: (
                _GOLDEN_CHANGES,
                Shown("tests/dml/test_merge_model.py::test_merge_does_what_its_definition_says"),
            ),
            Kind.COMPACTION: (
                Shown("tests/compactor/test_golden_compactions.py::test_hives_own_compactions_are_made_again"),
                Shown("tests/compactor/test_histories.py::test_compactions_in_a_history_change_nothing"),
                Shown("tests/compactor/test_histories.py::test_compactions_in_many_histories_change_nothing"),
            ),
            Kind.STREAMING: (
                Shown("tests/ingest/test_stream.py::test_the_offset_is_committed_with_the_rows"),
                Shown(
                    "tests/streaming/test_foreach_batch.py::test_a_query_appends_its_batches_and_goes_on_after_a_restart"
                ),
            ),
            Kind.DDL: (
                Shown("tests/ddl/test_alter_table.py::test_a_renamed_table_keeps_rows_write_ids_and_partitions"),
                Shown("tests/ddl/test_ddl_locks.py::test_explain_prints_the_locks_that_the_run_requests"),
            ),
            Kind.FAULTS: (
                Shown(
                    "tests/crash/test_killed_writers.py::"
                    "test_a_writer_that_dies_at_a_point_of_its_statement_changes_all_or_nothing",
                    "kill -9 at six points of an UPDATE, three of them in CI and all in `make test-all`",
                ),
                Shown(
                    "tests/crash/test_random_kills.py::"
                    "test_what_killed_writers_said_to_be_done_is_there_and_nothing_else",
                    "kill -9 of writers at random moments: 3 in CI, 9 in `make test-all`, 1,000 in `make soak`",
                ),
                Shown(
                    "tests/crash/test_killed_compactors.py::"
                    "test_a_compactor_that_dies_changes_nothing_and_the_next_one_finishes",
                    "kill -9 of workers and cleaners",
                ),
                Shown(
                    "tests/crash/test_killed_streams.py::"
                    "test_every_record_of_killed_streams_is_there_once_beside_updates_and_compactions",
                    "kill -9 of streams, UPDATEs and compactions beside them",
                ),
                Shown(
                    "tests/crash/test_streaming_soak.py::test_streams_are_exact_and_fast_for_minutes",
                    "kill -9 of streams every few seconds, for minutes",
                ),
                Shown(
                    "tests/crash/test_full_disk.py::test_at_whichever_file_the_disk_is_full_nothing_is_left",
                    "a full disk at each file of a statement",
                ),
                Shown(
                    "tests/crash/test_stopped_writers.py::"
                    "test_a_stopped_writer_whose_transaction_timed_out_commits_nothing",
                    "SIGSTOP for longer than a transaction may be silent",
                ),
                Shown(
                    "tests/crash/test_repeated_tasks.py::test_a_task_that_fails_and_is_retried_doubles_no_row",
                    "a task that fails after it has written",
                ),
                Shown(
                    "tests/crash/test_lost_jvm.py::"
                    "test_a_jvm_that_is_killed_is_one_error_and_the_next_statement_starts_another",
                    "kill -9 of the JVM",
                ),
            ),
        },
    ),
    Component(
        "Standalone cluster",
        "A master and two workers of Spark as processes of their own on two addresses. Their executors have no acidsql"
        " and do not see the driver's directory of temporary files; speculative execution is on.",
        {
            Kind.QUERY: (_SMOKE, Shown(f"{_CLUSTER}::test_the_employee_story"), _GOLDEN_READS),
            Kind.INSERT: (_SMOKE, _ALL_WRITES),
            Kind.CHANGE: (_SMOKE, _ALL_WRITES, _GOLDEN_CHANGES),
            Kind.COMPACTION: (_SMOKE, _ALL_WRITES),
            Kind.STREAMING: (Shown(f"{_CLUSTER}::test_streams_and_batches_of_structured_streaming"),),
            Kind.DDL: (_SMOKE, _ALL_WRITES),
            Kind.FAULTS: (
                Shown(f"{_CLUSTER}::test_an_executor_killed_in_mid_statement", "kill -9 of an executor in an UPDATE"),
                Shown(
                    f"{_CLUSTER}::test_an_executor_killed_in_mid_compaction", "kill -9 of an executor in a compaction"
                ),
                Shown(f"{_CLUSTER}::test_a_worker_lost_in_mid_statement", "kill -9 of a worker and its executors"),
                Shown(
                    f"{_CLUSTER}::test_a_task_that_runs_twice_at_once",
                    "an executor that stops in an INSERT, and goes on when a speculative attempt has ended",
                ),
                Shown(
                    "tests/cluster/test_killed_driver.py::test_a_driver_killed_in_mid_statement",
                    "kill -9 of the driver's Python and JVM in an UPDATE",
                ),
                Shown(
                    f"{_CLUSTER}::test_a_directory_that_executors_do_not_see_is_an_error_and_loses_no_row",
                    "a directory of the driver's machine alone",
                ),
            ),
        },
    ),
    Component(
        "YARN",
        "Hadoop 3.4.1, a resource manager and two node managers (MiniYARNCluster). All containers see the warehouse, a"
        " directory. A program in cluster mode brings a packed environment; the shell runs in client mode.",
        dict.fromkeys((Kind.QUERY, Kind.INSERT, Kind.CHANGE, Kind.COMPACTION, Kind.DDL), (_YARN_PROGRAM, _YARN_SHELL)),
    ),
    Component(
        "HDFS",
        "Hadoop 3.3.6, a name node and a data node in a process of their own.",
        {
            Kind.QUERY: (
                _HDFS_WITH_HIVE,
                _HDFS_EMBEDDED,
                Shown(f"{_HDFS_FEATURES}::test_a_snapshot_of_a_directory_keeps_its_rows"),
            ),
            Kind.INSERT: (_HDFS_WITH_HIVE, _HDFS_EMBEDDED, _HDFS_LOGICAL),
            Kind.CHANGE: (
                _HDFS_WITH_HIVE,
                _HDFS_LOGICAL,
                Shown(f"{_HDFS_FEATURES}::test_files_belong_to_who_wrote_them_and_the_group_of_their_table"),
                Shown(_STORES),
            ),
            Kind.COMPACTION: (_HDFS_WITH_HIVE, _HDFS_EMBEDDED, _HDFS_LOGICAL),
            Kind.STREAMING: (Shown(f"{_HDFS_FEATURES}::test_streams_and_batches_of_structured_streaming"),),
            Kind.DDL: (
                _HDFS_EMBEDDED,
                Shown(f"{_HDFS_FEATURES}::test_what_a_user_may_want_back_goes_to_the_trash"),
            ),
            Kind.FAULTS: (
                Shown(
                    f"{_HDFS_RESTARTS}::test_statements_wait_for_a_name_node_that_restarts",
                    "a name node that restarts in the middle of each statement",
                ),
                Shown(
                    f"{_HDFS_RESTARTS}::"
                    "test_a_name_node_that_goes_away_in_the_middle_of_a_statement_loses_and_doubles_nothing",
                    "a name node that ends in the middle of each statement, until the statement has failed",
                ),
            ),
        },
    ),
    Component(
        "S3",
        "SeaweedFS 4.48, by S3A of Hadoop 3.5.0 and behind a proxy that counts requests and lets them fail; Hive reads"
        " by S3A of Hadoop 3.3.6.",
        {
            Kind.QUERY: (_S3_STORY, _S3_WITH_HIVE),
            Kind.INSERT: (
                _S3_STORY,
                Shown(f"{_S3}::test_insert_only_and_plain_tables_are_written_and_compacted"),
                _S3_WITH_HIVE,
            ),
            Kind.CHANGE: (_S3_STORY, _S3_WITH_HIVE, Shown(_STORES)),
            Kind.COMPACTION: (_S3_STORY, _S3_WITH_HIVE),
            Kind.STREAMING: (Shown(f"{_S3}::test_rows_are_streamed_into_a_table"),),
            Kind.DDL: (_S3_STORY,),
            Kind.FAULTS: (
                Shown(f"{_S3}::test_a_statement_that_fails_leaves_nothing", "statements that fail while tasks write"),
                Shown(
                    f"{_S3}::test_a_driver_that_is_killed_while_it_writes_loses_and_doubles_nothing",
                    "kill -9 of the driver's Python and JVM at a request that writes",
                ),
                Shown(
                    f"{_S3}::test_requests_that_fail_now_and_then_are_sent_again",
                    "every third request: 503, a late answer, or the connection ends before the request or the answer",
                ),
                Shown(
                    f"{_S3}::test_a_store_that_fails_in_the_middle_of_a_statement_loses_and_doubles_nothing",
                    "503 from some request on, until the statement has failed",
                ),
            ),
        },
    ),
    Component(
        "File system without append",
        "What is done where files cannot be appended to and no store copies parts of files: a view (viewfs) of a local"
        " directory.",
        {
            Kind.QUERY: (_VIEWFS_STORY,),
            Kind.INSERT: (
                _VIEWFS_STORY,
                Shown(f"{_VIEWFS}::test_insert_only_and_plain_tables_are_written_and_converted"),
            ),
            Kind.CHANGE: (_VIEWFS_STORY,),
            Kind.COMPACTION: (_VIEWFS_STORY,),
            Kind.DDL: (
                Shown(f"{_VIEWFS}::test_partitions_are_created_renamed_and_dropped"),
                Shown(f"{_VIEWFS}::test_databases_and_locations_of_tables_lie_on_it"),
            ),
        },
    ),
    Component(
        "Embedded metastore",
        "The SQLite file. The tests of local disks, and most of the others, run on it.",
        {
            Kind.QUERY: (_GOLDEN_READS,),
            Kind.INSERT: (
                Shown("tests/metastore/test_sqlite_locks.py::test_no_insert_is_lost_to_overwrites_of_other_processes"),
            ),
            Kind.CHANGE: (
                Shown("tests/crash/test_concurrent_updates.py::test_four_writers_in_two_processes_lose_no_increment"),
                _LEDGER,
            ),
            Kind.COMPACTION: (
                Shown(
                    "tests/metastore/test_compaction_queue_contract.py::"
                    "test_a_compaction_that_a_worker_took_is_not_given_to_another_one"
                ),
            ),
            Kind.STREAMING: (
                Shown("tests/metastore/test_streams_contract.py::test_progress_is_committed_with_its_transaction"),
            ),
            Kind.DDL: (Shown("tests/metastore/test_catalog_contract.py::test_a_table_is_read_back_unchanged"),),
            Kind.FAULTS: (
                Shown(
                    "tests/metastore/test_sqlite_processes.py::test_killing_writers_at_any_moment_leaves_a_sound_file",
                    "kill -9 of processes that write the file",
                ),
                Shown(
                    "tests/crash/test_full_disk.py::"
                    "test_a_metastore_without_space_fails_the_statement_and_goes_on_when_there_is_some",
                    "a full disk under the file",
                ),
                Shown(
                    "tests/metastore/test_clock_jumps.py::"
                    "test_a_process_with_a_heartbeat_keeps_its_transaction_when_the_clock_jumps",
                    "a clock that is set",
                ),
            ),
        },
    ),
    Component(
        "Hive Metastore 4.0.1",
        "A Hive of Maven on Derby, which reads and changes the same tables.",
        {
            Kind.QUERY: (
                Shown(
                    "tests/interop/test_hive_reads_dml.py::test_hive_reads_each_statement_of_a_table_as_acidsql_does"
                ),
            ),
            Kind.INSERT: (Shown(f"{_ON_HIVE}::test_partitions_are_known_to_both"),),
            Kind.CHANGE: (
                Shown(f"{_ON_HIVE}::test_the_employee_story"),
                Shown("tests/interop/test_interleaving.py::test_hive_and_acidsql_take_turns"),
            ),
            Kind.COMPACTION: (
                Shown(
                    "tests/interop/test_hive_reads_compacted.py::"
                    "test_hive_reads_what_acidsql_compacted_on_its_queue_and_goes_on"
                ),
            ),
            Kind.STREAMING: (
                Shown(
                    "tests/interop/test_hive_reads_streams.py::"
                    "test_hive_reads_changes_and_compacts_a_table_that_is_streamed_into"
                ),
                Shown(
                    "tests/interop/test_streaming_sinks_with_hive.py::test_batches_are_written_once_and_read_by_hive"
                ),
            ),
            Kind.DDL: (Shown(f"{_ON_HIVE}::test_tables_that_are_created_altered_renamed_loaded_and_dropped"),),
            Kind.FAULTS: (
                Shown(
                    "tests/crash/test_killed_metastore.py::"
                    "test_a_statement_whose_metastore_is_killed_changes_all_or_nothing",
                    "kill -9 of the metastore in a MERGE",
                ),
                Shown(
                    "tests/crash/test_killed_metastore.py::"
                    "test_a_writer_that_dies_on_a_hive_metastore_changes_all_or_nothing",
                    "kill -9 of the writer at the points of an UPDATE",
                ),
                Shown(
                    "tests/crash/test_killed_hive_compactors.py::"
                    "test_a_worker_that_dies_changes_nothing_and_another_one_does_its_work",
                    "kill -9 of a worker",
                ),
                Shown(
                    "tests/crash/test_streaming_soak.py::test_streams_are_exact_and_fast_for_minutes",
                    "kill -9 of streams every few seconds, for minutes",
                ),
                Shown(
                    f"{_CONNECTION}::test_what_must_not_be_done_twice_fails_when_the_connection_breaks",
                    "connections that are cut",
                ),
                Shown(
                    f"{_CONNECTION}::test_a_metastore_that_goes_away_in_a_commit_leaves_it_unknown",
                    "a metastore that goes away in a commit",
                ),
            ),
        },
    ),
    Component(
        "Hive Metastore 3.1.3",
        "The standalone metastore of Maven on Derby. Tables are read and written on a local disk.",
        {
            Kind.QUERY: (_HIVE_3_WRITES, _HIVE_3_BY_SPARK),
            Kind.INSERT: (_HIVE_3_WRITES, _HIVE_3_BY_SPARK),
            Kind.CHANGE: (_HIVE_3_WRITES, _HIVE_3_BY_SPARK),
            Kind.COMPACTION: (_HIVE_3_REFUSES,),
            Kind.STREAMING: (_HIVE_3_REFUSES,),
            Kind.DDL: (
                _HIVE_3_WRITES,
                Shown("tests/metastore/test_catalog_contract.py::test_a_table_is_read_back_unchanged"),
            ),
        },
    ),
    Component(
        "Metastore behind TLS",
        "A proxy that ends TLS in front of a Hive Metastore 4.0.1, with and without Kerberos.",
        {
            Kind.QUERY: (_BEHIND_TLS,),
            Kind.INSERT: (_BEHIND_TLS,),
            Kind.CHANGE: (_BEHIND_TLS,),
            Kind.COMPACTION: (_BEHIND_TLS,),
            Kind.STREAMING: (_BEHIND_TLS,),
            Kind.DDL: (_BEHIND_TLS,),
            Kind.FAULTS: (
                Shown(
                    f"{_TRANSPORTS}::test_a_metastore_behind_tls_is_used_and_its_connections_are_kept",
                    "connections that are cut; a certificate that nobody trusts",
                ),
            ),
        },
    ),
    Component(
        "Metastore by HTTP",
        "A Hive Metastore 4.0.1 that speaks HTTPS.",
        {
            Kind.QUERY: (_BY_HTTP,),
            Kind.INSERT: (_BY_HTTP,),
            Kind.CHANGE: (_BY_HTTP,),
            Kind.COMPACTION: (_BY_HTTP,),
            Kind.STREAMING: (_BY_HTTP,),
            Kind.DDL: (_BY_HTTP, Shown(f"{_TRANSPORTS}::test_a_metastore_that_speaks_http_is_used")),
        },
    ),
    Component(
        "Metastore with Kerberos",
        "A KDC (Apache Kerby) and a Hive Metastore 4.0.1 that asks for it, once for each way to protect messages.",
        {
            Kind.QUERY: (_TICKET,),
            Kind.INSERT: (_TICKET,),
            Kind.CHANGE: (_TICKET,),
            Kind.COMPACTION: (_TICKET,),
            Kind.STREAMING: (_TICKET,),
            Kind.DDL: (
                _TICKET,
                Shown(f"{_KERBEROS}::test_kerberos_goes_through_tls"),
                Shown(f"{_KERBEROS}::test_a_user_may_act_for_another_one"),
            ),
            Kind.FAULTS: (
                Shown(
                    f"{_KERBEROS}::test_messages_are_protected_as_the_metastore_asks", "an answer that a proxy changes"
                ),
                Shown(
                    f"{_KERBEROS}::test_without_a_ticket_or_with_a_wrong_name_there_is_one_clear_error",
                    "no ticket, no keytab, an unknown principal",
                ),
                Shown(
                    f"{_KERBEROS}::test_a_token_whose_secret_is_wrong_is_refused",
                    "a delegation token with a wrong secret",
                ),
            ),
        },
    ),
    Component(
        "Spark Connect",
        "A session of it is refused before anything happens. What needs no Spark works in the same process.",
        {
            Kind.QUERY: (
                _REFUSED_CONNECT,
                _BESIDE_CONNECT,
            ),
            Kind.INSERT: (_REFUSED_CONNECT, _BESIDE_CONNECT),
            Kind.CHANGE: (_REFUSED_CONNECT, _BESIDE_CONNECT),
            Kind.COMPACTION: (_REFUSED_CONNECT,),
            Kind.STREAMING: (_REFUSED_CONNECT, _BESIDE_CONNECT),
            Kind.DDL: (_REFUSED_CONNECT, _BESIDE_CONNECT),
        },
    ),
)
"""In the order of the page. A kind that is missing is not tested."""
