"""DML and DDL of other databases: the place, and the statement of Hive's to write instead."""

from __future__ import annotations

import pytest

from acidsql.errors import AcidSqlError
from acidsql.grammar.parser import parse

COMPLETE = [
    # statement, the underlined words, the statement to write, which parses
    (
        "UPDATE u SET name = t.name FROM t WHERE u.id = t.id",
        "FROM",
        "MERGE INTO u USING t ON u.id = t.id WHEN MATCHED THEN UPDATE SET name = t.name",
    ),
    (
        "UPDATE db.u AS x\n  SET name = t.name\n  FROM s.t AS t\n  WHERE x.id = t.id RETURNING id",
        "FROM",
        "MERGE INTO db.u AS x USING s.t AS t ON x.id = t.id WHEN MATCHED THEN UPDATE SET name = t.name",
    ),
    (
        "UPDATE u INNER JOIN t ON u.id = t.id SET name = t.name",
        "JOIN",
        "MERGE INTO u USING t ON u.id = t.id WHEN MATCHED THEN UPDATE SET name = t.name",
    ),
    (
        "DELETE FROM u USING t WHERE u.id = t.id AND t.gone",
        "USING",
        "MERGE INTO u USING t ON u.id = t.id AND t.gone WHEN MATCHED THEN DELETE",
    ),
    ("DELETE FROM u JOIN t ON u.id = t.id", "JOIN", "MERGE INTO u USING t ON u.id = t.id WHEN MATCHED THEN DELETE"),
    (
        "DELETE u FROM u JOIN t ON u.id = t.id",
        "u FROM",
        "MERGE INTO u USING t ON u.id = t.id WHEN MATCHED THEN DELETE",
    ),
    ("DELETE u WHERE id = 1", "u", "DELETE FROM u WHERE id = 1"),
    ("DELETE * FROM u WHERE id = 1", "*", "DELETE FROM u WHERE id = 1"),
    (
        "INSERT INTO u (id, name) VALUES (1, 'a') ON CONFLICT (id) DO UPDATE SET name = excluded.name",
        "ON CONFLICT",
        "MERGE INTO u USING (VALUES (1, 'a')) AS excluded (id, name) ON u.id = excluded.id"
        " WHEN MATCHED THEN UPDATE SET name = excluded.name WHEN NOT MATCHED THEN INSERT *",
    ),
    (
        "INSERT INTO u (id, k) SELECT id, k FROM t ON CONFLICT (id, k) DO NOTHING",
        "ON CONFLICT",
        "MERGE INTO u USING (SELECT id, k FROM t) AS excluded (id, k) ON u.id = excluded.id AND u.k = excluded.k"
        " WHEN NOT MATCHED THEN INSERT *",
    ),
    (
        "REPLACE INTO u (id) VALUES (1)",
        "REPLACE INTO",
        "MERGE INTO u USING (VALUES (1)) AS excluded (id) ON u.id = excluded.id WHEN MATCHED THEN UPDATE SET *"
        " WHEN NOT MATCHED THEN INSERT *",
    ),
    ("MERGE u USING t ON u.id = t.id WHEN MATCHED THEN DELETE", "u", None),
    ("ALTER TABLE u ADD COLUMN x decimal(10,2)", "ADD COLUMN", "ALTER TABLE u ADD COLUMNS (x decimal(10,2))"),
    ("ALTER TABLE u ALTER COLUMN v TYPE bigint", "ALTER COLUMN", "ALTER TABLE u CHANGE COLUMN v v bigint"),
    ("ALTER TABLE u MODIFY v bigint", "MODIFY", "ALTER TABLE u CHANGE COLUMN v v bigint"),
    ("VACUUM u", "VACUUM", "ALTER TABLE u COMPACT 'major'"),
    ("SELECT TOP 3 id FROM u", "TOP", "SELECT id FROM u LIMIT 3"),
    ("SELECT id INTO x FROM u", "INTO", "CREATE TABLE x AS SELECT id FROM u"),
]
OTHERS = [
    # statement, the underlined words, a part of the hint
    ("UPDATE u SET v = t.v FROM t JOIN p ON t.id = p.id WHERE u.id = t.id", "FROM", "USING (SELECT .. FROM t JOIN p"),
    ("UPDATE u SET v = 1 RETURNING id", "RETURNING", "SELECT after the statement"),
    ("UPDATE u SET v = 1 ORDER BY id LIMIT 3", "ORDER BY", "WHERE chooses the rows"),
    ("DELETE FROM u WHERE id = 1 RETURNING *", "RETURNING", "SELECT after the statement"),
    ("DELETE FROM u LIMIT 1", "LIMIT", "WHERE chooses the rows"),
    ("INSERT INTO u VALUES (1) RETURNING id", "RETURNING", "SELECT after the statement"),
    ("INSERT INTO u VALUES (1) ON DUPLICATE KEY UPDATE v = 1", "ON DUPLICATE", "MERGE INTO u"),
    ("INSERT OR REPLACE INTO u VALUES (1)", "OR REPLACE", "MERGE INTO u USING (VALUES (1))"),
    ("INSERT IGNORE INTO u VALUES (1)", "IGNORE", "WHEN NOT MATCHED THEN INSERT *"),
    ("INSERT INTO u SET id = 1", "SET", "INSERT INTO u (a, b)"),
    ("INSERT INTO u DEFAULT VALUES", "DEFAULT VALUES", "VALUES (DEFAULT, DEFAULT)"),
    ("MERGE INTO u USING t ON u.id = t.id WHEN MATCHED THEN DO NOTHING", "DO NOTHING", "stays as it is"),
    ("CREATE OR REPLACE TABLE u (id int)", "OR REPLACE", "DROP TABLE IF EXISTS u"),
    ("CREATE TABLE u (id bigint AUTO_INCREMENT)", "AUTO_INCREMENT", "row_number()"),
    ("ALTER TABLE u RENAME COLUMN a TO b", "RENAME COLUMN", "CHANGE COLUMN a b"),
    ("SELECT * FROM u FOR UPDATE", "FOR UPDATE", "START TRANSACTION"),
]
ACCEPTED = [
    "UPDATE t SET a = (SELECT max(b) FROM s) WHERE id = 1",
    "DELETE FROM t WHERE id IN (SELECT id FROM s JOIN r ON s.a = r.a)",
    "INSERT INTO t SELECT a AS returning FROM s JOIN r ON s.a = r.a",
    "SELECT `returning`, `top` FROM t",
    "INSERT INTO t SELECT s.a FROM s JOIN r ON conflict = 1",
]


@pytest.mark.parametrize(("statement", "words", "wanted"), COMPLETE)
def test_the_hint_is_the_statement_to_write(statement: str, words: str, wanted: str | None) -> None:
    with pytest.raises(AcidSqlError) as raised:
        parse(statement)
    assert raised.value.span is not None
    assert raised.value.span.text == words
    assert raised.value.hint == (wanted or statement.replace("MERGE", "MERGE INTO"))
    parse(raised.value.hint)


@pytest.mark.parametrize(("statement", "words", "part"), OTHERS)
def test_the_hint_says_what_hive_has_instead(statement: str, words: str, part: str) -> None:
    with pytest.raises(AcidSqlError) as raised:
        parse(statement)
    assert raised.value.span is not None
    assert raised.value.span.text == words
    assert part in raised.value.hint


@pytest.mark.parametrize("statement", ACCEPTED)
def test_hives_own_statements_with_these_words_are_accepted(statement: str) -> None:
    parse(statement)
