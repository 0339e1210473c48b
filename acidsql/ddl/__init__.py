"""Runs the plans of statements that change the catalog and directories without a query.

Begin with `plan_runner`; the modules `*_changes` run the steps of one subject each. `planner/ddl/` makes the plans.
"""
