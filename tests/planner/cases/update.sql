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
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t SET name = 'x'
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, 'x' AS `:name` FROM `t@1` AS `t`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

-- right sides see the old row
UPDATE t SET id = id + 1, amount = id
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`name` AS `name`, `t`.`info` AS `info`, id + 1 AS `:id`, id AS `:amount` FROM `t@1` AS `t`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:id` AS INT) END AS `id`,
    CASE WHEN `:branch` < 1 THEN `name` END AS `name`,
    CASE WHEN `:branch` < 1 THEN CAST(`:amount` AS decimal(10,2)) END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t AS x SET x.amount = x.id, name = upper(x.name) WHERE x.id > 1 OR x.name IS NULL
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `x`.`t@1.row__id` AS `:row_id`, `x`.`id` AS `id`, `x`.`info` AS `info`, x.id AS `:amount`, upper(x.name) AS `:name` FROM `t@1` AS `x` WHERE x.id > 1 OR x.name IS NULL
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN CAST(`:amount` AS decimal(10,2)) END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE default.t SET default.t.name = default.t.info.city WHERE default.t.id = 1
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, t.info.city AS `:name` FROM `t@1` AS `t` WHERE t.id = 1
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t SET name = DEFAULT, amount = DEFAULT
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`info` AS `info`, 'none' AS `:name`, NULL AS `:amount` FROM `t@1` AS `t`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN CAST(`:amount` AS decimal(10,2)) END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t SET name = (SELECT max(o.name) FROM other o WHERE o.id = t.id) WHERE id IN (SELECT id FROM other)
-->
UPDATE default.t
reads
  other@1: default.other
  other@2: default.other
  t@3: default.t with row__id
rows
  SELECT `t`.`t@3.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, (SELECT max(o.name) FROM `other@1` AS o WHERE o.id = t.id) AS `:name` FROM `t@3` AS `t` WHERE id IN (SELECT id FROM `other@2` AS `other`)
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

-- subqueries on the target itself read the same snapshot
UPDATE t SET amount = (SELECT max(amount) FROM t) WHERE id = (SELECT min(id) FROM t x WHERE x.name = t.name)
-->
UPDATE default.t
reads
  t@1: default.t
  t@2: default.t
  t@3: default.t with row__id
rows
  SELECT `t`.`t@3.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`name` AS `name`, `t`.`info` AS `info`, (SELECT max(amount) FROM `t@1` AS `t`) AS `:amount` FROM `t@3` AS `t` WHERE id = (SELECT min(id) FROM `t@2` AS x WHERE x.name = t.name)
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
strategy: by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

UPDATE t SET name = 'seen' WHERE EXISTS (SELECT 1 FROM {frame} f WHERE f.id = t.id)
-->
UPDATE default.t
reads
  t@1: default.t with row__id
  frame@frame: the frame {frame}
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, 'seen' AS `:name` FROM `t@1` AS `t` WHERE EXISTS(SELECT 1 FROM `frame@frame` AS f WHERE f.id = t.id)
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

WITH best AS (SELECT max(id) AS id FROM other) UPDATE t SET name = 'best' WHERE id IN (SELECT id FROM best)
-->
UPDATE default.t
reads
  other@1: default.other
  t@2: default.t with row__id
rows
  WITH best AS (SELECT max(id) AS id FROM `other@1` AS `other`) SELECT `t`.`t@2.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, 'best' AS `:name` FROM `t@2` AS `t` WHERE id IN (SELECT id FROM best)
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

-- a CTE with the target's name does not become the target
WITH t AS (SELECT 1 AS id) UPDATE t SET name = 'x' WHERE id IN (SELECT id FROM t)
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  WITH t AS (SELECT 1 AS id) SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, 'x' AS `:name` FROM `t@1` AS `t` WHERE id IN (SELECT id FROM t)
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

UPDATE t SET name = 'x' WHERE row__id.writeid = 1
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, 'x' AS `:name` FROM `t@1` AS `t` WHERE `t`.`t@1.row__id`.writeid = 1
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t SET name = INPUT__FILE__NAME
-->
UPDATE default.t
reads
  t@1: default.t with row__id, INPUT__FILE__NAME
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, `t`.`t@1.input__file__name` AS `:name` FROM `t@1` AS `t`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE checked SET high = low, code = id
-->
UPDATE default.checked
reads
  checked@1: default.checked with row__id
