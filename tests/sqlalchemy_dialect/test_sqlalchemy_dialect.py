"""The dialect of SQLAlchemy: statements, DDL, reflection, the ORM, and pandas on top of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

sa = pytest.importorskip("sqlalchemy")

from sqlalchemy import orm  # noqa: E402
from sqlalchemy.dialects import registry  # noqa: E402
from sqlalchemy.schema import CreateTable  # noqa: E402

from acidsql import dbapi  # noqa: E402
from acidsql.sqlalchemy_dialect import ARRAY, MAP, STRING, STRUCT, TINYINT, AcidSqlDialect  # noqa: E402

registry.register("acidsql", "acidsql.sqlalchemy_dialect", "AcidSqlDialect")  # also where no wheel is installed


class Base(orm.DeclarativeBase):
    pass


class Person(Base):
    __tablename__ = "person"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True, autoincrement=False)
    name: orm.Mapped[str]
    age: orm.Mapped[int | None]


@pytest.fixture
def engine(spark: SparkSession, tmp_path: Path) -> Iterator[Any]:
    made = sa.create_engine(f"acidsql:///{tmp_path}/warehouse", connect_args={"spark": spark})
    yield made
    made.dispose()


def compiled(statement: Any) -> str:
    return " ".join(str(statement.compile(dialect=AcidSqlDialect())).split())


def items(metadata: Any) -> Any:
    return sa.Table(
        "items",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(50), nullable=False, comment="it's a \\ name"),
        sa.Column("price", sa.Numeric(10, 2), server_default=sa.text("1")),
        sa.Column("tags", ARRAY(sa.String)),
        sa.Column("values", sa.DateTime),
        sa.Column("day", sa.String),
        comment="all items",
        acidsql_partitioned_by="day",
        acidsql_properties={"note": "x"},
    )


# ------------------------------------------------------------------------------------------------ without a connection


def test_create_table_has_the_clauses_of_hive() -> None:
    assert compiled(CreateTable(items(sa.MetaData()))) == (
        "CREATE TABLE `items` ( `id` INT NOT NULL, `name` VARCHAR(50) NOT NULL COMMENT 'it\\'s a \\\\ name',"
        " `price` DECIMAL(10,2) DEFAULT 1, `tags` ARRAY<STRING>, `values` TIMESTAMP,"
        " CONSTRAINT `pk_items_id` PRIMARY KEY (`id`) DISABLE NOVALIDATE ) COMMENT 'all items'"
        " PARTITIONED BY (`day` STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true', 'note'='x')"
    )
    plain = sa.Table(
        "plain",
        sa.MetaData(),
        sa.Column("id", sa.BigInteger),
        acidsql_stored_as="PARQUET",
        acidsql_clustered_by=["id"],
        acidsql_buckets=4,
        acidsql_location="/tmp/x",
    )
    assert compiled(CreateTable(plain)) == (
        "CREATE TABLE `plain` ( `id` BIGINT ) CLUSTERED BY (`id`) INTO 4 BUCKETS STORED AS PARQUET LOCATION '/tmp/x'"
    )


def test_types_have_hives_names() -> None:
    named = {
        "STRING": [sa.Text(), sa.String(), sa.Unicode(), STRING(), sa.JSON()],
        "VARCHAR(5)": [sa.String(5), sa.Enum("small", "large")],
        "TINYINT": [TINYINT()],
        "INT": [sa.Integer()],
        "DOUBLE": [sa.Float(), sa.Double()],
        "FLOAT": [sa.REAL(), sa.Float(24)],
        "DECIMAL(38,18)": [sa.Numeric()],
        "BINARY": [sa.LargeBinary()],
        "TIMESTAMP WITH LOCAL TIME ZONE": [sa.DateTime(timezone=True)],
        "ARRAY<ARRAY<INT>>": [ARRAY(sa.Integer, dimensions=2)],
        "MAP<STRING,DECIMAL(5,2)>": [MAP(sa.String, sa.Numeric(5, 2))],
        "STRUCT<`a`:INT,`b c`:DATE>": [STRUCT({"a": sa.Integer, "b c": sa.Date})],
    }
    assert {name: {compiled_type(kind) for kind in kinds} for name, kinds in named.items()} == {n: {n} for n in named}
    with pytest.raises(sa.exc.CompileError, match="time of day"):
        compiled_type(sa.Time())


def compiled_type(kind: Any) -> str:
    return str(kind.compile(dialect=AcidSqlDialect()))


def test_literals_are_escaped_as_hive_reads_them() -> None:
    statement = sa.select(
        sa.literal("it's \\ x"), sa.literal(b"\x00a"), sa.literal(date(2026, 1, 2)), sa.literal(datetime(2026, 1, 2, 3))
    )
    text = str(statement.compile(dialect=AcidSqlDialect(), compile_kwargs={"literal_binds": True}))
    assert "'it\\'s \\\\ x'" in text
    assert "X'0061'" in text
    assert "DATE '2026-01-02'" in text
    assert "TIMESTAMP '2026-01-02 03:00:00'" in text


def test_literals_of_nan_and_infinity_are_no_names_of_columns() -> None:
    statement = sa.select(*(sa.literal(float(value)) for value in ("nan", "inf", "-inf", "-0.0", "1.5")))
    text = str(statement.compile(dialect=AcidSqlDialect(), compile_kwargs={"literal_binds": True}))
    casts = [f"CAST('{value}' AS DOUBLE)" for value in ("NaN", "Infinity", "-Infinity", "-0.0")]
    assert [item.partition(" AS `")[0] for item in text.removeprefix("SELECT ").split(", ")] == [*casts, "1.5"]


def test_an_url_gives_the_arguments_of_connect() -> None:
    dialect = AcidSqlDialect()
    url = sa.make_url("acidsql:////data/w?metastore=thrift://h:9083&spark.master=local[2]")
    assert dialect.create_connect_args(url)[1] == {
        "warehouse": "/data/w",
        "autocommit": False,
        "metastore": "thrift://h:9083",
        "conf": {"spark.master": "local[2]"},
    }
    for wrong in ("acidsql://host/w", "acidsql:///w?metastor=x"):
        with pytest.raises(sa.exc.ArgumentError):
            dialect.create_connect_args(sa.make_url(wrong))


def test_an_index_is_refused() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("id", sa.Integer, index=True))
    with pytest.raises(sa.exc.CompileError, match="no indexes"):
        compiled(sa.schema.CreateIndex(next(iter(table.indexes))))


# ------------------------------------------------------------------------------------------------ with one


def test_reflection_finds_what_create_table_made(engine: Any) -> None:
    metadata = sa.MetaData()
    table = items(metadata)
    metadata.create_all(engine)
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE VIEW seen AS SELECT id FROM items"))
        connection.execute(sa.schema.CreateSchema("other"))
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["default", "other"]
    assert (inspector.get_table_names(), inspector.get_view_names()) == (["items"], ["seen"])
    assert inspector.has_table("ITEMS")
    assert not inspector.has_table("items", schema="other")
    assert inspector.get_pk_constraint("items")["constrained_columns"] == ["id"]
    assert inspector.get_view_definition("seen") == "SELECT id FROM items"
    reflected = sa.Table("items", sa.MetaData(), autoload_with=engine)
    again, once = compiled(CreateTable(reflected)), compiled(CreateTable(table))
    assert again == once.replace(", 'note'='x'", "")
    with pytest.raises(sa.exc.NoSuchTableError):
        inspector.get_columns("absent")


def test_statements_of_core_run(engine: Any) -> None:
    metadata = sa.MetaData()
    table = items(metadata)
    metadata.create_all(engine)
    rows = [
        {
            "id": n,
            "name": f"n{n}",
            "price": Decimal(n) / 4,
            "tags": ["a", None],
            "values": datetime(2026, 1, n),
            "day": "x",
        }
        | {"tags": ["a", None]}
        for n in (1, 2, 3)
    ]
    with engine.begin() as connection:
        assert connection.execute(table.insert(), rows).rowcount == 3
    with engine.connect() as connection:
        found = connection.execute(
            sa.select(table.c.id, table.c.price, table.c.tags, table.c.tags[0], table.c["values"])
            .where(table.c.id.in_([1, 2, 9]), table.c.name.regexp_match("^n"), table.c.id.is_distinct_from(9))
            .order_by(table.c.id.desc())
            .limit(1)
            .offset(1)
        ).all()
        assert found == [(1, Decimal("0.25"), ["a", None], "a", datetime(2026, 1, 1))]
        assert connection.execute(sa.select(table).where(table.c.id.in_([]))).all() == []
        connection.execute(table.delete())
        connection.rollback()
    with engine.begin() as connection:
        assert connection.execute(table.update().where(table.c.id > 1).values(name="it's \\")).rowcount == 2
        assert connection.execute(table.delete().where(table.c.id == 3)).rowcount == 1
        names = connection.execute(sa.select(table.c.name).order_by(table.c.id)).scalars().all()
    assert names == ["n1", "it's \\"]


def test_autocommit_is_an_isolation_level_and_errors_keep_their_condition(engine: Any) -> None:
    Base.metadata.create_all(engine)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.insert(Person).values(id=1, name="a"))
        assert not connection.connection.dbapi_connection.in_transaction
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "SNAPSHOT"
        assert connection.execute(sa.select(sa.func.count()).select_from(Person)).scalar() == 1
        with pytest.raises(sa.exc.ProgrammingError) as caught:
            connection.execute(sa.text("SELECT absent FROM person"))
    assert isinstance(caught.value.orig, dbapi.ProgrammingError)
    assert caught.value.orig.condition == "COLUMN_NOT_FOUND"


def test_the_orm_inserts_updates_and_deletes_and_notices_rows_that_are_gone(engine: Any) -> None:
    Base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add_all([Person(id=1, name="Ada", age=36), Person(id=2, name="Bob"), Person(id=3, name="Cy")])
        session.commit()
        session.get_one(Person, 1).age = 37
        session.delete(session.get_one(Person, 2))
        session.commit()
        people = session.scalars(sa.select(Person).order_by(Person.id)).all()
        assert [(person.id, person.name, person.age) for person in people] == [(1, "Ada", 37), (3, "Cy", None)]
        session.execute(sa.delete(Person).where(Person.id == 3), execution_options={"synchronize_session": False})
        people[1].age = 1
        with pytest.raises(orm.exc.StaleDataError):
            session.commit()


def test_pandas_reads_and_writes(engine: Any) -> None:
    frame = pd.DataFrame(
        {
            "i": [1, 2, 3],
            "f": [1.5, None, 2.5],
            "s": ["a", "it's", None],
            "d": pd.to_datetime(["2026-01-01 10:00", None, "2026-01-03 11:30"]),
            "b": [True, False, True],
        }
    )
    assert frame.to_sql("frame", engine, index=False) == 3
    assert frame.to_sql("frame", engine, index=False, if_exists="append") == 3
    read = pd.read_sql("SELECT * FROM frame", engine)
    expected = pd.concat([frame, frame]).sort_values("i", ignore_index=True)
    pd.testing.assert_frame_equal(read.sort_values("i", ignore_index=True), expected, check_dtype=False)
    frame.to_sql("frame", engine, index=False, if_exists="replace")
    assert len(pd.read_sql_table("frame", engine)) == 3


def test_literals_are_no_variables(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value is text, and must neither show the environment of the process nor become SQL."""
    monkeypatch.setenv("SECRET", "x' , 'y")
    value = "it's ${env:SECRET} \\u0024{env:SECRET}"
    texts = sa.Table(
        "texts",
        sa.MetaData(),
        sa.Column("id", sa.Integer, comment=value),
        sa.Column("text", sa.String, server_default=value),
        comment=value,
    )
    insert = texts.insert().values(id=1, text=value).compile(engine, compile_kwargs={"literal_binds": True})
    with engine.begin() as connection:
        texts.create(connection)
        connection.exec_driver_sql(str(insert))
        connection.exec_driver_sql("INSERT INTO texts (id) VALUES (2)")
        rows = connection.execute(texts.select().order_by(texts.c.id)).fetchall()
        assert [row.text for row in rows] == [value, value]
        assert sa.inspect(connection).get_columns("texts")[0]["comment"] == value
        assert sa.inspect(connection).get_table_comment("texts") == {"text": value}


def test_a_schema_that_does_not_exist_has_no_tables(engine: Any) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_table_names("nope") == inspector.get_view_names("nope") == []


def test_an_insert_without_columns_is_refused_by_the_compiler(engine: Any) -> None:
    with pytest.raises(sa.exc.CompileError, match="empty inserts"):
        str(sa.insert(items(sa.MetaData())).values().compile(engine, column_keys=[]))
