"""Columns of any name that Hive allows, in every statement and every kind of table, also if acidsql uses the name."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from acidsql.acid.object_names import VIRTUAL
from acidsql.errors import AcidSqlError
from acidsql.grammar.quoting import name_sql
from acidsql.session import Session
from acidsql.spark.scan import data_skipping
from acidsql.storage.orc.footer_messages import name_as_read, name_as_written
from tests.selection import core

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
WITH_BACKTICKS = ("a`b", "`", "``", "`x`", "x`y`")
PLAIN_BUT_ODD = (
    "a b",
    " x ",
    "a'b",
    'a"b',
    "a,b",
    "a<b>",
    "a\\b",
    "a\nb",
    "é",
    "日本",
    "😀",
    "%61",
    "a/b=c",
    "select",
    "1",
    "--",
)
OURS = (
    "@branch",
    "@row_id",
    "@place",
    "@part",
    "@rows",
    "@bucket",
    "@file_key",
    "@deleted",
    "@c",
    "_c0",
    "value",
    "operation",
    "row",
    "currenttransaction",
    "acidsql_slot",
    "acidsql_place",
    "acidsql_value0",
    "_metadata",
    "t@1",
)


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in session.sql(query).collect()), key=repr)


def refused(session: Session, sql: str, condition: str) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as raised:
        session.execute(sql)
    assert raised.value.condition == condition, raised.value
    return raised.value


@pytest.mark.nightly
def test_columns_of_odd_names_go_through_every_statement(session: Session) -> None:
    """All names in one table: each statement reads and writes all of them."""
    names = (*WITH_BACKTICKS, *PLAIN_BUT_ODD, *OURS)
    quoted = [name_sql(name) for name in names]
    columns = ", ".join(f"{name} STRING" for name in quoted)
    listed = ", ".join(quoted)

    def values(mark: str) -> str:
        return ", ".join(f"'{mark}{i}'" for i in range(len(names)))

    def row(key: int, mark: str) -> tuple[object, ...]:
        return (key, *(f"{mark}{i}" for i in range(len(names))))

    def check(table: str, *expected: tuple[object, ...]) -> None:
        assert rows(session, f"SELECT k, {listed} FROM {table}") == list(expected)

    session.execute(f"CREATE TABLE t (k INT, {columns}) {ACID}")
    session.execute(f"INSERT INTO t (k, {listed}) VALUES (1, {values('a')}), (2, {values('b')}), (3, {values('c')})")
    check("t", row(1, "a"), row(2, "b"), row(3, "c"))
    equal = " AND ".join(f"{name} = 'b{i}'" for i, name in enumerate(quoted))
    assert rows(session, f"SELECT k FROM t WHERE {equal}") == [(2,)]
    session.execute(f"UPDATE t SET {', '.join(f'''{name} = concat('u', {name})''' for name in quoted)} WHERE {equal}")
    session.execute("UPDATE t SET k = k + 10 WHERE k = 3")
    check("t", row(1, "a"), row(13, "c"), row(2, "ub"))
    session.execute(
        f"CREATE TABLE s {ACID} AS SELECT 1 AS k, {', '.join(f'''upper({n}) AS {n}''' for n in quoted)} FROM t"
        " WHERE k = 1"
    )
    session.execute(f"INSERT INTO s SELECT 4, {listed} FROM t WHERE k = 13")
    merge = "MERGE INTO t USING s ON t.k = s.k AND " + " AND ".join(f"t.{n} = lower(s.{n})" for n in quoted)
    session.execute(f"{merge} WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    check("t", row(1, "A"), row(13, "c"), row(2, "ub"), row(4, "c"))
    starts = " AND ".join(f"{name} LIKE 'c%'" for name in quoted)
    session.execute(f"DELETE FROM t WHERE {starts} AND k = 4")
    session.execute("ALTER TABLE t COMPACT 'minor' AND WAIT")
    check("t", row(1, "A"), row(13, "c"), row(2, "ub"))
    session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    check("t", row(1, "A"), row(13, "c"), row(2, "ub"))
    text = session.sql("SHOW CREATE TABLE t").collect()
    session.execute("DROP TABLE t")
    session.execute("\n".join(line[0] for line in text))
    check("t")
    assert [r[0] for r in session.sql("DESCRIBE t").collect()] == ["k", *(name.lower() for name in names)]
    assert "INSERT" in session.explain(f"INSERT INTO t (k, {listed}) SELECT k, {listed} FROM s")


@pytest.mark.ci
@pytest.mark.parametrize(
    "name", ["a`b", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("@branch", "a b,'c\"", "_metadata"))]
)
def test_partition_and_bucket_columns_have_odd_names(session: Session, name: str) -> None:
    c = name_sql(name)
    session.execute(f"CREATE TABLE p (k INT, v INT) PARTITIONED BY ({c} STRING) CLUSTERED BY (k) INTO 2 BUCKETS {ACID}")
    session.execute("INSERT INTO p VALUES (1, 1, 'x'), (2, 2, 'y')")
    session.execute(f"INSERT INTO p PARTITION ({c} = 'z') VALUES (3, 3)")
    session.execute(f"UPDATE p SET v = 10 WHERE {c} = 'y'")
    session.execute(f"ALTER TABLE p PARTITION ({c} = 'y') COMPACT 'major' AND WAIT")
    session.execute(f"ALTER TABLE p DROP PARTITION ({c} = 'z')")
    assert rows(session, f"SELECT k, v, {c} FROM p") == [(1, 1, "x"), (2, 10, "y")]
    session.execute(f"CREATE TABLE b ({c} STRING, v INT) CLUSTERED BY ({c}) INTO 2 BUCKETS {ACID}")
    session.execute("INSERT INTO b VALUES ('x', 1), ('y', 2), ('z', 3)")
    session.execute(f"DELETE FROM b WHERE {c} = 'y'")
    assert rows(session, f"SELECT {c}, v FROM b") == [("x", 1), ("z", 3)]


@pytest.mark.ci
@pytest.mark.parametrize(
    "stored",
    [
        INSERT_ONLY,
        "STORED AS ORC",
        pytest.param("STORED AS PARQUET", marks=pytest.mark.nightly),
        pytest.param("STORED AS TEXTFILE", marks=pytest.mark.nightly),
    ],
)
def test_plain_and_insert_only_tables_have_odd_names(session: Session, stored: str) -> None:
    names = ("a`b", "@part", "@file_key", "acidsql_slot", "_metadata", "a b")
    quoted = [name_sql(name) for name in names]
    session.execute(f"CREATE TABLE t ({', '.join(f'{n} STRING' for n in quoted)}, c CHAR(3)) {stored}")
    for mark in "ab":  # two files: their facts are looked up
        session.execute(
            f"INSERT INTO t VALUES ({', '.join(f'''repeat('{mark}', {i + 1})''' for i in range(len(names)))}, '{mark}')"
        )
    if stored == INSERT_ONLY:
        session.execute("ALTER TABLE t COMPACT 'major' AND WAIT")
    expected = [tuple(mark * (i + 1) for i in range(len(names))) for mark in "ab"]
    assert rows(session, f"SELECT {', '.join(quoted)} FROM t") == expected
    assert rows(session, f"SELECT count(DISTINCT INPUT__FILE__NAME) > 0 FROM t WHERE {quoted[0]} = 'a'") == [(True,)]


@pytest.mark.ci
def test_a_query_may_give_its_columns_and_tables_any_name(session: Session) -> None:
    session.execute(f"CREATE TABLE t (id INT, v STRING) PARTITIONED BY (p STRING) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a', 'x'), (2, 'b', 'y')")
    aliases = "2 AS `@branch`, 'y' AS `:place`, 'z' AS `:row_id`, 4 AS `@place`, 5 AS `:branch`, 6 AS `a.b`"
    assert rows(session, f"SELECT * FROM (SELECT {aliases}) s") == [(2, "y", "z", 4, 5, 6)]
    session.execute(
        f"MERGE INTO t USING (SELECT {aliases}) s ON t.id = s.`@branch` AND t.p = s.`:place`"
        " WHEN MATCHED THEN UPDATE SET v = s.`:row_id` WHEN NOT MATCHED THEN INSERT VALUES (s.`@place`, 'n', 'x')"
        " WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert rows(session, "SELECT id, v, p FROM t") == [(2, "z", "y")]
    assert rows(session, "WITH `t@1` AS (SELECT 7 AS id) SELECT t.id, c.id FROM t, `t@1` c") == [(2, 7)]
    assert "`:place`" not in str(refused(session, "SELECT `:place` FROM t", "COLUMN_NOT_FOUND").hint)


@pytest.mark.parametrize("name", ["", "a.b", "a:b", "a\0b", ":branch", "x" * 768, *VIRTUAL])
def test_other_names_are_refused_before_anything_is_created(session: Session, name: str) -> None:
    c = name_sql(name)
    refused(session, f"CREATE TABLE t (k INT, {c} INT) {ACID}", "INVALID_COLUMN_NAME")
    assert session.sql("SHOW TABLES").collect() == []
    refused(session, f"CREATE TABLE t (k INT) PARTITIONED BY ({c} INT) {ACID}", "INVALID_COLUMN_NAME")
    if name and name not in VIRTUAL and "\0" not in name:
        refused(session, f"CREATE TABLE t {ACID} AS SELECT 1 AS {c}", "INVALID_COLUMN_NAME")
    session.execute(f"CREATE TABLE t (k INT) {ACID}")
    for change in (f"ADD COLUMNS ({c} INT)", f"CHANGE COLUMN k {c} INT", f"REPLACE COLUMNS ({c} INT)"):
        refused(session, f"ALTER TABLE t {change}", "INVALID_COLUMN_NAME")


def test_names_that_are_equal_in_spark_are_duplicates(session: Session) -> None:
    refused(session, f"CREATE TABLE t (i INT, `\u0131` INT) {ACID}", "DUPLICATE_COLUMN")
    session.execute(f"CREATE TABLE t (`\u0131` INT) {ACID}")
    refused(session, "ALTER TABLE t ADD COLUMNS (I INT)", "DUPLICATE_COLUMN")


def test_the_fields_of_a_struct_have_the_names_that_hives_types_take(session: Session) -> None:
    session.execute(
        f"CREATE TABLE t (s STRUCT<`a b`: INT, `select`: STRING, `1`: DATE, é: ARRAY<STRUCT<`$`: INT>>>) {ACID}"
    )
    session.execute(
        "INSERT INTO t SELECT named_struct('a b', 1, 'select', 'x', '1', DATE'2020-01-02', 'é', array("
        "named_struct('$', 5)))"
    )
    session.execute("UPDATE t SET s = named_struct('a', s.`a b` + 1, 'b', s.`select`, 'c', s.`1`, 'd', s.`é`)")
    assert rows(session, "SELECT s.`a b`, s.`select`, CAST(s.`1` AS STRING), s.`é`[0].`$` FROM t") == [
        (2, "x", "2020-01-02", 5)
    ]
    text = "\n".join(r[0] for r in session.sql("SHOW CREATE TABLE t").collect())
    session.execute("DROP TABLE t")
    session.execute(text)
    for field in ("a:b", "a`b", "a,b", "a<b", " a", "a/b", ""):
        refused(
            session,
            f"CREATE TABLE u (s STRUCT<{name_sql(field)}: INT>) {ACID}",
            "INVALID_TYPE" if field else "PARSE_SYNTAX_ERROR",
        )
    refused(session, f"CREATE TABLE u {ACID} AS SELECT named_struct('a:int,b', 1) AS s", "CREATE_AS_TYPE")


def test_a_file_in_which_another_writer_left_a_name_with_backticks_as_it_is_can_be_read(
    session: Session, tmp_path: Path
) -> None:
    """ORC's Java writer puts names into the footer as they are, and its reader cuts them at a backtick."""
    from pyarrow import orc, table

    there = tmp_path / "there"
    there.mkdir()
    orc.write_table(table({"x`1": [1, 2], "x`2": ["a", "b"], "`": [3, 4]}), str(there / "000000_0"))
    columns = ", ".join(f"{name_sql(n)} {kind}" for n, kind in (("x`1", "BIGINT"), ("x`2", "STRING"), ("`", "BIGINT")))
    session.execute(f"CREATE TABLE t ({columns}) STORED AS ORC LOCATION '{there}'")
    assert rows(session, "SELECT * FROM t") == [(1, "a", 3), (2, "b", 4)]


