CREATE TABLE s (id int, name string) PARTITIONED BY (p int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE a (id int, name string) STORED AS ORC TBLPROPERTIES ('transactional'='true');
CREATE TABLE b (id int, name string) STORED AS ORC TBLPROPERTIES ('transactional'='true')

-- The common scan skips rows and partitions that no branch needs.
FROM s INSERT INTO a SELECT id, name WHERE p = 1 INSERT OVERWRITE TABLE b SELECT id + 1, name WHERE p = 2 AND id > 0
--> target, pruning, rows, writes, locks
target    INSERT default.a
          INSERT OVERWRITE default.b
pruning   s@1: partitions `p` = 1 OR (`p` = 2)
rows      SELECT * FROM `s@1` AS `s` WHERE p = 1 OR (p = 2 AND id > 0)
          SELECT id, name FROM `:scanned` AS `s` WHERE p = 1
          SELECT id + 1, name FROM `:scanned` AS `s` WHERE p = 2 AND id > 0
writes    delta 0000: INSERT
          base 0001: INSERT
locks     default.a -> SHARED_READ
          default.b -> EXCLUSIVE
          default.s -> SHARED_READ

-- A condition that may not be evaluated twice prunes nothing: the scan reads all rows.
FROM s x INSERT INTO a SELECT x.id, x.name WHERE rand() < 0.5 INSERT INTO b SELECT id, name
--> reads, rows, pruning
reads     s@1: default.s
rows      SELECT * FROM `s@1` AS x
          SELECT x.id, x.name FROM `:scanned` AS `x` WHERE rand() < 0.5
          SELECT id, name FROM `:scanned` AS `x`
pruning   none

-- With several relations, the scan makes a struct of each, and the branches take the structs apart.
FROM s JOIN a ON s.id = a.id INSERT INTO b SELECT a.id, s.name INSERT INTO b SELECT s.id, a.name WHERE a.id > 1
-->
FROM
reads
  s@1: default.s
  a@2: default.a
rows, read once
  SELECT struct(`s`.*) AS `:s`, struct(`a`.*) AS `:a` FROM `s@1` AS `s` JOIN `a@2` AS `a` ON s.id = a.id
INSERT default.b
rows
  SELECT a.id, s.name FROM `:scanned` AS `:scanned` LATERAL VIEW inline(array(`:scanned`.`:s`)) s LATERAL VIEW inline(array(`:scanned`.`:a`)) a
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`,
    CAST(`:id` AS INT) AS `id`,
    CAST(`:name` AS STRING) AS `name`
  FROM `:rows`
writes
  delta_W_W_0000: INSERT
strategy: by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task
INSERT default.b
rows
  SELECT s.id, a.name FROM `:scanned` AS `:scanned` LATERAL VIEW inline(array(`:scanned`.`:s`)) s LATERAL VIEW inline(array(`:scanned`.`:a`)) a WHERE a.id > 1
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`,
    CAST(`:id` AS INT) AS `id`,
    CAST(`:name` AS STRING) AS `name`
  FROM `:rows`
writes
  delta_W_W_0001: INSERT
strategy: by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task

FROM s INSERT OVERWRITE TABLE a SELECT id, name INSERT INTO a SELECT id, name
-->
[OUTPUT_SPECIFIED_MULTIPLE_TIMES] [Error 10087] The same output cannot be present multiple times: default.a
1 | FROM s INSERT OVERWRITE TABLE a SELECT id, name INSERT INTO a SELECT id, name
  |                               ^
Hint: Overwrite it in one branch, with the UNION ALL of the queries, or write with two statements.

FROM s PIVOT (count(name) FOR id IN (1 AS name, 2 AS two)) AS turned INSERT INTO a SELECT turned.name, turned.two INSERT INTO a SELECT turned.two, turned.name
-->
FROM
reads
  s@1: default.s
rows, read once
  SELECT * FROM (SELECT * FROM `s@1` AS `s` PIVOT(count(name) FOR id IN (1 AS name, 2 AS two))) AS turned
INSERT default.a
rows
  SELECT turned.name, turned.two FROM `:scanned` AS `turned`
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`,
    CAST(`:id` AS INT) AS `id`,
    CAST(`:name` AS STRING) AS `name`
  FROM `:rows`
writes
  delta_W_W_0000: INSERT
strategy: by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task
INSERT default.a
rows
  SELECT turned.two, turned.name FROM `:scanned` AS `turned`
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`,
    CAST(`:id` AS INT) AS `id`,
    CAST(`:name` AS STRING) AS `name`
  FROM `:rows`
writes
  delta_W_W_0001: INSERT
strategy: by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task

-- Branches may add to one table several times, and overwrite different partitions.
FROM a INSERT OVERWRITE TABLE s PARTITION (p = 1) SELECT id, name INSERT INTO s PARTITION (p = 2) SELECT id, name INSERT INTO s PARTITION (p) SELECT id, name, id
--> target, writes, locks
target    INSERT OVERWRITE default.s
          INSERT default.s
          INSERT default.s
writes    base 0000: INSERT
          delta 0001: INSERT
          delta 0002: INSERT
locks     default.a -> SHARED_READ
          default.s -> EXCLUSIVE
          default.s -> SHARED_READ

FROM a INSERT INTO s PARTITION (p = 1) SELECT id, name INSERT OVERWRITE TABLE s PARTITION (p = 1) SELECT id, name
-->
[OUTPUT_SPECIFIED_MULTIPLE_TIMES] [Error 10087] The same output cannot be present multiple times: default.s@p=1
1 | FROM a INSERT INTO s PARTITION (p = 1) SELECT id, name INSERT OVERWRITE TABLE s PARTITION (p = 1) SELECT id, name
  |                                                                               ^
Hint: Overwrite it in one branch, with the UNION ALL of the queries, or write with two statements.
