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

CREATE TRANSACTIONAL TABLE feed (id int, _commit_version bigint);

SELECT * FROM emp CHANGES FROM VERSION 3 TO VERSION 5
-->
SELECT
reads
  emp@1: default.emp CHANGES FROM VERSION 3 TO VERSION 5
query
  SELECT * FROM `emp@1` AS `emp`

-- Conditions on columns of the table skip partitions and files. Those on the columns of changes do not.
SELECT id, _change_type FROM log CHANGES FROM VERSION 2 c WHERE c.day = '2026-11-01' AND id > 7 AND _commit_version = 2 AND _change_type = 'insert'
--> reads, pruning, rows
reads     log@1: default.log CHANGES FROM VERSION 2
pruning   log@1: partitions `day` = '2026-11-01'
          log@1: rows `id` > 7
rows      SELECT id, _change_type FROM `log@1` AS c WHERE c.day = '2026-11-01' AND id > 7 AND _commit_version = 2 AND _change_type = 'insert'

SELECT count(*) FROM emp CHANGES FROM VERSION 3 JOIN emp VERSION AS OF 2 o ON o.id = emp.id
--> reads
reads     emp@1: default.emp CHANGES FROM VERSION 3
          emp@2: default.emp VERSION AS OF 2

SELECT count(*) FROM emp CHANGES FROM VERSION 3
--> reads
reads     emp@1: default.emp CHANGES FROM VERSION 3

SELECT id FROM emp CHANGES FROM VERSION 3 WHERE _commit_version = '3' OR _change_type = 5
--> rows
rows      SELECT id FROM `emp@1` AS `emp` WHERE _commit_version = 3 OR IF(_change_type RLIKE '[0-9]|NaN|Infinity', CAST(_change_type AS DOUBLE), NULL) = CAST(5 AS DOUBLE)

INSERT INTO emp SELECT id, name, boss FROM emp CHANGES FROM VERSION 3 TO VERSION 3
--> reads, locks
reads     emp@1: default.emp CHANGES FROM VERSION 3 TO VERSION 3
locks     default.emp -> SHARED_READ
          default.emp -> SHARED_READ

MERGE INTO emp USING emp CHANGES FROM VERSION 3 s ON emp.id = s.id WHEN MATCHED AND s._change_type = 'delete' THEN DELETE
--> reads
reads     emp@1: default.emp with row__id
          emp@2: default.emp CHANGES FROM VERSION 3

SELECT row__id, * FROM emp CHANGES FROM VERSION 3
--> reads, rows
reads     emp@1: default.emp CHANGES FROM VERSION 3 with row__id
rows      SELECT `emp`.`emp@1.row__id` AS `row__id`, * EXCEPT (`emp@1.row__id`) FROM `emp@1` AS `emp`

SELECT * FROM emp CHANGES FROM VERSION 0 TO VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: version 0 has no changes: the first write of a table has the write ID 1
1 | SELECT * FROM emp CHANGES FROM VERSION 0 TO VERSION 3
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION 4 TO VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: the first version 4 is higher than the last one, 3
1 | SELECT * FROM emp CHANGES FROM VERSION 4 TO VERSION 3
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION -1
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: -1 is negative, and a write ID is not
1 | SELECT * FROM emp CHANGES FROM VERSION -1
  |                   ^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION '1' TO VERSION 2
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp CHANGES FROM VERSION '1' TO VERSION 2
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION 1 TO VERSION id
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp CHANGES FROM VERSION 1 TO VERSION id
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION (SELECT max(id) FROM emp)
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a version is a write ID of the table, which is an integer
1 | SELECT * FROM emp CHANGES FROM VERSION (SELECT max(id) FROM emp)
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM TIMESTAMP '2026-11-01'
-->
SELECT
reads
  emp@1: default.emp CHANGES FROM TIMESTAMP 2026-11-01 00:00:00+00:00
query
  SELECT * FROM `emp@1` AS `emp`

