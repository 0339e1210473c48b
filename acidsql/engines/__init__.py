"""The two engines behind one door: `statement_engines` runs plans, `engine_choice` decides by which engine and says
why.

Begin with `engine_choice`. This package imports both engines, `acidsql.arrow` and `acidsql.spark`, which do not import
each other; both run their statements in `acidsql.writing.statement_transactions`.
"""
