{# dbt's functions that databases write in different ways. Times are TIMESTAMPs; the session's time zone is UTC unless the
   profile says otherwise. #}

{% macro acidsql__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {%- set places = {'year': 0, 'quarter': 1, 'month': 1, 'week': 2, 'day': 3, 'hour': 4, 'minute': 5, 'second': 6} -%}
  {%- set part = datepart | lower -%}
  {%- if part not in places -%}
    {{ exceptions.raise_compiler_error("dateadd has no datepart '" ~ datepart ~ "' in acidsql") }}
  {%- endif -%}
  {%- set amount = '3 * (' ~ interval ~ ')' if part == 'quarter' else '(' ~ interval ~ ')' -%}
  (cast({{ from_date_or_timestamp }} as timestamp)
   + make_interval({{ '0, ' * places[part] }}{{ 'cast(' ~ amount ~ ' as ' ~ ('decimal(18,6)' if part == 'second' else 'int') ~ ')' }}))
{%- endmacro %}

{% macro acidsql__datediff(first_date, second_date, datepart) -%}
  {%- set from = 'cast(' ~ first_date ~ ' as timestamp)' -%}
  {%- set to = 'cast(' ~ second_date ~ ' as timestamp)' -%}
  {%- set micros = {'microsecond': 1, 'millisecond': 1000, 'second': 1000000, 'minute': 60000000, 'hour': 3600000000} -%}
  {%- set part = datepart | lower -%}
  {%- if part == 'year' -%}
    (year({{ to }}) - year({{ from }}))
  {%- elif part == 'quarter' -%}
    ((year({{ to }}) - year({{ from }})) * 4 + quarter({{ to }}) - quarter({{ from }}))
  {%- elif part == 'month' -%}
    ((year({{ to }}) - year({{ from }})) * 12 + month({{ to }}) - month({{ from }}))
  {%- elif part == 'week' -%}
    {# 1970-01-05 was a Monday. #}
    cast(floor(datediff({{ to }}, date '1970-01-05') / 7) - floor(datediff({{ from }}, date '1970-01-05') / 7) as bigint)
  {%- elif part == 'day' -%}
    datediff({{ to }}, {{ from }})
  {%- elif part in micros -%}
    cast(floor({{ acidsql__microseconds(to) }} / {{ micros[part] }})
         - floor({{ acidsql__microseconds(from) }} / {{ micros[part] }}) as bigint)
  {%- else -%}
    {{ exceptions.raise_compiler_error("datediff has no datepart '" ~ datepart ~ "' in acidsql") }}
  {%- endif -%}
{%- endmacro %}

{# The microseconds from 1970 to a wall-clock time, as if it were a time of UTC. The days are whole and exact. #}
{% macro acidsql__microseconds(moment) -%}
  cast(unix_micros(cast({{ moment }} as timestamp with local time zone)) as decimal(25,0))
{%- endmacro %}

{% macro acidsql__date(year, month, day) -%}
  date '{{ modules.datetime.date(year, month, day).strftime('%Y-%m-%d') }}'
{%- endmacro %}

{% macro acidsql__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- if not limit_num -%}
    listagg({{ measure }}, {{ delimiter_text }})
    {%- if order_by_clause %} within group ({{ order_by_clause }}){% endif -%}
  {%- elif not order_by_clause -%}
    array_join(slice(collect_list({{ measure }}), 1, {{ limit_num }}), {{ delimiter_text }})
  {%- else -%}
    {%- set key = modules.re.sub('(?i)^\s*order\s+by\s+', '', order_by_clause) -%}
    {%- if modules.re.search('(?i),|\\b(desc|nulls)\\b', key) -%}
      {{ exceptions.raise_compiler_error("listagg with a limit takes one ascending key in acidsql") }}
    {%- endif -%}
    array_join(
      slice(sort_array(collect_list(named_struct('k', {{ key }}, 'v', {{ measure }}))).v, 1, {{ limit_num }}),
      {{ delimiter_text }})
  {%- endif -%}
{%- endmacro %}

{% macro acidsql__position(substring_text, string_text) -%}
  locate({{ substring_text }}, {{ string_text }})
{%- endmacro %}

{% macro acidsql__concat(fields) -%}
  concat({{ fields | join(', ') }})
{%- endmacro %}

{% macro acidsql__array_construct(inputs, data_type) -%}
  {%- if inputs -%}array({{ inputs | join(', ') }}){%- else -%}cast(array() as array<{{ data_type }}>){%- endif -%}
{%- endmacro %}

{% macro acidsql__array_concat(array_1, array_2) -%}
  concat({{ array_1 }}, {{ array_2 }})
{%- endmacro %}

{# Hive writes booleans in capital letters. #}
{% macro acidsql__cast_bool_to_text(field) -%}
  lower(cast({{ field }} as string))
{%- endmacro %}

{% macro acidsql__escape_single_quotes(expression) -%}
  {{ expression | replace("\\", "\\\\") | replace("'", "\\'") }}
{%- endmacro %}

{% macro acidsql__type_numeric() -%}
  decimal(28,6)
{%- endmacro %}
