CREATE TRANSACTIONAL TABLE t (id int, name string DEFAULT 'none', born date, amount decimal(10,2));
CREATE TRANSACTIONAL TABLE checked (id int NOT NULL, low int, high int CHECK (high < 100), code char(3) DEFAULT 'abc' CHECK (code <> 'x'), CONSTRAINT ordered CHECK (low <= high OR low = 0));
CREATE TRANSACTIONAL TABLE nested (a array<int>, m map<string,double>, s struct<x:int,y:varchar(2)>, v varchar(4), ts timestamp, l timestamp with local time zone);
CREATE TABLE plain (id int, note string);
CREATE TRANSACTIONAL TABLE parted (id int) CLUSTERED BY (id) INTO 4 BUCKETS;
CREATE TABLE ordered (id int) CLUSTERED BY (id) SORTED BY (id) INTO 2 BUCKETS TBLPROPERTIES ('transactional'='true');
CREATE TRANSACTIONAL TABLE hr.t (a int, b int)

INSERT INTO t VALUES (1, 'a', DATE '2020-01-01', 1.5), (2, NULL, NULL, 2)
-->
INSERT default.t
rows
  SELECT * FROM VALUES (1, 'a', DATE '2020-01-01', 1.5), (2, NULL, NULL, 2) AS `rows`
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`,
    CAST(`:id` AS INT) AS `id`,
    CAST(`:name` AS STRING) AS `name`,
    CAST(`:born` AS DATE) AS `born`,
    CAST(`:amount` AS decimal(10,2)) AS `amount`
  FROM `:rows`
writes
  delta_W_W_0000: INSERT
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task

INSERT INTO TABLE t SELECT * FROM t
--> reads, rows
reads     t@1: default.t
rows      SELECT * FROM `t@1` AS `t`

INSERT INTO t (amount, id) VALUES (1.5, 7)
--> values
values    `id` = CAST(`:id` AS INT)
          `name` = CAST('none' AS STRING)
          `born` = CAST(NULL AS DATE)
          `amount` = CAST(`:amount` AS decimal(10,2))

INSERT INTO t (id, name) VALUES (1, DEFAULT), (DEFAULT, 'x')
--> rows, values
rows      SELECT * FROM VALUES (1, 'none'), (NULL, 'x') AS `rows`
values    `id` = CAST(`:id` AS INT)
          `name` = CAST(`:name` AS STRING)
          `born` = CAST(NULL AS DATE)
          `amount` = CAST(NULL AS decimal(10,2))

INSERT INTO t (id) SELECT id FROM plain WHERE note = 'x'
--> reads, rows, values
reads     plain@1: default.plain
rows      SELECT id FROM `plain@1` AS `plain` WHERE note = 'x'
values    `id` = CAST(`:id` AS INT)
          `name` = CAST('none' AS STRING)
          `born` = CAST(NULL AS DATE)
          `amount` = CAST(NULL AS decimal(10,2))

WITH src AS (SELECT id, note FROM plain) INSERT INTO t (id, name) SELECT * FROM src
--> rows
rows      WITH src AS (SELECT id, note FROM `plain@1` AS `plain`) SELECT * FROM src

INSERT INTO t (id, name) WITH src AS (SELECT id, note FROM plain) SELECT * FROM src
--> rows
rows      WITH src AS (SELECT id, note FROM `plain@1` AS `plain`) SELECT * FROM src

-- A CTE with the target's name is the source. The target is the table.
WITH t AS (SELECT 1 AS id) INSERT INTO t (id) SELECT id FROM t
--> target, reads, rows
target    INSERT default.t
reads     none
rows      WITH t AS (SELECT 1 AS id) SELECT id FROM t

INSERT INTO t (id) SELECT id FROM {frame}
--> reads, rows
reads     frame@frame: {frame}
rows      SELECT id FROM `frame@frame` AS `frame`

INSERT INTO t (id) SELECT row__id.rowid FROM t UNION ALL SELECT id FROM plain
--> reads, rows
reads     t@1: default.t with row__id
          plain@2: default.plain
rows      SELECT `t`.`t@1.row__id`.rowid FROM `t@1` AS `t` UNION ALL SELECT id FROM `plain@2` AS `plain`

INSERT INTO hr.t SELECT id, id FROM default.t
--> target, reads, values
target    INSERT hr.t
reads     t@1: default.t
values    `a` = CAST(`:a` AS INT)
          `b` = CAST(`:b` AS INT)

-- The constraints are checked on each new row as it is stored, under the table's column names.
INSERT INTO checked VALUES (1, 2, 3, 'toolong')
--> values, events, checks
values    `id` = CAST(`:id` AS INT)
          `low` = CAST(`:low` AS INT)
          `high` = CAST(`:high` AS INT)
          `code` = IF(LENGTH(CAST(`:code` AS STRING)) < 3, RPAD(CAST(`:code` AS STRING), 3), IF(LENGTH(CAST(`:code` AS STRING)) <= 3, CAST(`:code` AS STRING), SUBSTRING(CAST(`:code` AS STRING), 1, 3)))
events    SELECT checked(0) AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`, * FROM (SELECT .. FROM `:rows`)
checks    delta 0000: NOT NULL on column id, violated if `id` IS NULL
          delta 0000: CHECK ordered, violated if NOT (low <= high OR low = 0)
          delta 0000: CHECK high < 100, violated if NOT (high < 100)
          delta 0000: CHECK code <> \'x\', violated if NOT (RTRIM(code) <> 'x')

