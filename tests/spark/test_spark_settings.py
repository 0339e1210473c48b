"""No setting of the user's Spark session changes the meaning of a statement: all settings of Spark are tried."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect

_ACID: Final = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
_TABLES: Final = (
    "CREATE TABLE t (id int, name string, code char(4), short varchar(3), n decimal(8,2), f double, at timestamp,"
    " day date, zoned timestamp with local time zone, list array<int>, m map<string,int>,"
    f" s struct<x:int,Y:string>) {_ACID}",
    f"CREATE TABLE p (id int, v string) PARTITIONED BY (d string, k int) {_ACID}",
    "CREATE TABLE q (id int, t timestamp, d date, n decimal(5,1)) STORED AS PARQUET"
    " TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')",
    "CREATE TABLE x (id int, v string, d date) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE"
    " TBLPROPERTIES ('transactional'='false')",
)
_CHANGES: Final = (
    r"""INSERT INTO t SELECT 1, 'pay ${amount} \t now', 'ab', 'xyz', 1.25, 0.5, timestamp '2024-02-29 12:34:56.5',
       date '1582-10-04', timestamp_ltz '2024-07-01 12:00:00 UTC', array(3, NULL, 1), map('k', 1),
       named_struct('x', 1, 'Y', 'q') UNION ALL SELECT 2, "two\\b", 'b', 'abcdef', 12345678.5, 1e300, NULL,
       '2024-02-30', NULL, NULL, NULL, NULL UNION ALL SELECT '3', NULL, '', '', 1 / 3, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL""",
    "UPDATE t SET n = n / 3, short = 'longer', list = array(ID) WHERE code = 'ab ' OR name LIKE '${prefix}%'",
    "DELETE FROM t WHERE name LIKE '${prefix}%'",
    """MERGE INTO t USING (SELECT id + 1 AS k, name AS v FROM t) s ON t.id = s.k
       WHEN MATCHED AND s.k = 2 THEN UPDATE SET name = concat_ws('-', s.v, t.name), f = 2147483647 + s.k
       WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.k, s.v)""",
    "INSERT INTO p PARTITION (d, k) SELECT id, name, upper(code), size(list) FROM t WHERE id < 4",
    "INSERT OVERWRITE TABLE p PARTITION (d = 'x', k) SELECT id, v, k FROM p ORDER BY 1 LIMIT 1",
    "INSERT INTO q VALUES (1, timestamp '1500-01-01 00:00:00', date '1500-01-01', 1.5)",
    r"INSERT INTO x VALUES (1, 'a\\n', date '2024-01-01'), (2, NULL, NULL), (3, '', NULL)",
)
_QUERIES: Final = (
    "SELECT row__id, * FROM t ORDER BY id",
    "SELECT p.*, q.*, x.v FROM p LEFT JOIN q ON p.id = q.id LEFT JOIN x ON x.id = q.id ORDER BY p.id, p.d",
    "SELECT d, count(*), sum(k), stddev(id) FROM p WHERE k >= '0' GROUP BY d HAVING count(*) > 0 ORDER BY d",
    r"""SELECT 'a${x}b', "text", 1 / 0, 2147483647 + 1, CAST('x' AS int), CAST(300 AS tinyint), 1.5 * 2.25, 1e2, 1.50,
       size(CAST(NULL AS array<int>)), array(1, 2)[5], CAST('1.9' AS int), '1' = 1, concat(NULL, 'a'),
       CAST(s AS string), CAST(list AS string), CAST(at AS string), at + INTERVAL '1' DAY,
       date_format(at, 'yyyy-MM-dd HH:mm'),
       hash(1, 'a'), regexp_replace(name, '\\$', '#'), from_unixtime(0), CAST(zoned AS string), split('a1b', '[0-9]'),
       to_json(named_struct('a', 1, 'b', NULL)), from_json('{"a": 1}', 'a int'), base64(unhex('00FF'))
       FROM t WHERE id = 1""",
    """SELECT id, (SELECT count(*) FROM p WHERE p.id = t.id AND p.k > 0) AS c FROM t WHERE id NOT IN (SELECT id FROM p
       WHERE d = 'x') AND EXISTS (SELECT 1 FROM t u WHERE u.id = t.id) ORDER BY id""",
    "SELECT id AS a, e FROM t LATERAL VIEW explode(list) u AS e UNION SELECT id, k FROM p ORDER BY 1, 2 LIMIT 9",
    "SELECT id, sum(id) OVER (PARTITION BY d ORDER BY id) FROM p ORDER BY id, 2",
)
_NOT_TRIED: Final = re.compile(
    # What they log would fill the disk.
    r".*(logLevel|\.level|[lL]og\.\w+|planChangeLog.*|codegen\.comments)|spark\.sql\.streaming\..*"
)
LOOKED_AT_BY_FRAMES: Final = frozenset(
    {
        "spark.sql.jsonGenerator.ignoreNullFields",
        "spark.sql.legacy.castComplexTypesToString.enabled",
        "spark.sql.binaryOutputStyle",
        "spark.sql.planChangeValidation",
        "spark.sql.planChangeValidation.nullability",
    }
)
"""Settings that Spark reads while a frame runs, in the user's session: docs/sql/set.md names them."""

_numbers = count()


