"""Scala's collections, whose methods differ between Scala 2.13, which Spark 4 has, and Scala 2.12 of Spark 3.5."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any


class Scala213:
    """Collections of Scala 2.13. `java_class` gives a class of the JVM by its full name."""

    def __init__(self, java_class: Callable[[str], Any]) -> None:
        self._java_class = java_class

    def module(self, name: str) -> Any:
        """The one instance of an object of Scala's library, by its name below the package `scala`."""
        return getattr(self._java_class(f"scala.{name}$"), "MODULE$")

    @cached_property
    def _converters(self) -> Any:
        return self._java_class("scala.jdk.javaapi.CollectionConverters")

    @cached_property
    def maps(self) -> Any:
        return self.module("collection.immutable.Map")

    @cached_property
    def _arrays(self) -> Any:
        return self.module("collection.immutable.ArraySeq")

    def seq(self, values: Any) -> Any:
        """A Seq of a java.util.List."""
        return self._converters.asScala(values).toSeq()

    def seq_of_array(self, array: Any) -> Any:
        """A Seq of a Java array of objects."""
        return self._arrays.unsafeWrapArray(array)

    def map(self, values: Any) -> Any:
        """An immutable Map of a java.util.Map."""
        return getattr(self.maps, "from")(self._converters.asScala(values))

    def as_java(self, seq: Any) -> Any:
        """The java.util.List of a Seq."""
        return self._converters.asJava(seq)

    def appended(self, seq: Any, value: Any) -> Any:
        """The Seq with one more element."""
        return seq.appended(value)

    def updated(self, seq: Any, place: int, value: Any) -> Any:
        """The Seq with another element at a place."""
        return seq.updated(place, value)


class Scala212(Scala213):
    """Collections of Scala 2.12, whose methods take what builds their result (CanBuildFrom)."""

    @cached_property
    def _converters(self) -> Any:
        return self.module("collection.JavaConverters")

    @cached_property
    def _arrays(self) -> Any:
        return self.module("collection.mutable.WrappedArray")

    @cached_property
    def _builder(self) -> Any:
        return self.module("collection.Seq").canBuildFrom()

    @cached_property
    def _conforms(self) -> Any:
        return getattr(self.module("Predef"), "$conforms")()

    def seq(self, values: Any) -> Any:
        return self._converters.asScalaBuffer(values).toList()

    def seq_of_array(self, array: Any) -> Any:
        return self._arrays.make(array)

    def map(self, values: Any) -> Any:
        return self._converters.mapAsScalaMap(values).toMap(self._conforms)

    def as_java(self, seq: Any) -> Any:
        return self._converters.seqAsJavaList(seq)

    def appended(self, seq: Any, value: Any) -> Any:
        return getattr(seq, "$colon$plus")(value, self._builder)

    def updated(self, seq: Any, place: int, value: Any) -> Any:
        return seq.updated(place, value, self._builder)


def scala_collections(java_class: Callable[[str], Any]) -> Scala213:
    """The collections of the Scala that the JVM has."""
    version = str(getattr(java_class("scala.util.Properties$"), "MODULE$").versionNumberString())
    return Scala212(java_class) if version.startswith("2.12.") else Scala213(java_class)
