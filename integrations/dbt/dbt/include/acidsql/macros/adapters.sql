{# What dbt does with tables, views and columns besides building them. #}

{% macro acidsql__create_table_as(temporary, relation, sql) -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {%- set contract = config.get('contract') -%}
  {{ sql_header if sql_header is not none }}
  {%- if temporary %}
  drop table if exists {{ relation }};
  create temporary table {{ relation }} stored as orc as
  {{ sql }}
  {%- elif contract.enforced %}
  {{ get_assert_columns_equivalent(sql) }}
  create table {{ relation }}
  {{ get_table_columns_and_constraints() }}
  {{ acidsql__comment_clause() }}
  {{ adapter.table_clauses(config) }};
  insert into {{ relation }} ({{ adapter.dispatch('get_column_names', 'dbt')() }})
  {{ get_select_subquery(sql) }}
  {%- else %}
  create table {{ relation }}
  {{ acidsql__comment_clause() }}
  {{ adapter.table_clauses(config) }}
  as
  {{ sql }}
  {%- endif %}
{%- endmacro %}

{% macro acidsql__comment_clause() -%}
  {%- if config.persist_relation_docs() and model.description -%}
  comment {{ adapter.string_literal(model.description) }}
  {%- endif -%}
{%- endmacro %}

{% macro acidsql__create_view_as(relation, sql) -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {{ sql_header if sql_header is not none }}
  {%- if config.get('contract').enforced %}
  {{ get_assert_columns_equivalent(sql) }}
  {%- endif %}
  create or replace view {{ relation }}
  {{ acidsql__view_columns(sql) }}
  {{ acidsql__comment_clause() }}
  as
  {{ sql }}
{%- endmacro %}

{# The column list of a view whose columns have comments: Hive takes comments of a view's columns nowhere else. #}
{% macro acidsql__view_columns(sql) -%}
  {%- if config.persist_column_docs() and model.columns -%}
    {%- set names = get_columns_in_query(sql) -%}
    {%- set known = validate_doc_columns(this, model.columns, names) -%}
    {%- set texts = {} -%}
    {%- for name, column in known.items() -%}
      {%- do texts.update({name | lower: column['description']}) -%}
    {%- endfor -%}
    (
    {%- for name in names -%}
      {{ adapter.quote(name) }}
      {%- if texts.get(name | lower) %} comment {{ adapter.string_literal(texts[name | lower]) }}{% endif -%}
      {{ ", " if not loop.last }}
    {%- endfor -%}
    )
  {%- endif -%}
{%- endmacro %}

{% macro acidsql__drop_table(relation) -%}
  drop table if exists {{ relation }}
{%- endmacro %}

{% macro acidsql__drop_view(relation) -%}
  drop view if exists {{ relation }}
{%- endmacro %}

{% macro acidsql__rename_relation(from_relation, to_relation) -%}
  {% call statement('rename_relation') -%}
    alter {{ 'view' if from_relation.is_view else 'table' }} {{ from_relation }} rename to {{ to_relation }}
  {%- endcall %}
{%- endmacro %}

{% macro acidsql__get_rename_table_sql(relation, new_name) -%}
  alter table {{ relation }} rename to {{ relation.incorporate(path={"identifier": new_name}) }}
{%- endmacro %}

{% macro acidsql__get_rename_view_sql(relation, new_name) -%}
  alter view {{ relation }} rename to {{ relation.incorporate(path={"identifier": new_name}) }}
{%- endmacro %}

{% macro acidsql__get_replace_view_sql(relation, sql) -%}
  {{ get_create_view_as_sql(relation, sql) }}
{%- endmacro %}

{% macro acidsql__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {%- if remove_columns -%}
    {{ exceptions.raise_compiler_error(
      "Columns of " ~ relation ~ " cannot be dropped: its files have them ("
      ~ remove_columns | map(attribute='name') | join(', ') ~ "). Run the model with --full-refresh.") }}
  {%- endif -%}
  {%- if add_columns -%}
    {% call statement('add_columns') -%}
      alter table {{ relation }} add columns (
        {%- for column in add_columns -%}
          {{ column.quoted }} {{ column.data_type }}{{ ', ' if not loop.last }}
        {%- endfor -%}
      )
    {%- endcall %}
  {%- endif -%}
{%- endmacro %}

{% macro acidsql__create_columns(relation, columns) -%}
  {%- if columns -%}
    {% do acidsql__alter_relation_add_remove_columns(relation, columns, none) %}
  {%- endif -%}
{%- endmacro %}

{# Only a wider type is possible; acidsql says what is not. #}
{% macro acidsql__alter_column_type(relation, column_name, new_column_type) -%}
  {% call statement('alter_column_type') -%}
    alter table {{ relation }} change column
      {{ adapter.quote(column_name) }} {{ adapter.quote(column_name) }} {{ new_column_type }}
  {%- endcall %}
{%- endmacro %}

{% macro acidsql__alter_relation_comment(relation, relation_comment) -%}
  alter {{ 'view' if relation.is_view else 'table' }} {{ relation }}
  set tblproperties ('comment'={{ adapter.string_literal(relation_comment) }})
{%- endmacro %}

{# A view has its comments since CREATE VIEW; those of a table's partition columns cannot be changed. #}
{% macro acidsql__persist_docs(relation, model, for_relation, for_columns) -%}
  {%- if for_relation and config.persist_relation_docs() and model.description -%}
    {% do run_query(alter_relation_comment(relation, model.description)) %}
  {%- endif -%}
  {%- if for_columns and config.persist_column_docs() and model.columns and not relation.is_view -%}
    {%- set columns = adapter.get_columns_in_relation(relation) -%}
    {%- set known = validate_doc_columns(relation, model.columns, columns | map(attribute='name') | list) -%}
    {%- set types = {} -%}
    {%- for column in columns -%}{%- do types.update({column.name: column.data_type}) -%}{%- endfor -%}
    {%- set fixed = adapter.partition_columns(relation) -%}
    {%- for name, column in known.items() if column['description'] and name | lower not in fixed -%}
      {% call statement('column_comment') -%}
        alter table {{ relation }} change column {{ adapter.quote(name | lower) }} {{ adapter.quote(name | lower) }}
          {{ types[name | lower] }} comment {{ adapter.string_literal(column['description']) }}
      {%- endcall %}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}

{% macro acidsql__apply_grants(relation, grant_config, should_revoke=True) -%}
  {%- if grant_config -%}
    {{ exceptions.raise_compiler_error(
      "acidsql checks no rights and has no GRANT: remove `grants` from the configuration of " ~ relation ~ ".") }}
  {%- endif -%}
{%- endmacro %}

{% macro acidsql__current_timestamp() -%}
  current_timestamp()
{%- endmacro %}

{% macro acidsql__current_timestamp_backcompat() -%}
  current_timestamp()
{%- endmacro %}

{% macro acidsql__snapshot_string_as_time(timestamp) -%}
  {{ return("cast('" ~ timestamp ~ "' as timestamp)") }}
{%- endmacro %}

{% macro acidsql__generate_database_name(custom_database_name=none, node=none) -%}
  {{ return(none) }}
{%- endmacro %}

{# A snapshot's node has no `database` here, so the argument may be undefined. #}
{% macro acidsql__get_or_create_relation(database, schema, identifier, type) %}
  {%- set found = adapter.get_relation(database=none, schema=schema, identifier=identifier) -%}
  {%- if found -%}
    {% do return([true, found]) %}
  {%- endif -%}
  {% do return([false, api.Relation.create(schema=schema, identifier=identifier, type=type)]) %}
{% endmacro %}
