CREATE TRANSACTIONAL TABLE t (id int, name string, info struct<city:string>);
CREATE TRANSACTIONAL TABLE other (id int, name string);
CREATE TRANSACTIONAL TABLE hr.t (a int);
CREATE TABLE plain (id int, note string);
CREATE TABLE only (id int) TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')

DELETE FROM t
-->
DELETE default.t
reads
  t@1: default.t with row__id
rows
  SELECT `t`.`t@1.row__id` AS `:row_id` FROM `t@1` AS `t`
events
  SELECT 0 AS `:branch`, `:row_id`,
    CAST(NULL AS INT) AS `id`,
    CAST(NULL AS STRING) AS `name`,
    CAST(NULL AS struct<city:string>) AS `info`
  FROM `:rows`
writes
  delete_delta_W_W_0000: DELETE
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), in place (one file per bucket, up to 128 MiB each), else shuffled

DELETE FROM t WHERE id = 1 OR name IS NULL
--> rows
rows      SELECT .. FROM `t@1` AS `t` WHERE id = 1 OR name IS NULL

DELETE FROM t AS x WHERE x.id = 1
--> rows
rows      SELECT .. FROM `t@1` AS `x` WHERE x.id = 1

DELETE FROM t x WHERE EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.row__id.rowid < x.row__id.rowid)
--> reads, rows
reads     t@1: default.t with row__id
          t@2: default.t with row__id
rows      SELECT .. FROM `t@2` AS `x` WHERE EXISTS(SELECT 1 FROM `t@1` AS y WHERE y.id = x.id AND `y`.`t@1.row__id`.rowid < `x`.`t@2.row__id`.rowid)

DELETE FROM t WHERE id NOT IN (SELECT id FROM other WHERE other.name = t.name)
--> reads, rows, strategy
reads     other@1: default.other
          t@2: default.t with row__id
rows      SELECT .. FROM `t@2` AS `t` WHERE NOT id IN (SELECT id FROM `other@1` AS `other` WHERE other.name = t.name)
strategy  by the driver (up to acidsql.driver.write.max.bytes), else shuffled

WITH gone AS (SELECT id FROM {frame}) DELETE FROM t WHERE id IN (SELECT id FROM gone)
--> reads, rows
reads     t@1: default.t with row__id
          frame@frame: {frame}
rows      WITH gone AS (SELECT id FROM `frame@frame` AS `frame`) SELECT .. FROM `t@1` AS `t` WHERE id IN (SELECT id FROM gone)

DELETE FROM hr.t WHERE hr.t.a IN (SELECT id FROM t)
--> target, reads, rows
target    DELETE hr.t
reads     t@1: default.t
          t@2: hr.t with row__id
rows      SELECT .. FROM `t@2` AS `t` WHERE t.a IN (SELECT id FROM `t@1` AS `t`)

DELETE FROM t WHERE INPUT__FILE__NAME LIKE '%bucket_00000'
--> reads, rows
reads     t@1: default.t with row__id, INPUT__FILE__NAME
rows      SELECT .. FROM `t@1` AS `t` WHERE `t`.`t@1.input__file__name` LIKE '%bucket_00000'

DELETE FROM t WHERE id = :id AND name = ?
--> rows
rows      SELECT .. FROM `t@1` AS `t` WHERE id = :id AND name = ?

EXPLAIN LOCKS DELETE FROM t WHERE id IN (SELECT id FROM other)
-->
LOCK INFORMATION:
default.other -> SHARED_READ
default.t -> EXCL_WRITE

DELETE FROM plain WHERE id = 1
-->
[NOT_TRANSACTIONAL] [Error 10297] Attempt to do update or delete on table default.plain that is not transactional
1 | DELETE FROM plain WHERE id = 1
  |             ^^^^^
Hint: Create it with TBLPROPERTIES ('transactional'='true').

DELETE FROM only
-->
[INSERT_ONLY] [Error 10414] Attempt to do update or delete on table default.only that is insert-only transactional
1 | DELETE FROM only
  |             ^^^^

DELETE FROM nothing
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'nothing' Did you mean other?
1 | DELETE FROM nothing
  |             ^^^^^^^

DELETE FROM t x WHERE x.id = 1 AND row__id IN (SELECT a.row__id FROM other)
--> reads, rows
reads     other@1: default.other
          t@2: default.t with row__id
rows      SELECT .. FROM `t@2` AS `x` WHERE x.id = 1 AND `x`.`t@2.row__id` IN (SELECT a.row__id FROM `other@1` AS `other`)

DELETE FROM t WHERE NULL
--> rows
rows      SELECT .. FROM `t@1` AS `t` WHERE CAST(NULL AS BOOLEAN)
