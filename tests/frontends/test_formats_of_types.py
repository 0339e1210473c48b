"""Rows of every type, from Spark through a script to each format."""

from __future__ import annotations

import csv
import io
import json

import pytest

from acidsql.frontends.render import Format
from acidsql.frontends.script import Manner, Runner
from acidsql.session import Session

QUERY = r"""
SELECT CAST(7 AS TINYINT) AS t, CAST(2.5 AS FLOAT) / 10 AS q, CAST(0.1 AS FLOAT) AS f, CAST('NaN' AS DOUBLE) AS nan,
       CAST(1.5 AS DECIMAL(10, 2)) AS price, DATE '2024-02-29' AS d, TIMESTAMP '2024-02-29 12:34:56.120' AS ts,
       true AS yes, CAST(NULL AS INT) AS nothing, CAST('a' AS BINARY) AS b, 'x	y' AS s,
       named_struct('n', 1, 'f', CAST(0.1 AS FLOAT), 'm', map('k', array(DATE '2024-01-01', NULL))) AS nested
"""
TEXTS = {
    "t": "7",
    "q": "0.25",
    "f": "0.1",
    "nan": "NaN",
    "price": "1.50",
    "d": "2024-02-29",
    "ts": "2024-02-29 12:34:56.12",
    "yes": "true",
    "nothing": None,
    "b": "YQ==",
    "s": "x\ty",
    "nested": '{"n":1,"f":0.1,"m":{"k":["2024-01-01",null]}}',
}
OBJECTS = TEXTS | {
    "t": 7,
    "q": 0.25,
    "f": 0.1,
    "yes": True,
    "nested": {"n": 1, "f": 0.1, "m": {"k": ["2024-01-01", None]}},
}


@pytest.mark.ci
@pytest.mark.parametrize("shape", list(Format))
def test_every_type_in_every_format(shape: Format, session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    runner = Runner(session, Manner(shape=shape))
    assert runner.run_text(QUERY), capsys.readouterr().err
    shown = capsys.readouterr().out
    match shape:
        case Format.JSON:
            assert json.loads(shown) == [OBJECTS]
        case Format.JSONL:
            assert list(json.loads(shown).items()) == list(OBJECTS.items())
        case Format.CSV:
            assert list(csv.DictReader(io.StringIO(shown))) == [{k: v or "" for k, v in TEXTS.items()}]
        case Format.TSV:
            head, row = (line.split("\t") for line in shown.splitlines())
            assert dict(zip(head, row, strict=True)) == TEXTS | {"nothing": "NULL", "s": r"x\ty"}
        case Format.TABLE | Format.MARKDOWN:
            # Below the names, the only line that is no rule; markdown escapes the backslash of \t once more.
            rows = [line for line in shown.splitlines() if "2024-02-29" in line]
            cells = [cell.strip().replace("\\\\", "\\") for cell in rows[0].strip("|").split("|")]
            assert dict(zip(TEXTS, cells, strict=True)) == TEXTS | {"nothing": "NULL", "s": r"x\ty"}
        case Format.VERTICAL:
            pairs = [line.strip().partition(": ") for line in shown.splitlines()[1:]]
            assert {name: value for name, _, value in pairs} == TEXTS | {"nothing": "NULL", "s": r"x\ty"}
