"""The names of Hive's functions (SHOW FUNCTIONS of Hive 4.0.1), and those that acidsql refuses, with a hint."""

from __future__ import annotations

from typing import Final

_NAMES: Final = """
    abs acos add_months aes_decrypt aes_encrypt approx_distinct array array_append array_contains array_distinct
    array_except array_intersect array_join array_max array_min array_position array_remove array_slice array_union
    ascii asin assert_true assert_true_oom atan avg base64 between bin bloom_filter bround cardinality_violation
    case cbrt ceil ceiling char_length character_length chr coalesce collect_list collect_set compute_stats concat
    concat_ws context_ngrams conv corr cos cosh count covar_pop covar_samp crc32 create_union cume_dist
    current_authorizer current_catalog current_database current_date current_groups current_schema current_timestamp
    current_user date_add date_format date_sub datediff datetime_legacy_hybrid_calendar day dayofmonth dayofweek
    decode degrees dense_rank deserialize elt encode enforce_constraint e ewah_bitmap ewah_bitmap_and
    ewah_bitmap_empty ewah_bitmap_or exp explode extract_union factorial field find_in_set first_value floor
    floor_day floor_hour floor_minute floor_month floor_quarter floor_second floor_week floor_year format_number
    from_unixtime from_utc_timestamp get_json_object get_splits get_sql_schema greatest grouping hash hex
    histogram_numeric hour if in in_bloom_filter in_file index initcap inline instr internal_interval isfalse
    isnotfalse isnotnull isnottrue isnull istrue java_method json_read json_tuple lag last_day last_value lcase lead
    least length levenshtein like likeall likeany ln locate log log10 log2 logged_in_user lower lpad ltrim map
    map_keys map_values mask mask_first_n mask_hash mask_last_n mask_show_first_n mask_show_last_n max md5 mid min
    minute month months_between murmur_hash named_struct negative next_day ngrams ntile nullif nvl octet_length or
    parse_url parse_url_tuple percent_rank percentile percentile_approx percentile_cont percentile_disc pi pmod
    posexplode positive pow power printf quarter quote radians rand rank reflect reflect2 regexp regexp_extract
    regexp_replace regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    repeat replace replicate_rows restrict_information_schema reverse rlike round row_number rpad rtrim second
    sentences sha sha1 sha2 shiftleft shiftright shiftrightunsigned sign sin sinh size sort_array sort_array_by
    soundex space split sq_count_check sqrt stack std stddev stddev_pop stddev_samp str_to_map struct substr
    substring substring_index sum surrogate_key tan tanh tumbling_window to_date to_epoch_milli to_unix_timestamp
    to_utc_timestamp translate trim trunc typeof ucase udftoboolean udftobyte udftodouble udftofloat udftointeger
    udftolong udftoshort udftostring unbase64 unhex unix_timestamp upper uuid var_pop var_samp variance version
    weekofyear when width_bucket xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number
    xpath_short xpath_string year
"""
HIVE_FUNCTIONS: Final = tuple(_NAMES.split())
REFUSED: Final = {
    "bloom_filter": "",
    "compute_stats": "count, min, max and approx_distinct of the column give the same numbers.",
    "context_ngrams": "",
    "create_union": "A struct can hold the alternatives.",
    "current_authorizer": "",
    "current_groups": "",
    "deserialize": "",
    "ewah_bitmap": "",
    "ewah_bitmap_and": "",
    "ewah_bitmap_empty": "",
    "ewah_bitmap_or": "",
    "extract_union": "A union type is a struct in acidsql.",
    "get_splits": "",
    "get_sql_schema": "DESCRIBE shows a table's columns.",
    "in_bloom_filter": "",
    "in_file": "Load the file into a table, and use IN (SELECT ..).",
    "json_read": "from_json(text, schema) reads JSON.",
    "ngrams": "explode(sentences(text)) gives the words of each sentence.",
    "reflect2": "reflect(class, method, ..) calls a static method.",
    "surrogate_key": "row__id identifies a row of a transactional table; uuid() is a unique text.",
    "tumbling_window": "window(time, '10 minutes') groups times.",
}
"""Functions of Hive that acidsql refuses, with a hint."""
