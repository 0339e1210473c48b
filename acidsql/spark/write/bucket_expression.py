"""Hive's bucket of a row as a Spark SQL expression: the rules of acidsql.acid.bucketing, without Python on executors.

Spark's `hash` is Murmur3 too, and seeds each column with the hash of the columns before it. So `hash(_SEEDING, x)` is
Murmur3 of x with Hive's seed, except for the last `length % 4` bytes. For these, the expression undoes the last step of
Murmur3, mixes in the tail as Hive does, and repeats the last step with another `hash`. Every step of 32-bit Murmur3 can
be undone. Integers wrap around, because ANSI mode is off in all statements of acidsql.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from acidsql.acid import hive_types as t
from acidsql.acid.bucketing import MURMUR_SEED, BucketingVersion, bucketing_version, no_rule_for_binary
from acidsql.acid.table import Table
from acidsql.grammar.quoting import name_sql

_SEEDING: Final = 1867871456
"""The INT whose hash in Spark, with seed 42, is MURMUR_SEED."""


def bucket_column(table: Table, columns: Mapping[str, Column] | None = None) -> Column:
    """The bucket, from 0, of a row of a bucketed table: an INT, never NULL.

    `columns` are the bucketing columns by name, with the types that a query sees; by default the frame has columns of
    these names. Bucketing version 1 hashes a TIMESTAMP as a Hive in UTC does (acidsql.acid.bucketing).
    Raises NOT_YET_SUPPORTED for version 2 of a BINARY.
    """
    assert table.bucket_count, f"{table.qualified} has no buckets"
    types = {column.name: t.parse_type(column.type) for column in table.columns}
    version = bucketing_version(table)
    hashes = [_hash(types[c], columns[c] if columns else F.col(name_sql(c)), version) for c in table.bucket_columns]
    return _combined(hashes).bitwiseAND(0x7FFFFFFF) % table.bucket_count


def _combined(hashes: list[Column]) -> Column:
    return reduce(lambda seen, field: seen * 31 + field, hashes[1:], hashes[0])


def _hash(type_: t.HiveType, value: Column, version: BucketingVersion) -> Column:
    """The hash of a value, an INT; 0 for NULL."""
    match type_:
        case t.Array(element):
            hashed = F.aggregate(value, F.lit(0), lambda seen, v: seen * 31 + _hash(element, v, version))
            return F.coalesce(hashed, F.lit(0))
        case t.Struct(fields):
            return _combined([_hash(of, value.getField(name), version) for name, of in fields])
        case t.Map(key, of):
            return F.coalesce(F.aggregate(F.map_entries(value), F.lit(0), _adding_pairs(key, of, version)), F.lit(0))
        case t.Primitive("boolean" | "tinyint"):
            return F.coalesce(value.cast("int"), F.lit(0))
        case t.Primitive("string") | t.Varchar() | t.Char() if version is BucketingVersion.MURMUR:
            # A factor in place of WHEN .. IS NOT NULL: Spark computes an expression inside a condition more than once.
            return _murmur3(_bytes(type_, value)) * value.isNotNull().cast("int")
        case _:
            hashed = _murmur_of(type_, value) if version is BucketingVersion.MURMUR else _java_hash(type_, value)
            return F.when(value.isNotNull(), hashed).otherwise(0)


def _adding_pairs(key: t.HiveType, of: t.HiveType, version: BucketingVersion) -> Callable[[Column, Column], Column]:
    def add(seen: Column, pair: Column) -> Column:
        # Hive 4.0.1 hashes the values of a map by version 1 in both versions.
        hashed = _hash(of, pair.getField("value"), BucketingVersion.JAVA)
        return seen + _hash(key, pair.getField("key"), version).bitwiseXOR(hashed)

    return add


# -- version 2


def _murmur_of(type_: t.HiveType, value: Column) -> Column:
    match type_:
        case t.Primitive("int" | "bigint" | "date" | "float" | "double"):
            return F.hash(F.lit(_SEEDING), _bytes(type_, value))
        case _:
            return _let(
                _bytes(type_, value), lambda data: _let(_hash_of_whole(data), lambda whole: _with_tail(whole, data))
            )


def _bytes(type_: t.HiveType, value: Column) -> Column:
    """The bytes that version 2 feeds to Murmur3. Spark casts numbers to their big-endian bytes."""
    match type_:
        case t.Primitive("date"):
            return F.unix_date(value).cast("binary")
        case t.Primitive("float"):
            # Hive takes the float's bits as a number, makes that a float, and hashes its bits. Its files rely on it.
            return _let(_float_bits(value), lambda bits: _float_bits(bits.cast("float"))).cast("binary")
        case t.Primitive("double"):
            return _let(_double_bits(value), _bits_of_whole_double).cast("binary")
        case t.Primitive("binary"):
            raise no_rule_for_binary()
        case t.Char():
            return F.rtrim(value).cast("binary")
        case t.Decimal(scale=scale):
            return _let(_plain(value, scale), _big_integer_bytes)
        case t.Primitive("timestamp" | "timestamp with local time zone" as name):
            return _let(_micros(name, value), _timestamp_bytes)
        case _:
            return value.cast("binary")


def _murmur3(data: Column) -> Column:
    """Murmur3 of any number of bytes, with the tail as Hive takes it; an arbitrary number for NULL."""
    return _with_tail(_hash_of_whole(data), data)


def _hash_of_whole(data: Column) -> Column:
    """Murmur3 of the bytes before the tail."""
    length = F.octet_length(data)
    return F.hash(F.lit(_SEEDING), data.substr(F.lit(1), length - length % 4))


def _with_tail(hash_of_whole: Column, data: Column) -> Column:
    length = F.octet_length(data)
    mixed = _scramble(_tail(data, length - length % 4))
    # Both lengths are mixed in by XOR just before the last step; they differ in their lowest two bits.
    return _finish(_unfinish(hash_of_whole).bitwiseXOR(mixed).bitwiseXOR(length % 4))


def _tail(data: Column, start: Column) -> Column:
    """The last bytes, at most three from `start`, as a little-endian number. Each is extended with its sign."""
    first, second, third = (_byte(data, start + place) for place in (1, 2, 3))
    return first.bitwiseXOR(F.shiftleft(second, 8)).bitwiseXOR(F.shiftleft(third, 16))


def _byte(data: Column, position: Column) -> Column:
    """The signed byte at a position from 1; 0 past the end."""
    return _signed(_latin(data.substr(position, F.lit(1))))


def _latin(data: Column) -> Column:
    """The bytes as text, one character for each."""
    return F.decode(data, "ISO-8859-1")


def _signed(character: Column) -> Column:
    return F.ascii(character).bitwiseXOR(128) - 128


def _scramble(block: Column) -> Column:
    return _rotate(block * _int(0xCC9E2D51), 15) * _int(0x1B873593)


def _finish(word: Column) -> Column:
    """Applies the last step of Murmur3: the hash of the INT that leads Spark to this word before that step."""
    mixed = _rotate((word.bitwiseXOR(4) - _int(0xE6546B64)) * _inverse(5), 32 - 13).bitwiseXOR(MURMUR_SEED)
    return F.hash(F.lit(_SEEDING), _rotate(mixed * _inverse(0x1B873593), 32 - 15) * _inverse(0xCC9E2D51))


def _unfinish(hashed: Column) -> Column:
    word = hashed.bitwiseXOR(_shifted(hashed, 16)) * _inverse(0xC2B2AE35)
    word = word.bitwiseXOR(_shifted(word, 13)).bitwiseXOR(_shifted(word, 26)) * _inverse(0x85EBCA6B)
    return word.bitwiseXOR(_shifted(word, 16))


def _shifted(word: Column, bits: int) -> Column:
    return F.shiftrightunsigned(word, bits)


def _rotate(word: Column, bits: int) -> Column:
    """Rotates to the left. The word stands twice in 64 bits, so that the expression contains it only once."""
    twice = word.cast("bigint").bitwiseAND(0xFFFFFFFF) * F.lit(2**32 + 1)
    return F.shiftrightunsigned(twice, 32 - bits).cast("int")


# -- version 1


def _java_hash(type_: t.HiveType, value: Column) -> Column:
    match type_:
        case t.Primitive("smallint" | "int"):
            return value.cast("int")
        case t.Primitive("date"):
            return F.unix_date(value)
        case t.Primitive("bigint"):
            return _folded(value)
        case t.Primitive("float"):
            return _float_bits(value)
        case t.Primitive("double"):
            return _let(_double_bits(value), _folded)
        case t.Primitive("string"):
            return _java_hash_of_bytes(value.cast("binary"), 0)
        case t.Varchar() | t.Primitive("binary"):
            return _java_hash_of_bytes(value.cast("binary"), 1)
        case t.Char():
            return _java_hash_of_bytes(F.rtrim(value).cast("binary"), 1)
        case t.Decimal(scale=scale):
            return _let(_plain(value, scale), _decimal_hash)
        case t.Primitive("timestamp"):
            wall = _micros("timestamp", value) + _calendar_shift(value.cast("date")) * F.lit(86_400_000_000)
            return _let(wall, lambda m: _let(_seconds_and_nanos(m), _folded))
        case _:
            return _let(_micros("timestamp with local time zone", value), _instant_hash)


def _java_hash_of_bytes(data: Column, start: int) -> Column:
    characters = F.split(_latin(data), "")
    hashed = F.aggregate(characters, F.lit(start), lambda seen, c: seen * 31 + _signed(c))
    return F.when(F.octet_length(data) > 0, hashed).otherwise(start)


def _folded(number: Column) -> Column:
    """Long.hashCode."""
    return number.bitwiseXOR(F.shiftrightunsigned(number, 32)).cast("int")


def _decimal_hash(plain: Column) -> Column:
    """BigDecimal.hashCode of a decimal's text."""
    scale = F.octet_length(F.substring_index(F.concat(plain, F.lit(".")), ".", 2)) - F.octet_length(
        F.substring_index(plain, ".", 1)
    )
    sign = F.when(_is_negative(plain), -31).otherwise(31)
    return _let(_magnitude(plain), _big_integer_hash) * sign + (scale - 1)


