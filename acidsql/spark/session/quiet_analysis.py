"""Analysis errors without the records that PySpark logs for them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from acidsql.spark.catalyst.pyspark_api import error_logger

_quiet_lock = threading.Lock()
_quiet_count = 0


@contextmanager
def quiet_analysis() -> Iterator[None]:
    """Suppresses the JSON record that PySpark logs for every analysis error: the error itself reaches the user. Several
    threads may be inside at once."""
    logger = error_logger()
    if logger is None:
        yield
        return
    _silence(logger, 1)
    try:
        yield
    finally:
        _silence(logger, -1)


def _silence(logger: logging.Logger, change: int) -> None:
    global _quiet_count
    with _quiet_lock:
        _quiet_count += change
        logger.disabled = _quiet_count > 0
