CREATE TRANSACTIONAL TABLE emp (id int, name string, boss int);
CREATE TRANSACTIONAL TABLE log (id int) PARTITIONED BY (day string);
CREATE TABLE plain (id int, note string);
CREATE VIEW seen AS SELECT 1 AS id;

SELECT * FROM emp VERSION AS OF 3
-->
SELECT
reads
  emp@1: default.emp VERSION AS OF 3
query
  SELECT * FROM `emp@1` AS `emp`

-- Two versions, and the latest one, are three scans, and conditions skip partitions and files of each.
SELECT * FROM emp VERSION AS OF 3 a JOIN emp FOR SYSTEM_VERSION AS OF 5 b ON a.id = b.id JOIN emp ON emp.id = a.id WHERE a.id = 7
--> reads, rows
reads     emp@1: default.emp VERSION AS OF 3
          emp@2: default.emp VERSION AS OF 5
          emp@3: default.emp
rows      SELECT * FROM `emp@1` AS a JOIN `emp@2` AS b ON a.id = b.id JOIN `emp@3` AS `emp` ON emp.id = a.id WHERE a.id = 7

SELECT id FROM log VERSION AS OF 2 WHERE day = '2026-11-01'
-->
SELECT
reads
  log@1: default.log VERSION AS OF 2
query
  SELECT id FROM `log@1` AS `log` WHERE day = '2026-11-01'

WITH c AS (SELECT id FROM emp VERSION AS OF 1) SELECT * FROM c WHERE id IN (SELECT boss FROM emp VERSION AS OF 2) OR EXISTS (SELECT 1 FROM emp VERSION AS OF 3 e WHERE e.id = c.id)
--> reads, rows
reads     emp@1: default.emp VERSION AS OF 1
          emp@2: default.emp VERSION AS OF 2
          emp@3: default.emp VERSION AS OF 3
rows      WITH c AS (SELECT id FROM `emp@1` AS `emp`) SELECT * FROM c WHERE id IN (SELECT boss FROM `emp@2` AS `emp`) OR EXISTS(SELECT 1 FROM `emp@3` AS e WHERE e.id = c.id)

SELECT count(*) FROM emp TIMESTAMP AS OF '2026-11-01 00:00:00'
--> reads
reads     emp@1: default.emp TIMESTAMP AS OF 2026-11-01 00:00:00+00:00, only counted

SELECT * FROM emp FOR SYSTEM_TIME AS OF TIMESTAMP '2026-11-01 00:00:00' UNION ALL SELECT * FROM emp TIMESTAMP AS OF '2026-11-01T00:00:00+02:00'
--> reads
reads     emp@1: default.emp TIMESTAMP AS OF 2026-11-01 00:00:00+00:00
          emp@2: default.emp TIMESTAMP AS OF 2026-11-01 00:00:00+02:00

INSERT INTO emp SELECT * FROM emp VERSION AS OF 3
--> reads, locks
reads     emp@1: default.emp VERSION AS OF 3
locks     default.emp -> SHARED_READ
          default.emp -> SHARED_READ

UPDATE emp SET name = 'x' WHERE id IN (SELECT id FROM emp VERSION AS OF 3)
--> reads
reads     emp@1: default.emp VERSION AS OF 3
          emp@2: default.emp with row__id

MERGE INTO emp USING emp VERSION AS OF 3 s ON emp.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name
--> reads
reads     emp@1: default.emp with row__id
          emp@2: default.emp VERSION AS OF 3

SELECT * FROM plain VERSION AS OF 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: default.plain is not transactional, so that its writes have no IDs
1 | SELECT * FROM plain VERSION AS OF 3
  |                     ^^^^^^^^^^^^^^^

SELECT * FROM seen VERSION AS OF 3
-->
[NOT_YET_SUPPORTED] Reading an earlier version of the view seen is not yet supported by acidsql.
1 | SELECT * FROM seen VERSION AS OF 3
  |                    ^^^^^^^^^^^^^^^
Hint: Write the query of the view with AS OF behind its tables.

WITH c AS (SELECT 1 AS id) SELECT * FROM c VERSION AS OF 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: c is a common table expression, and only tables have versions
1 | WITH c AS (SELECT 1 AS id) SELECT * FROM c VERSION AS OF 3
  |                                            ^^^^^^^^^^^^^^^

SELECT * FROM {people} VERSION AS OF 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: {people} is a frame of the call, and only tables have versions
1 | SELECT * FROM {people} VERSION AS OF 3
  |                        ^^^^^^^^^^^^^^^

SELECT * FROM range(3) VERSION AS OF 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a table function has no versions
1 | SELECT * FROM range(3) VERSION AS OF 3
  |                        ^^^^^^^^^^^^^^^

SELECT * FROM emp VERSION AS OF -3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: -3 is negative, and a write ID is not
1 | SELECT * FROM emp VERSION AS OF -3
  |                   ^^^^^^^^^^^^^^^^

SELECT * FROM emp VERSION AS OF 1.5
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp VERSION AS OF 1.5
  |                   ^^^^^^^^^^^^^^^^^

SELECT * FROM emp VERSION AS OF id
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp VERSION AS OF id
  |                   ^^^^^^^^^^^^^^^^

SELECT * FROM emp VERSION AS OF '3'
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp VERSION AS OF '3'
  |                   ^^^^^^^^^^^^^^^^^

SELECT * FROM emp VERSION AS OF (SELECT max(id) FROM emp)
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp VERSION AS OF (SELECT max(id) FROM emp)
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp TIMESTAMP AS OF 'yesterday'
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a time is written as '2026-11-01 00:00:00', with or without the offset of its time zone
1 | SELECT * FROM emp TIMESTAMP AS OF 'yesterday'
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM missing VERSION AS OF 3
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'missing' (there is emp, log, plain)
1 | SELECT * FROM missing VERSION AS OF 3
  |               ^^^^^^^

-- A RESTORE is an INSERT OVERWRITE that also empties the partitions without rows.
RESTORE TABLE log TO VERSION AS OF 2
-->
RESTORE default.log
reads
  log@1: default.log VERSION AS OF 2
rows
  SELECT `id`, `day` FROM `log@1` AS `log`
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`, CAST(NULL AS INT) AS `:place`,
    CAST(`:id` AS INT) AS `id`,
    CAST(`:day` AS STRING) AS `day`
  FROM `:rows`
writes
  base_W: the rows of the version
  base_W without rows: in each other partition of the table
strategy: by the driver (up to acidsql.driver.write.max.bytes), else shuffled

RESTORE TABLE seen TO VERSION AS OF 1
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: seen is a view, and only tables have versions
1 | RESTORE TABLE seen TO VERSION AS OF 1
  |               ^^^^

RESTORE TABLE plain TO VERSION AS OF 1
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: default.plain is not transactional, so that its writes have no IDs
1 | RESTORE TABLE plain TO VERSION AS OF 1
  |               ^^^^^

RESTORE TABLE nowhere TO VERSION AS OF 1
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'nowhere' (there is emp, log, plain)
1 | RESTORE TABLE nowhere TO VERSION AS OF 1
  |               ^^^^^^^

RESTORE TABLE log TO VERSION AS OF -1
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: -1 is negative, and a write ID is not
1 | RESTORE TABLE log TO VERSION AS OF -1
  |                      ^^^^^^^^^^^^^^^^