INSERT INTO checked (low) SELECT id FROM plain
--> values, checks
values    `id` = CAST(NULL AS INT)
          `low` = CAST(`:low` AS INT)
          `high` = CAST(NULL AS INT)
          `code` = IF(LENGTH(CAST('abc' AS STRING)) < 3, RPAD(CAST('abc' AS STRING), 3), IF(LENGTH(CAST('abc' AS STRING)) <= 3, CAST('abc' AS STRING), SUBSTRING(CAST('abc' AS STRING), 1, 3)))
checks    delta 0000: NOT NULL on column id, violated if `id` IS NULL
          delta 0000: CHECK ordered, violated if NOT (low <= high OR low = 0)
          delta 0000: CHECK high < 100, violated if NOT (high < 100)
          delta 0000: CHECK code <> \'x\', violated if NOT (RTRIM(code) <> 'x')

INSERT INTO nested SELECT array(1), map('a', 1), named_struct('x', 1, 'y', 'abc'), 'abcde', TIMESTAMP '2020-01-01 00:00:00', now()
--> rows, values
rows      SELECT array(1), map('a', 1), named_struct('x', 1, 'y', 'abc'), 'abcde', TIMESTAMP '2020-01-01 00:00:00', localtimestamp() AS `now()`
values    `a` = CAST(`:a` AS array<int>)
          `m` = CAST(`:m` AS map<string,double>)
          `s` = CASE WHEN CAST(`:s` AS struct<x:int,y:varchar(2)>) IS NOT NULL THEN named_struct('x', CAST(`:s` AS struct<x:int,y:varchar(2)>).`x`, 'y', IF(LENGTH(CAST(`:s` AS struct<x:int,y:varchar(2)>).`y`) <= 2, CAST(`:s` AS struct<x:int,y:varchar(2)>).`y`, SUBSTRING(CAST(`:s` AS struct<x:int,y:varchar(2)>).`y`, 1, 2))) END
          `v` = IF(LENGTH(CAST(`:v` AS STRING)) <= 4, CAST(`:v` AS STRING), SUBSTRING(CAST(`:v` AS STRING), 1, 4))
          `ts` = CAST(`:ts` AS TIMESTAMP)
          `l` = CAST(`:l` AS TIMESTAMP_LTZ)

INSERT INTO plain VALUES (1, 'a')
--> writes, strategy
writes    delta 0000: INSERT
strategy  plain files

