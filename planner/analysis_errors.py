"""Translates the errors of Spark's analyzer that users cause into Hive's messages, by Spark's names of the errors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from acidsql.errors import AcidSqlError, Condition
from acidsql.planner.expressions.function_names import SPARK_FUNCTIONS, nearest_functions

Parameters: TypeAlias = Mapping[str, str]
_Maker: TypeAlias = Callable[[Parameters], AcidSqlError]
_TIMES: Final = re.compile(r"\btimestamp(_ntz)?\b")
_LOCAL_TIME: Final = "timestamp with local time zone"
_NUMBERED: Final = re.compile(r"#\d+L?")
_MORE_THAN: Final = re.compile(r"(>=?) ?(\d+)")
_CALL: Final = re.compile(r"\w+\(")
_ORDINALS: Final = dict(zip("12345", ("first", "second", "third", "fourth", "fifth"), strict=True))
"""The words of Spark 4 for the numbers of arguments in errors of Spark 3.5."""


def explained(name: str, parameters: Parameters) -> AcidSqlError | None:
    """The error, without its place, for Spark's error `name` (`WRONG_NUM_ARGS.WITHOUT_SUGGESTION`); None for an error
    that no statement of a user's is known to cause."""
    known = defaultdict(str, parameters)
    while name:
        maker = _MAKERS.get(name)
        if maker is not None:
            return maker(known)
        name = name.rpartition(".")[0]
    return None


def _plain(text: str) -> str:
    """A name, a type or an expression as Spark prints it, without its quotes and numbers."""
    bare = text.strip().replace("`", "")
    return _NUMBERED.sub("", bare[1:-1] if len(bare) > 1 and bare[0] == bare[-1] == '"' else bare)


def _type(text: str) -> str:
    """Types as Spark prints them (`("ARRAY" or "MAP")`, `["INT", "DATE"]`), with Hive's names.

    >>> _type('"TIMESTAMP_NTZ"'), _type('"ARRAY<TIMESTAMP>"')
    ('timestamp', 'array<timestamp with local time zone>')
    """
    bare = _TIMES.sub(lambda found: "timestamp" if found[1] else _LOCAL_TIME, text.replace('"', "").lower())
    return bare.strip("()[]") if text.startswith(("(", "[")) else bare


def _function(parameters: Parameters) -> str:
    return _plain(parameters.get("functionName") or parameters.get("routineName") or parameters.get("funcName", ""))


def _called(expression: str) -> str:
    """The name of the function in an expression that is a call; else the expression."""
    plain = _plain(expression)
    bare = plain[1:] if plain.startswith("(") else plain
    return bare.partition("(")[0] if _CALL.match(bare) else plain


# ---------------------------------------------------------------------------------------------------- functions


def _unknown_function(parameters: Parameters) -> AcidSqlError:
    name = _function(parameters)
    is_newer = name.lower() in SPARK_FUNCTIONS
    near = " (a newer version of Spark has it)" if is_newer else nearest_functions(name.split(".")[-1])
    return AcidSqlError(Condition.INVALID_FUNCTION, function=name, suggestion=near)


def _wrong_count(parameters: Parameters) -> AcidSqlError:
    expected = parameters.get("expectedNum", "").strip("[] ").replace("2n (n > 0)", "an even number of")
    more = _MORE_THAN.fullmatch(expected)
    if more is not None:
        expected = f"at least {int(more[2]) + (more[1] == '>')}"
    noun = "argument" if expected.split()[-1:] == ["1"] else "arguments"
    given = parameters.get("actualNum", "")
    return _count_error(_function(parameters), f"{expected.replace(', ', ' or ')} {noun}", given)


def _wrong_parameters(parameters: Parameters) -> AcidSqlError:
    return _count_error(_function(parameters), "other parameters", "")


def _count_error(function: str, takes: str, given: str) -> AcidSqlError:
    tail = f", not {given}" if given else ""
    return AcidSqlError(Condition.WRONG_ARGUMENT_COUNT, detail=f"{function} takes {takes}{tail}")


# ---------------------------------------------------------------------------------------------------- types


def _type_error(detail: str) -> AcidSqlError:
    return AcidSqlError(Condition.WRONG_ARGUMENT_TYPE, detail=detail)


def _unexpected_type(p: Parameters) -> AcidSqlError:
    wants, has = _type(p.get("requiredType", "")), _type(p.get("inputType", ""))
    place = p.get("paramIndex", "first")
    ordinal = _ORDINALS.get(place, place)
    return _type_error(f"the {ordinal} argument of {_called(p.get('sqlExpr', ''))} must be {wants}, but it is {has}")


def _operand_types(p: Parameters) -> AcidSqlError:
    return _type_error(f"{_plain(p.get('sqlExpr', ''))} combines {_type(p.get('left', ''))} with {_type(p['right'])}")


def _operand_type(p: Parameters) -> AcidSqlError:
    needs, has = _type(p.get("inputType", "")), _type(p.get("actualDataType", ""))
    return _type_error(f"{_plain(p.get('sqlExpr', ''))} needs {needs}, but it has {has}")


