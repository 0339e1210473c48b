"""Timestamps that ORC files cannot hold are refused, at any depth."""

from __future__ import annotations

import datetime

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session

_ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_BAD = "timestamp '1969-12-31 23:59:59.5'"
_GOOD = "timestamp '1969-12-31 23:59:59.000999'"


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [_ACID, "STORED AS ORC"])
def test_a_fraction_of_the_second_before_1970_is_refused_at_any_depth(session: Session, kind: str) -> None:
    session.sql(
        "CREATE TABLE t (k INT, t TIMESTAMP, a ARRAY<TIMESTAMP>, m MAP<STRING,STRUCT<d:DATE,t:ARRAY<TIMESTAMP>>>,"
        f" n STRUCT<x:INT,m:MAP<TIMESTAMP,INT>>) {kind}"
    )
    good = (
        f"{_GOOD}, array(NULL, {_GOOD}), map('a', NULL, 'b', named_struct('d', NULL, 't', array({_GOOD}, NULL))),"
        f" named_struct('x', 1, 'm', map({_GOOD}, NULL))"
    )
    session.sql(f"INSERT INTO t SELECT 1, {good}")
    session.sql("INSERT INTO t (k) VALUES (2)")
    kept = session.sql("SELECT * FROM t ORDER BY k").collect()
    assert kept[0].t == kept[0].a[1] == datetime.datetime(1969, 12, 31, 23, 59, 59, 999)
    assert len(kept) == 2
    for place in range(good.count(_GOOD)):
        pieces = good.split(_GOOD)
        bad = _GOOD.join(pieces[: place + 1]) + _BAD + _GOOD.join(pieces[place + 1 :])
        with pytest.raises(AcidSqlError) as caught:
            session.sql(f"INSERT INTO t SELECT 3, {bad}")
        assert caught.value.condition == "INVALID_STORE_VALUE"
    assert session.sql("SELECT * FROM t ORDER BY k").collect() == kept
