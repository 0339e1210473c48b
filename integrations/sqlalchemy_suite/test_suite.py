"""SQLAlchemy's tests for dialects. `dialect_requirements` says which of them apply."""

from sqlalchemy.testing.suite import *  # the tests

# Hive's names of tables have letters, digits and underscores only, and these tests are about others.
del BizarroCharacterTest, QuotedNameArgumentTest  # noqa: F821
