"""The driver's JVM with few round trips: classes looked up once, lists and arrays handed over whole.

Every dot of a Java name and every element of a list is a call of its own otherwise, a fifth of a millisecond each (for
a package a whole one: the JVM looks for a class of that name in all jars); a statement made a thousand of them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession

_SEPARATOR: Final = "\x1e"
"""Between the texts of a list; a text that has it goes the slow way."""
_FEW_BYTES: Final = 16 << 10
_LONGS: Final = '{"type": "array", "elementType": "long", "containsNull": false}'


class Jvm:
    """Java classes that are used for every statement."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self.view: Any = gateway.jvm

    @cached_property
    def _separator(self) -> Any:
        pattern = self.view.java.util.regex.Pattern
        return pattern.compile(_SEPARATOR, pattern.LITERAL)

    @cached_property
    def dataset(self) -> Any:
        return self.view.org.apache.spark.sql.classic.Dataset

    @cached_property
    def weak_reference(self) -> Any:
        return self.view.java.lang.ref.WeakReference

    @cached_property
    def _zones(self) -> Any:
        return self.view.java.util.TimeZone

    @property
    def zone(self) -> Any:
        """The JVM's default java.util.TimeZone."""
        return self._zones.getDefault()

    def zone_named(self, name: str) -> Any:
        return self._zones.getTimeZone(name)

    @cached_property
    def heap(self) -> int:
        """The most bytes that the driver's heap can have."""
        return int(self.view.java.lang.Runtime.getRuntime().maxMemory())

    @cached_property
    def file_name_encoding(self) -> str:
        """In what the JVM writes and reads the names of local files."""
        return str(self.view.java.lang.System.getProperty("sun.jnu.encoding"))

    @cached_property
    def column_classes(self) -> Any:
        return self.view.org.apache.spark.sql.classic.ExpressionUtils

    @cached_property
    def _literal(self) -> Any:
        return self.view.org.apache.spark.sql.catalyst.expressions.Literal

    @cached_property
    def _unsafe_arrays(self) -> Any:
        return self.view.org.apache.spark.sql.catalyst.expressions.UnsafeArrayData

    @cached_property
    def _longs_begin(self) -> int:
        return int(self.view.org.apache.spark.unsafe.Platform.LONG_ARRAY_OFFSET)

    @cached_property
    def _types(self) -> Any:
        return self.view.org.apache.spark.sql.types.DataType

    @cached_property
    def _longs(self) -> Any:
        return self.data_type(_LONGS)

    @cached_property
    def _texts(self) -> Any:
        return self.data_type('{"type": "array", "elementType": "string", "containsNull": true}')

    def data_type(self, json: str) -> Any:
        """The Java object of a type in Spark's JSON."""
        return self._types.fromJson(json)

    @cached_property
    def _long_arrays(self) -> Any:
        return self.data_type(f'{{"type": "array", "elementType": {_LONGS}, "containsNull": true}}')

    @cached_property
    def _read_only(self) -> Any:
        return self.view.java.nio.channels.FileChannel.MapMode.READ_ONLY

    @cached_property
    def for_little(self) -> Any:
        """Settings for a query of little data: it is not compiled, nor planned again while it runs."""
        return self.properties(
            {
                "spark.sql.codegen.wholeStage": "false",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
                "spark.sql.adaptive.enabled": "false",
                "spark.sql.shuffle.partitions": "1",
            }
        )

    @cached_property
    def sources(self) -> Any:
        return self.view.org.apache.spark.sql.execution.datasources

    @cached_property
    def _file_index(self) -> Any:
        return self.sources.InMemoryFileIndex

    @cached_property
    def _file_relation(self) -> Any:
        return self.sources.HadoopFsRelation

    @cached_property
    def _orc_format(self) -> Any:
        return self.sources.orc.OrcFileFormat()

    @cached_property
    def _no_cache(self) -> Any:
        return scala_object(self.sources, "NoopCache")

    @cached_property
    def _no_partitions(self) -> Any:
        return self.view.scala.Some(scala_object(self.sources, "PartitionSpec").emptySpec())

    @cached_property
    def none(self) -> Any:
        return scala_object(self.view.scala, "None")

    @cached_property
    def _no_columns(self) -> Any:
        return self.data_type('{"type": "struct", "fields": []}')

    @cached_property
    def _scala_maps(self) -> Any:
        return scala_object(self.view.scala.collection.immutable, "Map")

    @cached_property
    def _scala_arrays(self) -> Any:
        return scala_object(self.view.scala.collection.immutable, "ArraySeq")

    @cached_property
    def _to_paths(self) -> Any:
        return self.view.org.apache.hadoop.util.StringUtils.stringToPath

    @cached_property
    def _converters(self) -> Any:
        return self.view.scala.jdk.javaapi.CollectionConverters

    def orc_relation(self, jsession: Any, uris: Sequence[str], schema: str, options: Mapping[str, str]) -> Any:
        """A HadoopFsRelation of ORC files, each of them listed once; `schema` is Spark's JSON."""
        paths = self._scala_arrays.unsafeWrapArray(self._to_paths(self.texts(uris)))
        read_with = self._scala_map(options)
        index = self._file_index(jsession, paths, read_with, self.none, self._no_cache, self._no_partitions, self.none)
        columns = self.data_type(schema)
        return self._file_relation(index, self._no_columns, columns, self.none, self._orc_format, read_with, jsession)

    def define_view(self, jsession: Any, name: str, plan: Any) -> None:
        """A temporary view of an analyzed plan, as createOrReplaceTempView makes one, a command that takes ten times as
        long."""
        views, arguments = self._temporary_views
        relation = views.createTemporaryViewRelation(
            self._table_name(name), jsession, False, self._knows_nothing, self.none, plan, plan, *arguments
        )
        jsession.sessionState().catalog().createTempView(name, relation, True)

    @cached_property
    def _temporary_views(self) -> Any:
        """What makes them, and what it wants behind the plans: the functions, and since Spark 4.1 the collation."""
        views = self.view.org.apache.spark.sql.execution.command.ViewHelper
        functions = scala_object(self.view.scala.collection.immutable, "Nil")
        has_collation = "createTemporaryViewRelation$default$9" in dir(views)
        return views, [functions, self.none] if has_collation else [functions]

    @cached_property
    def _table_name(self) -> Any:
        return self.view.org.apache.spark.sql.catalyst.TableIdentifier

    @cached_property
    def _knows_nothing(self) -> Any:
        """A scala.Function1 that gives None."""
        return self._scala_maps.empty().withDefaultValue(self.none)

    def _scala_map(self, texts: Mapping[str, str]) -> Any:
        made = self._maps()
        for key, value in texts.items():
            made.put(key, value)
        return getattr(self._scala_maps, "from")(self._converters.asScala(made))

    @cached_property
    def _strategy(self) -> Any:
        return scala_object(self.sources, "DataSourceStrategy")

    @cached_property
    def _orc(self) -> Any:
        """What makes a search argument, what it wants behind schema and filters (nothing before Spark 4.3), and what
        puts the argument into a configuration."""
        of_spark = self.sources.orc.OrcFilters
        third = "createFilter$default$3"
        more = [getattr(of_spark, third)()] if third in dir(of_spark) else []
        return of_spark, more, self.view.org.apache.orc.mapred.OrcInputFormat

    def source_filter(self, expression: Any) -> Any:
        """A condition as data sources of Spark take it; None for one that they do not."""
        translated = self._strategy.translateFilter(expression, True)
        return translated.get() if translated.isDefined() else None

    def filter_of(self, name: str, *arguments: object) -> Any:
        """One of Spark's source filters, by the name of its class."""
        return getattr(self._filters, name)(*arguments)

    @cached_property
    def _filters(self) -> Any:
        return self.view.org.apache.spark.sql.sources

    def search_options(self, schema: Any, filters: Sequence[Any]) -> dict[str, str]:
        """ORC's search argument for filters over columns, as options of Spark's reader; none if nothing can be told."""
        listed = self._lists()
        for one in filters:
            listed.add(one)
        filters_of, more, input_format = self._orc
        argument = filters_of.createFilter(schema, self._converters.asScala(listed).toSeq(), *more)
        if not argument.isDefined():
            return {}
        conf = self.view.org.apache.hadoop.conf.Configuration(False)
        input_format.setSearchArgument(conf, argument.get(), schema.fieldNames())
        return {key: conf.get(key) for key in ("orc.kryo.sarg", "orc.sarg.column.names")}

    def properties(self, items: Mapping[str, str]) -> Any:
        """java.util.Properties, for SQLConf.setConf."""
        made = self.view.java.util.Properties()
        for key, value in items.items():
            made.setProperty(key, value)
        return made

    def columns(self, columns: Mapping[str, Column]) -> Any:
        """java.util.Map, for Dataset.withColumns."""
        made = self._maps()
        for name, column in columns.items():
            made.put(name, column._jc)
        return made

    @cached_property
    def _maps(self) -> Any:
        return self.view.java.util.LinkedHashMap

    def no_rows(self) -> Any:
        return self._lists()

    @cached_property
    def _lists(self) -> Any:
        return self.view.java.util.ArrayList

    def texts(self, texts: Iterable[str]) -> Any:
        """A String[], for a method with a variable number of arguments."""
        listed = list(texts)
        if all(text and _SEPARATOR not in text for text in listed):
            return self._separator.split(_SEPARATOR.join(listed))
        java = self._gateway.new_array(self._gateway.jvm.String, len(listed))
        for number, text in enumerate(listed):
            java[number] = text
        return java

    def long_array(self, values: NDArray[np.int64]) -> Column:
        """An array<bigint> literal. It is part of the plan itself, so reading from it needs no join and no job."""
        array = self._unsafe_arrays.fromPrimitiveArray(self._filled(values))
        return Column(self.column_classes.column(self._literal(array, self._longs)))

    def long_arrays(self, values: Sequence[NDArray[np.int64] | None]) -> Column:
        """An array<array<bigint>> literal."""
        items = [None if v is None else _unsafe_array(len(v), b"", v.astype("<i8").tobytes()) for v in values]
        return self._unsafe_literal(items, self._long_arrays)

    def text_array(self, values: Sequence[str | None]) -> Column:
        """An array<string> literal."""
        return self._unsafe_literal([None if v is None else v.encode() for v in values], self._texts)

    def _unsafe_literal(self, items: Sequence[bytes | None], kind: Any) -> Column:
        """An array of what has no fixed length: where each begins and its length, then all of them."""
        lengths = [-(-len(item or b"") // 8) * 8 for item in items]
        start = len(_unsafe_array(len(items), _null_bits(items), b"")) + 8 * len(items)
        begins = np.cumsum([start, *lengths])[:-1]
        places = begins << 32 | np.array([len(item or b"") for item in items], np.int64)
        padded = b"".join((item or b"").ljust(length, b"\0") for item, length in zip(items, lengths, strict=True))
        content = _unsafe_array(len(items), _null_bits(items), places.astype("<i8").tobytes() + padded)
        array = self._unsafe_arrays()
        array.pointTo(self._filled(np.frombuffer(content, "<i8")), self._longs_begin, len(content))
        return Column(self.column_classes.column(self._literal(array, kind)))

    @cached_property
    def _buffers(self) -> Any:
        return self.view.java.nio.ByteBuffer

    @cached_property
    def _file_streams(self) -> Any:
        return self.view.java.io.FileInputStream

    def _filled(self, values: NDArray[np.int64]) -> Any:
        """A long[]."""
        java = self._gateway.new_array(self._gateway.jvm.long, len(values))
        if len(values):
            self._fill(java, values)
        return java

    def _fill(self, java: Any, values: NDArray[np.int64]) -> None:
        """Many through a file: as an argument each byte is a character of text."""
        if values.nbytes <= _FEW_BYTES:
            self._buffers.wrap(values.astype(">i8").tobytes()).asLongBuffer().get(java)
            return
        handle, path = tempfile.mkstemp(prefix="acidsql-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(values.astype(">i8").tobytes())
            stream = self._file_streams(path)
            stream.getChannel().map(self._read_only, 0, values.nbytes).asLongBuffer().get(java)
            stream.close()
        finally:
            os.unlink(path)


def _unsafe_array(count: int, nulls: bytes, content: bytes) -> bytes:
    """An array as UnsafeArrayData lays it out: the number of items, a bit for each that is NULL, in whole longs, and
    8 bytes for each."""
    return count.to_bytes(8, "little") + nulls.ljust(-(-count // 64) * 8, b"\0") + content


def _null_bits(items: Sequence[object]) -> bytes:
    return np.packbits(np.array([item is None for item in items], np.bool_), bitorder="little").tobytes()


@lru_cache(maxsize=2)
def _of_gateway(gateway: Any) -> Jvm:
    return Jvm(gateway)


def jvm(spark: SparkSession) -> Jvm:
    return _of_gateway(spark.sparkContext._gateway)


def select(frame: DataFrame, expressions: Iterable[str]) -> DataFrame:
    """`frame.selectExpr`, in a few calls whatever the number of expressions."""
    spark = frame.sparkSession
    return DataFrame(frame._jdf.selectExpr(jvm(spark).texts(expressions)), spark)


def where(frame: DataFrame, condition: str) -> DataFrame:
    """`frame.where` of SQL text."""
    return DataFrame(frame._jdf.filter(condition), frame.sparkSession)


def with_columns(frame: DataFrame, columns: Mapping[str, Column]) -> DataFrame:
    """`frame.withColumns`: all of them are analyzed together."""
    if not columns:
        return frame
    spark = frame.sparkSession
    return DataFrame(frame._jdf.withColumns(jvm(spark).columns(columns)), spark)


def scala_object(package: Any, name: str) -> Any:
    return getattr(getattr(package, f"{name}$"), "MODULE$")


def items(seq: Any) -> Iterator[Any]:
    """The elements of a Scala Seq."""
    return (seq.apply(i) for i in range(seq.size()))
