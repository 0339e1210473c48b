"""`connect`, and the default session of `run_sql` and the magics. Heavy modules are imported at the first call."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from acidsql.session import Session

_default: Session | None = None
_default_lock = threading.Lock()


def connect(
    warehouse: str | os.PathLike[str] | None = None,
    metastore: str | None = None,
    spark: SparkSession | None = None,
    conf: Mapping[str, str] | None = None,
    *,
    settings: Mapping[str, str] | None = None,
) -> Session:
    """Opens a session on a warehouse. Spark starts with the first statement that needs it.

    Args:
        warehouse: A directory, or a URI of one of Spark's file systems. The default is `$ACIDSQL_WAREHOUSE`, else
            `./warehouse`.
        metastore: `sqlite:///PATH` for an embedded metastore, or `thrift://HOST:PORT[,HOST:PORT..]` for a Hive
            Metastore, which brings its own warehouse. The default is `$ACIDSQL_METASTORE`. Without it, and if no
            warehouse is named either, it is the metastore that `$HIVE_CONF_DIR/hive-site.xml` names. Else it is
            `<warehouse>/.acidsql/metastore.db`.
        spark: A Spark session to use. Without it acidsql starts Spark.
        conf: Spark settings for the Spark session that acidsql starts.
        settings: Settings of acidsql and Hive, as SET changes them. They come behind those of the TOML file that
            `$ACIDSQL_SETTINGS` names.

    Returns:
        The session, which is a context manager. Close it to stop a Spark that it has started.

    Raises:
        AcidSqlError: METASTORE_UNAVAILABLE if the metastore cannot be opened, UNKNOWN_SETTING and INVALID_SETTING for
            `settings`, INVALID_SETTINGS_FILE for the file of `$ACIDSQL_SETTINGS`.

    >>> with acidsql.connect("warehouse", spark=spark) as session:
    ...     session.sql("SELECT 1 AS one").collect()
    [Row(one=1)]
    """
    from acidsql.session import connect as open_session

    return open_session(warehouse, metastore, spark, conf, settings=settings)


def default_session(spark: SparkSession | None = None) -> Session:
    """The session of `run_sql`. The first call opens it on `$ACIDSQL_WAREHOUSE` and `$ACIDSQL_METASTORE`.

    >>> acidsql.default_session(spark).database
    'default'
    """
    global _default
    with _default_lock:
        if _default is None:
            _default = connect(spark=spark)
        return _default


def opened_default_session() -> Session | None:
    """The session of `run_sql` if a call has opened one."""
    return _default


def set_default_session(session: Session) -> None:
    """Makes this the session of `run_sql`, `default_session` and the magics. The former one stays open."""
    global _default
    with _default_lock:
        _default = session
