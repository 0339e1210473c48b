"""Relations: dbt's schema is a Hive database, and there is nothing above it."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.relation import ComponentName, Policy, RelationType


def _quoted() -> Policy:
    return Policy(database=False, schema=True, identifier=True)


def _included() -> Policy:
    return Policy(database=False, schema=True, identifier=True)


@dataclass(frozen=True, eq=False, repr=False)
class AcidSqlRelation(BaseRelation):
    """A table or a view. Its names are not case-sensitive, as Hive's."""

    quote_policy: Policy = field(default_factory=_quoted)
    include_policy: Policy = field(default_factory=_included)
    quote_character: str = "`"
    require_alias: bool = False
    """A subquery needs no alias, and may be given one by the model that names it."""
    renameable_relations: frozenset[RelationType] = frozenset({RelationType.Table, RelationType.View})
    replaceable_relations: frozenset[RelationType] = frozenset({RelationType.View})

    def _is_exactish_match(self, field: ComponentName, value: str) -> bool:
        return self.path.get_lowered_part(field) == value.lower()
