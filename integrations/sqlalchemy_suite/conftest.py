"""Runs SQLAlchemy's own test suite for dialects: `make sqlalchemy-suite`. It is not part of `make test`."""

import pytest
from sqlalchemy.dialects import registry

registry.register("acidsql", "acidsql.sqlalchemy_dialect", "AcidSqlDialect")
registry.register("acidsql.dbapi", "acidsql.sqlalchemy_dialect", "AcidSqlDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

import provision  # noqa: E402, F401  registers what the suite needs
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402  the hooks of pytest
