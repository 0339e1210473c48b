"""The driver's JVM with few round trips: classes are addressed by their full names, lists and arrays are sent whole.

Each call of the JVM takes about 0.3 ms. Py4J makes one for every dot of a Java name (and one of a millisecond for a
package, because the JVM looks for a class of that name in all jars), and one for every element of a list. A statement
made a thousand of them that way.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from py4j.java_gateway import JavaClass
from pyspark import SparkContext
from pyspark.sql import Column, DataFrame, SparkSession

from acidsql.spark.catalyst import names
from acidsql.spark.catalyst.names import SparkClass, missing_names
from acidsql.spark.catalyst.pyspark_api import sql_of_spark
from acidsql.spark.catalyst.scala_collections import Scala213
from acidsql.spark.catalyst.shims import require_names, shim_of

_SEPARATOR: Final = "\x1e"
"""Stands between the texts of a list. A list with a text that contains it is sent element by element."""
_FEW_BYTES: Final = 16 << 10
_LONGS: Final = '{"type": "array", "elementType": "long", "containsNull": false}'


class Jvm:
    """The Java classes that statements use, each looked up once.

    Raises SPARK_NOT_SUPPORTED when it is made for a Spark that lacks a private name that acidsql needs.
    """

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        self._view: Any = gateway.jvm
        version = str(self.scala_object(names.SPARK_PACKAGE).SPARK_VERSION())
        self.shim = shim_of(version)
        missing = missing_names(self._view, self.shim.classes)
        require_names(version, missing)
        self._missing = frozenset(missing)

    def has(self, known: SparkClass) -> bool:
        """Whether Spark has a class that is not required, with all members that acidsql uses."""
        return known not in self._missing

    def spark_class(self, known: SparkClass) -> Any:
        return self.java_class(known.name)

    def scala_object(self, known: SparkClass) -> Any:
        """The one instance of a Scala object of Spark's."""
        return getattr(self.spark_class(known), "MODULE$")

    def java_class(self, name: str) -> Any:
        """A class by its full name, without a round trip."""
        return JavaClass(name, self._gateway._gateway_client)

    def java_map(self, texts: Mapping[str, object]) -> Any:
        """A java.util.Map."""
        made = self._maps()
        for key, value in texts.items():
            made.put(key, value)
        return made

    def java_list(self, values: Iterable[object]) -> Any:
        """A java.util.List."""
        made = self._lists()
        for value in values:
            made.add(value)
        return made

    def java_set(self, values: Iterable[str]) -> Any:
        """A java.util.Set."""
        made = self.java_class("java.util.HashSet")()
        for value in values:
            made.add(value)
        return made

    def collect_garbage(self) -> None:
        """Asks the JVM for a collection of its garbage."""
        self.java_class("java.lang.System").gc()

    @cached_property
    def _separator(self) -> Any:
        pattern = self.java_class("java.util.regex.Pattern")
        return pattern.compile(_SEPARATOR, pattern.LITERAL)

    @cached_property
    def scala(self) -> Scala213:
        """Scala's collections."""
        return self.shim.scala(self.java_class)

    @cached_property
    def dataset(self) -> Any:
        return self.spark_class(self.shim.dataset)

    @cached_property
    def weak_reference(self) -> Any:
        return self.java_class("java.lang.ref.WeakReference")

    @cached_property
    def _zones(self) -> Any:
        return self.java_class("java.util.TimeZone")

    @property
    def zone(self) -> Any:
        """The JVM's default java.util.TimeZone."""
        return self._zones.getDefault()

    def zone_named(self, name: str) -> Any:
        return self._zones.getTimeZone(name)

    @cached_property
    def heap(self) -> int:
        """The largest size of the driver's heap, in bytes."""
        return int(self.java_class("java.lang.Runtime").getRuntime().maxMemory())

    @cached_property
    def file_name_encoding(self) -> str:
        """The encoding in which the JVM reads and writes the names of local files."""
        return str(self.java_class("java.lang.System").getProperty("sun.jnu.encoding"))

    @cached_property
    def _literal(self) -> Any:
        return self.spark_class(names.LITERAL)

    @cached_property
    def _unsafe_arrays(self) -> Any:
        return self.spark_class(names.UNSAFE_ARRAY)

    @cached_property
    def _longs_begin(self) -> int:
        return int(self.spark_class(names.PLATFORM).LONG_ARRAY_OFFSET)

    @cached_property
    def _types(self) -> Any:
        return self.spark_class(names.DATA_TYPE)

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
        return self.java_class("java.nio.channels.FileChannel$MapMode").READ_ONLY

    @cached_property
    def for_little(self) -> Any:
        """Settings for a query of little data, which is neither compiled nor planned again while it runs."""
        return self.properties(
            {
                "spark.sql.codegen.wholeStage": "false",
                "spark.sql.codegen.factoryMode": "NO_CODEGEN",
                "spark.sql.adaptive.enabled": "false",
                "spark.sql.shuffle.partitions": "1",
            }
        )

    @cached_property
    def none(self) -> Any:
        return self.scala.module("None")

    def scala_seq(self, values: Iterable[object]) -> Any:
        """A scala.collection.immutable.Seq."""
        return self.scala.seq(self.java_list(values))

    def array(self, name: str, values: Sequence[object]) -> Any:
        """An array of a Java class."""
        made = self._gateway.new_array(self.java_class(name), len(values))
        for number, value in enumerate(values):
            made[number] = value
        return made

    def some(self, value: object) -> Any:
        """A scala.Some."""
        return self.java_class("scala.Some")(value)

    def function(self, known: SparkClass, method: str, of: Any, arguments: Sequence[object]) -> Any:
        """A scala.Function0 that calls the one method of this name and number of parameters, of an instance of the
        class, with the arguments. An exception that is not a RuntimeException comes wrapped from it."""
        loader = self._view.java.lang.Thread.currentThread().getContextClassLoader()
        of_class = (m for m in loader.loadClass(known.name).getMethods() if m.getName() == method)
        found = next(m for m in of_class if m.getParameterCount() == len(arguments))
        given = self.array("java.lang.Object", arguments)
        handles = self.java_class("java.lang.invoke.MethodHandles")
        bound = handles.insertArguments(handles.publicLookup().unreflect(found).bindTo(of), 0, given)
        proxies = self.java_class("java.lang.invoke.MethodHandleProxies")
        return proxies.asInterfaceInstance(loader.loadClass("scala.Function0"), bound)

    def scala_map(self, texts: Mapping[str, str]) -> Any:
        """A scala.collection.immutable.Map."""
        return self.scala.map(self.java_map(texts))

    @cached_property
    def nil(self) -> Any:
        """The empty Seq."""
        return self.scala.module("collection.immutable.Nil")

    @cached_property
    def view_helper(self) -> Any:
        return self.spark_class(self.shim.view_helper)

    @cached_property
    def table_name(self) -> Any:
        """TableIdentifier(name)."""
        return self.spark_class(names.TABLE_IDENTIFIER)

    @cached_property
    def no_views(self) -> Any:
        """A scala.Function1 that gives None for the name of any view."""
        return self.scala.maps.empty().withDefaultValue(self.none)

    def properties(self, items: Mapping[str, str]) -> Any:
        """A java.util.Properties, for SQLConf.setConf."""
        made = self.java_class("java.util.Properties")()
        for key, value in items.items():
            made.setProperty(key, value)
        return made

    def columns(self, columns: Mapping[str, Column]) -> Any:
        """A java.util.Map, for Dataset.withColumns."""
        return self.java_map({name: column._jc for name, column in columns.items()})

    @cached_property
    def _maps(self) -> Any:
        return self.java_class("java.util.LinkedHashMap")

    @cached_property
    def _lists(self) -> Any:
        return self.java_class("java.util.ArrayList")

    def texts(self, texts: Iterable[str]) -> Any:
        """A String[], for a method with a variable number of arguments."""
        listed = list(texts)
        if all(text and _SEPARATOR not in text for text in listed):
            return self._separator.split(_SEPARATOR.join(listed))
        return self.array("java.lang.String", listed)

    def long_array(self, values: NDArray[np.int64]) -> Column:
        """An array<bigint> literal. It is part of the plan itself, so reading from it needs no join and no job."""
        array = self._unsafe_arrays.fromPrimitiveArray(self._filled(values))
        return Column(self.shim.column(self, self._literal(array, self._longs)))

    def long_arrays(self, values: Sequence[NDArray[np.int64] | None]) -> Column:
        """An array<array<bigint>> literal."""
        items = [None if v is None else _unsafe_array(len(v), b"", v.astype("<i8").tobytes()) for v in values]
        return self._unsafe_literal(items, self._long_arrays)

    def text_array(self, values: Sequence[str | None]) -> Column:
        """An array<string> literal."""
        return self._unsafe_literal([None if v is None else v.encode() for v in values], self._texts)

    def _unsafe_literal(self, items: Sequence[bytes | None], kind: Any) -> Column:
        """A literal of an array whose items have no fixed length: the offset and length of each item, then the
        items."""
        lengths = [-(-len(item or b"") // 8) * 8 for item in items]
        start = len(_unsafe_array(len(items), _null_bits(items), b"")) + 8 * len(items)
        begins = np.cumsum([start, *lengths])[:-1]
        places = begins << 32 | np.array([len(item or b"") for item in items], np.int64)
        padded = b"".join((item or b"").ljust(length, b"\0") for item, length in zip(items, lengths, strict=True))
        content = _unsafe_array(len(items), _null_bits(items), places.astype("<i8").tobytes() + padded)
        array = self._unsafe_arrays()
        array.pointTo(self._filled(np.frombuffer(content, "<i8")), self._longs_begin, len(content))
        return Column(self.shim.column(self, self._literal(array, kind)))

    @cached_property
    def _buffers(self) -> Any:
        return self.java_class("java.nio.ByteBuffer")

    @cached_property
    def _file_streams(self) -> Any:
        return self.java_class("java.io.FileInputStream")

    def _filled(self, values: NDArray[np.int64]) -> Any:
        """A long[]."""
        java = self._gateway.new_array(self._gateway.jvm.long, len(values))
        if len(values):
            self._fill(java, values)
        return java

    def _fill(self, java: Any, values: NDArray[np.int64]) -> None:
        """Fills a long[]. Many values go through a file: Py4J sends each byte of an argument as a character of text."""
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
    """The layout of UnsafeArrayData: the number of items, a bit for each item that is NULL, padded to whole longs, and
    8 bytes for each item."""
    return count.to_bytes(8, "little") + nulls.ljust(-(-count // 64) * 8, b"\0") + content


def _null_bits(items: Sequence[object]) -> bytes:
    return np.packbits(np.array([item is None for item in items], np.bool_), bitorder="little").tobytes()


@lru_cache(maxsize=2)
def _of_gateway(gateway: Any) -> Jvm:
    return Jvm(gateway)


def jvm(spark: SparkSession) -> Jvm:
    """The JVM of a session. Raises SPARK_NOT_SUPPORTED at its first use."""
    return jvm_of(spark.sparkContext)


def jvm_of(context: SparkContext) -> Jvm:
    """The JVM of a Spark context."""
    return _of_gateway(context._gateway)


def select(frame: DataFrame, expressions: Iterable[str]) -> DataFrame:
    """`frame.selectExpr`, in a few calls whatever the number of expressions."""
    spark = frame.sparkSession
    return DataFrame(frame._jdf.selectExpr(jvm(spark).texts(map(sql_of_spark, expressions))), spark)


def where(frame: DataFrame, condition: str) -> DataFrame:
    """`frame.where` of SQL text."""
    return DataFrame(frame._jdf.filter(sql_of_spark(condition)), frame.sparkSession)


def with_columns(frame: DataFrame, columns: Mapping[str, Column]) -> DataFrame:
    """`frame.withColumns`: all of them are analyzed together."""
    if not columns:
        return frame
    spark = frame.sparkSession
    return DataFrame(frame._jdf.withColumns(jvm(spark).columns(columns)), spark)


def items(seq: Any) -> Iterator[Any]:
    """The elements of a Scala Seq."""
    return (seq.apply(i) for i in range(seq.size()))
