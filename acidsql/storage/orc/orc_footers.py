"""What makes the files of other writers Hive's: the options of the writer, and the ends of the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Final, TypeAlias

from acidsql.acid.hive_types import has_instant, parse_type
from acidsql.acid.layout import BUCKET, ORIGINAL_TRANSACTION, ROW_ID
from acidsql.acid.table import Table
from acidsql.acid.write_ids import WriteId
from acidsql.storage.file_systems import Extent, FileSystem, NewEnd, Piece
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.added_columns import with_columns
from acidsql.storage.orc.event_columns import known_columns
from acidsql.storage.orc.footer_messages import name_as_written
from acidsql.storage.orc.rewrite import (
    encode_end,
    encode_second_end,
    nest_row,
    with_clear_names,
    with_instants,
    with_user_metadata,
)
from acidsql.storage.orc.stripe_appending import HEADER, stripes_end, with_stripes
from acidsql.storage.orc.tail import (
    BUCKET_COLUMN,
    ORIGINAL_TRANSACTION_COLUMN,
    ROW_ID_COLUMN,
    Tail,
    read_whole_tail,
)

Key: TypeAlias = "tuple[int, int, int]"
"""originalTransaction, bucket, rowId."""

_PIECE: Final = 1 << 20
_ENCRYPTION: Final = ("orc.encrypt", "orc.mask", "orc.key.provider")
_FINISHED: Final = ".finished"
_ARROW_CODECS: Final = {"none": "uncompressed", "zlib": "zlib", "snappy": "snappy", "lz4": "lz4", "zstd": "zstd"}


def writer_options(table: Table) -> dict[str, str]:
    """Options of Spark's writer for a table: its `orc.*` properties, and SNAPPY if they name no codec.

    SNAPPY costs least of the codecs that Hive 3 reads. ZLIB, Hive's default, takes a third longer to write and a sixth
    less space (benchmarks/README.md).
    """
    return _orc_options(table) if table.file_format == "orc" else {}


def arrow_codec(table: Table) -> str | None:
    """The codec of the table's ORC files by the name that pyarrow has for it; None for a codec that pyarrow lacks."""
    return _ARROW_CODECS.get(writer_options(table)["orc.compress"].lower())


def _orc_options(table: Table) -> dict[str, str]:
    options = {k.lower(): v for k, v in table.properties.items() if k.lower().startswith("orc.")}
    options.setdefault("orc.compress", "SNAPPY")
    blooms = options.get("orc.bloom.filter.columns")
    if blooms is not None and not table.is_insert_only:
        options["orc.bloom.filter.columns"] = ",".join(_flat_names(blooms.split(","), table))
    return options


def _flat_names(names: Iterable[str], table: Table) -> Iterator[str]:
    numbers = {c.name: i for i, c in enumerate(table.columns)}
    return (f"_c{numbers[n.strip().lower()]}" for n in names if n.strip().lower() in numbers)


def finish_events(
    files: FileSystem,
    tail: Tail,
    table: Table,
    *,
    is_delete: bool,
    keys: Sequence[Key] | None = None,
    note: Mapping[str, str] = MappingProxyType({}),
) -> Sequence[Piece]:
    """Nests the row in a struct and adds Hive's user metadata. Returns what `_put_end` does.

    `keys` are the last keys of the stripes. They are read from the file if they are not given. `note` is added to the
    metadata.
    """
    metadata = user_metadata(tail.rows, sorted_keys(files, tail) if keys is None else keys, is_delete=is_delete)
    return _put_end(files, with_user_metadata(with_nested_row(tail, table), {**metadata, **note}))


def adds_acid_columns(files: FileSystem, table: Table) -> bool:
    """Whether `finish_joined` may make the files of the table: on a disk where a file is copied at little cost, and
    unless the writer encrypts columns."""
    is_encrypted = any(key.startswith(_ENCRYPTION) for key in writer_options(table))
    return isinstance(files, LocalFiles) and table.is_full_acid and table.file_format == "orc" and not is_encrypted