INSERT INTO t (id) VALUES (:id), (?)
--> rows
rows      SELECT * FROM VALUES (:id), (?) AS `rows`

INSERT INTO t (id) VALUES (1 + 2 * 3), (CAST('5' AS int)), ((SELECT max(id) FROM t))
--> reads, rows
reads     t@1: default.t
rows      SELECT * FROM VALUES (1 + 2 * 3), (CAST('5' AS INT)) AS `rows` UNION ALL SELECT (SELECT max(id) FROM `t@1` AS `t`) AS `col1`

SET acidsql.store.assignment=ansi

INSERT INTO t VALUES ('1', 2, '2020-01-01', 'x')
--> values
values    `id` = CASE WHEN `:id` IS NOT NULL AND TRY_CAST(`:id` AS INT) IS NULL THEN error(INVALID_STORE_VALUE, value=CAST(`:id` AS STRING), column='id', type='int') ELSE TRY_CAST(`:id` AS INT) END
          `name` = CASE WHEN `:name` IS NOT NULL AND TRY_CAST(`:name` AS STRING) IS NULL THEN error(INVALID_STORE_VALUE, value=CAST(`:name` AS STRING), column='name', type='string') ELSE TRY_CAST(`:name` AS STRING) END
          `born` = CASE WHEN `:born` IS NOT NULL AND (TRY_CAST(`:born` AS DATE) IS NULL OR TRY_CAST(`:born` AS DATE) >= DATE '1582-10-05' AND TRY_CAST(`:born` AS DATE) < DATE '1582-10-15') THEN error(INVALID_STORE_VALUE, value=CAST(`:born` AS STRING), column='born', type='date') ELSE TRY_CAST(`:born` AS DATE) END
          `amount` = CASE WHEN `:amount` IS NOT NULL AND TRY_CAST(`:amount` AS decimal(10,2)) IS NULL THEN error(INVALID_STORE_VALUE, value=CAST(`:amount` AS STRING), column='amount', type='decimal(10,2)') ELSE TRY_CAST(`:amount` AS decimal(10,2)) END

SET acidsql.store.assignment=hive

EXPLAIN LOCKS INSERT INTO t SELECT * FROM t JOIN plain USING (id)
-->
LOCK INFORMATION:
default.plain -> SHARED_READ
default.t -> SHARED_READ
default.t -> SHARED_READ

INSERT INTO t VALUES (1, 'a', NULL, 1), (2, 'b')
-->
[INSERT_COLUMN_COUNT] [Error 10044] Cannot insert into target table because column number/types are different 'default.t': the target has 4 columns but the statement gives 2 values.
1 | INSERT INTO t VALUES (1, 'a', NULL, 1), (2, 'b')
  |                                         ^^^^^^^^
Hint: The columns are id, name, born, amount; name those you give in a column list.

INSERT INTO t (id, name) VALUES (1, 'a'), (2, 'b', 3)
-->
[INSERT_COLUMN_COUNT] [Error 10044] Cannot insert into target table because column number/types are different 'default.t': the target has 2 columns but the statement gives 3 values.
1 | INSERT INTO t (id, name) VALUES (1, 'a'), (2, 'b', 3)
  |                                           ^^^^^^^^^^^
Hint: The columns are id, name, born, amount; name those you give in a column list.

INSERT INTO t (id, nam) VALUES (1, 'a')
-->
[INSERT_COLUMN_NOT_FOUND] 'nam' in insert schema specification is/are not found among regular columns of default.t nor dynamic partition columns. Did you mean name?
1 | INSERT INTO t (id, nam) VALUES (1, 'a')
  |                    ^^^

INSERT INTO t (id, name, ID) VALUES (1, 'a', 2)
-->
[DUPLICATE_COLUMN] [Error 10036] Duplicate column name: id
1 | INSERT INTO t (id, name, ID) VALUES (1, 'a', 2)
  |                          ^^

INSERT INTO nowhere VALUES (1)
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'nowhere' Did you mean ordered?
1 | INSERT INTO nowhere VALUES (1)
  |             ^^^^^^^

