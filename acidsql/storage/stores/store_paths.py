"""Paths of stores, which are URIs without escapes."""

from __future__ import annotations

import posixpath


def canonical_path(path: str, root: str) -> str:
    """A path with the scheme and authority of `root` where it has none, as Path.makeQualified of Hadoop.

    >>> canonical_path("/a//b/../c d/", "hdfs://n:1"), canonical_path("hdfs:/a", "hdfs://n:1")
    ('hdfs://n:1/a/c d', 'hdfs://n:1/a')
    """
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        scheme, rest = root.partition(":")[0], path
    authority, name = "", rest
    if rest.startswith("//"):
        authority, slash, name = rest[2:].partition("/")
        name = slash + name
    own_scheme, _, own_authority = root.partition("://")
    if not authority and scheme == own_scheme:
        authority = own_authority
    return f"{scheme}://{authority}{normal_path(name)}"


def normal_path(name: str) -> str:
    """An absolute path without `.`, `..`, and empty names."""
    return "/" + posixpath.normpath(f"/{name}").lstrip("/")