def other_values(spark: SparkSession) -> dict[str, list[str]]:
    """The settings of a session that are boolean or take one of a few words, and their values but the default ones."""
    of_spark: Any = spark._jvm.org.apache.spark.sql.internal  # type: ignore[union-attr]
    known = getattr(getattr(of_spark, "SQLConf$"), "MODULE$")
    found, user = {}, spark.newSession()
    for entry in known.getConfigEntries().toArray():
        name, default = entry.key(), entry.defaultValueString()
        if spark.conf.isModifiable(name) and not _NOT_TRIED.fullmatch(name):
            found[name] = [v for v in _values(user, name) if v.lower() != default.lower()]
    return {name: values for name, values in found.items() if values}


def _values(spark: SparkSession, name: str) -> Sequence[str]:
    """Spark's error about a value that it does not take names those that it does."""
    try:
        spark.conf.set(name, "no such value")
        spark.conf.unset(name)
    except IllegalArgumentException as error:
        words = re.search(r"should be one of '(.*?)'", str(error))
        return words[1].split(", ") if words else ("true", "false") if "boolean" in str(error) else ()
    return ()


def groups(values: Mapping[str, Sequence[str]], size: int) -> Iterator[dict[str, str]]:
    """Settings to be set at once: all first values, then all second ones, at most `size` together."""
    for turn in range(max(map(len, values.values()))):
        named = sorted((name, of[turn]) for name, of in values.items() if len(of) > turn)
        for start in range(0, len(named), size):
            yield dict(named[start : start + size])


class Trial:
    """What statements give in sessions with settings, beside what they give in one without."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark = spark
        self._directory = directory
        self._expected = self._outcomes({})
        assert not [given for given in self._expected.values() if isinstance(given, str)], "errors without any setting"

    def check(self, settings: Mapping[str, str]) -> None:
        """Fails with the names of the settings that change something."""
        guilty = [f"{one}: {self._differences(one)}" for one in self._guilty(settings)]
        assert not guilty, "\n".join(guilty)

    def _guilty(self, settings: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """The settings one by one, or as few as it takes, that change something; halves are looked at alone."""
        if not self._differences(settings):
            return
        names = sorted(settings)
        halves = [{n: settings[n] for n in half} for half in (names[::2], names[1::2]) if half]
        found = [one for half in halves for one in self._guilty(half)] if len(names) > 1 else []
        yield from found or [dict(settings)]

    def _differences(self, settings: Mapping[str, str]) -> dict[str, tuple[object, object]]:
        given = self._outcomes(settings)
        return {text: (was, given[text]) for text, was in self._expected.items() if given[text] != was}

    def _outcomes(self, settings: Mapping[str, str]) -> dict[str, object]:
        warehouse = self._directory / str(next(_numbers))
        metastore = f"sqlite:///{warehouse}.db"
        with connect(warehouse, metastore=metastore, spark=self._user(settings)) as session:
            given = {text: _outcome(session, text) for text in (*_TABLES, *_CHANGES, *_QUERIES)}
        of_frames = {name: value for name, value in settings.items() if name not in LOOKED_AT_BY_FRAMES}
        with connect(warehouse, metastore=metastore, spark=self._user(of_frames)) as session:
            return given | {f"frame of {text}": session.sql(text).collect() for text in _QUERIES}

    def _user(self, settings: Mapping[str, str]) -> SparkSession:
        user = self._spark.newSession()
        for name, value in settings.items():
            user.conf.set(name, value)
        return user


def _outcome(session: Session, text: str) -> object:
    """Rows, with the names and types of their columns; counts; or an error's text."""
    try:
        result = session.execute(text)
        return result.counts if result.columns is None else (result.columns, list(result.rows()))
    except AcidSqlError as error:
        return str(error)


@pytest.mark.nightly
def test_no_setting_of_the_users_session_changes_what_statements_do(spark: SparkSession, tmp_path: Path) -> None:
    trial = Trial(spark, tmp_path)
    settings = {name: values[-1] for name, values in other_values(spark).items()}
    assert len(settings) > 400
    trial.check(settings)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_no_group_of_a_few_settings_changes_what_statements_do(spark: SparkSession, tmp_path: Path) -> None:
    trial = Trial(spark, tmp_path)
    for settings in groups(other_values(spark), 20):
        trial.check(settings)


def test_a_name_in_braces_is_text(session: Session, spark: SparkSession) -> None:
    """Spark would put the value of a setting, of an environment variable or of a property of the JVM there."""
    session.execute("SET hive.variable.substitute=false")
    session.execute(f"CREATE TABLE v (id int, t string) {_ACID}")
    session.execute("INSERT INTO v VALUES (1, 'pay ${amount} now'), (2, '${env:HOME}'), (3, '${spark.master}')")
    rows = session.sql("SELECT t FROM v WHERE t <> '${system:user.name}' ORDER BY id").collect()
    assert [row.t for row in rows] == ["pay ${amount} now", "${env:HOME}", "${spark.master}"]
    assert session.execute("DELETE FROM v WHERE t LIKE '${prefix}%'").counts.deleted == 0  # type: ignore[union-attr]
    assert spark.conf.get("spark.sql.variable.substitute") == "true", "the user's own statements are the user's"
