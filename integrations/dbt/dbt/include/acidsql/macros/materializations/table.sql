{# A table. Where nothing but its rows changes, INSERT OVERWRITE replaces them in one transaction: readers see the old or
   the new rows. Else a new table is built under another name, and takes the name of the old one. #}
{% materialization table, adapter='acidsql' %}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}

  {{ run_hooks(pre_hooks) }}

  {%- if existing is not none and existing.is_table and not should_full_refresh()
        and not config.get('contract').enforced
        and adapter.can_overwrite(existing, get_column_schema_from_query(sql, config.get('sql_header')), config) %}
    {% call statement('main') -%}
      {{ config.get('sql_header') if config.get('sql_header') is not none }}
      insert overwrite table {{ target }}
      {{ sql }}
    {%- endcall %}
  {%- else %}
    {% do acidsql__build_and_swap(existing, target, sql) %}
  {%- endif %}

  {% do apply_grants(target, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target, model) %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{# Builds the table and gives it the name of the target. Between two renames there is no table of that name. #}
{% macro acidsql__build_and_swap(existing, target, sql) %}
  {%- if existing is none %}
    {% call statement('main') -%}
      {{ get_create_table_as_sql(False, target, sql) }}
    {%- endcall %}
  {%- else %}
    {%- set built = make_intermediate_relation(target) -%}
    {%- set backup = make_backup_relation(target, existing.type) -%}
    {{ drop_relation_if_exists(load_cached_relation(built)) }}
    {{ drop_relation_if_exists(load_cached_relation(backup)) }}
    {% call statement('main') -%}
      {{ get_create_table_as_sql(False, built, sql) }}
    {%- endcall %}
    {% do adapter.rename_relation(existing, backup) %}
    {% do adapter.rename_relation(built, target) %}
    {% do adapter.drop_relation(backup) %}
  {%- endif %}
{% endmacro %}
