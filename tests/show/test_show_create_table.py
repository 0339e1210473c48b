"""SHOW CREATE TABLE gives a statement that creates the same table again, for every kind of table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from acidsql.acid.table import Relation, Table
from acidsql.session import Session

ACID = "STORED AS ORC TBLPROPERTIES ('transactional'='true')"
INSERT_ONLY = "TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"
KINDS = {
    "plain": "CREATE TABLE t (id int, v string)",
    "orc": "CREATE TABLE t (id int) STORED AS ORC",
    "parquet": "CREATE TABLE t (id int) STORED AS PARQUET",
    "text": "CREATE TABLE t (id int) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\'"
    " COLLECTION ITEMS TERMINATED BY ',' NULL DEFINED AS '' STORED AS TEXTFILE",
    "full ACID": f"CREATE TABLE t (id int, v string) {ACID}",
    "insert-only": f"CREATE TABLE t (id int) STORED AS PARQUET {INSERT_ONLY}",
    "external": "CREATE EXTERNAL TABLE t (id int) STORED AS ORC LOCATION '{place}/far away'",
    "partitions": f"CREATE TABLE t (id int) PARTITIONED BY (day date COMMENT 'of visit', `the key` int) {ACID}",
    "buckets": f"CREATE TABLE t (id int, v string) CLUSTERED BY (v, id) INTO 3 BUCKETS {ACID}",
    "sorted": "CREATE TABLE t (id int, v string) CLUSTERED BY (id) SORTED BY (v) INTO 3 BUCKETS STORED AS ORC",
    "constraints": "CREATE TABLE t (id int NOT NULL, v string DEFAULT 'it\\'s', n decimal(10,2) DEFAULT 1.50,"
    f" CONSTRAINT c CHECK (id > 0 AND v <> 'a\\\\b'), CHECK (n < 3)) {ACID}",
    "comments": "CREATE TABLE t (id int COMMENT 'it\\'s \\\\ a \"key\"', v string COMMENT '')"
    f" COMMENT 'one\\ntwo\\u2028three\\rfour' {ACID}",
    "names": f"CREATE TABLE t (`select` int, `a b` struct<`x y`:int,z:array<map<string,date>>>) {ACID}",
    "types": "CREATE TABLE t (a tinyint, b smallint, c bigint, d float, e double, f decimal(38,18), g char(3),"
    f" h varchar(9), i binary, j boolean, k timestamp, l timestamp with local time zone) {ACID}",
    "properties": "CREATE TABLE t (id int) STORED AS ORC TBLPROPERTIES ('transactional'='true',"
    " 'o\\'k'='a\\\\b', 'e'='')",
    "view": "CREATE VIEW t (a COMMENT 'it\\'s', b) COMMENT 'two' TBLPROPERTIES ('x'='y') AS SELECT 1, 'it\\'s'",
    "partitioned view": "CREATE VIEW t (a, b) PARTITIONED ON (b) AS SELECT 1, 'x'",
}


def timeless(relation: Relation | None) -> Relation:
    """The relation without times and without the original text of a view: the statement has the expanded text."""
    assert relation is not None
    properties = {k: v for k, v in relation.properties.items() if k != "transient_lastDdlTime"}
    if isinstance(relation, Table):
        return replace(relation, created=0, properties=properties)
    return replace(relation, created=0, properties=properties, original="")


@pytest.mark.parametrize("kind", KINDS)
def test_the_statement_creates_the_same_table_again(session: Session, kind: str) -> None:
    session.execute(KINDS[kind].replace("{place}", f"{session.warehouse}.elsewhere"))
    before = timeless(session.catalog.find("default", "t"))
    statement = "\n".join(str(row[0]) for row in session.execute("SHOW CREATE TABLE t").rows())
    session.execute("DROP VIEW t" if "view" in kind else "DROP TABLE t")
    session.execute(statement)
    assert timeless(session.catalog.find("default", "t")) == before