INSERT INTO t SELECT * FROM nowhere
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'nowhere' Did you mean ordered?
1 | INSERT INTO t SELECT * FROM nowhere
  |                             ^^^^^^^

INSERT INTO hr.nowhere VALUES (1)
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'hr.nowhere'
1 | INSERT INTO hr.nowhere VALUES (1)
  |             ^^^^^^^^^^

INSERT INTO t PARTITION (day = 1) VALUES (1)
-->
[PARTITION_COLUMN_UNKNOWN] [Error 10098] Non-Partition column appears in the partition specification: day
1 | INSERT INTO t PARTITION (day = 1) VALUES (1)
  |                          ^^^

INSERT INTO ordered VALUES (1)
-->
[SORTED_TABLE] [Error 10298] ACID insert, update, delete not supported on tables that are sorted, table default.ordered
1 | INSERT INTO ordered VALUES (1)
  |             ^^^^^^^

-- Spark's VALUES refuses a column with strings and other values: the others are cast.
INSERT INTO t VALUES ('7', 'x', NULL, 1.5), (7.5, 8, DATE '2020-01-01', '2')
--> rows
rows      SELECT * FROM VALUES ('7', 'x', NULL, CAST(1.5 AS STRING)), (CAST(7.5 AS STRING), CAST(8 AS STRING), DATE '2020-01-01', '2') AS `rows`

CREATE TABLE by_day (id int, name string) PARTITIONED BY (day int) STORED AS ORC TBLPROPERTIES ('transactional'='true')

-- The column list may name partition columns, at any place. Those that it leaves out are NULL.
INSERT INTO by_day (day, id) VALUES (5, 50)
-->
INSERT default.by_day
rows
  SELECT * FROM VALUES (5, 50) AS `rows`
events
  SELECT 0 AS `:branch`, CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>) AS `:row_id`, CAST(NULL AS INT) AS `:place`,
    CAST(`:id` AS INT) AS `id`,
    CAST(NULL AS STRING) AS `name`,
    CAST(`:day` AS INT) AS `day`
  FROM `:rows`
writes
  delta_W_W_0000: INSERT
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), else shuffled

INSERT INTO by_day PARTITION (day = 7) (id, day) SELECT 70, 7
-->
[INSERT_COLUMN_NOT_FOUND] 'day' in insert schema specification is/are not found among regular columns of default.by_day nor dynamic partition columns. (there is id, name)
1 | INSERT INTO by_day PARTITION (day = 7) (id, day) SELECT 70, 7
  |                                             ^^^

INSERT INTO by_day PARTITION (day == 7) (id) SELECT 70
--> values
values    `id` = CAST(`:id` AS INT)
          `name` = CAST(NULL AS STRING)
          `day` = CAST(7 AS INT)

INSERT INTO by_day PARTITION (day) (id, day) SELECT 70, 7
--> values
values    `id` = CAST(`:id` AS INT)
          `name` = CAST(NULL AS STRING)
          `day` = CAST(`:day` AS INT)

INSERT INTO by_day PARTITION (day) (day, id) SELECT 7, 70
--> values
values    `id` = CAST(`:id` AS INT)
          `name` = CAST(NULL AS STRING)
          `day` = CAST(`:day` AS INT)

INSERT INTO by_day PARTITION (day > 7) SELECT 70, 'x'
-->
[INVALID_PARTITION_SPEC] [Error 10214] Invalid partition spec specified: day must be given as day = value
1 | INSERT INTO by_day PARTITION (day > 7) SELECT 70, 'x'
  |                               ^^^

INSERT INTO by_day PARTITION (day = 7, day = 8) SELECT 70, 'x'
-->
[INVALID_PARTITION_SPEC] [Error 10214] Invalid partition spec specified: day is named twice
1 | INSERT INTO by_day PARTITION (day = 7, day = 8) SELECT 70, 'x'
  |                                        ^^^
