"""Whatever values settings have, they are understood or not, and no secret is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.storage.stores.hdfs_rules import HDFS_RULES
from acidsql.storage.stores.hdfs_settings import hdfs_options
from acidsql.storage.stores.s3_rules import S3_RULES
from acidsql.storage.stores.s3_settings import s3_options
from acidsql.storage.stores.setting_rules import Rules

HOME = {"HOME": "/dev/null"}
NAMES = ("algorithm", "provider", "type", "authentication", ".impl", "keyfile")
"""Parts of settings whose values are names of algorithms, classes and files, which may be shown."""


def _of_s3(settings: dict[str, str]) -> object:
    return s3_options(settings, "b1b", HOME)


def _of_hdfs(settings: dict[str, str]) -> object:
    return [hdfs_options(settings, url, HOME) for url in ("hdfs://ns", "hdfs:///x", "viewfs://ns/")]


CLIENTS = [(_of_s3, S3_RULES), (_of_hdfs, HDFS_RULES)]
VALUES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["true", "10s", "http://[", "h:p:q", "hdfs://[x", "kms://http@", "//", "OAuth", "SAS", "SSE-C"]),
    st.sampled_from(
        [name for rule in ("MsiTokenProvider", "ClientCredsTokenProvider") for name in (rule, f"a.{rule}")]
    ),
)
REST = st.sampled_from(["ns", "ns.link./w", "ns.linkFallback", "ns.a"])


@pytest.mark.parametrize(("client", "rules"), CLIENTS, ids=["s3", "hdfs"])
@given(data=st.data())
def test_any_values_are_understood_or_not(
    client: Callable[[dict[str, str]], object], rules: Rules, data: st.DataObject
) -> None:
    obeyed = sorted(rules.obeyed)
    keys = data.draw(st.lists(st.sampled_from(obeyed), max_size=6))
    client({f"{key}{data.draw(REST)}" if key.endswith(".") else key: data.draw(VALUES) for key in keys})


@pytest.mark.parametrize(("client", "rules"), CLIENTS[:1], ids=["s3"])
@given(data=st.data())
def test_no_value_is_shown(client: Callable[[dict[str, str]], object], rules: Rules, data: st.DataObject) -> None:
    obeyed = sorted(key for key in rules.obeyed if not any(name in key for name in NAMES))
    keys = data.draw(st.lists(st.sampled_from(obeyed), max_size=6))
    settings = {f"{key}{data.draw(REST)}" if key.endswith(".") else key: "hush" for key in keys}
    assert "hush" not in repr(client(settings))
