EXPLAIN ANALYZE SELECT 1
-->
[NOT_YET_SUPPORTED] EXPLAIN ANALYZE is not yet supported by acidsql.
1 | EXPLAIN ANALYZE SELECT 1
  | ^^^^^^^^^^^^^^^

GRANT ALL ON t TO x
-->
[NOT_YET_SUPPORTED] GRANT is not yet supported by acidsql.
1 | GRANT ALL ON t TO x
  | ^^^^^

START TRANSACTION READ ONLY
-->
[NOT_YET_SUPPORTED] START TRANSACTION READ ONLY is not yet supported by acidsql.
1 | START TRANSACTION READ ONLY
  |                   ^^^^^^^^^

SET ROLE admin
-->
[NOT_YET_SUPPORTED] SET ROLE is not yet supported by acidsql.
1 | SET ROLE admin
  | ^^^^^^^^

INSERT OVERWRITE LOCAL DIRECTORY '/x' SELECT 1
-->
[NOT_YET_SUPPORTED] INSERT OVERWRITE LOCAL DIRECTORY is not yet supported by acidsql.
1 | INSERT OVERWRITE LOCAL DIRECTORY '/x' SELECT 1
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM t VERSION AS OF 3
-->
[NOT_YET_SUPPORTED] Time travel (AS OF) is not yet supported by acidsql.
1 | SELECT * FROM t VERSION AS OF 3
  |                               ^

CREATE TABLE t (a int, b int) SKEWED BY (a, b) ON ((1, 2), (3, 4)) STORED AS DIRECTORIES
-->
[NOT_YET_SUPPORTED] SKEWED BY is not yet supported by acidsql.
1 | CREATE TABLE t (a int, b int) SKEWED BY (a, b) ON ((1, 2), (3, 4)) STORED AS DIRECTORIES
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
