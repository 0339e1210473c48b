"""Text that is not UTF-8 and ends in the middle of a character: no statement adds bytes of other values to it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from acidsql.session import Session
from tests.answers import spark_alone

TEXTS = (b"caf\xe9", b"a\xc3", b"\xff", b"ab\xf0", b"next")
ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"


def stored_bytes(session: Session) -> list[bytes]:
    table = session.read_arrow("t").read_all().sort_by("id")
    return [text.rstrip(b" ") for text in table.column("s").cast(pa.binary()).to_pylist()]


@pytest.mark.parametrize("kind", ["varchar(10)", "varchar(4)", "char(4)", "char(10)"])
def test_a_text_that_ends_within_a_character_stays_as_it_is(session: Session, tmp_path: Path, kind: str) -> None:
    texts = pa.array(TEXTS, pa.binary()).view(pa.string())
    orc.write_table(pa.table({"id": pa.array(range(len(TEXTS)), pa.int32()), "s": texts}), str(tmp_path / "f"))
    session.execute(f"CREATE TABLE t (id INT, s {kind}) {ACID}")
    session.execute(f"LOAD DATA LOCAL INPATH '{tmp_path}/f' INTO TABLE t")
    with spark_alone(session):
        session.execute("UPDATE t SET s = concat(s, '')")
        assert stored_bytes(session) == list(TEXTS)
        session.execute("INSERT OVERWRITE TABLE t SELECT id, s FROM t")
        assert stored_bytes(session) == list(TEXTS)
        shown = session.sql("SELECT hex(rtrim(s)) AS h FROM t ORDER BY id").collect()
        assert [bytes.fromhex(row.h) for row in shown] == list(TEXTS)
        frame = session.sql("SELECT id, s FROM t ORDER BY id")
        assert [row.s.rstrip() for row in frame.collect()] == [text.decode(errors="replace") for text in TEXTS]
