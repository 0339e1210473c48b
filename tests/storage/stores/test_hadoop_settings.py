"""Where settings of Hadoop's client come from, which of two wins, and what variables in them stand for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.storage.stores.hadoop_settings import HadoopSettings, settings_of_spark, settings_without_spark
from acidsql.storage.stores.java_properties import properties
from acidsql.storage.stores.not_understood import NotUnderstood


def _collected(conf: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    settings = settings_without_spark(conf, environment)
    assert isinstance(settings, HadoopSettings)
    return dict(settings)


def _site(directory: Path, name: str, body: str) -> dict[str, str]:
    (directory / name).write_text(f"<?xml version='1.0'?><configuration>{body}</configuration>", encoding="utf-8")
    return {"HADOOP_CONF_DIR": str(directory)}


def _property(name: str, value: str, more: str = "") -> str:
    return f"<property><name>{name}</name><value>{value}</value>{more}</property>"


def test_only_spark_hadoop_settings_of_a_connection_count() -> None:
    conf = {"spark.hadoop.fs.s3a.endpoint": " minio:9000 ", "spark.master": "local", "fs.s3a.path.style.access": "true"}
    assert _collected(conf, {}) == {"fs.s3a.endpoint": "minio:9000"}


def test_the_connection_wins_over_spark_defaults_and_those_over_site_files(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.hadoop.a 2\nspark.hadoop.b=2\nspark.b 9\n", encoding="utf-8")
    environment = _site(tmp_path, "core-site.xml", "".join(_property(key, "3") for key in "abc"))
    environment["SPARK_CONF_DIR"] = str(tmp_path)
    assert _collected({"spark.hadoop.a": "1"}, environment) == {"a": "1", "b": "2", "c": "3"}


def test_spark_defaults_lie_in_conf_of_spark_home(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.hadoop.a: 1", encoding="utf-8")
    assert _collected({}, {"SPARK_HOME": str(tmp_path)}) == {"a": "1"}


def test_hdfs_site_overrides_what_core_site_does_not_make_final(tmp_path: Path) -> None:
    _site(tmp_path, "core-site.xml", _property("a", "1", "<final> true </final>") + _property("b", "1"))
    environment = _site(tmp_path, "hdfs-site.xml", _property("a", "2") + _property("b", "2"))
    assert _collected({}, environment) == {"a": "1", "b": "2"}


def test_a_property_may_be_written_as_attributes_and_without_a_value(tmp_path: Path) -> None:
    body = (
        '<property name="a" value="1"/><property><name> b </name><value/></property><property><name>c</name></property>'
    )
    assert _collected({}, _site(tmp_path, "core-site.xml", body)) == {"a": "1", "b": ""}


def test_a_file_that_includes_others_is_not_understood(tmp_path: Path) -> None:
    body = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="more.xml"/>'
    settings = settings_without_spark({}, _site(tmp_path, "core-site.xml", body))
    assert settings == NotUnderstood(
        f"{tmp_path}/core-site.xml includes other files, which acidsql's own client does not read"
    )


def test_a_file_that_is_no_xml_is_not_understood(tmp_path: Path) -> None:
    assert isinstance(settings_without_spark({}, _site(tmp_path, "core-site.xml", "<property>")), NotUnderstood)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${host}:9000", "nn:9000"),
        ("${outer}", "nn/x"),
        ("${env.PLACE}", "here"),
        ("${env.EMPTY}", ""),
        ("${env.EMPTY-there}", ""),
        ("${env.EMPTY:-there}", "there"),
        ("${env.ABSENT-there}", "there"),
        ("${env.ABSENT:-${host}}", "nn"),
        ("${env.ABSENT}", "${env.ABSENT}"),
        ("${user.name}", "ann"),
        ("${unknown}", "${unknown}"),
        ("${self}", "${self}"),
        ("$host {host}", "$host {host}"),
    ],
)
def test_variables_stand_for_settings_environment_and_system_properties(text: str, value: str) -> None:
    conf = {"host": "nn", "outer": "${host}/x", "self": "a ${self}", "key": text}
    environment = {"PLACE": "here", "EMPTY": "", "USER": "ann"}
    assert _collected({f"spark.hadoop.{key}": conf[key] for key in conf}, environment)["key"] == value


@given(st.dictionaries(st.sampled_from("abcd"), st.text("ab${}. "), max_size=4))
def test_any_variables_come_to_an_end(values: dict[str, str]) -> None:
    assert _collected({f"spark.hadoop.{key}": values[key] for key in values}, {}).keys() == values.keys()


KEYS = {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK", "AWS_SESSION_TOKEN": "TK"}


def test_keys_of_the_environment_become_settings_as_spark_makes_them(tmp_path: Path) -> None:
    environment = {**_site(tmp_path, "core-site.xml", _property("fs.s3a.access.key", "file")), **KEYS}
    environment["AWS_ENDPOINT_URL"] = "http://minio:9000"
    assert _collected({}, environment) == {
        "fs.s3a.access.key": "AK",
        "fs.s3a.secret.key": "SK",
        "fs.s3a.session.token": "TK",
        "fs.s3a.endpoint": "http://minio:9000",
    }


def test_a_session_token_of_the_environment_does_not_join_keys_of_the_connection() -> None:
    conf = {"spark.hadoop.fs.s3a.access.key": "mine", "spark.hadoop.fs.s3a.secret.key": "mine"}
    assert _collected(conf, KEYS) == {"fs.s3a.access.key": "mine", "fs.s3a.secret.key": "mine"}


def test_a_running_spark_gives_settings_that_are_not_defaults_with_their_secrets() -> None:
    # As Hadoop 3.5.0 in Spark 4.3.0 writes them.
    entries = [
        ("fs.s3a.secret.key", "<redacted>", "Set by Spark on vm/127.0.0.1 from AWS_SECRET_ACCESS_KEY"),
        ("fs.s3a.endpoint", "http://x:1", "Set by Spark from keys starting with 'spark.hadoop'"),
        ("fs.s3a.threads.max", "96", "core-default.xml"),
        ("dfs.replication", "3", "hdfs-default.xml"),
        ("yarn.acl.enable", "false", "yarn-default.xml"),
        ("fs.defaultFS", "hdfs://ns", "core-site.xml"),
    ]
    properties_ = [{"key": key, "value": value, "isFinal": False, "resource": origin} for key, value, origin in entries]
    settings = settings_of_spark(json.dumps({"properties": properties_}), {"fs.s3a.secret.key": "SK"}.get)
    assert settings == {"fs.s3a.secret.key": "SK", "fs.s3a.endpoint": "http://x:1", "fs.defaultFS": "hdfs://ns"}


def test_the_representation_of_settings_shows_no_values() -> None:
    assert "hush" not in repr(settings_without_spark({"spark.hadoop.fs.s3a.secret.key": "hush"}, {}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1", {"a": "1"}),
        ("a\t=  1  ", {"a": "1"}),
        ("a:1=2", {"a": "1=2"}),
        ("  # a 1\n! b 2\n\nc 3", {"c": "3"}),
        ("a 1\\\n  2\nb", {"a": "12", "b": ""}),
        (r"a\ b\=c 1\t2\u0041\\", {"a b=c": "1\t2A\\"}),
        ("a 1\r\na 2", {"a": "2"}),
        ("a 1\\", {"a": "1"}),
    ],
)
def test_files_of_properties_are_read_as_java_reads_them(text: str, expected: dict[str, str]) -> None:
    assert properties(text) == expected