@dataclass(frozen=True, slots=True)
class RowsOfOrigin:
    """A file of rows of one write ID and one bucket property, with some of the ACID columns or none. Their row IDs
    ascend; without a column for them they count up from 0."""

    tail: Tail
    write_id: WriteId
    bucket_property: int

    def events(self, files: FileSystem) -> _Events:
        """The file with all ACID columns."""
        with files.open(self.tail.path) as source:
            known = known_columns(self.write_id, self.bucket_property, self.tail.top_level_names)
            pieces, whole = with_columns(source, self.tail, known)
        keys = insert_keys(self.write_id, self.bucket_property, whole)
        if keys is None:
            last = (_last_of_stripe(files, self.tail.path, n, [ROW_ID]) for n in range(len(self.tail.stripe_rows)))
            keys = [(self.write_id, self.bucket_property, row_id) for (row_id,) in last]
        return _Events(pieces[1:], whole, keys)


@dataclass(frozen=True, slots=True)
class FlatEvents:
    """A file of insert events in the order of their row IDs, as flat columns."""

    tail: Tail

    def events(self, files: FileSystem) -> _Events:
        """The file as it is."""
        start, end = len(HEADER), stripes_end(self.tail)
        whole = replace(self.tail, size=end, footer_start=end)
        return _Events([Extent(self.tail.path, start, end - start)], whole, sorted_keys(files, self.tail))


@dataclass(frozen=True, slots=True)
class _Events:
    """The stripes of a file of flat events, the tail that follows them, and the last key of each stripe."""

    stripes: Sequence[Piece]
    tail: Tail
    keys: Sequence[Key]


def writes_statistics(table: Table) -> bool:
    """Whether the ORC files of the table have statistics: writers make them together with row indexes."""
    options = _orc_options(table)
    return options.get("orc.create.index", "true").lower() != "false" and options.get("orc.row.index.stride") != "0"


