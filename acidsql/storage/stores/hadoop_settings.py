"""The settings of Hadoop's client: those of a running Spark, or those that Spark would have if it ran."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from acidsql.storage.stores.java_properties import properties
from acidsql.storage.stores.not_understood import NotUnderstood

HADOOP_PREFIX: Final = "spark.hadoop."
_REDACTED: Final = "<redacted>"
"""What org.apache.hadoop.conf.ConfigRedactor writes instead of a secret (Hadoop 3.5.0)."""
_SITE_FILES: Final = ("core-site.xml", "hdfs-site.xml")
"""In the order in which Hadoop reads them: a later file overrides what is not final in an earlier one."""
_INCLUDE: Final = "{http://www.w3.org/2001/XInclude}include"
_VARIABLE: Final = re.compile(r"\$\{([^{}$ ]+)\}")
_MOST_SUBSTITUTIONS: Final = 20
"""org.apache.hadoop.conf.Configuration.MAX_SUBST."""


class HadoopSettings(Mapping[str, str]):
    """Settings of Hadoop's client that are not its defaults. They cannot be changed, and `repr` shows their names only.

    >>> HadoopSettings({"fs.s3a.secret.key": "abc"})
    HadoopSettings(fs.s3a.secret.key)
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str) -> str:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"HadoopSettings({', '.join(sorted(self._values))})"


def settings_of_spark(dump: str, read: Callable[[str], str | None]) -> HadoopSettings:
    """The settings of a running Spark.

    `dump` is what org.apache.hadoop.conf.Configuration.dumpConfiguration writes. It has neither variables nor secrets:
    Hadoop puts values for the first and hides the second. `read` is `Configuration.get`, which gives the secrets.
    """
    values: dict[str, str] = {}
    for entry in json.loads(dump)["properties"]:
        if str(entry["resource"]).endswith("-default.xml"):
            continue
        value = read(entry["key"]) if entry["value"] == _REDACTED else entry["value"]
        if value is not None:
            values[entry["key"]] = str(value).strip()
    return HadoopSettings(values)


def settings_without_spark(conf: Mapping[str, str], environment: Mapping[str, str]) -> HadoopSettings | NotUnderstood:
    """The settings that Spark would have: `conf` is that of `connect(conf=..)`.

    What comes first wins: `spark.hadoop.*` of `conf`, those of spark-defaults.conf, keys of AWS in the environment,
    hdfs-site.xml and core-site.xml.
    """
    files = _site_settings(environment)
    if isinstance(files, NotUnderstood):
        return files
    given = {**_hadoop_part(_spark_defaults(environment)), **_hadoop_part(conf)}
    raw = {**files, **_environment_part(given, environment), **given}
    return HadoopSettings({key: _substituted(value, raw, environment).strip() for key, value in raw.items()})


def _hadoop_part(conf: Mapping[str, str]) -> dict[str, str]:
    return {key.removeprefix(HADOOP_PREFIX): str(conf[key]) for key in conf if key.startswith(HADOOP_PREFIX)}


def _environment_part(given: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """What Spark takes from the environment (org.apache.spark.deploy.SparkHadoopUtil, tried with Spark 4.3.0).

    Spark would complete keys of `spark.hadoop.*` by a session token of the environment, which does not belong to them.
    """
    part: dict[str, str] = {}
    access, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    if access and secret and not {"fs.s3a.access.key", "fs.s3a.secret.key"} & given.keys():
        part = {"fs.s3a.access.key": access, "fs.s3a.secret.key": secret}
        part["fs.s3a.session.token"] = environment.get("AWS_SESSION_TOKEN", "")
    if environment.get("AWS_ENDPOINT_URL"):
        part["fs.s3a.endpoint"] = environment["AWS_ENDPOINT_URL"]
    return part


def _spark_defaults(environment: Mapping[str, str]) -> dict[str, str]:
    directory = environment.get("SPARK_CONF_DIR")
    if not directory and environment.get("SPARK_HOME"):
        directory = os.path.join(environment["SPARK_HOME"], "conf")
    file = Path(directory or os.devnull, "spark-defaults.conf")
    return properties(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _site_settings(environment: Mapping[str, str]) -> dict[str, str] | NotUnderstood:
    values: dict[str, str] = {}
    final: set[str] = set()
    for name in _SITE_FILES:
        file = Path(environment.get("HADOOP_CONF_DIR") or os.devnull, name)
        if not file.is_file():
            continue
        found = _properties_of_xml(file)
        if isinstance(found, NotUnderstood):
            return found
        for key, value, is_final in found:
            if key not in final:
                values[key] = value
            if is_final:
                final.add(key)
    return values


def _properties_of_xml(file: Path) -> list[tuple[str, str, bool]] | NotUnderstood:
    """Name, value, and whether later files may not change it."""
    try:
        root = ElementTree.parse(file).getroot()
    except (ElementTree.ParseError, OSError):
        return NotUnderstood(f"acidsql's own client cannot read {file}")
    if next(root.iter(_INCLUDE), None) is not None:
        return NotUnderstood(f"{file} includes other files, which acidsql's own client does not read")
    found = ((_part(node, "name"), _part(node, "value"), _part(node, "final")) for node in root.iter("property"))
    return [
        (name.strip(), value, (final or "").strip() == "true")
        for name, value, final in found
        if name and value is not None
    ]


def _part(node: ElementTree.Element, name: str) -> str | None:
    """A property's name, value or mark, which is an element or an attribute."""
    child = node.find(name)
    return node.get(name) if child is None else child.text or ""


def _substituted(text: str, raw: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """The text with its variables replaced, as `Configuration.substituteVars` does: an unknown variable stays, and so
    does the whole text if a variable contains itself."""
    result = text
    for _ in range(_MOST_SUBSTITUTIONS):
        found = _VARIABLE.search(result)
        if found is None:
            return result
        value = _variable(found[1], raw, environment)
        if value is None:
            return result
        if found[0] in value:
            return text
        result = result[: found.start()] + value + result[found.end() :]
    return result


def _variable(name: str, raw: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    if name.startswith("env.") and len(name) > len("env."):
        return _environment_variable(name.removeprefix("env."), environment)
    return _system_properties(environment).get(name, raw.get(name))


def _environment_variable(name: str, environment: Mapping[str, str]) -> str | None:
    """`NAME`, `NAME-otherwise` if it is not set, or `NAME:-otherwise` if it is not set or empty."""
    found = re.match(r"(?P<name>.*?)(?P<mark>:?-)(?P<otherwise>.*)", name)
    if found is None:
        return environment.get(name)
    value = environment.get(found["name"])
    missing = value is None if found["mark"] == "-" else not value
    return found["otherwise"] if missing else value


def _system_properties(environment: Mapping[str, str]) -> dict[str, str]:
    """The properties of a JVM that are usual in Hadoop's files."""
    user = environment.get("USER") or environment.get("LOGNAME")
    known = {"user.name": user, "user.home": environment.get("HOME"), "java.io.tmpdir": "/tmp"}
    return {name: value for name, value in known.items() if value}
