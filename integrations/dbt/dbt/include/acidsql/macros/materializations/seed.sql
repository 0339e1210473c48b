{# Seeds: the rows go to acidsql as an Arrow table, and replace those that were there. #}

{% macro acidsql__create_csv_table(model, agate_table) %}
  {%- set given = model['config'].get('column_types', {}) -%}
  {%- set quoting = model['config'].get('quote_columns', None) -%}
  {% set sql %}
    create table {{ this.render() }} (
      {%- for name in agate_table.column_names -%}
        {{ adapter.quote(name | lower) }} {{ given.get(name, adapter.convert_type(agate_table, loop.index0)) }}
        {{- ', ' if not loop.last -}}
      {%- endfor -%}
    )
    {{ adapter.table_clauses(config) }}
  {% endset %}
  {% call statement('_') -%}
    {{ sql }}
  {%- endcall %}
  {{ return(sql) }}
{% endmacro %}

{% macro acidsql__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {%- if full_refresh -%}
    {{ adapter.drop_relation(old_relation) }}
    {{ return(create_csv_table(model, agate_table)) }}
  {%- endif -%}
  {%- if agate_table.rows | length == 0 -%}
    {{ adapter.truncate_relation(old_relation) }}
  {%- endif -%}
  {{ return('') }}
{% endmacro %}

{% macro acidsql__load_csv_rows(model, agate_table) %}
  {% do adapter.load_seed(this, agate_table) %}
  {{ return('-- ' ~ agate_table.rows | length ~ ' rows of the seed') }}
{% endmacro %}

{% macro acidsql__get_csv_sql(create_or_truncate_sql, insert_sql) %}
  {{ create_or_truncate_sql }}
  {{ insert_sql }}
{% endmacro %}
