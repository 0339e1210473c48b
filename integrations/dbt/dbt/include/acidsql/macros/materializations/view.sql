{% materialization view, adapter='acidsql' -%}
  {{ return(create_or_replace_view()) }}
{%- endmaterialization %}
