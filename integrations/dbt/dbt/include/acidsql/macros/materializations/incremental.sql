{# Incremental models. The query runs once, into a temporary table that the session alone sees. #}
{% materialization incremental, adapter='acidsql' -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target = this.incorporate(type='table') -%}
  {%- set strategy = config.get('incremental_strategy') or 'default' -%}
  {%- set strategy_sql = adapter.get_incremental_strategy_macro(context, strategy) -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}

  {{ run_hooks(pre_hooks) }}

  {%- if existing is none or existing.is_view or should_full_refresh() %}
    {% do acidsql__build_and_swap(existing, target, sql) %}
  {%- else %}
    {%- set temp = make_temp_relation(target) -%}
    {% call statement('build_temporary') -%}
      {{ get_create_table_as_sql(True, temp, sql) }}
    {%- endcall %}
    {% if not config.get('contract').enforced %}
      {% do adapter.expand_target_column_types(from_relation=temp, to_relation=target) %}
    {% endif %}
    {%- set columns = process_schema_changes(on_schema_change, temp, existing)
          or adapter.get_columns_in_relation(existing) -%}
    {% call statement('main') -%}
      {{ strategy_sql({
        'target_relation': target, 'temp_relation': temp, 'unique_key': config.get('unique_key'),
        'dest_columns': columns,
        'incremental_predicates': config.get('predicates') or config.get('incremental_predicates')}) }}
    {%- endcall %}
    {% call statement('drop_temporary') -%}
      drop table if exists {{ temp }}
    {%- endcall %}
  {%- endif %}

  {% do apply_grants(target, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target, model) %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{%- endmaterialization %}

{% macro acidsql__names(columns, prefix='') -%}
  {%- for column in columns -%}{{ prefix }}{{ column.quoted }}{{ ', ' if not loop.last }}{%- endfor -%}
{%- endmacro %}

{% macro acidsql__get_incremental_default_sql(arg_dict) %}
  {% do return(get_incremental_merge_sql(arg_dict) if arg_dict['unique_key'] else get_incremental_append_sql(arg_dict)) %}
{% endmacro %}

{% macro acidsql__get_incremental_append_sql(arg_dict) -%}
  {%- set names = acidsql__names(arg_dict['dest_columns']) -%}
  insert into {{ arg_dict['target_relation'] }} ({{ names }})
  select {{ names }} from {{ arg_dict['temp_relation'] }}
{%- endmacro %}

{# The conditions under which a row of the source and one of the target have the same key. #}
{% macro acidsql__key_conditions(unique_key, predicates) %}
  {%- set keys = [unique_key] if unique_key is string else unique_key -%}
  {%- set conditions = [] -%}
  {%- for key in keys -%}
    {%- do conditions.append(equals('DBT_INTERNAL_SOURCE.' ~ key, 'DBT_INTERNAL_DEST.' ~ key) | trim) -%}
  {%- endfor -%}
  {%- do return((conditions + (predicates or [])) | join(' and ')) -%}
{% endmacro %}

{% macro acidsql__get_incremental_merge_sql(arg_dict) -%}
  {%- if not arg_dict['unique_key'] -%}
    {%- do return(get_incremental_append_sql(arg_dict)) -%}
  {%- endif -%}
  {%- set columns = arg_dict['dest_columns'] -%}
  {%- set keys = [arg_dict['unique_key']] if arg_dict['unique_key'] is string else arg_dict['unique_key'] -%}
  {%- set given = get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), columns) -%}
  {%- set keys_lower = keys | map('lower') | list -%}
  {%- set updated = [] -%}
  {%- for name in given if name | replace('`', '') | lower not in keys_lower -%}
    {%- do updated.append(name if '`' in name else adapter.quote(name)) -%}
  {%- endfor -%}
  merge into {{ arg_dict['target_relation'] }} as DBT_INTERNAL_DEST
  using {{ arg_dict['temp_relation'] }} as DBT_INTERNAL_SOURCE
  on {{ acidsql__key_conditions(arg_dict['unique_key'], arg_dict['incremental_predicates']) }}
  {% if updated -%}
  when matched then update set
    {% for name in updated -%}
    {{ name }} = DBT_INTERNAL_SOURCE.{{ name }}{{ ', ' if not loop.last }}
    {%- endfor %}
  {%- endif %}
  when not matched then insert ({{ acidsql__names(columns) }})
    values ({{ acidsql__names(columns, 'DBT_INTERNAL_SOURCE.') }})
{%- endmacro %}

{# Two statements in one transaction. #}
{% macro acidsql__get_incremental_delete_insert_sql(arg_dict) -%}
  {%- if not arg_dict['unique_key'] -%}
    {%- do return(get_incremental_append_sql(arg_dict)) -%}
  {%- endif -%}
  {%- set keys = [arg_dict['unique_key']] if arg_dict['unique_key'] is string else arg_dict['unique_key'] -%}
  start transaction;
  merge into {{ arg_dict['target_relation'] }} as DBT_INTERNAL_DEST
  using (select distinct {{ keys | join(', ') }} from {{ arg_dict['temp_relation'] }}) as DBT_INTERNAL_SOURCE
  on {{ acidsql__key_conditions(arg_dict['unique_key'], arg_dict['incremental_predicates']) }}
  when matched then delete;
  {{ get_incremental_append_sql(arg_dict) }};
  commit
{%- endmacro %}

{# The partitions for which the query has rows, or the whole table if it has no partitions. #}
{% macro acidsql__get_incremental_insert_overwrite_sql(arg_dict) -%}
  {%- set partitions = adapter.partition_columns(arg_dict['target_relation']) -%}
  {%- set ordered = [] -%}
  {%- for column in arg_dict['dest_columns'] if column.name | lower not in partitions -%}
    {%- do ordered.append(column.quoted) -%}
  {%- endfor -%}
  {%- set last = [] -%}
  {%- for name in partitions -%}{%- do last.append(adapter.quote(name)) -%}{%- endfor -%}
  insert overwrite table {{ arg_dict['target_relation'] }}
  {% if partitions %}partition ({{ last | join(', ') }}){% endif %}
  {% if not partitions %}({{ ordered | join(', ') }}){% endif %}
  select {{ (ordered + last) | join(', ') }} from {{ arg_dict['temp_relation'] }}
{%- endmacro %}

{# The rows of the batch's time are deleted and inserted in one transaction. #}
{% macro acidsql__get_incremental_microbatch_sql(arg_dict) -%}
  {%- set conditions = [] + (arg_dict['incremental_predicates'] or []) -%}
  {%- set start = model.config.get('__dbt_internal_microbatch_event_time_start') -%}
  {%- set end = model.config.get('__dbt_internal_microbatch_event_time_end') -%}
  {%- set at = model.config.event_time -%}
  {%- if start -%}{%- do conditions.append("cast(" ~ at ~ " as timestamp) >= timestamp '" ~ acidsql__time(start) ~ "'") -%}{%- endif -%}
  {%- if end -%}{%- do conditions.append("cast(" ~ at ~ " as timestamp) < timestamp '" ~ acidsql__time(end) ~ "'") -%}{%- endif -%}
  start transaction;
  delete from {{ arg_dict['target_relation'] }}{% if conditions %} where {{ conditions | join(' and ') }}{% endif %};
  {{ get_incremental_append_sql(arg_dict) }};
  commit
{%- endmacro %}

{% macro acidsql__time(moment) -%}
  {{ return(moment.strftime('%Y-%m-%d %H:%M:%S')) }}
{%- endmacro %}
