"""The variables of a session: SET, the namespaces, and statements that name variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acidsql.errors import AcidSqlError
from acidsql.session import Session, connect
from acidsql.statements.settings import KNOWN


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Session]:
    """A session whose statements here need no Spark."""
    with connect(tmp_path / "warehouse") as session:
        yield session


@pytest.fixture
def value(embedded: Session) -> Callable[[str], object]:
    """What a text becomes: the comment of a database that a statement with the text creates."""

    def read(text: str) -> object:
        embedded.execute(f'CREATE DATABASE d COMMENT "{text}"')
        [(_, comment, *_)] = embedded.execute("DESCRIBE DATABASE d").rows()
        embedded.execute("DROP DATABASE d")
        return comment

    return read


def test_set_hivevar_sets_a_variable_with_and_without_its_namespace(
    embedded: Session, value: Callable[[str], object]
) -> None:
    embedded.execute("SET hivevar:Day=2026-11-23")
    assert value("${Day} ${hivevar:Day} ${day}") == "2026-11-23 2026-11-23 ${day}"


def test_a_bare_name_is_no_setting(embedded: Session, value: Callable[[str], object]) -> None:
    embedded.execute("SET x=1")
    embedded.execute("SET hiveconf:y=2")
    assert value("${x} ${hiveconf:x} ${y} ${hiveconf:y} ${hivevar:x}") == "${x} 1 ${y} 2 ${hivevar:x}"


def test_hiveconf_has_defaults_and_the_directory_of_the_warehouse(
    embedded: Session, value: Callable[[str], object]
) -> None:
    text = "${hiveconf:hive.txn.xlock.write} ${hiveconf:hive.metastore.warehouse.dir}"
    assert value(text) == f"true {embedded.warehouse}"
    embedded.execute("SET hiveconf:hive.txn.xlock.write=false")
    assert value("${hiveconf:hive.txn.xlock.write}") == "false"
    with pytest.raises(AcidSqlError, match="it takes true or false"):
        embedded.execute("SET hiveconf:hive.txn.xlock.write=maybe")


def test_env_and_system_are_read_from_the_process(
    embedded: Session, value: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACIDSQL_TEST", "from the environment")
    assert value("${env:ACIDSQL_TEST} ${env:ACIDSQL_NOT_SET}") == "from the environment ${env:ACIDSQL_NOT_SET}"
    assert value("${system:user.dir} ${system:no.such}") == f"{os.getcwd()} ${{system:no.such}}"
    embedded.execute("SET system:user.dir=/elsewhere")
    assert value("${system:user.dir}") == "/elsewhere"
    with pytest.raises(AcidSqlError, match="env:\\* variables can not be set"):
        embedded.execute("SET env:HOME=/")


def test_values_may_name_variables_that_are_set_later(embedded: Session, value: Callable[[str], object]) -> None:
    embedded.execute("SET hivevar:path=${root}/x")
    assert value("${path}") == "${root}/x"
    embedded.execute("SET hivevar:root=/data")
    assert value("${path} ${hivevar:${which}}") == "/data/x ${hivevar:${which}}"
    embedded.execute("SET hivevar:which=root")
    assert value("${hivevar:${which}}") == "/data"


def test_the_value_of_set_is_replaced_when_it_is_set(embedded: Session, value: Callable[[str], object]) -> None:
    embedded.execute("SET hivevar:a=1")
    embedded.execute("SET hivevar:b=${a}")
    embedded.execute("SET hivevar:a=2")
    assert value("${b}") == "1"


def test_the_replacement_can_be_turned_off(embedded: Session, value: Callable[[str], object]) -> None:
    embedded.execute("SET hivevar:a=1")
    embedded.execute("SET hive.variable.substitute=false")
    assert value("${a}") == "${a}"
    embedded.execute("SET hive.variable.substitute=true")
    embedded.execute("SET hive.variable.substitute.depth=0")
    with pytest.raises(AcidSqlError) as raised:
        value("${a}")
    assert raised.value.condition == "VARIABLE_DEPTH"


def test_set_shows_variables(embedded: Session) -> None:
    embedded.execute("SET hivevar:day=7")

    def shown(name: str) -> list[tuple[object, ...]]:
        return list(embedded.execute(f"SET {name}").rows())

    assert shown("hivevar:day") == [("hivevar:day", "7")]
    assert shown("day") == [("day", "7")]
    assert shown("hiveconf:hive.variable.substitute.depth") == [("hiveconf:hive.variable.substitute.depth", "40")]
    assert shown("hivevar:other") == [("hivevar:other", "<undefined>")]
    assert ("hivevar:day", "7") in embedded.execute("SET").rows()


def test_each_statement_of_a_script_sees_the_variables_that_the_ones_before_it_have_set(embedded: Session) -> None:
    script = "SET hivevar:db=one; CREATE DATABASE ${db}; SET hivevar:db=two; CREATE DATABASE ${db}; SHOW DATABASES"
    *_, shown = embedded.script(script)
    assert list(shown.rows()) == [("default",), ("one",), ("two",)]


def test_a_value_holds_one_statement_at_most(embedded: Session) -> None:
    embedded.set_variables({"end": "x; DROP DATABASE y"})
    embedded.execute("CREATE DATABASE y")
    with pytest.raises(AcidSqlError, match="one statement is expected"):
        embedded.execute("CREATE DATABASE ${end}")
    assert list(embedded.execute("SHOW DATABASES").rows()) == [("default",), ("y",)]


def test_an_error_in_a_script_points_at_the_variable(embedded: Session) -> None:
    embedded.set_variables({"table": "no_such_table"})
    script = "SHOW DATABASES;\nDESCRIBE ${table};"
    with pytest.raises(AcidSqlError) as raised:
        list(embedded.script(script))
    assert raised.value.span is not None
    assert (raised.value.span.source, raised.value.span.line, raised.value.span.text) == (script, 2, "${table}")
    assert raised.value.hint.endswith("With its variables replaced, this place reads: no_such_table")


def test_explain_replaces_variables(embedded: Session) -> None:
    embedded.execute("CREATE TABLE visit (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true')")
    embedded.set_variables({"table": "visit"})
    assert embedded.explain("DELETE FROM ${table}") == embedded.explain("DELETE FROM visit")


# ------------------------------------------------------------------------------------------------ notes


@pytest.mark.parametrize(
    ("key", "note"),
    [
        ("hive.exec.parallel", ""),
        ("hive.merge.mapfiles", ""),
        ("hive.lock.numretries", ""),
        ("mapreduce.job.queuename", ""),
        ("my.own", ""),
        ("HIVE.EXEC.PARALLEL", ""),
        (
            "hive.lock.numretrie",
            "hive.lock.numretrie is not a setting of Hive 4 and has no effect. Did you mean hive.lock.numretries?",
        ),
        (
            "hive.txn.timeout",
            "hive.txn.timeout has no effect: acidsql does not act on this setting of Hive's transactions.",
        ),
        ("hive.txn.manager", ""),
        ("hive.qqqq", "hive.qqqq is not a setting of Hive 4 and has no effect."),
    ],
)
def test_a_setting_that_hive_does_not_have_is_kept_with_a_note(embedded: Session, key: str, note: str) -> None:
    embedded.execute(f"SET {key}=1")
    assert embedded.last_result is not None
    assert embedded.last_result.note == note
    assert list(embedded.execute(f"SET {key}").rows()) == [(key, "1")]


@pytest.mark.parametrize(
    "statement",
    ["REFRESH TABLE t", "REFRESH '/x'", "CACHE TABLE t", "UNCACHE TABLE IF EXISTS t", "CLEAR CACHE", "RELOAD FUNCTION"],
)
def test_statements_about_caches_succeed_and_say_that_nothing_was_done(embedded: Session, statement: str) -> None:
    embedded.execute(statement)
    assert embedded.last_result is not None
    assert embedded.last_result.note.startswith("Nothing was done")


def test_reset_gives_settings_their_defaults(embedded: Session, value: Callable[[str], object]) -> None:
    def shown(key: str) -> str | None:
        [(_, found)] = embedded.execute(f"SET {key}").rows()
        return None if found is None else str(found)

    for text in ("hive.lock.numretries=7", "hive.max.open.txns=9", "hive.exec.own=1", "hivevar:kept=yes"):
        embedded.execute(f"SET {text}")
    embedded.execute("RESET HIVE.LOCK.NUMRETRIES hive.exec.own hive.own.key")
    assert [shown(key) for key in ("hive.lock.numretries", "hive.exec.own", "hive.max.open.txns")] == [
        KNOWN["hive.lock.numretries"].default,
        "<undefined>",
        "9",
    ]
    embedded.execute("SET hive.exec.own=1")
    embedded.execute("RESET")
    assert [shown(key) for key in ("hive.exec.own", "hive.max.open.txns")] == [
        "<undefined>",
        KNOWN["hive.max.open.txns"].default,
    ]
    assert value("${kept}") == "yes"
    with pytest.raises(AcidSqlError, match="RESET of a Spark setting"):
        embedded.execute("RESET spark.sql.shuffle.partitions")
