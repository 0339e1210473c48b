"""What completion offers at a place; the cursor is the bar in each text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from acidsql.frontends.completion import Kind, complete


@dataclass(frozen=True, slots=True)
class SomeNames:
    """A catalog in memory: columns by database and table."""

    known: Mapping[str, Mapping[str, Sequence[str]]]
    current_database: str = "default"

    def databases(self) -> Sequence[str]:
        return sorted(self.known)

    def tables(self, database: str) -> Sequence[str]:
        return sorted(self.known.get(database, {}))

    def columns(self, database: str, table: str) -> Sequence[str]:
        return self.known.get(database, {}).get(table, ())

    def partition_columns(self, database: str, table: str) -> Sequence[str]:
        return self.columns(database, table)[-1:] if table == "employee" else ()


NAMES = SomeNames(
    {
        "default": {
            "employee": ("id", "name", "salary"),
            "employee_update": ("id", "name", "salary"),
            "odd table": ("a b", "select_me"),
        },
        "sales": {"orders": ("order_id", "total")},
    }
)


def offered(text: str, kind: Kind | None = None) -> list[str]:
    """What is offered at the bar."""
    found = complete(text.replace("|", ""), text.index("|"), NAMES)
    return [candidate.text for candidate in found if kind in (None, candidate.kind)]


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("SET acidsql.store.assignment=|", ["hive", "ansi"]),
        ("SET acidsql.store.assignment = a|", ["ansi"]),
        ("SELECT 1; SET Hive.Merge.Cardinality.Check=f|", ["false"]),
        ("SET hive.lock.numretries=|", []),
        ("SET spark.sql.shuffle.partitions=|", []),
        ("CREATE TABLE t (a INT) STORED AS |", ["ORC", "PARQUET", "TEXTFILE", "JSONFILE"]),
        ("create table t (a int) stored as p|", ["parquet"]),
        ("ALTER TABLE t SET FILEFORMAT O|", ["ORC"]),
        ("SELECT 'STORED AS |", []),
        ("ALTER TABLE t COMPACT '|", ["minor", "major", "rebalance"]),
        ("alter table t partition (p = 'x') compact 'M|", ["minor", "major"]),
        ("SELECT 'ALTER TABLE t COMPACT '|", []),
    ],
)
def test_values_and_formats_are_those_that_a_statement_takes(text: str, candidates: list[str]) -> None:
    assert offered(text) == candidates


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("LOAD DATA LOCAL INPATH '|", ["data/", "dates.csv", "other.csv"]),
        ("LOAD DATA INPATH 'da|", ["data/", "dates.csv"]),
        ("load data local inpath 'data/|", ["a.csv"]),
        ("LOAD DATA LOCAL INPATH 'file:PLACE/data/|", ["a.csv"]),
        ("LOAD DATA LOCAL INPATH 'PLACE/o|", ["other.csv"]),
        ("LOAD DATA LOCAL INPATH '.|", [".hidden"]),
        ("CREATE TABLE t (a INT) LOCATION 'dat|", ["data/", "dates.csv"]),
        ("source da|", ["data/", "dates.csv"]),
        ("\\i data/|", ["a.csv"]),
        ("LOAD DATA INPATH 's3a://bucket/|", []),
        ("LOAD DATA INPATH 'absent/|", []),
        ("LOAD DATA INPATH 'a' |", ["INTO TABLE", "OVERWRITE INTO"]),
        ("-- LOAD DATA INPATH 'da|", []),
        ("SELECT 'da|", []),
    ],
)
def test_paths_are_completed_by_the_files_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, candidates: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("data/a.csv", "dates.csv", "other.csv", ".hidden", "it's"):
        (tmp_path / name).touch()
    assert [one.rstrip() for one in offered(text.replace("PLACE", str(tmp_path)))] == candidates


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("SELECT * FROM emp|", ["employee", "employee_update"]),
        ("SELECT * FROM |", ["employee", "employee_update", "`odd table`", "default", "sales"]),
        ("SELECT * FROM employee, sal|", ["sales"]),
        ("SELECT * FROM a JOIN employee_|", ["employee_update"]),
        ("INSERT INTO employee_|", ["employee_update"]),
        ("UPDATE employee_|", ["employee_update"]),
        ("DELETE FROM employee_|", ["employee_update"]),
        ("MERGE INTO employee_|", ["employee_update"]),
        ("MERGE INTO employee AS a USING employee_|", ["employee_update"]),
        ("DESCRIBE employee_|", ["employee_update"]),
        ("ALTER TABLE employee_|", ["employee_update"]),
        ("SELECT * FROM sales.|", ["orders"]),
        ("SELECT * FROM sales.ord|", ["orders"]),
        ("SELECT * FROM SALES.O|", ["orders"]),
        ("USE s|", ["sales"]),
        ("USE |", ["default", "sales"]),
        ("SELECT * FROM `emp|", ["`employee`", "`employee_update`"]),
        ("DROP TABLE IF EXISTS employee_|", ["employee_update"]),
        ("SHOW PARTITIONS employee_|", ["employee_update"]),
        ("SHOW COLUMNS IN employee_|", ["employee_update"]),
    ],
)
def test_tables_and_databases_where_a_name_must_follow(text: str, candidates: list[str]) -> None:
    assert offered(text) == candidates


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT sal| FROM employee", ["salary"]),
        ("SELECT |", ["id", "name", "salary", "`a b`", "select_me"]),  # FROM is not typed yet: those of all tables
        ("SELECT id, sal|", ["salary"]),
        ("ALTER TABLE employee DROP PARTITION (|", ["salary"]),
        ("ALTER TABLE employee ADD PARTITION (s|", ["salary"]),
        ("INSERT INTO employee PARTITION (salary = 1, |", ["salary"]),
        ("INSERT INTO employee PARTITION (|) SELECT 1", ["salary"]),
        ("SELECT | FROM employee", ["id", "name", "salary"]),
        ("SELECT * FROM employee WHERE |", ["id", "name", "salary"]),
        ("SELECT * FROM employee WHERE id = |", ["id", "name", "salary"]),
        ("UPDATE employee SET |", ["id", "name", "salary"]),
        ("UPDATE employee SET id = 1, |", ["id", "name", "salary"]),
        ("INSERT INTO employee (|", ["id", "name", "salary"]),
        ("INSERT INTO sales.orders (order_id, |", ["order_id", "total"]),
        ("ALTER TABLE employee CHANGE |", ["id", "name", "salary"]),
        ("CREATE TABLE new (|", []),
        ("UPDATE employee SET sal|", ["salary"]),
        ("SELECT * FROM employee WHERE n|", ["name"]),
        ("SELECT e.| FROM employee e", ["id", "name", "salary"]),
        ("SELECT E.S| FROM employee AS e", ["salary"]),
        ("SELECT o.t| FROM sales.orders AS o JOIN employee", ["total"]),
        ("SELECT * FROM sales.orders WHERE orders.order|", ["order_id"]),
        ("SELECT a| FROM `odd table`", ["`a b`"]),
        (
            "MERGE INTO employee AS a USING employee_update AS b ON a.id = b.id WHEN MATCHED THEN UPDATE SET sal|",
            ["salary"],
        ),
        ("SELECT total FROM sales.orders; SELECT to| FROM employee", []),
        ("SELECT nam|, 'a;b' FROM employee", ["name"]),
    ],
)
def test_columns_of_the_tables_that_the_statement_names(text: str, columns: list[str]) -> None:
    assert offered(text, Kind.COLUMN) == columns


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'emp|",
        "SELECT * FROM employee -- sel|",
        "SELECT /* sel|",
        "SELECT * FROM employee WHERE name = 'sel|",
        "SELECT `name`|",
        "SELECT nope.| FROM employee",
        "|",
        "SELECT 1 |",
    ],
)
def test_nothing_is_offered(text: str) -> None:
    assert offered(text) == []


def test_keywords_come_in_the_case_that_is_typed() -> None:
    assert "select" in offered("sel|")
    assert "SELECT" in offered("SEL|")
    assert "DELETE FROM" in offered("DE|")


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("show ta|", ["table extended", "tables"]),
        ("start |", ["transaction"]),
        ("merge |", ["into", "with schema"]),
        (
            "ALTER TABLE employee COMPACT 'major' |",
            ["AND WAIT", "CLUSTERED INTO", "ORDER BY", "POOL", "WITH OVERWRITE"],
        ),
        ("ALTER TABLE employee R|", ["RENAME TO", "REPLACE COLUMNS"]),
        ("CREATE t|", ["table", "temp view", "temporary", "transactional"]),
        ("SHOW CO|", ["COLUMNS", "COMPACTIONS"]),
        ("CREATE TABLE u (id int) S|", ["SKEWED BY", "STORED"]),
        ("UPDATE employee SET salary = 1 W|", ["WHEN", "WHERE", "WINDOW", "WITH"]),
        ("DELETE FROM employee W|", ["WHERE"]),
        ("ALTER TABLE employee COMPACT 'major' A|", ["AND WAIT"]),
        ("SELECT id FROM employee GR|", ["GROUP BY"]),
        ("SELECT id FROM employee WHERE id IS N|", ["NOT", "NULL"]),
        ("no statement L|", ["LATERAL", "LEFT", "LIKE", "LIMIT"]),
    ],
)
def test_keywords_are_those_that_the_grammar_allows_there(text: str, keywords: list[str]) -> None:
    assert offered(text, Kind.KEYWORD) == keywords


def test_a_statement_begins_with_a_keyword_not_with_a_function_or_column() -> None:
    assert {candidate.kind for candidate in complete("s", 1, NAMES)} == {Kind.KEYWORD}
    assert offered("SELECT cou|", Kind.FUNCTION)[:2] == ["count", "count_if"]


@pytest.mark.parametrize(
    "version",
    [
        *("VERSION AS OF 3", "FOR SYSTEM_VERSION AS OF :v", "for version as of ? as", "TIMESTAMP AS OF '2026-11-01'"),
        *("CHANGES FROM VERSION 3", "changes from version :a to version :b as", "CHANGES FROM VERSION ? TO VERSION 4"),
    ],
)
def test_an_alias_behind_a_version_has_the_columns_of_its_table(version: str) -> None:
    assert offered(f"SELECT e.sa| FROM employee {version} e") == ["salary"]


def test_a_version_may_follow_a_table_that_is_read() -> None:
    assert "VERSION AS OF" in offered("SELECT * FROM employee V|")
    assert "CHANGES FROM VERSION" in offered("SELECT * FROM employee CH|")
    assert "version as of" in offered("select * from sales.orders o join employee ver|")
    assert "VERSION AS OF" not in offered("SELECT v| FROM employee") + offered("SELECT * FROM employee WHERE V|")


def test_columns_come_before_keywords() -> None:
    kinds = [candidate.kind for candidate in complete("SELECT * FROM employee WHERE i", 30, NAMES)]
    assert kinds[0] is Kind.COLUMN
    assert Kind.KEYWORD in kinds


def test_a_candidate_says_how_much_of_the_text_it_replaces() -> None:
    [candidate] = complete("SELECT * FROM `odd", 18, NAMES)
    assert (candidate.text, candidate.typed) == ("`odd table`", 4)
    [candidate] = complete("SELECT * FROM sales.or", 22, NAMES)
    assert (candidate.text, candidate.typed) == ("orders", 2)


@pytest.mark.parametrize(
    "text", ["CREATE TABLE new (a d|", "ALTER TABLE employee ADD COLUMNS (a D|", "SELECT CAST(id AS d| FROM employee"]
)
def test_types_where_a_type_must_follow(text: str) -> None:
    assert offered(text) == ["double", "date", "decimal"]
    assert "struct" in offered(text.replace("d|", "|").replace("D|", "|"))


def test_a_function_comes_with_its_parameters() -> None:
    [found] = complete("SELECT substring_in", 19, NAMES)
    assert (found.text, found.note) == ("substring_index", "(str, delim, count)")


def test_set_offers_settings() -> None:
    assert "hive.lock.numretries" in offered("set hive.|", Kind.SETTING)
    assert offered("SET acidsql.store|") == ["acidsql.store.assignment"]
    assert offered("SET hive.lock.numretries=|") == []


def test_before_from_there_are_functions_and_keywords_behind_the_columns() -> None:
    found = offered("SELECT |")
    assert found.index("salary") < found.index("abs")
    assert "abs" not in offered("SELECT | FROM employee")
