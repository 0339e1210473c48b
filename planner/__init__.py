"""Statement plus table facts to a Plan: pure, no Spark, files, clock or randomness."""
