"""Our parser of ORC tails against the classes that protoc generated from ORC's own orc_proto.proto (OrcProto)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from acidsql.storage.footer_cache import read_file_tail
from acidsql.storage.local_files import LocalFiles
from acidsql.storage.orc.footer_messages import orc_type
from acidsql.storage.orc.protobuf import encode
from acidsql.storage.orc.rewrite import encode_end, with_user_metadata
from acidsql.storage.orc.tail import TAIL_GUESS, Tail, read_tail
from tests.support.golden_cases import GOLDEN

pytestmark = pytest.mark.nightly

FILES = LocalFiles()


def golden_files() -> list[Path]:
    """One ORC file of the golden tables for each schema."""
    found: dict[tuple[bytes, ...], Path] = {}
    for path in sorted(GOLDEN.rglob("*")):
        if path.is_file() and path.stat().st_size and path.read_bytes()[:3] == b"ORC":
            found.setdefault(tail_of(path).type_messages, path)
    return list(found.values())


@pytest.fixture(scope="module")
def java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm


def tail_of(path: Path) -> Tail:
    return read_file_tail(FILES, str(path), path.stat().st_size)


def generated_footer(java: Any, path: Path) -> Any:
    """OrcProto.Footer of a file, as ORC's own reader gives it."""
    options = java.org.apache.orc.OrcFile.readerOptions(java.org.apache.hadoop.conf.Configuration())
    reader = java.org.apache.orc.OrcFile.createReader(java.org.apache.hadoop.fs.Path(str(path)), options)
    try:
        return reader.getFileTail().getFooter()
    finally:
        reader.close()


def check_types(tail: Tail, footer: Any) -> None:
    assert len(tail.type_messages) == footer.getTypesCount()
    for number, message in enumerate(tail.type_messages):
        ours, generated = orc_type(message), footer.getTypes(number)
        assert ours.kind == generated.getKind().getNumber()
        assert list(ours.subtypes) == list(generated.getSubtypesList())
        assert list(ours.names) == list(generated.getFieldNamesList())
        assert (ours.length, ours.precision, ours.scale) == (
            generated.getMaximumLength(),
            generated.getPrecision(),
            generated.getScale(),
        )


def check_integer_ranges(tail: Tail, footer: Any) -> int:
    """How many columns have a range."""
    found = 0
    for number in range(footer.getStatisticsCount()):
        statistics = footer.getStatistics(number)
        if statistics.hasIntStatistics() and statistics.getIntStatistics().hasMinimum():
            integers = statistics.getIntStatistics()
            assert tail.integer_range(number) == (integers.getMinimum(), integers.getMaximum())
            found += 1
        else:
            assert tail.integer_range(number) is None
    return found


def test_a_tail_has_the_facts_that_the_generated_classes_read(java: Any) -> None:
    files = golden_files()
    assert len(files) > 25
    ranges = 0
    for path in files:
        tail, footer = tail_of(path), generated_footer(java, path)
        assert tail.rows == footer.getNumberOfRows(), path
        assert list(tail.stripe_rows) == [stripe.getNumberOfRows() for stripe in footer.getStripesList()], path
        check_types(tail, footer)
        ranges += check_integer_ranges(tail, footer)
        assert java.org.apache.orc.OrcProto.Footer.parseFrom(encode(tail.footer)).equals(footer), path
    assert ranges > 100


def test_a_rewritten_end_has_the_added_metadata_and_everything_else_unchanged(java: Any, tmp_path: Path) -> None:
    """ORC's own reader opens the file with the new end and finds the footer that its own builder makes."""
    proto = java.org.apache.orc.OrcProto
    text = java.org.apache.orc.protobuf.ByteString
    for number, path in enumerate(golden_files()[::4]):
        tail, footer = tail_of(path), generated_footer(java, path)
        end = encode_end(with_user_metadata(tail, {"hive.acid.key.index": "1,2,3;", "ä": "ö"}))
        rewritten = tmp_path / f"{number}.orc"
        rewritten.write_bytes(path.read_bytes()[: tail.footer_start] + end)
        builder = footer.toBuilder()
        for name, value in (("hive.acid.key.index", "1,2,3;"), ("ä", "ö")):
            item = proto.UserMetadataItem.newBuilder().setName(name).setValue(text.copyFromUtf8(value))
            builder = builder.addMetadata(item.build())
        assert generated_footer(java, rewritten).equals(builder.build()), path
        size = rewritten.stat().st_size
        again = read_tail(str(rewritten), size, rewritten.read_bytes()[-TAIL_GUESS:])
        assert isinstance(again, Tail)
        assert again.rows == tail.rows
