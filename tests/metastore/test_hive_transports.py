"""A Hive Metastore behind TLS, and one that speaks HTTP."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from acidsql.errors import AcidSqlError
from acidsql.metastore.registry import open_hive
from acidsql.session import connect
from tests.interop.hive_client import Hive
from tests.metastore import tables
from tests.metastore.statement_kinds import run_each_kind
from tests.metastore.tls_proxy import PASSWORD, Certificate, TlsProxy, make_certificate

pytestmark = [pytest.mark.hive, pytest.mark.nightly, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def over_http(certificate: Certificate) -> Iterator[Hive]:
    """A Hive whose metastore speaks HTTP with TLS."""
    root = Path(tempfile.mkdtemp(prefix="acidsql-http-"))
    keys = {"path": str(certificate.store), "password": PASSWORD, "type": "PKCS12"}
    settings = {
        "metastore.server.thrift.transport.mode": "http",
        "metastore.client.thrift.transport.mode": "http",
        "metastore.use.SSL": "true",
        **{f"metastore.keystore.{name}": value for name, value in keys.items()},
        **{f"metastore.truststore.{name}": value for name, value in keys.items()},
        "metastore.keymanagerfactory.algorithm": "SunX509",
        "metastore.trustmanagerfactory.algorithm": "PKIX",
    }
    try:
        with Hive(root, settings) as running:
            yield running
    finally:
        shutil.rmtree(root)


def test_a_metastore_behind_tls_is_used_and_its_connections_are_kept(hive: Hive, certificate: Certificate) -> None:
    with TlsProxy(certificate, hive.home.port) as proxy:
        uri = f"thrift://localhost:{proxy.port}?tls=true"
        with open_hive(f"{uri}&ca={certificate.pem}") as opened:
            for _ in range(5):
                assert "default" in {one.name for one in opened.databases()}
            assert len(proxy.clients) == 1
            proxy.cut()
            assert "default" in {one.name for one in opened.databases()}, "it has connected again"
        with pytest.raises(AcidSqlError, match="Cannot open the metastore"):
            open_hive(uri)


@pytest.mark.nightly
def test_each_kind_of_statement_runs_behind_tls(hive: Hive, certificate: Certificate, spark: SparkSession) -> None:
    with TlsProxy(certificate, hive.home.port) as proxy:
        uri = f"thrift://localhost:{proxy.port}?tls=true&ca={certificate.pem}"
        with connect(metastore=uri, spark=spark) as session:
            run_each_kind(session, "behind_tls")


def test_a_missing_file_of_certificates_is_named(tmp_path: Path) -> None:
    with pytest.raises(AcidSqlError, match=r"ca=.*none\.pem cannot be read"):
        open_hive(f"thrift://localhost:1?tls=true&ca={tmp_path}/none.pem")


@pytest.mark.nightly
def test_a_metastore_that_speaks_http_is_used(
    over_http: Hive, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = over_http.home.port
    with open_hive(f"thrift://localhost:{port}?transport=http&tls=true&ca={certificate.pem}") as opened:
        monkeypatch.setattr(tables, "WAREHOUSE", opened.database("default").location)
        opened.create_table(tables.partitioned_table("t"))
        table = opened.table("default", "t")
        txn = opened.open_txn()
        write_id = opened.allocate_write_id(txn, table)
        opened.commit(txn)
        valid = opened.valid_write_ids(table, opened.valid_txns())
        assert (valid.high_watermark, valid.open, valid.aborted) == (write_id, frozenset(), frozenset())


@pytest.mark.nightly
def test_each_kind_of_statement_runs_by_http(over_http: Hive, certificate: Certificate, spark: SparkSession) -> None:
    uri = f"thrift://localhost:{over_http.home.port}?transport=http&tls=true&ca={certificate.pem}"
    with connect(metastore=uri, spark=spark) as session:
        run_each_kind(session, "by_http")
