"""Results as HTML: tables, plans as trees, and what a cell says about rows that it does not show."""

from __future__ import annotations

import re

from acidsql.frontends.cell_completion import NoNames, cell_completions, sql_before
from acidsql.frontends.cell_results import MOST_SHOWN_ROWS, Message, Rows
from acidsql.frontends.html_results import LONGEST_VALUE, html_table, html_tree
from acidsql.statements.results import ResultColumn as Column


def test_a_table_escapes_names_types_and_values() -> None:
    columns = (Column("<i>", "struct<a:int>"), Column("n", "int"))
    shown = html_table(columns, (("<script>alert(1)</script>&", 1), (None, None))).html
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in shown
    assert "&lt;i&gt;<br>" in shown
    assert ">struct&lt;a:int&gt;</span>" in shown
    assert re.search(r"<i [^>]*>NULL</i>", shown)


def test_numbers_stand_right_and_texts_left() -> None:
    shown = html_table((Column("n", "decimal(5,2)"), Column("t", "string")), ((1, "1"),)).html
    assert re.findall(r'<t[dh] style="text-align: (\w+)', shown) == ["right", "left", "right", "left"]


def test_formulas_and_control_characters_are_shown_as_they_are() -> None:
    shown = html_table((Column("t", "string"),), (("$x$ \x1b[0m\u202e",),)).html
    assert "tex2jax_ignore" in shown
    assert "$x$ \\x1b[0m\\u202e" in shown


def test_a_very_long_value_is_cut_and_the_footer_says_so() -> None:
    rows = Rows((Column("t", "string"),), (("x" * (LONGEST_VALUE + 1),),), complete=True)
    assert "x" * LONGEST_VALUE + "\N{HORIZONTAL ELLIPSIS}" in rows._repr_html_()
    assert f"longer values are cut at {LONGEST_VALUE} characters" in rows._repr_html_()
    assert "are cut" not in Rows((Column("t", "string"),), (("x",),), complete=True)._repr_html_()


def test_a_long_result_says_how_to_get_the_rest() -> None:
    few = Rows((Column("n", "int"),), ((1,),), complete=False)
    assert "the first 1 row in 0.00 s; --limit N shows more, name &lt;&lt; binds all" in few._repr_html_()
    most = Rows((Column("n", "int"),), ((1,),) * MOST_SHOWN_ROWS, complete=False)
    assert repr(most).endswith(f"(the first {MOST_SHOWN_ROWS} rows in 0.00 s; name << binds all)")


def test_a_message_has_its_note_and_its_time() -> None:
    assert repr(Message("CREATE TABLE", "a note", 1.5)) == "CREATE TABLE in 1.50 s\na note"


def test_a_plan_is_a_tree_under_its_first_line_and_keeps_sql_as_it_is() -> None:
    plan = ["DELETE t", "reads", "  t", "    only <b>", "rows", "  SELECT a,", "      b", "", "  FROM t", "strategy"]
    shown = html_tree(plan)
    assert re.findall(r"<b>(.*?)</b>", shown) == ["DELETE t", "reads", "t", "rows"]
    assert "SELECT a,\n    b\n\nFROM t</pre>" in shown
    assert "only &lt;b&gt;</div>" in shown
    assert shown.count("<details") == shown.count("</details>") == 4


def test_the_statements_of_a_cell_and_of_a_line_are_found() -> None:
    assert sql_before("%%acidsql -n 2\nSELECT 1", 23) == (" -n 2\nSELECT 1", 14)
    assert sql_before("x = 1\nrows = %acidsql SELECT\ny = 2", 28) == (" SELECT", 7)
    assert sql_before("x = 1\n%acidsql SELECT\ny = 2", 3) is None
    assert sql_before("%%acidsql", 5) is None


def test_statements_complete_without_a_session() -> None:
    here = cell_completions("\nSELECT 1;\nSEL", 14, NoNames(), {})
    assert here.typed == 3
    assert [getattr(one, "text", one) for one in here.found] == ["SELECT"]
