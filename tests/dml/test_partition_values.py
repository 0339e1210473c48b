"""Partition values: one name for each value on every write path, CHAR without its padding, and the longest names."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from acidsql.errors import AcidSqlError
from acidsql.session import Session
from tests.selection import core

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "STORED AS ORC TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
KINDS = {"acid": ACID, "insert_only": INSERT_ONLY, "plain": "STORED AS PARQUET"}
WRITERS = {"driver": 32 << 20, "spark": 0}
DEFAULT = "__HIVE_DEFAULT_PARTITION__"


@pytest.fixture(params=core(WRITERS, lambda writer: writer == "driver"))
def db(request: pytest.FixtureRequest, session: Session) -> Session:
    """A session in which the driver writes what it can, or Spark writes all."""
    session.execute(f"SET acidsql.driver.write.max.bytes={WRITERS[request.param]}")
    return session


def rows(session: Session, query: str) -> list[tuple[object, ...]]:
    return sorted((tuple(r) for r in session.sql(query).collect()), key=repr)


def ids(session: Session, where: str = "true", table: str = "t") -> list[object]:
    return [r[0] for r in rows(session, f"SELECT id FROM {table} WHERE {where}")]


def partitions(session: Session, table: str = "t") -> list[str]:
    return [str(r[0]) for r in session.sql(f"SHOW PARTITIONS {table}").collect()]


def files(session: Session, table: str = "t") -> set[Path]:
    return {p for p in Path(session.catalog.table("default", table).location).rglob("*") if p.is_file()}


def fails(session: Session, sql: str, condition: str) -> AcidSqlError:
    before = files(session)
    with pytest.raises(AcidSqlError) as caught:
        session.execute(sql)
    assert caught.value.condition == condition
    assert files(session) == before
    return caught.value


# ------------------------------------------------------------------------------------------------ the default partition


@pytest.mark.ci
@pytest.mark.parametrize("kind", core(KINDS, lambda kind: kind == "acid"))
def test_null_the_empty_string_and_the_default_name_are_one_partition(db: Session, kind: str) -> None:
    db.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (d STRING) {KINDS[kind]}")
    values = f"(1, NULL), (2, ''), (3, '{DEFAULT}'), (4, 'x'), (5, NULL), (6, '')"
    counts = db.execute(f"INSERT INTO t VALUES {values}").counts
    assert counts is not None
    assert counts.inserted == 6
    assert ids(db) == [1, 2, 3, 4, 5, 6]
    assert partitions(db) == [f"d={DEFAULT}", "d=x"]
    db.execute(f"INSERT OVERWRITE TABLE t PARTITION (d) VALUES (7, ''), (8, NULL), (9, '{DEFAULT}')")
    for number, value in enumerate(("''", "NULL", f"'{DEFAULT}'"), 10):
        db.execute(f"INSERT INTO t PARTITION (d = {value}) VALUES ({number})")
    assert ids(db, f"d = '{DEFAULT}'") == [10, 11, 12, 7, 8, 9]
    db.execute("FROM t INSERT INTO t SELECT id + 100, '' WHERE id = 4 INSERT INTO t SELECT id + 200, NULL WHERE id = 4")
    assert ids(db) == [10, 104, 11, 12, 204, 4, 7, 8, 9]
    db.execute("INSERT OVERWRITE TABLE t PARTITION (d = '') SELECT 1 WHERE false")
    assert ids(db) == [4]
    db.execute(f"CREATE TABLE u PARTITIONED BY (d) {KINDS[kind]} AS SELECT * FROM VALUES {values} AS v(id, d)")
    assert ids(db, table="u") == [1, 2, 3, 4, 5, 6]
    assert partitions(db, "u") == [f"d={DEFAULT}", "d=x"]


@pytest.mark.ci
def test_an_update_and_a_merge_lose_no_row_to_the_default_partition(db: Session) -> None:
    db.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (d STRING, e VARCHAR(30)) {ACID}")
    db.execute("INSERT INTO t VALUES (1, 'a', 'a'), (2, 'b', 'b'), (3, 'c', 'c'), (4, 'd', 'd')")
    case = f"CASE id WHEN 1 THEN '' WHEN 2 THEN NULL WHEN 3 THEN '{DEFAULT}' ELSE 'x' END"
    db.execute(f"UPDATE t SET d = {case}, e = {case}")
    assert ids(db) == [1, 2, 3, 4]
    assert partitions(db)[0] == f"d={DEFAULT}/e={DEFAULT}"
    assert ids(db, f"d = '{DEFAULT}'") == [1, 2, 3]
    source = f"SELECT * FROM VALUES (1, 'm'), (4, ''), (5, NULL), (6, ''), (7, '{DEFAULT}') AS v(id, p)"
    db.execute(
        f"MERGE INTO t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET d = s.p, e = s.p"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.p, s.p)"
    )
    assert ids(db) == [1, 2, 3, 4, 5, 6, 7]
    assert ids(db, f"d = '{DEFAULT}'") == [2, 3, 4, 5, 6, 7]


def test_every_clause_names_the_default_partition_in_each_of_its_spellings(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (d STRING) {ACID}")
    for number, value in enumerate(("''", "NULL", f"'{DEFAULT}'")):
        session.execute(f"ALTER TABLE t ADD IF NOT EXISTS PARTITION (d = {value})")
        fails(session, f"ALTER TABLE t ADD PARTITION (d = {value})", "PARTITION_ALREADY_EXISTS")
        orc.write_table(pa.table({"id": pa.array([number], pa.int32())}), str(tmp_path / "file"))
        session.execute(f"LOAD DATA INPATH '{tmp_path}/file' INTO TABLE t PARTITION (d = {value})")
        assert ids(session) == [number]
        session.execute(f"ALTER TABLE t PARTITION (d = {value}) COMPACT 'major'")
        session.execute(f"TRUNCATE TABLE t PARTITION (d = {value})")
        assert ids(session) == []
        session.execute(f"ALTER TABLE t PARTITION (d = {value}) RENAME TO PARTITION (d = 'x')")
        session.execute(f"ALTER TABLE t PARTITION (d = 'x') RENAME TO PARTITION (d = {value})")
        assert partitions(session) == [f"d={DEFAULT}"]
        session.execute(f"ALTER TABLE t DROP PARTITION (d = {value})")
        assert partitions(session) == []


# ------------------------------------------------------------------------------------------------ names of values


def test_partitions_have_the_names_that_hive_gives(db: Session) -> None:
    """The names are those of tests/golden/partition_types."""
    types = "a DECIMAL(10,2), c CHAR(4), e TIMESTAMP, f DOUBLE, h VARCHAR(5), j FLOAT, k DECIMAL(38,0)"
    db.execute(f"CREATE TABLE t (id INT) PARTITIONED BY ({types}) {ACID}")
    db.execute("INSERT INTO t VALUES (1, 1.50, 'ab', '2024-02-29 12:34:56.500', 1e100, 'x y', 0.1, 100)")
    name = "a=1.5/c=ab  /e=2024-02-29 12%3A34%3A56.5/f=1.0E100/h=x y/j=0.1/k=100"
    assert partitions(db) == [name]
    static = "a='1.500', c='ab', e='2024-02-29 12:34:56.50', f=1E+100, h='x y', j='.1', k='0100'"
    db.execute(f"INSERT INTO t PARTITION ({static}) VALUES (2)")
    assert partitions(db) == [name]
    fails(db, f"ALTER TABLE t ADD PARTITION ({static})", "PARTITION_ALREADY_EXISTS")
    db.execute(f"TRUNCATE TABLE t PARTITION ({static})")
    assert ids(db) == []
    db.execute(f"ALTER TABLE t DROP PARTITION ({static})")
    assert partitions(db) == []


def test_rows_go_to_a_partition_whose_value_is_spelled_differently(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE s (id INT) PARTITIONED BY (q DECIMAL(5,2)) {ACID}")
    session.execute("INSERT INTO s VALUES (1, 1.5)")
    root = tmp_path / "adopted"
    shutil.copytree(session.catalog.table("default", "s").location, root)
    (root / "q=1.5").rename(root / "q=1.50")  # as Spark names it
    session.execute(
        f"CREATE TABLE t (id INT) PARTITIONED BY (q DECIMAL(5,2)) STORED AS ORC LOCATION '{root}' {ACID[14:]}"
    )
    session.execute("INSERT INTO t VALUES (2, 1.5)")
    session.execute("INSERT INTO t PARTITION (q = 1.5) VALUES (3)")
    assert partitions(session) == ["q=1.50"]
    assert ids(session, "q = 1.5") == [1, 2, 3]
    session.execute("INSERT OVERWRITE TABLE t PARTITION (q = 1.500) SELECT 4")
    assert ids(session) == [4]
    session.execute("INSERT OVERWRITE TABLE t PARTITION (q = 1.500) IF NOT EXISTS SELECT 5")
    assert ids(session) == [4]
    twice = tmp_path / "twice"
    shutil.copytree(root, twice)
    (twice / "q=1%2E50").mkdir()
    adopt = f"CREATE TABLE u (id INT) PARTITIONED BY (q DECIMAL(5,2)) STORED AS ORC LOCATION '{twice}' {ACID[14:]}"
    with pytest.raises(AcidSqlError, match="LOCATION_NOT_EMPTY"):
        session.execute(adopt)


def test_two_partitions_in_one_directory_never_overwrite_each_others_rows(db: Session, tmp_path: Path) -> None:
    db.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (p STRING) {ACID}")
    for name, place in (("x", "far"), ("y", "link")):
        db.execute(f"ALTER TABLE t ADD PARTITION (p = '{name}') LOCATION '{tmp_path}/{place}'")
    (tmp_path / "link").rmdir()
    (tmp_path / "link").symlink_to(tmp_path / "far")
    fails(db, "INSERT INTO t VALUES (1, 'x'), (2, 'y')", "STORAGE_FAILED")
    fails(db, "ALTER TABLE t ADD PARTITION (p = 'z') LOCATION 'p=u'", "LOCATION_TAKEN")
    assert ids(db) == []
    assert partitions(db) == ["p=x", "p=y"]


# ------------------------------------------------------------------------------------------------ CHAR


@pytest.mark.nightly
def test_char_partitions_are_found_without_their_padding(db: Session) -> None:
    """As CHAR data columns are."""
    db.execute(f"CREATE TABLE t (id INT, c CHAR(4)) PARTITIONED BY (p CHAR(4)) {ACID}")
    values = ((1, "'a'"), (2, "'a '"), (3, "'ab'"), (4, "'abcd'"), (5, "NULL"))
    db.execute(f"INSERT INTO t VALUES {', '.join(f'({n}, {v}, {v})' for n, v in values)}")
    db.execute("INSERT INTO t PARTITION (p = 'a') VALUES (6, 'a')")
    assert partitions(db) == [f"p={DEFAULT}", "p=a   ", "p=ab  ", "p=abcd"]
    conditions = (
        *("{} = 'a'", "{} = 'a  '", "{} <> 'a'", "{} IN ('a ', 'ab')", "{} BETWEEN 'a' AND 'ab'", "{} LIKE 'a_'"),
        *("{} LIKE 'a%d'", "{} > 'a'", "{} <= 'ab'", "{} IS NULL", "length({}) = 1", "concat({}, 'x') = 'ax'"),
        *("NOT {} = 'a'", "'ab' = {}", "{} IN (SELECT c FROM t WHERE id = 3)", "{} <=> 'ab'", "{} = 'a' OR id = 4"),
    )
    db.execute("CREATE VIEW v (id, of_c, of_p) AS SELECT * FROM t")
    of_p, of_c, of_view = (
        rows(db, " UNION ALL ".join(f"SELECT {n}, id FROM {t} WHERE {c.format(of)}" for n, c in enumerate(conditions)))
        for t, of in (("t", "p"), ("t", "c"), ("v", "of_p"))
    )
    assert of_p == of_c == of_view
    assert [i for n, i in of_p if n == 0] == [1, 2, 6]
    joined = "SELECT l.id, r.id FROM t l JOIN t r ON l.p = r.{} AND r.id < 4 WHERE l.id > 2"
    assert rows(db, joined.format("c")) == rows(db, joined.format("p")) == [(3, 3), (6, 1), (6, 2)]
    assert rows(db, "SELECT p, c FROM t WHERE id = 1") == [("a   ", "a   ")]
    db.execute("UPDATE t SET id = id + 10 WHERE p = 'a'")
    db.execute("DELETE FROM t WHERE p = 'ab'")
    assert ids(db) == [11, 12, 16, 4, 5]
    db.execute("MERGE INTO t USING (SELECT 'abcd' AS p) s ON t.p = s.p WHEN MATCHED THEN UPDATE SET c = 'm'")
    assert rows(db, "SELECT id, c FROM t WHERE p = 'abcd'") == [(4, "m   ")]
    db.execute("INSERT OVERWRITE TABLE t PARTITION (p) SELECT id + 1, c, p FROM t WHERE p = 'a'")
    db.execute("UPDATE t SET p = 'a' WHERE id = 4")
    assert ids(db, "p = 'a'") == [12, 13, 17, 4]
    assert partitions(db) == [f"p={DEFAULT}", "p=a   ", "p=ab  ", "p=abcd"]


def test_clauses_find_char_partitions_without_their_padding(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (p CHAR(3)) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')")
    fails(session, "ALTER TABLE t ADD PARTITION (p = 'a')", "PARTITION_ALREADY_EXISTS")
    session.execute("TRUNCATE TABLE t PARTITION (p = 'a')")
    session.execute("ALTER TABLE t DROP PARTITION (p = 'b ')")
    session.execute("ALTER TABLE t DROP PARTITION (p > 'd')")
    session.execute("ALTER TABLE t PARTITION (p = 'c') COMPACT 'major'")
    session.execute("ALTER TABLE t PARTITION (p = 'c') RENAME TO PARTITION (p = 'z')")
    assert rows(session, "SELECT * FROM t") == [(3, "z  "), (4, "d  ")]
    assert partitions(session) == ["p=a  ", "p=d  ", "p=z  "]
    assert [r[0] for r in session.sql("SHOW PARTITIONS t PARTITION (p = 'z')").collect()] == ["p=z  "]
    orc.write_table(pa.table({"id": pa.array([9], pa.int32())}), str(tmp_path / "file"))
    session.execute(f"LOAD DATA INPATH '{tmp_path}/file' INTO TABLE t PARTITION (p = 'd')")
    assert ids(session, "p = 'd'") == [4, 9]
    assert partitions(session) == ["p=a  ", "p=d  ", "p=z  "]
    locks = [r[0] for r in session.sql("EXPLAIN LOCKS INSERT INTO t PARTITION (p = 'd') VALUES (1)").collect()]
    assert any("p=d  " in str(lock) for lock in locks)


# ------------------------------------------------------------------------------------------------ too long


@pytest.mark.parametrize("kind", core(KINDS, lambda kind: kind == "acid"))
def test_a_value_that_no_directory_can_be_named_after_is_refused(db: Session, kind: str) -> None:
    db.execute(f"CREATE TABLE t (a INT, id INT) PARTITIONED BY (p STRING) {KINDS[kind]}")
    fitting = ("x" * 253, "ż" * 126, "%" * 84 + "x")
    for number, value in enumerate(fitting):
        db.execute(f"INSERT INTO t VALUES ({number}, {number}, '{value}')")
    assert {r[1] for r in rows(db, "SELECT id, p FROM t")} == set(fitting)
    for value in ("x" * 254, "ż" * 127, "%" * 85):
        error = fails(db, f"INSERT INTO t VALUES (8, 8, 'ok'), (9, 9, '{value}')", "INVALID_PARTITION_VALUE")
        assert f"'{value[:30]}'" in error.message
        assert "column p:" in error.message
        assert len(error.message) < 200
        fails(db, f"INSERT INTO t PARTITION (p = '{value}') VALUES (9, 9)", "INVALID_PARTITION_VALUE")
    nul = "INSERT OVERWRITE TABLE t PARTITION (p) SELECT 9, 9, concat('a', chr(0))"
    fails(db, nul, "INVALID_PARTITION_VALUE")
    for text in (b"\xffa", b"\xc3"):
        broken = pa.table({"p": pa.array([text], pa.binary()).view(pa.string())})
        with pytest.raises(AcidSqlError, match=r"INVALID_PARTITION_VALUE.*is not UTF-8"):
            db.execute("INSERT INTO t SELECT 9, 9, p FROM {broken}", frames={"broken": broken})
    assert ids(db) == [0, 1, 2]
    assert len(partitions(db)) == 3


def test_a_value_that_is_too_long_is_refused_by_every_statement(session: Session, tmp_path: Path) -> None:
    session.execute(f"CREATE TABLE t (id INT) PARTITIONED BY (p STRING) {ACID}")
    session.execute("INSERT INTO t VALUES (1, 'a')")
    orc.write_table(pa.table({"id": pa.array([9], pa.int32())}), str(tmp_path / "file"))
    long = "x" * 254
    for statement in (
        "UPDATE t SET p = repeat('x', 254)",
        f"MERGE INTO t USING (SELECT 2 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, '{long}')",
        f"INSERT OVERWRITE TABLE t PARTITION (p = '{long}') SELECT 1",
        f"ALTER TABLE t ADD PARTITION (p = '{long}')",
        f"ALTER TABLE t PARTITION (p = 'a') RENAME TO PARTITION (p = '{long}')",
        f"LOAD DATA INPATH '{tmp_path}/file' INTO TABLE t PARTITION (p = '{long}')",
        f"CREATE TABLE t2 PARTITIONED BY (p) {ACID} AS SELECT 1 AS id, '{long}' AS p",
    ):
        fails(session, statement, "INVALID_PARTITION_VALUE")
    assert rows(session, "SELECT * FROM t") == [(1, "a")]
    assert partitions(session) == ["p=a"]
    assert (tmp_path / "file").exists()


# ------------------------------------------------------------------------------------------------ random values

_TEXTS = (
    *("", " ", "  ", "a", "a ", " a", "A", "b", DEFAULT, "__HIVE", "/", ":", "%", "=", "a/b=c", "%41", "..", ".", "_x"),
    *(".x", "ż", "日本", "😀", "\t", "{x}[y]", "}", "*?", "'", '"', "\\", "#^", "x" * 120, "0", "-1", "NULL", "1.50"),
    *("e\u0301", "\u00e9"),
)
_OTHERS = {
    "INT": ("0", "-1", "2147483647"),
    "DECIMAL(10,4)": ("0", "0.0001", "-1.5000", "999999.9999", "100"),
    "DATE": ("'0001-01-01'", "'2024-02-29'", "'9999-12-31'"),
    "TIMESTAMP": ("'0001-01-01 00:00:00'", "'2024-02-29 12:34:56.5'", "'1969-12-31 23:59:59.999999'"),
    "BOOLEAN": ("true", "false"),
    "DOUBLE": ("0.0D", "-0.0D", "1e300", "1e-7", "'NaN'", "'Infinity'", "CAST(0.1 AS FLOAT)", "12345678.9D"),
    "FLOAT": ("0.0D", "0.1D", "1e10", "16777217"),
}
_IN_SPARK = {"TIMESTAMP": "TIMESTAMP_NTZ"} | dict.fromkeys(("CHAR(3)", "VARCHAR(4)", "VARCHAR(30)"), "STRING")


def _given(chance: random.Random, kind: str) -> str:
    """SQL of a random value of a type."""
    if chance.random() < 0.15:
        return "CAST(NULL AS STRING)"
    if kind in _OTHERS:
        value = chance.choice(_OTHERS[kind])
    else:
        value = "'{}'".format(chance.choice(_TEXTS).replace("\\", "\\\\").replace("'", "\\'"))
    return f"CAST({value} AS STRING)"


def _read(value: str, kind: str) -> str:
    """SQL, over a text, of what a query gives for a value stored in a partition column."""
    of_type = f"CAST({value} AS {_IN_SPARK.get(kind, kind)})"
    if kind.startswith("CHAR"):
        size = int(kind[5:-1])
        of_type = f"rpad(substring({of_type}, 1, {size}), {size})"
    elif kind.startswith("VARCHAR"):
        of_type = f"nullif(substring({of_type}, 1, {kind[8:-1]}), '')"
    elif kind == "STRING":
        of_type = f"nullif({of_type}, '')"
    holds_name = kind in ("STRING", "VARCHAR(30)")
    return f"coalesce({of_type}, '{DEFAULT}')" if holds_name else of_type


@pytest.mark.parametrize("seed", core(range(3), lambda _: False, one_of=3))
def test_random_partition_values_are_read_back_unchanged(session: Session, seed: int) -> None:
    chance = random.Random(seed)
    kinds = chance.sample(["STRING", "STRING", "CHAR(3)", "VARCHAR(4)", "VARCHAR(30)", *_OTHERS], 2)
    table = chance.choice([*KINDS])
    columns = f"p {kinds[0]}, q {kinds[1]}"
    session.execute(f"CREATE TABLE t (id INT) PARTITIONED BY ({columns}) {KINDS[table]}")
    given: dict[int, tuple[str, str]] = {}

    def new(count: int) -> str:
        made = {len(given) + n: (_given(chance, kinds[0]), _given(chance, kinds[1])) for n in range(count)}
        given.update(made)
        return ", ".join(f"({n}, {p}, {q})" for n, (p, q) in made.items())

    for _ in range(2):
        for most in WRITERS.values():
            session.execute(f"SET acidsql.driver.write.max.bytes={most}")
            session.execute(f"INSERT INTO t SELECT * FROM VALUES {new(12)} AS v(id, p, q)")
            if table == "acid":
                moved = {n: (_given(chance, kinds[0]), given[n][1]) for n in chance.sample([*given], 6)}
                cases = " ".join(f"WHEN {n} THEN {p}" for n, (p, _) in moved.items())
                session.execute(f"UPDATE t SET p = CASE id {cases} END WHERE id IN ({', '.join(map(str, moved))})")
                given |= moved
        session.execute("INSERT OVERWRITE TABLE t PARTITION (p, q) SELECT * FROM t")
    texts = ", ".join(f"({n}, {p}, {q})" for n, (p, q) in given.items())
    wanted = f"SELECT id, {_read('p', kinds[0])} AS p, {_read('q', kinds[1])} AS q FROM VALUES {texts} AS v(id, p, q)"
    about = f"seed {seed}: {kinds}, {table}"
    plain = session.spark.sql(wanted)
    assert rows(session, "SELECT * FROM t") == sorted((tuple(r) for r in plain.collect()), key=repr), about
    n = chance.choice([*given])
    condition = f"p <=> {_read(given[n][0], kinds[0])} AND q <=> {_read(given[n][1], kinds[1])}"
    expected = [r[0] for r in plain.where(condition).collect()]
    assert ids(session, condition) == sorted(expected, key=repr), f"{about}: {condition}"


def test_a_text_that_spark_and_hive_read_as_different_booleans_names_no_partition(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE t (k int) PARTITIONED BY (b boolean)")
    for text in ("f", "off", "x"):
        fails(session, f"INSERT INTO t PARTITION (b = '{text}') VALUES (1)", "PARTITION_VALUE_TYPE")
    for number, value in enumerate(("'False'", "true", "NULL")):
        session.execute(f"INSERT INTO t PARTITION (b = {value}) VALUES ({number})")
    assert sorted(session.execute("SELECT * FROM t").rows(), key=repr) == [(0, False), (1, True), (2, None)]


def test_a_text_that_is_no_value_of_its_partition_column_is_refused_as_in_hive(session: Session) -> None:
    session.execute("CREATE TRANSACTIONAL TABLE typed (k int) PARTITIONED BY (n int, m decimal(4,1), d date, f double)")
    good = {"n": "'07'", "m": "' 1.5'", "d": "'2026-1-2'", "f": "'1e3'"}
    for column, text in (("n", "abc"), ("n", "7x"), ("n", "2147483648"), ("m", "x"), ("d", "2026-13-01"), ("f", "one")):
        given = ", ".join(f"{name} = {value}" for name, value in (good | {column: f"'{text}'"}).items())
        for source in ("VALUES (1)", "SELECT 1"):
            with pytest.raises(AcidSqlError) as raised:
                session.execute(f"INSERT INTO typed PARTITION ({given}) {source}")
            assert raised.value.condition == "PARTITION_VALUE_TYPE"
            assert raised.value.hive_code == 10248
    session.execute(f"INSERT INTO typed PARTITION ({', '.join(f'{n} = {v}' for n, v in good.items())}) VALUES (1)")
    session.execute(
        "INSERT INTO typed PARTITION (n = '__HIVE_DEFAULT_PARTITION__', m = NULL, d, f) VALUES (2, NULL, 7.5)"
    )
    found = session.sql("SELECT k, n, m, CAST(d AS string), f FROM typed ORDER BY k").collect()
    assert [tuple(map(str, row)) for row in found] == [
        ("1", "7", "1.5", "2026-01-02", "1000.0"),
        ("2", "None", "None", "None", "7.5"),
    ]
