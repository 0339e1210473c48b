"""What SQLAlchemy's test suite must know to make its tables in acidsql."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, event, text
from sqlalchemy.testing.provision import post_configure_engine, temp_table_keyword_args


@temp_table_keyword_args.for_db("acidsql")
def _temporary_tables(cfg: Any, eng: Any) -> dict[str, Any]:
    return {"prefixes": ["TEMPORARY"]}


@post_configure_engine.for_db("acidsql")
def _with_schema(url: Any, engine: Any, follower_ident: str | None) -> None:
    with engine.connect() as connection:
        connection.execute(text("CREATE DATABASE IF NOT EXISTS test_schema"))


@event.listens_for(Index, "after_parent_attach")
def _without_index(index: Index, table: Any) -> None:
    """Hive has no indexes. The suite's tables that have one are made without it; the tests of indexes are left out."""
    index.ddl_if(callable_=lambda *args, **kw: False)
