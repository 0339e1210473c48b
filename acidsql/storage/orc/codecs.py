"""The codecs of ORC's tails: chunks of compressed bytes, each with a header (ORC v1 specification, "Compression").

pyarrow has Snappy and ZSTD, zlib what ORC calls ZLIB. LZ4 is decoded here: ORC stores raw LZ4 blocks without their
decompressed size, which pyarrow's `lz4_raw` codec must be told.
"""

from __future__ import annotations

import zlib
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.storage.orc.protobuf import read_varint

_MOST_TAIL: Final = 1 << 30
_KINDS: Final = {0: "none", 1: "zlib", 2: "snappy", 3: "lzo", 4: "lz4", 5: "zstd"}


def codec_name(kind: int) -> str:
    """The name of a codec by its number in orc_proto.CompressionKind."""
    return _KINDS.get(kind, "unknown")


def decompress(data: bytes, codec: str, path: str) -> bytes:
    """Chunks of a 3-byte header (length << 1 | is original) and the bytes.

    Raises MALFORMED_LAYOUT; IndexError, OSError, zlib.error where the bytes are none of the codec's.
    """
    if codec == "none":
        return data
    out, at = [], 0
    while at < len(data):
        header = int.from_bytes(data[at : at + 3], "little")
        chunk = data[at + 3 : at + 3 + (header >> 1)]
        out.append(chunk if header & 1 else _inflate(chunk, codec, path))
        at += 3 + (header >> 1)
    return b"".join(out)


def compress(data: bytes, codec: str, size: int) -> bytes:
    """The chunks of the bytes. `size` is the most that a chunk has before it is compressed: readers have a buffer of
    the file's compression block size (InStream.readHeader)."""
    if codec == "none":
        return data
    return b"".join(_chunk(data[at : at + size], codec) for at in range(0, len(data), size))


def _chunk(data: bytes, codec: str) -> bytes:
    """A chunk, stored as it is where compression makes it no smaller."""
    small = _deflate(data, codec)
    is_original = len(small) >= len(data)
    stored = data if is_original else small
    return (len(stored) << 1 | is_original).to_bytes(3, "little") + stored


def _deflate(data: bytes, codec: str) -> bytes:
    import pyarrow as pa

    match codec:
        case "zlib":
            deflater = zlib.compressobj(wbits=-15)
            return deflater.compress(data) + deflater.flush()
        case "snappy" | "zstd":
            return bytes(pa.Codec(codec).compress(data, asbytes=True))
        case "lz4":
            return bytes(pa.Codec("lz4_raw").compress(data, asbytes=True))
        case _:
            return data  # a chunk may always be stored as it is


def _inflate(chunk: bytes, codec: str, path: str) -> bytes:
    match codec:
        case "zlib":
            return zlib.decompress(chunk, -15)
        case "snappy":
            return _snappy(chunk)
        case "zstd":
            return _zstd(chunk)
        case "lz4":
            return _lz4(chunk)
        case _:
            raise AcidSqlError(Condition.MALFORMED_LAYOUT, path=path, reason=f"its codec ({codec}) is not readable")


def _snappy(chunk: bytes) -> bytes:
    import pyarrow as pa

    size, _ = read_varint(chunk, 0)
    if size > _MOST_TAIL:
        raise IndexError("a length that no footer has")
    return bytes(pa.Codec("snappy").decompress(chunk, decompressed_size=size))


def _zstd(chunk: bytes) -> bytes:
    import pyarrow as pa

    return bytes(pa.CompressedInputStream(pa.BufferReader(chunk), "zstd").read())


def _lz4(chunk: bytes) -> bytes:
    """Decompresses an LZ4 block (lz4_Block_format.md). pyarrow's decoder needs its decompressed size, which a block
    does not record."""
    out = bytearray()
    at = 0
    while at < len(chunk):
        token = chunk[at]
        length, at = _lz4_length(chunk, at + 1, token >> 4)
        out += chunk[at : at + length]
        at += length
        if at >= len(chunk):
            break  # the last sequence has no match
        offset = chunk[at] | chunk[at + 1] << 8
        length, at = _lz4_length(chunk, at + 2, token & 15)
        _copy_back(out, offset, length + 4)
    return bytes(out)


def _lz4_length(chunk: bytes, at: int, length: int) -> tuple[int, int]:
    """Reads a length of four bits. The value 15 continues in further bytes, as long as they are 255."""
    more = length == 15
    while more:
        length += chunk[at]
        more = chunk[at] == 255
        at += 1
    return length, at


def _copy_back(out: bytearray, offset: int, length: int) -> None:
    """Appends `length` bytes, copied from `offset` bytes back. The two ranges may overlap."""
    if not 0 < offset <= len(out):
        raise IndexError("a match before the start")
    repeated = bytes(out[-offset:]) * -(-length // offset)
    out += repeated[:length]
