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

FROM t INSERT OVERWRITE LOCAL DIRECTORY '/x' SELECT 1
-->
[NOT_YET_SUPPORTED] INSERT OVERWRITE DIRECTORY in a statement with FROM before INSERT is not yet supported by acidsql.
1 | FROM t INSERT OVERWRITE LOCAL DIRECTORY '/x' SELECT 1
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

CREATE TEMPORARY FUNCTION f AS 'org.example.F' USING JAR '/f.jar'
-->
[NOT_YET_SUPPORTED] CREATE TEMPORARY FUNCTION .. USING JAR, FILE or ARCHIVE is not yet supported by acidsql.
1 | CREATE TEMPORARY FUNCTION f AS 'org.example.F' USING JAR '/f.jar'
  |                                                ^^^^^^^^^^^^^^^^^^
Hint: acidsql runs functions of Python: their modules are found on Python's path.

CREATE TABLE t (a int, b int) SKEWED BY (a, b) ON ((1, 2), (3, 4)) STORED AS DIRECTORIES
-->
[NOT_YET_SUPPORTED] SKEWED BY is not yet supported by acidsql.
1 | CREATE TABLE t (a int, b int) SKEWED BY (a, b) ON ((1, 2), (3, 4)) STORED AS DIRECTORIES
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

