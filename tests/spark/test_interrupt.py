"""Ctrl-C in the middle of a call to the JVM: what follows in the same thread gets its own answers."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.session import Session


def test_calls_after_an_interrupted_one_get_their_own_answers(spark: SparkSession, session: Session) -> None:
    jvm: Any = spark._jvm
    session.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            jvm.java.lang.Thread.sleep(4000)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    session.cancel()
    assert session.sql("SELECT 1 + 1 AS two").collect()[0].two == 2
    assert jvm.java.lang.Integer.parseInt("17") == 17
