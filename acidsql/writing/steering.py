"""What a test asks of the engines: a strategy, or that Spark runs a statement."""

from __future__ import annotations

from dataclasses import dataclass

from acidsql.planner.write_strategy import SparkStrategy, StrategyKind


@dataclass(slots=True)
class Steering:
    """For tests: the kind of strategy that a session takes wherever it is possible, a list that gets the strategies
    that it took, and whether a statement may be run by the Arrow engine."""

    preferred: StrategyKind | None = None
    taken: list[SparkStrategy] | None = None
    may_use_arrow: bool = True

    @property
    def may_skip_spark(self) -> bool:
        """Whether Spark may be left out. It may not where a test prefers a strategy, or asks for those taken."""
        return self.may_use_arrow and self.preferred is None and self.taken is None
