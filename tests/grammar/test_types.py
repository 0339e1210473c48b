"""Column types in Hive's spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acidsql.errors import AcidSqlError
from acidsql.grammar.type_syntax import normalize_type


@pytest.mark.parametrize(
    ("typed", "normalized"),
    [
        ("INT", "int"),
        ("Integer", "int"),
        ("numeric", "decimal(10,0)"),
        ("DECIMAL", "decimal(10,0)"),
        ("dec(7)", "decimal(7,0)"),
        ("decimal( 38 , 38 )", "decimal(38,38)"),
        ("Double  Precision", "double"),
        ("varchar(65535)", "varchar(65535)"),
        ("CHAR( 255 )", "char(255)"),
        ("timestamp", "timestamp"),
        ("TIMESTAMP WITH LOCAL TIME ZONE", "timestamp with local time zone"),
        ("timestamp\nwith local  time zone", "timestamp with local time zone"),
        ("array< struct<A : Int, b:MAP<string , array<date>>>>", "array<struct<a:int,b:map<string,array<date>>>>"),
        ("struct<a int, b string COMMENT 'x'>", "struct<a:int,b:string>"),
        ("uniontype<int,string>", "uniontype<int,string>"),
    ],
)
def test_a_type_is_written_as_hive_writes_it(typed: str, normalized: str) -> None:
    assert normalize_type(typed) == normalized


@pytest.mark.parametrize(
    ("typed", "place", "reason"),
    [
        ("strng", "strng", "did you mean string?"),
        ("text", "text", "did you mean string?"),
        ("varchar", "varchar", "needs a length"),
        ("varchar(70000)", "varchar(70000)", "from 1 to 65535"),
        ("char(0)", "char(0)", "from 1 to 255"),
        ("decimal(39)", "decimal(39)", "from 1 to 38"),
        ("decimal(3,4)", "decimal(3,4)", "scale may not be more"),
        ("array", "array", "for example array<int>"),
        ("array<xyz>", "xyz", "there is no such type"),
        ("int x", "x", "nothing may follow"),
    ],
)
def test_what_is_no_type_is_an_error_with_its_place_and_reason(typed: str, place: str, reason: str) -> None:
    with pytest.raises(AcidSqlError, match="INVALID_TYPE") as caught:
        normalize_type(typed)
    assert reason in caught.value.message
    assert caught.value.span is not None
    assert caught.value.span.text == place


@pytest.mark.parametrize(("typed", "near"), [("map<int>", ">"), ("array<int", ""), ("decimal(x)", "x"), ("", "")])
def test_a_type_cut_short_is_a_syntax_error(typed: str, near: str) -> None:
    with pytest.raises(AcidSqlError, match="PARSE_SYNTAX_ERROR") as caught:
        normalize_type(typed)
    assert caught.value.span is not None
    assert caught.value.span.text == near


SIMPLE = st.sampled_from(["int", "string", "decimal(5,2)", "char(3)", "timestamp with local time zone", "void"])
TYPES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        inner.map(lambda t: f"array<{t}>"),
        inner.map(lambda t: f"map<string,{t}>"),
        st.tuples(inner, inner).map(lambda pair: f"struct<a:{pair[0]},b:{pair[1]}>"),
    ),
)


@given(TYPES)
def test_a_normalized_type_stays_as_it_is_whatever_its_case_and_blanks(normalized: str) -> None:
    assert normalize_type(normalized) == normalized
    spaced = normalized.upper().replace("<", " < ").replace(">", " > ").replace(",", " , ").replace(":", " : ")
    assert normalize_type(f" {spaced} ") == normalized