def finish_joined(
    files: FileSystem,
    parts: Sequence[RowsOfOrigin | FlatEvents],
    table: Table,
    note: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Makes one file of the stripes of several files of insert events, and gives its path. The rows of a part come
    behind those of the part before it. The former files are removed.

    Raises MALFORMED_LAYOUT where another writer, or one with other settings, wrote one of the files.
    """
    path = f"{parts[0].tail.path}{_FINISHED}"
    content: list[Piece] = [HEADER]
    keys: list[Key] = []
    joined: Tail | None = None
    for part in parts:
        events = part.events(files)
        content += events.stripes
        keys += events.keys
        nested = with_nested_row(events.tail, table)
        length = nested.size - len(HEADER)
        joined = nested if joined is None else with_stripes(joined, nested, joined.size, length)
    assert joined is not None
    metadata = user_metadata(joined.rows, keys, is_delete=False)
    files.assemble(path, (*content, encode_second_end(with_user_metadata(joined, {**metadata, **note}))))
    for part in parts:
        files.delete(part.tail.path)
    return path


def finished_file(
    content: bytes,
    path: str,
    table: Table,
    *,
    is_delete: bool,
    keys: Callable[[Sequence[int]], Sequence[Key]],
    note: Mapping[str, str] = MappingProxyType({}),
) -> tuple[bytes, bytes]:
    """A file of events, or of the rows of an insert-only table, before it is written to `path`: the bytes before its
    end, and the end that makes it Hive's.

    `content` is the file as pyarrow made it. `keys` gives the row IDs at positions of its events.
    """
    tail = read_whole_tail(path, len(content), lambda count: content[-count:])
    if table.is_full_acid:
        last = [end - 1 for end in accumulate(tail.stripe_rows)]
        metadata = user_metadata(tail.rows, keys(last), is_delete=is_delete)
        finished = with_user_metadata(with_nested_row(tail, table), {**metadata, **note})
    else:
        finished = with_plain_columns(tail, table)
    return content[: finished.footer_start], encode_end(finished)


def with_nested_row(tail: Tail, table: Table) -> Tail:
    """The tail of a file of flat events as Hive's: a struct `row` with the table's columns, and instants."""
    columns = [(c.name, parse_type(c.type)) for c in table.columns]
    return with_instants(nest_row(tail, columns), [kind for _, kind in columns])


def finish_plain(files: FileSystem, tail: Tail, table: Table) -> Sequence[Piece]:
    """Finishes an ORC file of rows without row IDs: changes the type of instants, and the spelling of names with a
    backtick. Returns what `_put_end` does."""
    finished = with_plain_columns(tail, table)
    return _put_end(files, finished) if finished is not tail else ()


def with_plain_columns(tail: Tail, table: Table) -> Tail:
    """The tail of a file of rows without row IDs as Hive's; the tail itself where nothing is to change."""
    types = [parse_type(c.type) for c in table.columns]
    names = [c.name for c in table.columns]
    finished = with_instants(tail, types) if any(map(has_instant, types)) else tail
    if list(map(name_as_written, names)) != names:
        finished = with_clear_names(finished, names)
    return finished


def _put_end(files: FileSystem, tail: Tail) -> Sequence[Piece]:
    """Gives a file its end. Where files cannot change, returns the pieces of which the file is made that takes its
    final place."""
    match files.new_end(tail.path):
        case NewEnd.IN_PLACE:
            files.replace_end(tail.path, tail.footer_start, encode_end(tail))
        case NewEnd.BEHIND:
            files.append(tail.path, encode_second_end(tail))
        case NewEnd.IN_A_COPY:
            return Extent(tail.path, 0, tail.footer_start), encode_end(tail)
    return ()


def count_rows(files: FileSystem, path: str, file_format: str) -> int:
    """The rows of a file of text or Parquet."""
    with files.open(path) as stream:
        if file_format == "textfile":
            return sum(piece.count(b"\n") for piece in iter(lambda: stream.read(_PIECE), b""))
        from pyarrow import parquet

        return int(parquet.ParquetFile(stream).metadata.num_rows)


def user_metadata(rows: int, keys: Sequence[Key], *, is_delete: bool) -> dict[str, str]:
    """The metadata that Hive writes: the last key of each stripe (OrcRecordUpdater.KeyIndexBuilder), and the number of
    events by kind (AcidStats)."""
    return {
        "hive.acid.key.index": "".join(f"{w},{b},{r};" for w, b, r in keys),
        "hive.acid.stats": f"0,0,{rows}" if is_delete else f"{rows},0,0",
        "hive.acid.version": "2",
    }


def insert_keys(write_id: WriteId, bucket_property: int, tail: Tail) -> list[Key] | None:
    """The last key of each stripe of new rows, by the statistics of their row IDs; None without statistics, which
    writers leave out with `orc.create.index`. The rows share write ID and bucket property, and ascend by row ID."""
    ranges = [r for r in tail.stripe_integer_ranges(ROW_ID_COLUMN) if r is not None]
    return [(write_id, bucket_property, r[1]) for r in ranges] if len(ranges) == len(tail.stripe_rows) else None


def sorted_keys(files: FileSystem, tail: Tail) -> list[Key]:
    """The last key of each stripe of sorted events: from the statistics of a stripe with one write ID and one bucket
    property, else from its last row."""
    columns = (ORIGINAL_TRANSACTION_COLUMN, BUCKET_COLUMN, ROW_ID_COLUMN)
    stripes = list(zip(*(tail.stripe_integer_ranges(c) for c in columns), strict=True))
    keys: list[Key] = []
    for number, (write_ids, properties, rows) in enumerate(stripes):
        if write_ids and properties and rows and write_ids[0] == write_ids[1] and properties[0] == properties[1]:
            keys.append((write_ids[1], properties[1], rows[1]))
        else:
            keys.append(_last_key(files, tail.path, number))
    return keys


def _last_key(files: FileSystem, path: str, stripe: int) -> Key:
    write_id, bucket_property, row_id = _last_of_stripe(files, path, stripe, [ORIGINAL_TRANSACTION, BUCKET, ROW_ID])
    return write_id, bucket_property, row_id


def _last_of_stripe(files: FileSystem, path: str, stripe: int, columns: Sequence[str]) -> list[int]:
    """The values of integer columns in the last row of a stripe."""
    from pyarrow import orc

    with files.open(path) as file:
        batch = orc.ORCFile(file).read_stripe(stripe, columns=list(columns))
    last = batch.slice(batch.num_rows - 1, 1).to_pydict()
    return [last[column][0] for column in columns]