rows
  SELECT `checked`.`checked@1.row__id` AS `:row_id`, `checked`.`id` AS `id`, `checked`.`low` AS `low`, low AS `:high`, id AS `:code` FROM `checked@1` AS `checked`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN `low` END AS `low`,
    CASE WHEN `:branch` < 1 THEN `high` END AS `high`,
    CASE WHEN `:branch` < 1 THEN `code` END AS `code`
  FROM (SELECT *, explode(array(1, CASE WHEN `id` IS NULL THEN raise_error(concat('acidsql-error|CONSTRAINT_VIOLATED|', 'detail=', 'NOT NULL on column id', '', '|acidsql-error')) WHEN NOT (high < 100) THEN raise_error(concat('acidsql-error|CONSTRAINT_VIOLATED|', 'detail=', 'CHECK high < 100', '', '|acidsql-error')) ELSE 0 END)) AS `:branch` FROM (SELECT `:row_id`,
    `id`,
    `low`,
    CAST(`:high` AS INT) AS `high`,
    RPAD(SUBSTRING(CAST(`:code` AS STRING), 1, 3), 3) AS `code` FROM `:rows`))
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE checked SET id = NULL WHERE low = 1 AND high = 2 OR id = 3
-->
UPDATE default.checked
reads
  checked@1: default.checked with row__id
rows
  SELECT `checked`.`checked@1.row__id` AS `:row_id`, `checked`.`low` AS `low`, `checked`.`high` AS `high`, `checked`.`code` AS `code`, NULL AS `:id` FROM `checked@1` AS `checked` WHERE low = 1 AND high = 2 OR id = 3
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN `low` END AS `low`,
    CASE WHEN `:branch` < 1 THEN `high` END AS `high`,
    CASE WHEN `:branch` < 1 THEN `code` END AS `code`
  FROM (SELECT *, explode(array(1, CASE WHEN `id` IS NULL THEN raise_error(concat('acidsql-error|CONSTRAINT_VIOLATED|', 'detail=', 'NOT NULL on column id', '', '|acidsql-error')) WHEN NOT (high < 100) THEN raise_error(concat('acidsql-error|CONSTRAINT_VIOLATED|', 'detail=', 'CHECK high < 100', '', '|acidsql-error')) ELSE 0 END)) AS `:branch` FROM (SELECT `:row_id`,
    CAST(`:id` AS INT) AS `id`,
    `low`,
    `high`,
    `code` FROM `:rows`))
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t SET name = :name WHERE id = ?
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`id` AS `id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, :name AS `:name` FROM `t@1` AS `t` WHERE id = ?
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

UPDATE t SET ID = 1, `Name` = 'x'
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`amount` AS `amount`, `t`.`info` AS `info`, 1 AS `:id`, 'x' AS `:name` FROM `t@1` AS `t`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:id` AS INT) END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN `info` END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

EXPLAIN LOCKS UPDATE t SET name = (SELECT max(name) FROM other) WHERE id IN (SELECT id FROM t)
-->
LOCK INFORMATION:
default.other -> SHARED_READ
default.t -> EXCL_WRITE
default.t -> SHARED_READ

SET acidsql.store.assignment=ansi

UPDATE t SET id = 'x', name = 1, info = named_struct('city', 'Rome')
-->
UPDATE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, `t`.`amount` AS `amount`, 'x' AS `:id`, 1 AS `:name`, named_struct('city', 'Rome') AS `:info` FROM `t@1` AS `t`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN CASE WHEN `:id` IS NOT NULL AND TRY_CAST(`:id` AS INT) IS NULL THEN raise_error(concat('acidsql-error|INVALID_STORE_VALUE|', 'value=', CAST(`:id` AS STRING), '', 'column=', 'id', '', 'type=', 'int', '', '|acidsql-error')) ELSE TRY_CAST(`:id` AS INT) END END AS `id`,
    CASE WHEN `:branch` < 1 THEN CASE WHEN `:name` IS NOT NULL AND TRY_CAST(`:name` AS STRING) IS NULL THEN raise_error(concat('acidsql-error|INVALID_STORE_VALUE|', 'value=', CAST(`:name` AS STRING), '', 'column=', 'name', '', 'type=', 'string', '', '|acidsql-error')) ELSE TRY_CAST(`:name` AS STRING) END END AS `name`,
    CASE WHEN `:branch` < 1 THEN `amount` END AS `amount`,
    CASE WHEN `:branch` < 1 THEN CAST(`:info` AS struct<city:string>) END AS `info`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by the driver (up to acidsql.driver.write.max.bytes), in place (one file a bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled

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