def _different_types(p: Parameters) -> AcidSqlError:
    return _type_error(f"the arguments of {_function(p)} must have one type, but they have {_type(p['dataType'])}")


def _no_cast(p: Parameters) -> AcidSqlError:
    return _type_error(f"{_type(p.get('srcType', ''))} cannot be cast to {_type(p.get('targetType', ''))}")


def _not_a_condition(p: Parameters) -> AcidSqlError:
    return _type_error(f"{_plain(p.get('filter', ''))} is not a condition: its type is {_type(p.get('type', ''))}")


def _no_order(p: Parameters) -> AcidSqlError:
    return _type_error(f"values of type {_type(p.get('dataType', ''))} have no order")


def _no_map(p: Parameters) -> AcidSqlError:
    return _type_error(f"values of type {_type(p.get('dataType') or p.get('colType', 'map'))} cannot be compared")


def _out_of_range(p: Parameters) -> AcidSqlError:
    argument, values, value = (_plain(p.get(key, "")) for key in ("exprName", "valueRange", "currentValue"))
    detail = f"{argument} must be within {values}, but it is {value.removesuffix('D')}"
    return AcidSqlError(Condition.WRONG_ARGUMENTS, detail=detail)


def _not_constant(p: Parameters) -> AcidSqlError:
    return AcidSqlError(Condition.WRONG_ARGUMENTS, detail=f"{_plain(p.get('inputName', 'it'))} must be a constant")


def _other_mismatch(p: Parameters) -> AcidSqlError:
    return _type_error(f"the types in {_plain(p.get('sqlExpr', 'this expression'))} cannot be combined")


def _no_field(p: Parameters) -> AcidSqlError:
    base, kind = _plain(p.get("base", "")), _type(p.get("other", ""))
    return _type_error(f"{base} has no elements and no fields: its type is {kind}")


def _bad_literal(p: Parameters) -> AcidSqlError:
    return AcidSqlError(Condition.WRONG_ARGUMENTS, detail=f"{p['value']} is not a valid {_type(p['valueType'])}")


def _unordered_window(p: Parameters) -> AcidSqlError:
    return _unresolved("The window of this function needs an ORDER BY clause.", p)


# ---------------------------------------------------------------------------------------------------- aggregates


def _not_grouped(p: Parameters) -> AcidSqlError:
    expression = _plain(p.get("expression") or p.get("expr", ""))
    hint = "Add it to GROUP BY, or aggregate it: max(..), collect_set(..)."
    return AcidSqlError(Condition.NOT_IN_GROUP_BY, expression=f" '{expression}'" if expression else "", hint=hint)


def _aggregate_in_where(p: Parameters) -> AcidSqlError:
    functions = _plain(p.get("expressionList") or p.get("invalidExprSqls", ""))
    hint = "Write a condition on an aggregate in HAVING. Compute a window function in a subquery."
    return AcidSqlError(Condition.MISPLACED_AGGREGATE, function=functions, hint=hint)


def _nested_aggregate(_: Parameters) -> AcidSqlError:
    hint = "Compute the inner aggregate in a subquery."
    return AcidSqlError(Condition.MISPLACED_AGGREGATE, function="an aggregate inside another", hint=hint)


def _misplaced_window(p: Parameters) -> AcidSqlError:
    clause = p.get("clauseName", "this")
    hint = f"Compute the window function in a subquery, and use its result in {clause}."
    return AcidSqlError(Condition.UNRESOLVED_QUERY, message=f"{clause} cannot contain a window function", hint=hint)


def _no_window(p: Parameters) -> AcidSqlError:
    return AcidSqlError(Condition.MISSING_OVER, function=_called(p.get("funcName", "")))


def _misplaced_generator(_: Parameters) -> AcidSqlError:
    return AcidSqlError(
        Condition.MISPLACED_UDTF, hint="Use LATERAL VIEW, whose columns WHERE and expressions can name."
    )


def _position(clause: str, code: Condition) -> _Maker:
    def made(p: Parameters) -> AcidSqlError:
        return AcidSqlError(code, clause=clause, position=p.get("index", ""), count=p.get("size", ""))

    return made


# ---------------------------------------------------------------------------------------------------- queries


def _unresolved(text: str, p: Parameters) -> AcidSqlError:
    return AcidSqlError(
        Condition.UNRESOLVED_QUERY, message=text.format_map(defaultdict(str, {k: _plain(v) for k, v in p.items()}))
    )


def _says(text: str) -> _Maker:
    def made(p: Parameters) -> AcidSqlError:
        return _unresolved(text, p)

    return made


def _syntax_error(p: Parameters) -> AcidSqlError:
    return AcidSqlError(Condition.PARSE_SYNTAX_ERROR, message=f"Syntax error near {p.get('error', '')}")


def _set_operation_types(p: Parameters) -> AcidSqlError:
    kinds = f"{_type(p.get('dataType2', ''))} and {_type(p.get('dataType1', ''))}"
    return _unresolved(f"The {p.get('columnOrdinalNumber', '')} columns of the {p.get('operator')} are {kinds}", {})