def _big_integer_hash(magnitude: Column) -> Column:
    high, low = _high(magnitude), magnitude.cast("bigint")
    words = [F.shiftright(high, 32), high, F.shiftright(low, 32), low]
    return _combined([word.cast("int") for word in words])


def _instant_hash(micros: Column) -> Column:
    """java.time.Instant.hashCode."""
    nanos = F.pmod(micros, F.lit(1_000_000)) * 1000
    return _let(_seconds(micros), _folded) + (nanos * 51).cast("int")


# -- values


def _let(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body` of a value that Spark computes once, however often the body uses it."""
    return F.transform(F.array(value), lambda bound: body(bound))[0]


def _micros(type_name: str, value: Column) -> Column:
    """Microseconds since 1970; of a TIMESTAMP by the wall clock, in any time zone of the session."""
    if type_name != "timestamp":
        return F.unix_micros(value)
    days = F.unix_date(value.cast("date")).cast("bigint")
    minutes = (days * 24 + F.hour(value)) * 60 + F.minute(value)
    return minutes * 60_000_000 + (F.extract(F.lit("SECOND"), value) * 1_000_000).cast("bigint")


def _seconds(micros: Column) -> Column:
    return ((micros - F.pmod(micros, F.lit(1_000_000))) / 1_000_000).cast("bigint")


def _seconds_and_nanos(micros: Column) -> Column:
    return F.shiftleft(_seconds(micros), 30).bitwiseOR(F.pmod(micros, F.lit(1_000_000)) * 1000)


def _calendar_shift(day: Column) -> Column:
    """Days by which the same date lies later in the calendar of java.sql.Timestamp, Julian before 1582-10-15."""
    years = F.year(day) - (F.month(day) <= 2).cast("int")
    shift = F.floor(years / 100) - F.floor(years / 400) - 2
    return F.when(day < F.lit("1582-10-15").cast("date"), shift).otherwise(0)


def _timestamp_bytes(micros: Column) -> Column:
    """TimestampWritableV2.getBytes (acidsql.acid.bucketing)."""
    fraction = F.reverse(F.lpad(F.pmod(micros, F.lit(1_000_000)).cast("string"), 6, "0")).cast("bigint")
    return _let(_seconds(micros), lambda seconds: _let(fraction, lambda f: _packed_timestamp(seconds, f)))


def _packed_timestamp(seconds: Column, fraction: Column) -> Column:
    short = (seconds >= 0) & (seconds <= 0x7FFFFFFF)
    flagged = seconds.bitwiseOR(0x80000000).cast("int").cast("binary")
    return (
        F.when(short & (fraction == 0), seconds.cast("int").cast("binary"))
        .when(short, F.concat(flagged, _vlong(fraction)))
        .otherwise(F.concat(flagged, _vlong(-fraction - 1), _vlong(F.shiftright(seconds, 31))))
    )


def _vlong(number: Column) -> Column:
    """Hadoop's WritableUtils.writeVLong of a BIGINT."""
    magnitude = F.hex(number.bitwiseXOR(F.shiftright(number, 63)))
    width = F.ceil(F.length(magnitude) / 2)
    head = F.when(number < 0, -120 - width).otherwise(-112 - width)
    one_byte = number.cast("tinyint").cast("binary")
    return F.when(number.between(-112, 127), one_byte).otherwise(
        F.concat(head.cast("tinyint").cast("binary"), F.unhex(magnitude))
    )


def _plain(value: Column, scale: int) -> Column:
    """The text of a decimal without an exponent and without trailing zeros; `12.` if there is a scale."""
    text = F.translate(F.format_number(value, scale), ",", "")
    return F.rtrim(text, F.lit("0")) if scale else text


def _is_negative(plain: Column) -> Column:
    return plain.startswith("-")


def _magnitude(plain: Column) -> Column:
    """A decimal's digits as a DECIMAL(38,0). Spark rounds ABS and unary minus of a DECIMAL to 34 digits."""
    return F.translate(plain, "-.", "").cast("decimal(38,0)")


def _big_integer_bytes(plain: Column) -> Column:
    """BigInteger.toByteArray of a decimal's digits: 128 bits in two's complement, without redundant leading bytes."""
    negative = _is_negative(plain).cast("int")
    inverted = (_magnitude(plain) - negative).cast("decimal(38,0)")
    sign = F.when(_is_negative(plain), F.lit(-1)).otherwise(F.lit(0)).cast("bigint")
    halves = _let(inverted, lambda m: F.hex(_both(_high(m), m.cast("bigint"), sign)))
    return F.unhex(F.regexp_replace(halves, "^(?:(?:00)+(?=[0-7])|(?:FF)+(?=[89A-F]))", ""))


def _both(high: Column, low: Column, sign: Column) -> Column:
    return F.concat(high.bitwiseXOR(sign).cast("binary"), low.bitwiseXOR(sign).cast("binary"))


def _high(magnitude: Column) -> Column:
    """The bits of a DECIMAL(38,0) above the lowest 64, which a cast to BIGINT gives."""
    power = F.lit(str(2**64)).cast("decimal(20,0)")
    return ((magnitude - magnitude % power) / power).cast("bigint")


def _float_bits(value: Column) -> Column:
    """Float.floatToIntBits, from `hash` with all its steps undone. `hash` takes -0.0 for 0.0."""
    mixed = (_unfinish(F.hash(value)).bitwiseXOR(4) - _int(0xE6546B64)) * _inverse(5)
    mixed = _rotate(mixed, 32 - 13).bitwiseXOR(42) * _inverse(0x1B873593)
    bits = _rotate(mixed, 32 - 15) * _inverse(0xCC9E2D51)
    return F.when(_is_negative_zero(value), _int(0x80000000)).otherwise(bits)


def _double_bits(value: Column) -> Column:
    """Double.doubleToLongBits, from `xxhash64` with all its steps undone. `xxhash64` takes -0.0 for 0.0."""
    hashed = _let(F.xxhash64(value), lambda h: h.bitwiseXOR(_shifted(h, 32)) * _inverse64(_XX3))
    hashed = _let(hashed, lambda h: h.bitwiseXOR(_shifted(h, 29)).bitwiseXOR(_shifted(h, 58)) * _inverse64(_XX2))
    mixed = _let(hashed, lambda h: (h.bitwiseXOR(_shifted(h, 33)) - _long(_XX4)) * _inverse64(_XX1))
    rotated = _let(mixed, lambda m: _rotate64(m, 64 - 27))
    mixed = rotated.bitwiseXOR(_long(42 + _XX5 + 8)) * _inverse64(_XX1)
    bits = _let(mixed, lambda m: _rotate64(m, 64 - 31) * _inverse64(_XX2))
    return F.when(_is_negative_zero(value), _long(2**63)).otherwise(bits)


def _is_negative_zero(value: Column) -> Column:
    return (value == 0) & value.cast("string").startswith("-")


def _bits_of_whole_double(number: Column) -> Column:
    """The bits of a BIGINT as a DOUBLE: the exponent from the number's length, the digits as the cast rounds them."""
    length = F.length(F.bin(F.abs(number)))
    digits = (F.abs(number.cast("double")) * F.pow(F.lit(2.0), 53 - length)).cast("bigint")
    bits = F.shiftleft((length + 1021).cast("bigint"), 52) + digits
    return F.when(number == 0, F.lit(0)).otherwise(bits.bitwiseOR(F.shiftleft(F.shiftright(number, 63), 63)))


_XX1: Final = 0x9E3779B185EBCA87
_XX2: Final = 0xC2B2AE3D27D4EB4F
_XX3: Final = 0x165667B19E3779F9
_XX4: Final = 0x85EBCA77C2B2AE63
_XX5: Final = 0x27D4EB2F165667C5


def _rotate64(word: Column, bits: int) -> Column:
    return F.shiftleft(word, bits).bitwiseOR(F.shiftrightunsigned(word, 64 - bits))


def _int(unsigned: int) -> Column:
    return F.lit((unsigned & 0xFFFFFFFF ^ 2**31) - 2**31)


def _long(unsigned: int) -> Column:
    signed = (unsigned % 2**64 ^ 2**63) - 2**63
    return F.lit(str(signed)).cast("bigint")


def _inverse(factor: int) -> Column:
    """The factor that undoes a multiplication of an INT by an odd number."""
    return _int(pow(factor, -1, 2**32))


def _inverse64(factor: int) -> Column:
    return _long(pow(factor, -1, 2**64))
