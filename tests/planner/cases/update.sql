CREATE TRANSACTIONAL TABLE t (id int, name string DEFAULT 'none', amount decimal(10,2), info struct<city:string>);
CREATE TRANSACTIONAL TABLE other (id int, name string);
CREATE TRANSACTIONAL TABLE checked (id int NOT NULL, low int, high int CHECK (high < 100), code char(3) DEFAULT 'abc');
CREATE TABLE plain (id int, note string);
CREATE TABLE only (id int) TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
CREATE TABLE ordered (id int) CLUSTERED BY (id) SORTED BY (id) INTO 2 BUCKETS TBLPROPERTIES ('transactional'='true');
CREATE VIEW seen AS SELECT 1 AS id

UPDATE t SET amount = amount * 2 WHERE id = 1
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`name` AS `name`, `t`.`info` AS `info`, amount * 2 AS `:amount` FROM `t@1` AS `t` WHERE id = 1
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN `name` END AS `name`,
    CASE WHEN `:branch` < 1 THEN CAST(`:amount` AS decimal(10,2)) END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), in place (one file per bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

-- EXPLAIN is for people: no names and errors of the plan's SQL.
EXPLAIN UPDATE checked SET low = (SELECT max(id) FROM other) WHERE id > 3
-->
UPDATE default.checked
reads
  default.other
  default.checked with row__id
    skips files and stripes without `id` > 3
checks
  id IS NOT NULL
  high < 100
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy
  by the driver (up to acidsql.driver.write.max.bytes)
  in each task (from 32 MiB)
  else shuffled

UPDATE t SET name = 'x'
--> rows, values
rows      SELECT .., 'x' AS `:name` FROM `t@1` AS `t`
values    `name` = CAST(`:name` AS STRING)

-- The right sides of SET see the old row.
UPDATE t SET id = id + 1, amount = id
--> rows, values
rows      SELECT .., id + 1 AS `:id`, id AS `:amount` FROM `t@1` AS `t`
values    `id` = CAST(`:id` AS INT)
          `amount` = CAST(`:amount` AS decimal(10,2))

UPDATE t AS x SET x.amount = x.id, name = upper(x.name) WHERE x.id > 1 OR x.name IS NULL
--> rows
rows      SELECT .., x.id AS `:amount`, upper(x.name) AS `:name` FROM `t@1` AS `x` WHERE x.id > 1 OR x.name IS NULL

UPDATE default.t SET default.t.name = default.t.info.city WHERE default.t.id = 1
--> target, rows
target    UPDATE default.t
rows      SELECT .., t.info.city AS `:name` FROM `t@1` AS `t` WHERE t.id = 1

UPDATE t SET name = DEFAULT, amount = DEFAULT
--> rows
rows      SELECT .., 'none' AS `:name`, NULL AS `:amount` FROM `t@1` AS `t`

UPDATE t SET name = (SELECT max(o.name) FROM other o WHERE o.id = t.id) WHERE id IN (SELECT id FROM other)
--> reads, rows, strategy
reads     other@1: default.other
          other@2: default.other
          t@3: default.t with row__id
rows      SELECT .., (SELECT max(o.name) FROM `other@1` AS o WHERE o.id = t.id) AS `:name` FROM `t@3` AS `t` WHERE id IN (SELECT id FROM `other@2` AS `other`)
strategy  by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

-- A subquery on the target is a scan of its own.
UPDATE t SET amount = (SELECT max(amount) FROM t) WHERE id = (SELECT min(id) FROM t x WHERE x.name = t.name)
--> reads, rows
reads     t@1: default.t
          t@2: default.t
          t@3: default.t with row__id
rows      SELECT .., (SELECT max(amount) FROM `t@1` AS `t`) AS `:amount` FROM `t@3` AS `t` WHERE id = (SELECT min(id) FROM `t@2` AS x WHERE x.name = t.name)

UPDATE t SET name = 'seen' WHERE EXISTS (SELECT 1 FROM {frame} f WHERE f.id = t.id)
--> reads, rows
reads     t@1: default.t with row__id
          frame@frame: {frame}
rows      SELECT .., 'seen' AS `:name` FROM `t@1` AS `t` WHERE EXISTS(SELECT 1 FROM `frame@frame` AS f WHERE f.id = t.id)

WITH best AS (SELECT max(id) AS id FROM other) UPDATE t SET name = 'best' WHERE id IN (SELECT id FROM best)
--> reads, rows
reads     other@1: default.other
          t@2: default.t with row__id
rows      WITH best AS (SELECT max(id) AS id FROM `other@1` AS `other`) SELECT .., 'best' AS `:name` FROM `t@2` AS `t` WHERE id IN (SELECT id FROM best)

-- A CTE with the target's name does not become the target.
WITH t AS (SELECT 1 AS id) UPDATE t SET name = 'x' WHERE id IN (SELECT id FROM t)
--> target, reads, rows
target    UPDATE default.t
reads     t@1: default.t with row__id
rows      WITH t AS (SELECT 1 AS id) SELECT .., 'x' AS `:name` FROM `t@1` AS `t` WHERE id IN (SELECT id FROM t)

UPDATE t SET name = 'x' WHERE row__id.writeid = 1
--> reads, rows
reads     t@1: default.t with row__id
rows      SELECT .., 'x' AS `:name` FROM `t@1` AS `t` WHERE `t`.`t@1.row__id`.writeid = 1

UPDATE t SET name = INPUT__FILE__NAME
--> reads, rows
reads     t@1: default.t with row__id, INPUT__FILE__NAME
rows      SELECT .., `t`.`t@1.input__file__name` AS `:name` FROM `t@1` AS `t`

UPDATE checked SET high = low, code = id
--> values, events, checks, actions
values    `high` = CAST(`:high` AS INT)
          `code` = IF(LENGTH(CAST(`:code` AS STRING)) < 3, RPAD(CAST(`:code` AS STRING), 3), IF(LENGTH(CAST(`:code` AS STRING)) <= 3, CAST(`:code` AS STRING), SUBSTRING(CAST(`:code` AS STRING), 1, 3)))
events    SELECT `:branch`, `:row_id`, .. FROM (SELECT *, explode(array(1, checked(0))) AS `:branch` FROM (SELECT `:row_id`, .. FROM `:rows`))
checks    delta 0000: NOT NULL on column id, violated if `id` IS NULL
          delta 0000: CHECK high < 100, violated if NOT (high < 100)
actions   delete_delta 0000, delta 0000

UPDATE checked SET id = NULL WHERE low = 1 AND high = 2 OR id = 3
--> rows, values, checks
rows      SELECT .., NULL AS `:id` FROM `checked@1` AS `checked` WHERE low = 1 AND high = 2 OR id = 3
values    `id` = CAST(`:id` AS INT)
checks    delta 0000: NOT NULL on column id, violated if `id` IS NULL
          delta 0000: CHECK high < 100, violated if NOT (high < 100)

UPDATE t SET name = :name WHERE id = ?
--> rows
rows      SELECT .., :name AS `:name` FROM `t@1` AS `t` WHERE id = ?

UPDATE t SET ID = 1, `Name` = 'x'
--> rows, values
rows      SELECT .., 1 AS `:id`, 'x' AS `:name` FROM `t@1` AS `t`
values    `id` = CAST(`:id` AS INT)
          `name` = CAST(`:name` AS STRING)

EXPLAIN LOCKS UPDATE t SET name = (SELECT max(name) FROM other) WHERE id IN (SELECT id FROM t)
-->
LOCK INFORMATION:
default.other -> SHARED_READ
default.t -> EXCL_WRITE
default.t -> SHARED_READ

SET acidsql.store.assignment=ansi

UPDATE t SET id = 'x', name = 1, info = named_struct('city', 'Rome')
--> values
values    `id` = CASE WHEN `:id` IS NOT NULL AND TRY_CAST(`:id` AS INT) IS NULL THEN error(INVALID_STORE_VALUE, value=CAST(`:id` AS STRING), column='id', type='int') ELSE TRY_CAST(`:id` AS INT) END
          `name` = CASE WHEN `:name` IS NOT NULL AND TRY_CAST(`:name` AS STRING) IS NULL THEN error(INVALID_STORE_VALUE, value=CAST(`:name` AS STRING), column='name', type='string') ELSE TRY_CAST(`:name` AS STRING) END
          `info` = CAST(`:info` AS struct<city:string>)

SET acidsql.store.assignment=hive

UPDATE t SET salry = 1
-->
[SET_COLUMN_NOT_FOUND] [Error 10408] Target column "salry" of set clause is not found in table "default.t". (there is id, name, amount, info)
1 | UPDATE t SET salry = 1
  |              ^^^^^

UPDATE t SET amont = 1
-->
[SET_COLUMN_NOT_FOUND] [Error 10408] Target column "amont" of set clause is not found in table "default.t". Did you mean amount?
1 | UPDATE t SET amont = 1
  |              ^^^^^

UPDATE t SET amount = 1, name = 'x', amount = 2
-->
[SET_COLUMN_TWICE] Column amount is set twice in one SET clause.
1 | UPDATE t SET amount = 1, name = 'x', amount = 2
  |                                      ^^^^^^

UPDATE t SET amount = 1, t.AMOUNT = 2
-->
[SET_COLUMN_TWICE] Column amount is set twice in one SET clause.
1 | UPDATE t SET amount = 1, t.AMOUNT = 2
  |                          ^^^^^^^^

UPDATE tt SET amount = 1
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'tt' Did you mean t?
1 | UPDATE tt SET amount = 1
  |        ^^

UPDATE plain SET note = 'x'
-->
[NOT_TRANSACTIONAL] [Error 10297] Attempt to do update or delete on table default.plain that is not transactional
1 | UPDATE plain SET note = 'x'
  |        ^^^^^
Hint: Create it with TBLPROPERTIES ('transactional'='true').

UPDATE only SET id = 1
-->
[INSERT_ONLY] [Error 10414] Attempt to do update or delete on table default.only that is insert-only transactional
1 | UPDATE only SET id = 1
  |        ^^^^

UPDATE ordered SET id = 1
-->
[SORTED_TABLE] [Error 10298] ACID insert, update, delete not supported on tables that are sorted, table default.ordered
1 | UPDATE ordered SET id = 1
  |        ^^^^^^^

UPDATE seen SET id = 1
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'seen' (there is checked, only, ordered, other, plain, t)
1 | UPDATE seen SET id = 1
  |        ^^^^

UPDATE t SET name = 'x' WHERE id IN (SELECT id FROM othr)
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'othr' Did you mean other?
1 | UPDATE t SET name = 'x' WHERE id IN (SELECT id FROM othr)
  |                                                     ^^^^