_MAKERS: Final[Mapping[str, _Maker]] = {
    "UNRESOLVED_ROUTINE": _unknown_function,
    "UNRESOLVABLE_TABLE_VALUED_FUNCTION": lambda p: _unknown_function({"functionName": p.get("name", "")}),
    "WRONG_NUM_ARGS": _wrong_count,
    "REQUIRED_PARAMETER_NOT_FOUND": _wrong_parameters,
    "UNRECOGNIZED_PARAMETER_NAME": _wrong_parameters,
    "DATATYPE_MISMATCH": _other_mismatch,
    "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE": _unexpected_type,
    "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES": _operand_types,
    "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE": _operand_type,
    "DATATYPE_MISMATCH.DATA_DIFF_TYPES": _different_types,
    "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION": _no_cast,
    "DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION": _no_cast,
    "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION": _no_cast,
    "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN": _not_a_condition,
    "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE": _no_order,
    "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE": _out_of_range,
    "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT": _not_constant,
    "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH": _says(
        "The subquery of IN must have as many columns as the value that is compared with it"
    ),
    "INVALID_EXTRACT_BASE_FIELD_TYPE": _no_field,
    "INVALID_TYPED_LITERAL": _bad_literal,
    "MISSING_GROUP_BY": _not_grouped,
    "MISSING_AGGREGATION": _not_grouped,
    "INVALID_WHERE_CONDITION": _aggregate_in_where,
    "GROUP_BY_AGGREGATE": _says("GROUP BY cannot contain an aggregate function: {sqlExpr}"),
    "NESTED_AGGREGATE_FUNCTION": _nested_aggregate,
    "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE": _misplaced_window,
    "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE": _no_window,
    "WINDOW_FUNCTION_FRAME_NOT_ORDERED": _unordered_window,
    "UNSUPPORTED_GENERATOR": _misplaced_generator,
    "UNSUPPORTED_GROUPING_EXPRESSION": _says("grouping() and grouping_id() need GROUPING SETS, CUBE or ROLLUP"),
    "ORDER_BY_POS_OUT_OF_RANGE": _position("ORDER BY", Condition.ORDER_BY_POSITION),
    "GROUP_BY_POS_OUT_OF_RANGE": _position("GROUP BY", Condition.GROUP_BY_POSITION),
    "STAR_GROUP_BY_POS": _says("GROUP BY cannot name a column by its position if the SELECT list is *"),
    "NUM_COLUMNS_MISMATCH": _says(
        "All queries of a {operator} must have as many columns as the first: {firstNumColumns}, not {invalidNumColumns}"
    ),
    "INCOMPATIBLE_COLUMN_TYPE": _set_operation_types,
    "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE": _no_map,
    "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE": _no_map,
    "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN": _says(
        "A subquery that is used as a value must have one column, but this one has {number}"
    ),
    "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.MUST_AGGREGATE_CORRELATED_SCALAR_SUBQUERY": lambda _: AcidSqlError(
        Condition.NOT_YET_SUPPORTED,
        feature="A subquery without an aggregate as a value for each outer row, which needs Spark 4,",
        hint="Aggregate it, as in (SELECT max(s.v) FROM s WHERE s.id = t.id).",
    ),
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": lambda _: AcidSqlError(
        Condition.QUERY_FAILED, message="A subquery that is used as a value returned more than one row"
    ),
    "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE": _says("LIMIT must not be negative, but it is {v}"),
    "INVALID_LIMIT_LIKE_EXPRESSION": _says("LIMIT must be a whole number"),
    "CANNOT_RESOLVE_STAR_EXPAND": _says("{targetString}.* names no table of the query"),
    "INVALID_TABLESAMPLE_FRACTION": _says("The percentage of TABLESAMPLE must be between 0 and 100"),
    "INVALID_PARAMETER_VALUE.PATTERN": lambda p: AcidSqlError(
        Condition.QUERY_FAILED, message=f"{p['value']} is not a valid regular expression"
    ),
    "NOT_A_CONSTANT_STRING": _says("{name} must be a constant"),
    "UDTF_ALIAS_NUMBER_MISMATCH": _says(
        "The function returns {aliasesSize} columns, but its aliases are {aliasesNames}"
    ),
    "GROUPING_COLUMN_MISMATCH": _says("The argument of grouping() is not a column of GROUP BY: {grouping}"),
    "UNSUPPORTED_EXPR_FOR_OPERATOR": _aggregate_in_where,
    "MISSING_WINDOW_SPECIFICATION": _says(
        "The window {windowName} is not defined. Define it with WINDOW {windowName} AS (..)"
    ),
    "PARSE_SYNTAX_ERROR": _syntax_error,
    "UNSUPPORTED_DATATYPE": lambda p: AcidSqlError(
        Condition.INVALID_TYPE, type=_type(p["typeName"]), reason="there is no such type"
    ),
}