ALPHABET = "aB1`'\"@ ,<>/\\%=;()[]{}$#*?_-é日\t\n~|&!^+"


@pytest.mark.ci
@pytest.mark.parametrize("seed", core(range(1, 6), lambda seed: seed == 1))
def test_random_names_keep_their_values(session: Session, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_skipping, "_WORTH", 0)  # ORC is told of every condition
    chance = random.Random(seed)
    names = list(dict.fromkeys("".join(chance.choices(ALPHABET, k=chance.randint(1, 5))).lower() for _ in range(24)))
    *regular, partition = names
    quoted = [name_sql(name) for name in regular]
    p = name_sql(partition)
    said = f"seed {seed}: {names}"
    assert all(name_as_read(name_as_written(name)) == name for name in names), said
    session.execute(f"CREATE TABLE t ({', '.join(f'{n} INT' for n in quoted)}) PARTITIONED BY ({p} STRING) {ACID}")
    expected = [[k * 100 + i for i in range(len(regular))] for k in range(3)]
    values = ", ".join(f"({', '.join(map(str, row))}, 'p{k % 2}')" for k, row in enumerate(expected))
    session.execute(f"INSERT INTO t ({', '.join(quoted)}, {p}) VALUES {values}")
    for _ in range(2):
        i, j = chance.sample(range(len(regular)), 2)
        session.execute(f"UPDATE t SET {quoted[i]} = {quoted[j]} + 1 WHERE {p} = 'p0'")
        for row in expected[::2]:
            row[i] = row[j] + 1
    key = chance.randrange(len(regular))
    session.execute(f"DELETE FROM t WHERE {quoted[key]} = {expected[1][key]}")
    last = name_sql(regular[-1])
    wanted = (f"{last} = {expected[2][-1]}", f"{last} > {expected[0][-1]}", f"{last} + 0 = {expected[2][-1]}")
    for condition in wanted:
        assert rows(session, f"SELECT {last} FROM t WHERE {condition}") == [(expected[2][-1],)], f"{said}, {condition}"
    assert sorted(rows(session, f"SELECT {', '.join(quoted)} FROM t")) == sorted(map(tuple, expected[::2])), said
