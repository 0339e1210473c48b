"""The statements of a session: which component runs each of them, and what a caller gets back.

`dispatch` knows which component runs which statement, `plans` gathers the facts for the planner, `results` are the
answers, `settings` and `variables` what SET changes, `log` and `spans` tell what ran. Begin with `dispatch`. The
package imports the engines, DDL, SHOW and the compactor; `acidsql.session` and the front ends import it.
"""
