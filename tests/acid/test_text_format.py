"""SerDe properties of text tables, as LazySerDeParameters reads them."""

from __future__ import annotations

import pytest

from acidsql.acid.text_format import TextFormat, text_format
from acidsql.errors import AcidSqlError

CONTROLS = tuple(chr(code) for code in range(1, 9))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, TextFormat(CONTROLS)),
        ({"serialization.format": "1"}, TextFormat(CONTROLS)),
        ({"serialization.format": "|"}, TextFormat(("|", *CONTROLS[1:]))),
        ({"field.delim": "||", "serialization.format": "x"}, TextFormat(("|", *CONTROLS[1:]))),
        ({"field.delim": "9"}, TextFormat(("\t", *CONTROLS[1:]))),
        ({"colelction.delim": ",", "mapkey.delim": ":"}, TextFormat(("\x01", ",", ":", *CONTROLS[3:]))),
        ({"collection.delim": ",", "line.delim": "\n"}, TextFormat(("\x01", ",", *CONTROLS[2:]))),
        ({"escape.delim": "\\", "serialization.null.format": ""}, TextFormat(CONTROLS, "", "\\")),
    ],
)
def test_properties_give_separators_null_and_escape(given: dict[str, str], expected: TextFormat) -> None:
    assert text_format(given) == expected


@pytest.mark.parametrize(
    "given", [{"field.delim": "ż"}, {"field.delim": "-3"}, {"line.delim": "\t"}, {"serialization.encoding": "GBK"}]
)
def test_other_properties_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(AcidSqlError) as caught:
        text_format(given)
    assert caught.value.condition == "NOT_YET_SUPPORTED"