-- What is compared with other rows needs all of them.
SELECT id FROM log CHANGES FROM VERSION '9:4,5' EXCLUSIVE TO VERSION 12 WITH ('DEDUPLICATIONMODE' = 'NetChanges', 'computeUpdates' = true, 'rowId' = 'ID, day') c WHERE c.day = '2026-11-01' AND id > 7
--> reads, pruning
reads     log@1: default.log CHANGES FROM VERSION '9:4,5' EXCLUSIVE TO VERSION 12 WITH ('deduplicationMode' = 'netChanges', 'computeUpdates' = 'true', 'rowId' = 'id, day')
pruning   none

SELECT id FROM log CHANGES FROM VERSION 2 WITH ('deduplicationMode' = 'netChanges') c WHERE c.day = '2026-11-01' AND id > 7
--> reads, pruning
reads     log@1: default.log CHANGES FROM VERSION 2 WITH ('deduplicationMode' = 'netChanges')
pruning   log@1: partitions `day` = '2026-11-01'
          log@1: rows `id` > 7

SELECT * FROM emp CHANGES FROM VERSION 1 WITH ('deduplicationMode' = 'all')
-->
[INVALID_PARAMETER] The value of the parameter deduplicationMode cannot be used: 'all' is not one of none, dropCarryovers, netChanges
1 | SELECT * FROM emp CHANGES FROM VERSION 1 WITH ('deduplicationMode' = 'all')
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION 1 WITH ('computeUpdates' = 'true')
-->
[INVALID_PARAMETER] The value of the parameter computeUpdates cannot be used: it needs the option rowId with the columns that identify a row: an UPDATE gives a row a new row__id
1 | SELECT * FROM emp CHANGES FROM VERSION 1 WITH ('computeUpdates' = 'true')
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM emp VERSION AS OF '9:4,5' JOIN emp e CHANGES FROM VERSION '9:4'
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | SELECT * FROM emp VERSION AS OF '9:4,5' JOIN emp e CHANGES FROM VERSION '9:4'
  |                                                    ^^^^^^^

SELECT * FROM emp CHANGES FROM VERSION '9:4'
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: the changes behind the writes '9:4' are read by FROM VERSION '9:4' EXCLUSIVE
1 | SELECT * FROM emp CHANGES FROM VERSION '9:4'
  |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM plain CHANGES FROM VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: default.plain is not transactional, so that its writes have no IDs
1 | SELECT * FROM plain CHANGES FROM VERSION 3
  |                     ^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM seen CHANGES FROM VERSION 3
-->
[NOT_YET_SUPPORTED] Reading the changes of the view seen is not yet supported by acidsql.
1 | SELECT * FROM seen CHANGES FROM VERSION 3
  |                    ^^^^^^^^^^^^^^^^^^^^^^
Hint: Write the query of the view with CHANGES behind its tables.

WITH c AS (SELECT 1 AS id) SELECT * FROM c CHANGES FROM VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: c is a common table expression, and only tables have versions
1 | WITH c AS (SELECT 1 AS id) SELECT * FROM c CHANGES FROM VERSION 3
  |                                            ^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM {people} CHANGES FROM VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: {people} is a frame of the call, and only tables have versions
1 | SELECT * FROM {people} CHANGES FROM VERSION 3
  |                        ^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM range(3) CHANGES FROM VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: a table function has no versions
1 | SELECT * FROM range(3) CHANGES FROM VERSION 3
  |                        ^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM feed CHANGES FROM VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: default.feed has a column _commit_version, which is the name of a column of changes
1 | SELECT * FROM feed CHANGES FROM VERSION 3
  |                    ^^^^^^^^^^^^^^^^^^^^^^
Hint: ALTER TABLE default.feed CHANGE COLUMN gives the column another name.

SELECT * FROM emp('acid.fetch.deleted.rows'='true') CHANGES FROM VERSION 3
-->
[INVALID_PARAMETER] The value of the parameter version cannot be used: the deleted rows of a table have no changes
1 | SELECT * FROM emp('acid.fetch.deleted.rows'='true') CHANGES FROM VERSION 3
  |                                                     ^^^^^^^^^^^^^^^^^^^^^^

SELECT * FROM missing CHANGES FROM VERSION 3
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'missing' (there is emp, feed, log, plain)
1 | SELECT * FROM missing CHANGES FROM VERSION 3
  |               ^^^^^^^
