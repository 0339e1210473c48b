{# Snapshots: dbt's own materialization, with a MERGE in which each column says where it comes from. #}

{% macro acidsql__snapshot_hash_arguments(args) -%}
  md5(concat_ws('|' {%- for arg in args -%} , coalesce(cast({{ arg }} as string), '') {%- endfor -%}))
{%- endmacro %}

{% macro acidsql__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set columns = config.get("snapshot_table_column_names") or get_snapshot_table_column_names() -%}
  merge into {{ target.render() }} as DBT_INTERNAL_DEST
  using {{ source }} as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}
  when matched
    {% if config.get("dbt_valid_to_current") %}
    and (DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} = {{ config.get('dbt_valid_to_current') }}
         or DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null)
    {% else %}
    and DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null
    {% endif %}
    and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
    then update set {{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}
  when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert'
    then insert ({{ insert_cols | join(', ') }})
    values (
      {%- for column in insert_cols -%}DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}{%- endfor -%}
    )
{% endmacro %}

{% macro acidsql__post_snapshot(staging_relation) %}
  {% call statement('drop_staging') -%}
    drop table if exists {{ staging_relation }}
  {%- endcall %}
{% endmacro %}
