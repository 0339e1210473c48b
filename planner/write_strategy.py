"""How the events of a statement become files: the strategies as values, and the rule that chooses one of them.

Every strategy that `choose_strategy` can give leaves the same rows in the table; the strategies differ in what they
cost. The choice is a function of the plan and of facts about the data, so that EXPLAIN can print the rule and a test
can ask it anything. `ByArrow` is the Arrow engine's way (acidsql/arrow/executor.py). Each of Spark's strategies is
carried out by a file of its own in `acidsql/spark/write/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias, assert_never

from acidsql.acid.row_id import MAX_BUCKET
from acidsql.planner.plan import DRIVER_BYTES, ArrowMerge, EventKind, RowSource, WritePlan

MIB: Final = 1024 * 1024
ONE_TASK: Final = 8 * MIB
"""Bytes that one task writes without help."""
MUCH: Final = 32 * MIB
"""Bytes that a statement reads before `InEachTask` pays: below, its second step takes longer than the shuffle."""
MOST_DELETES_BY_DRIVER: Final = 4_000_000
"""Delete events of an `InEachTask` that the driver sorts and writes."""
_SMALL_INSERT: Final = MIB
"""Bytes that an INSERT reads for the driver to write its rows, which all go to one file."""
_WHOLE_FILE: Final = 128 * MIB
"""Bytes of a file that one task reads, as in Spark (spark.sql.files.maxPartitionBytes)."""
_TASK: Final = 64 * MIB
"""Compressed bytes that a writing task gets, where there are many."""
_FILES_PER_TASK: Final = 8
"""Small files that one task writes."""
OPEN_FILES: Final = 16
"""Files that a task keeps open together. Spark sorts the rows by file where there are more."""
_MOST_TASKS: Final = MAX_BUCKET + 1
"""Tasks that number their own bucket: a bucket number has 12 bits."""


@dataclass(frozen=True, slots=True)
class ByArrow:
    """This process finds the rows of the target by pyarrow and writes the files; Spark computes at most the source of a
    MERGE.

    Where the values, the table or its files are not those that it reads and writes as Spark does, it writes nothing,
    and another strategy follows (acidsql/engines).
    """

    source_by_spark: bool
    """Whether the statement is a MERGE whose source Spark computes."""

    @property
    def label(self) -> str:
        return "by Arrow, the source by Spark" if self.source_by_spark else "by Arrow"


@dataclass(frozen=True, slots=True)
class ByDriver:
    """The driver collects the events, sorts them and writes the files (driver_write.py).

    It refuses a result that turns out to be larger than it looked, before anything is written.
    """

    label: ClassVar = "by the driver"
    files: int
    """How many files get the new rows, in each directory."""


@dataclass(frozen=True, slots=True)
class InPlace:
    """Each task reads one file of the target and writes the events of its rows, without a shuffle and a sort
    (in_place_write.py)."""

    label: ClassVar = "in place"


@dataclass(frozen=True, slots=True)
class InEachTask:
    """Each task writes the new rows that it makes, and its number is their bucket (task_write.py)."""

    label: ClassVar = "in each task"
    most_tasks: int
    deletes_follow: bool
    """Whether the statement has delete events: a second step brings together those of each file."""


@dataclass(frozen=True, slots=True)
class Shuffled:
    """All events are shuffled to the tasks of their files and sorted there (shuffled_write.py)."""

    label: ClassVar = "shuffled"
    tasks: int


@dataclass(frozen=True, slots=True)
class Plain:
    """The rows of a plain table are written as they come (plain_write.py)."""

    label: ClassVar = "plain files"
    most_tasks: int


SparkStrategy: TypeAlias = ByDriver | InPlace | InEachTask | Shuffled | Plain
WriteStrategy: TypeAlias = ByArrow | SparkStrategy
StrategyKind: TypeAlias = type[ByDriver] | type[InPlace] | type[InEachTask] | type[Shuffled] | type[Plain]
STRATEGIES: Final[tuple[StrategyKind, ...]] = (ByDriver, InPlace, InEachTask, Shuffled, Plain)


@dataclass(frozen=True, slots=True)
class WriteFacts:
    """What the choice of a strategy depends on beside the plan; only the run knows it."""

    size: int
    """Bytes that the statement reads."""
    knows_size: bool
    """Whether Spark knows the size of every relation that the statement reads."""
    driver_bytes: int
    """The setting DRIVER_BYTES."""
    driver_can_write: bool
    """Whether the driver can write such files as Spark does (driver_write.can_write)."""
    file_sizes: tuple[int, ...]
    """The sizes of the target's data files that the statement reads."""
    delete_files: int
    """How many files delete events may go to."""
    places: int
    """How many partitions of the target the data files lie in."""
    keeps_order: bool
    """Whether a task that reads one file gives its events in the order of the row IDs, and no other task has events of
    its bucket."""
    cores: int
    """Tasks that run at once."""
    shuffle_tasks: int
    """Tasks that a shuffle may have (spark.sql.shuffle.partitions)."""


NO_FACTS: Final = WriteFacts(0, False, 0, False, (), 0, 0, False, 1, 1)
"""For a plain table, which is written in one way whatever is read."""


def choose_strategy(plan: WritePlan, facts: WriteFacts, preferred: StrategyKind | None = None) -> SparkStrategy:
    """The first of Spark's strategies that leaves the right table and pays; a `preferred` one wherever it leaves the
    right table.

    After the driver has refused, ask again with facts that say that it cannot write.
    """
    possible = possible_strategies(plan, facts)
    wanted = [s for s in possible if type(s) is preferred]
    return (wanted or [s for s in possible if _pays(s, plan, facts)])[0]


