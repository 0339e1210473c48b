"""Values of tables with OpenCSVSerde, read from lines as opencsv's CSVParser reads them. Every value is a text.

Spark's CSV format differs from opencsv for quotes within a field, for escapes and for fields that a line lacks. The
rules were seen in Hive 4.0.1 (tests/formats/test_csv_tables.py).
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid.csv_format import CsvFormat, csv_format
from acidsql.acid.table import Table
from acidsql.acid.text_format import sign_class
from acidsql.grammar.quoting import sql_string

_START: Final = (
    "named_struct('done', CAST(array() AS array<string>), 'text', '', 'quoted', false, 'inside', false, 'skips', false)"
)


def csv_fields(table: Table) -> list[Column]:
    """The columns of a line, which is the column `value`. Columns that a line lacks are NULL."""
    form = csv_format(table.row_format)
    line = F.col("value")
    # A line without quotes and escapes is split at once; a character at a time is slow.
    is_simple = ~line.rlike(sign_class((form.quote, form.escape)))
    fields = F.when(is_simple, F.split(line, sign_class((form.separator,)), -1)).otherwise(F.expr(_parsed(form)))
    present = F.when(line != "", fields)
    return [F.get(present, F.lit(place)).alias(column.name) for place, column in enumerate(table.columns)]


def _parsed(form: CsvFormat) -> str:
    """SQL of the fields of a line: one step for each character.

    A field that is still quoted at the end of the line is lost, because opencsv waits for another line.
    """
    separator, quote, escape = (sql_string(sign) for sign in (form.separator, form.quote, form.escape))
    char, after, before = (f"substring(value, {place}, 1)" for place in ("i", "i + 1", "i - 1"))

    def state(
        text: str = "s.text",
        inside: str = "s.inside",
        done: str = "s.done",
        quoted: str = "s.quoted",
        skips: str = "false",
    ) -> str:
        fields = f"'done', {done}, 'text', {text}, 'quoted', {quoted}, 'inside', {inside}, 'skips', {skips}"
        return f"named_struct({fields})"

    with_next = f"concat(s.text, {after})"
    # `inside` is opencsv's inField. Every quote toggles it, even an escaped one.
    takes = "(s.quoted OR s.inside)"
    # A quote within a field is part of the text; one after blanks removes the blanks.
    is_inner = f"i > 3 AND {before} <> {separator} AND i < length(value) AND {after} <> {separator}"
    inner = f"CASE WHEN s.text RLIKE '^\\\\p{{javaWhitespace}}+$' THEN '' ELSE concat(s.text, {char}) END"
    toggled = state(f"CASE WHEN {is_inner} THEN {inner} ELSE s.text END", "NOT s.inside", quoted="NOT s.quoted")
    step = f"""CASE
        WHEN s.skips THEN {state()}
        WHEN {char} = {escape} AND {takes} AND {after} IN ({quote}, {escape}) THEN {state(with_next, skips="true")}
        WHEN {char} = {escape} THEN {state()}
        WHEN {char} = {quote} AND {takes} AND {after} = {quote} THEN {state(with_next, "NOT s.inside", skips="true")}
        WHEN {char} = {quote} THEN {toggled}
        WHEN {char} = {separator} AND NOT s.quoted THEN {state("''", "false", done="concat(s.done, array(s.text))")}
        ELSE {state(f"concat(s.text, {char})", "true")} END"""
    finish = "CASE WHEN s.quoted THEN s.done ELSE concat(s.done, array(s.text)) END"
    return f"aggregate(sequence(1, length(value)), {_START}, (s, i) -> {step}, s -> {finish})"