def possible_strategies(plan: WritePlan, facts: WriteFacts) -> tuple[SparkStrategy, ...]:
    """Those of Spark's strategies that leave the right table, whether or not they pay. The last one always pays."""
    return tuple(s for s in _allowed(plan, facts) if _is_possible(s, plan, facts))


def choose_for_deletes(count: int, facts: WriteFacts) -> ByDriver | Shuffled:
    """The second step of an `InEachTask`: how its `count` delete events are written, which take `facts.size` bytes."""
    if count <= MOST_DELETES_BY_DRIVER and facts.driver_can_write:
        return ByDriver(1)
    return Shuffled(_task_count(facts, facts.delete_files))


def explain_strategy(plan: WritePlan) -> str:
    """The strategies that the plan allows, in one line."""
    return ", ".join(strategy_rules(plan))


def strategy_rules(plan: WritePlan) -> list[str]:
    """The strategies that the plan allows: the first one is taken for which the bytes that the run reads fit its rule.

    The run asks more than a size of some of them: see `choose_strategy`.
    """
    by_arrow = arrow_strategy(plan)
    *by_spark, last = _allowed(plan, NO_FACTS)
    first: list[WriteStrategy] = [*by_spark] if by_arrow is None else [by_arrow, *by_spark]
    rules = [f"{strategy.label} ({_rule(strategy, plan)})" for strategy in first]
    return [*rules, f"else {last.label}" if rules else last.label]


def arrow_strategy(plan: WritePlan) -> ByArrow | None:
    """The strategy `ByArrow`, if the plan allows it: the statement is one whose rows the Arrow engine can find, and its
    target's files are ORC."""
    if plan.arrow is None or not plan.target.is_transactional or plan.target.file_format != "orc":
        return None
    return ByArrow(source_by_spark=isinstance(plan.arrow, ArrowMerge) and plan.arrow.rows is None)


def _rule(strategy: WriteStrategy, plan: WritePlan) -> str:
    """When the strategy is taken if none before it is: `_is_possible` and `_pays` in words."""
    match strategy:
        case ByArrow():
            return "files that it reads and writes, values that it stores as Spark does"
        case ByDriver():
            also = f" and {_SMALL_INSERT // MIB} MiB" if plan.inserts_only else ""
            return f"up to {DRIVER_BYTES}{also}"
        case InPlace():
            return f"one file per bucket, up to {_WHOLE_FILE // MIB} MiB each"
        case InEachTask():
            return f"from {MUCH // MIB} MiB"
        case Shuffled() | Plain():
            return "always"
        case _:
            assert_never(strategy)


def _allowed(plan: WritePlan, facts: WriteFacts) -> tuple[SparkStrategy, ...]:
    """Those of Spark's strategies that the plan allows, in the order of the choice, with the numbers of tasks for the
    facts."""
    most_tasks = 1 if plan.row_source is RowSource.TEXT else _MOST_TASKS
    if not plan.target.is_transactional:
        return (Plain(most_tasks),)
    if plan.inserts_only:
        return ByDriver(1), InEachTask(most_tasks, deletes_follow=False)
    found: list[SparkStrategy] = [ByDriver(min(most_tasks, _task_count(facts, 0)))]
    if plan.row_source is RowSource.TARGET and not plan.moves_rows:
        found.append(InPlace())
    if _may_write_in_tasks(plan):
        found.append(InEachTask(most_tasks, deletes_follow=True))
    return (*found, Shuffled(min(most_tasks, _task_count(facts, facts.delete_files))))


def _may_write_in_tasks(plan: WritePlan) -> bool:
    """Whether new rows may go to any file, and there are delete events beside them."""
    kinds = {b.kind for b in plan.branches}
    has_both = EventKind.INSERT in kinds and len(kinds) > 1
    return has_both and not plan.target.bucket_count and not plan.moves_rows


def _is_possible(strategy: SparkStrategy, plan: WritePlan, facts: WriteFacts) -> bool:
    """Whether the strategy leaves the right table."""
    match strategy:
        case ByDriver():
            return facts.driver_can_write
        case InPlace():
            # Tasks of two partitions would give their new rows the same row IDs.
            makes_rows = any(b.kind is EventKind.INSERT for b in plan.branches)
            return facts.keeps_order and (facts.places <= 1 or not makes_rows)
        case InEachTask(deletes_follow=True):
            files = len(plan.branches) * (facts.places if plan.keeps_places else 1)
            return files <= OPEN_FILES
        case InEachTask() | Shuffled() | Plain():
            return True
        case _:
            assert_never(strategy)


def _pays(strategy: SparkStrategy, plan: WritePlan, facts: WriteFacts) -> bool:
    """Whether the strategy is faster than those behind it."""
    match strategy:
        case ByDriver():
            most = min(facts.driver_bytes, _SMALL_INSERT) if plan.inserts_only else facts.driver_bytes
            return facts.knows_size and facts.size <= most
        case InPlace():
            # Tasks that read one file each must be as many as there could be.
            largest = max(facts.file_sizes, default=0)
            few = len(facts.file_sizes) < facts.cores and largest > ONE_TASK
            return not few and largest <= _WHOLE_FILE
        case InEachTask(deletes_follow=True):
            return facts.size >= MUCH
        case InEachTask() | Shuffled() | Plain():
            return True
        case _:
            assert_never(strategy)


def _task_count(facts: WriteFacts, files: int) -> int:
    """Writing tasks, by the bytes that are read and the number of files: one for little data, unless it goes to many
    files; all cores or more for much data."""
    if facts.size <= ONE_TASK:
        return min(facts.cores, max(1, files // _FILES_PER_TASK))
    most = max(facts.cores, facts.shuffle_tasks)
    return min(_MOST_TASKS, most, max(facts.cores, -(-facts.size // _TASK)))
