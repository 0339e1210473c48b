CREATE TRANSACTIONAL TABLE t (id int, name string DEFAULT 'none', n int);
CREATE TRANSACTIONAL TABLE s (id int, name string, n int);
CREATE TRANSACTIONAL TABLE hr.s (id int, wage decimal(10,2));
CREATE TRANSACTIONAL TABLE checked (id int NOT NULL, v int CHECK (v > 0));
CREATE TRANSACTIONAL TABLE rich (id int, info struct<city:string,zip:int>, tags array<string>);
CREATE TABLE plain (id int, name string, n int);
CREATE TABLE only (id int) TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');
CREATE VIEW seen AS SELECT 1 AS id

-- Both halves of an update have one statement ID. The INSERT has 0000.
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name, s.n)
-->
MERGE default.t
reads
  t@1: default.t with row__id
  s@2: default.s
rows
  SELECT `t`.`t@1.row__id` AS `:row_id`, CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE 1 END AS `:action`, `t`.`id` AS `id`, `t`.`name` AS `name`, s.id AS `:0.id`, s.name AS `:0.name`, s.n AS `:0.n`, s.n AS `:1.n` FROM `t@1` AS `t` RIGHT OUTER JOIN `s@2` AS `s` ON t.id = s.id
where the source is small, its keys
  SELECT s.id AS `:keys0` FROM `s@2` AS `s`
and t@1 by them
  SELECT `t`.* FROM `t@1` AS `t` LEFT SEMI JOIN `:keys` ON t.id = `:keys`.`:keys0`
only partitions, files and stripes with values of id that a small source has
  SELECT s.id AS `:keys0` FROM `s@2` AS `s`
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 2 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 2 THEN `name` END AS `name`,
    CASE WHEN `:branch` < 2 THEN `n` END AS `n`
  FROM (SELECT *, explode(CASE `:action`
    WHEN 0 THEN array(0)
    WHEN 1 THEN array(1, 2)
  END) AS `:branch` FROM (SELECT
      `:action`,
      `:row_id`,
      CASE `:action` WHEN 0 THEN CAST(`:0.id` AS INT) WHEN 1 THEN `id` END AS `id`,
      CASE `:action` WHEN 0 THEN CAST(`:0.name` AS STRING) WHEN 1 THEN `name` END AS `name`,
      CASE `:action` WHEN 0 THEN CAST(`:0.n` AS INT) WHEN 1 THEN CAST(`:1.n` AS INT) END AS `n`
    FROM `:rows`
    WHERE `:action` IS NOT NULL))
writes
  delta_W_W_0000: WHEN NOT MATCHED THEN INSERT
  delta_W_W_0001: WHEN MATCHED THEN UPDATE, the new rows
  delete_delta_W_W_0001: WHEN MATCHED THEN UPDATE, the old rows
checks cardinality: WHEN MATCHED THEN UPDATE, the old rows
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), in each task (from 32 MiB), else shuffled

-- With MATCHED clauses only, the join is an inner join.
MERGE INTO t AS a USING s AS b ON a.id = b.id WHEN MATCHED THEN DELETE
--> rows, writes, checks, strategy
rows      SELECT .., 0 AS `:action` FROM `t@1` AS `a` INNER JOIN `s@2` AS b ON a.id = b.id
writes    delete_delta 0000: WHEN MATCHED THEN DELETE
checks    no row twice: WHEN MATCHED THEN DELETE
strategy  by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), else shuffled

MERGE INTO t a USING s b ON a.id = b.id WHEN MATCHED AND b.n IS NULL THEN DELETE
--> rows
rows      SELECT .., CASE WHEN b.n IS NULL THEN 0 END AS `:action` FROM `t@1` AS `a` INNER JOIN `s@2` AS b ON a.id = b.id

-- With NOT MATCHED clauses only, the join is an anti join and the events are only new rows.
MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, n + 1)
--> rows, keys, values, writes, checks, strategy
rows      SELECT 0 AS `:action`, s.id AS `:0.id`, 'none' AS `:0.name`, `s`.n + 1 AS `:0.n` FROM `s@1` AS `s` LEFT ANTI JOIN `t@2` AS `t` ON t.id = s.id
keys      SELECT s.id AS `:keys0` FROM `s@1` AS `s`
          t@2: SELECT `t`.* FROM `t@2` AS `t` LEFT SEMI JOIN `:keys` ON t.id = `:keys`.`:keys0`
values    `:row_id` = CAST(NULL AS STRUCT<writeid: BIGINT, bucketid: INT, rowid: BIGINT>)
          `id` = CASE `:action` WHEN 0 THEN CAST(`:0.id` AS INT) END
          `name` = CASE `:action` WHEN 0 THEN CAST(`:0.name` AS STRING) END
          `n` = CASE `:action` WHEN 0 THEN CAST(`:0.n` AS INT) END
writes    delta 0000: WHEN NOT MATCHED THEN INSERT
checks    none
strategy  by Arrow, the source by Spark (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes and 1 MiB), else in each task

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE
--> rows, writes, checks
rows      SELECT .., CASE WHEN `s`.`:source` IS NULL THEN 0 ELSE CAST(NULL AS INT) END AS `:action` FROM `t@2` AS `t` LEFT OUTER JOIN (SELECT *, TRUE AS `:source` FROM `s@1` AS `s`) AS `s` ON t.id = s.id
writes    delete_delta 0000: WHEN NOT MATCHED BY SOURCE THEN DELETE
checks    none

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND n > 1 THEN UPDATE SET n = n - 1, name = DEFAULT WHEN NOT MATCHED BY SOURCE THEN DELETE
--> rows, values, actions, writes
rows      SELECT .., CASE WHEN `s`.`:source` IS NULL THEN CASE WHEN `t`.n > 1 THEN 0 ELSE 1 END ELSE CAST(NULL AS INT) END AS `:action`, .., `t`.n - 1 AS `:0.n`, 'none' AS `:0.name` FROM `t@2` AS `t` LEFT OUTER JOIN (SELECT *, TRUE AS `:source` FROM `s@1` AS `s`) AS `s` ON t.id = s.id
values    `id` = CASE `:action` WHEN 0 THEN `id` END
          `name` = CASE `:action` WHEN 0 THEN CAST(`:0.name` AS STRING) END
          `n` = CASE `:action` WHEN 0 THEN CAST(`:0.n` AS INT) END
actions   0: delta 0000, delete_delta 0000
          1: delete_delta 0001
writes    delta 0000: WHEN NOT MATCHED BY SOURCE THEN UPDATE, the new rows
          delete_delta 0000: WHEN NOT MATCHED BY SOURCE THEN UPDATE, the old rows
          delete_delta 0001: WHEN NOT MATCHED BY SOURCE THEN DELETE

-- The order of the statement IDs is NOT MATCHED, MATCHED, NOT MATCHED BY SOURCE.
MERGE INTO t USING s ON t.id <=> s.id
WHEN MATCHED AND s.n < 0 THEN DELETE
WHEN MATCHED AND s.n = t.n THEN UPDATE SET name = concat(t.name, s.name)
WHEN MATCHED AND s.n > 100 THEN UPDATE SET n = DEFAULT, name = DEFAULT
WHEN MATCHED THEN UPDATE SET n = t.n + s.n
WHEN NOT MATCHED AND s.n > 0 THEN INSERT (n, id) VALUES (s.n, s.id)
WHEN NOT MATCHED BY TARGET AND name IS NULL THEN INSERT VALUES (id, DEFAULT, -1)
WHEN NOT MATCHED BY SOURCE AND n = 0 THEN DELETE
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0
--> rows, values, actions, writes, checks
rows      SELECT .., CASE WHEN `t`.`t@2.row__id` IS NULL THEN CASE WHEN s.n > 0 THEN 0 WHEN `s`.name IS NULL THEN 1 END WHEN `s`.`:source` IS NULL THEN CASE WHEN `t`.n = 0 THEN 6 ELSE 7 END ELSE CASE WHEN s.n < 0 THEN 2 WHEN s.n = t.n THEN 3 WHEN s.n > 100 THEN 4 ELSE 5 END END AS `:action`, .., s.id AS `:0.id`, 'none' AS `:0.name`, s.n AS `:0.n`, `s`.id AS `:1.id`, 'none' AS `:1.name`, -1 AS `:1.n`, concat(t.name, s.name) AS `:3.name`, NULL AS `:4.n`, 'none' AS `:4.name`, t.n + s.n AS `:5.n`, 0 AS `:7.n` FROM `t@2` AS `t` FULL OUTER JOIN (SELECT *, TRUE AS `:source` FROM `s@1` AS `s`) AS `s` ON t.id <=> s.id
values    `id` = CASE `:action` WHEN 0 THEN CAST(`:0.id` AS INT) WHEN 1 THEN CAST(`:1.id` AS INT) WHEN 3 THEN `id` WHEN 4 THEN `id` WHEN 5 THEN `id` WHEN 7 THEN `id` END
          `name` = CASE `:action` WHEN 0 THEN CAST(`:0.name` AS STRING) WHEN 1 THEN CAST(`:1.name` AS STRING) WHEN 3 THEN CAST(`:3.name` AS STRING) WHEN 4 THEN CAST(`:4.name` AS STRING) WHEN 5 THEN `name` WHEN 7 THEN `name` END
          `n` = CASE `:action` WHEN 0 THEN CAST(`:0.n` AS INT) WHEN 1 THEN CAST(`:1.n` AS INT) WHEN 3 THEN `n` WHEN 4 THEN CAST(`:4.n` AS INT) WHEN 5 THEN CAST(`:5.n` AS INT) WHEN 7 THEN CAST(`:7.n` AS INT) END
actions   0: delta 0000
          1: delta 0001
          2: delete_delta 0002, only counted
          3: delta 0003, delete_delta 0003, only counted
          4: delta 0004, delete_delta 0004, only counted
          5: delta 0005, delete_delta 0005, only counted
          6: delete_delta 0006
          7: delta 0007, delete_delta 0007
writes    delta 0000: WHEN NOT MATCHED THEN INSERT
          delta 0001: WHEN NOT MATCHED THEN INSERT
          delta 0003: WHEN MATCHED THEN UPDATE, the new rows
          delta 0004: WHEN MATCHED THEN UPDATE, the new rows
          delta 0005: WHEN MATCHED THEN UPDATE, the new rows
          delta 0007: WHEN NOT MATCHED BY SOURCE THEN UPDATE, the new rows
          delete_delta 0002: WHEN MATCHED THEN DELETE
          delete_delta 0003: WHEN MATCHED THEN UPDATE, the old rows
          delete_delta 0004: WHEN MATCHED THEN UPDATE, the old rows
          delete_delta 0005: WHEN MATCHED THEN UPDATE, the old rows
          delete_delta 0006: WHEN NOT MATCHED BY SOURCE THEN DELETE
          delete_delta 0007: WHEN NOT MATCHED BY SOURCE THEN UPDATE, the old rows
          only counted: cardinality check
checks    no row twice: cardinality check

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
--> rows, values
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE 1 END AS `:action`, `s`.`id` AS `:0.id`, `s`.`name` AS `:0.name`, `s`.`n` AS `:0.n`, `s`.`id` AS `:1.id`, `s`.`name` AS `:1.name`, `s`.`n` AS `:1.n` FROM `t@1` AS `t` RIGHT OUTER JOIN `s@2` AS `s` ON t.id = s.id
values    `id` = CASE `:action` WHEN 0 THEN CAST(`:0.id` AS INT) WHEN 1 THEN CAST(`:1.id` AS INT) END
          `name` = CASE `:action` WHEN 0 THEN CAST(`:0.name` AS STRING) WHEN 1 THEN CAST(`:1.name` AS STRING) END
          `n` = CASE `:action` WHEN 0 THEN CAST(`:0.n` AS INT) WHEN 1 THEN CAST(`:1.n` AS INT) END

MERGE INTO t USING plain p ON t.id = p.id WHEN MATCHED THEN UPDATE SET t.n = p.n, default.t.name = p.name
--> rows
rows      SELECT .., 0 AS `:action`, .., p.n AS `:0.n`, p.name AS `:0.name` FROM `t@1` AS `t` INNER JOIN `plain@2` AS p ON t.id = p.id

MERGE INTO t USING (SELECT id, max(n) AS n FROM s GROUP BY id) x ON x.id = t.id WHEN MATCHED THEN UPDATE SET n = x.n WHEN NOT MATCHED THEN INSERT (id, n) VALUES (x.id, x.n)
--> reads, rows, keys
reads     s@1: default.s
          t@2: default.t with row__id
rows      SELECT .., CASE WHEN `t`.`t@2.row__id` IS NULL THEN 0 ELSE 1 END AS `:action`, .., x.id AS `:0.id`, 'none' AS `:0.name`, x.n AS `:0.n`, x.n AS `:1.n` FROM `t@2` AS `t` RIGHT OUTER JOIN (SELECT id, max(n) AS n FROM `s@1` AS `s` GROUP BY id) AS x ON x.id = t.id
keys      SELECT x.id AS `:keys0` FROM (SELECT id, max(n) AS n FROM `s@1` AS `s` GROUP BY id) AS x
          t@2: SELECT `t`.* FROM `t@2` AS `t` LEFT SEMI JOIN `:keys` ON t.id = `:keys`.`:keys0`

MERGE INTO t USING (VALUES (1, 'a'), (2, NULL)) AS v(k, w) ON t.id = v.k WHEN MATCHED THEN UPDATE SET name = w WHEN NOT MATCHED THEN INSERT (id, name) VALUES (k, w)
--> rows, keys, pruning
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE 1 END AS `:action`, .., `v`.k AS `:0.id`, `v`.w AS `:0.name`, NULL AS `:0.n`, w AS `:1.name` FROM `t@1` AS `t` RIGHT OUTER JOIN VALUES (1, 'a'), (2, NULL) AS v(k, w) ON t.id = v.k AND t.id IN (1, 2)
keys      none
pruning   t@1: rows `id` IN (1, 2)

WITH c AS (SELECT id, n FROM s WHERE n > 0) MERGE INTO t USING c ON t.id = c.id WHEN MATCHED THEN UPDATE SET n = c.n WHEN NOT MATCHED BY SOURCE THEN DELETE
--> reads, rows
reads     s@1: default.s
          t@2: default.t with row__id
rows      WITH c AS (SELECT id, n FROM `s@1` AS `s` WHERE n > 0) SELECT .., CASE WHEN `c`.`:source` IS NULL THEN 1 ELSE 0 END AS `:action`, .., c.n AS `:0.n` FROM `t@2` AS `t` LEFT OUTER JOIN (SELECT *, TRUE AS `:source` FROM c) AS `c` ON t.id = c.id

-- A CTE with the target's name is the source.
WITH t AS (SELECT 1 AS id) MERGE INTO t AS x USING t AS y ON x.id = y.id WHEN MATCHED THEN DELETE
--> target, reads, rows
target    MERGE default.t
reads     t@1: default.t with row__id
rows      WITH t AS (SELECT 1 AS id) SELECT .., 0 AS `:action` FROM `t@1` AS `x` INNER JOIN t AS y ON x.id = y.id

MERGE INTO t USING {new} f ON t.id = f.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
--> reads, rows, keys
reads     t@1: default.t with row__id
          new@frame: {new}
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE 1 END AS `:action`, `f`.`id` AS `:0.id`, `f`.`name` AS `:0.name`, `f`.`n` AS `:0.n`, `f`.`id` AS `:1.id`, `f`.`name` AS `:1.name`, `f`.`n` AS `:1.n` FROM `t@1` AS `t` RIGHT OUTER JOIN `new@frame` AS f ON t.id = f.id
keys      SELECT f.id AS `:keys0` FROM `new@frame` AS f
          t@1: SELECT `t`.* FROM `t@1` AS `t` LEFT SEMI JOIN `:keys` ON t.id = `:keys`.`:keys0`

MERGE INTO t USING {new} ON t.id = new.id WHEN NOT MATCHED THEN INSERT (id) VALUES (new.id)
--> reads, rows
reads     t@1: default.t
          new@frame: {new}
rows      SELECT 0 AS `:action`, new.id AS `:0.id`, 'none' AS `:0.name`, NULL AS `:0.n` FROM `new@frame` AS `new` LEFT ANTI JOIN `t@1` AS `t` ON t.id = new.id

-- The target as its own source has two scans, and only one with row IDs.
MERGE INTO t USING t AS o ON t.id = o.n WHEN MATCHED THEN UPDATE SET name = o.name WHEN NOT MATCHED THEN INSERT VALUES (o.n, o.name, NULL)
--> reads, rows, keys
reads     t@1: default.t with row__id
          t@2: default.t
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE 1 END AS `:action`, .., o.n AS `:0.id`, o.name AS `:0.name`, NULL AS `:0.n`, o.name AS `:1.name` FROM `t@1` AS `t` RIGHT OUTER JOIN `t@2` AS o ON t.id = o.n
keys      SELECT o.n AS `:keys0` FROM `t@2` AS o
          t@1: SELECT `t`.* FROM `t@1` AS `t` LEFT SEMI JOIN `:keys` ON t.id = `:keys`.`:keys0`

MERGE INTO t USING seen ON t.id = seen.id WHEN MATCHED THEN DELETE
--> reads, rows
reads     t@1: default.t with row__id
rows      SELECT .., 0 AS `:action` FROM `t@1` AS `t` INNER JOIN seen ON t.id = seen.id

MERGE INTO default.t USING hr.s ON default.t.id = hr.s.id WHEN MATCHED AND hr.s.wage > 1 THEN UPDATE SET n = hr.s.wage WHEN NOT MATCHED THEN INSERT (id) VALUES (hr.s.id)
--> target, reads, rows
target    MERGE default.t
reads     t@1: default.t with row__id
          s@2: hr.s
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE CASE WHEN s.wage > 1 THEN 1 END END AS `:action`, .., s.id AS `:0.id`, 'none' AS `:0.name`, NULL AS `:0.n`, s.wage AS `:1.n` FROM `t@1` AS `t` RIGHT OUTER JOIN `s@2` AS `s` ON t.id = s.id

MERGE INTO t USING s ON t.id = s.id OR t.n = s.n AND s.name = 'x' WHEN MATCHED AND t.n = 1 OR s.n = 2 THEN DELETE WHEN NOT MATCHED AND s.n = 1 OR s.n = 2 THEN INSERT (id) VALUES (s.id)
--> rows, keys
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN CASE WHEN s.n = 1 OR s.n = 2 THEN 0 END ELSE CASE WHEN t.n = 1 OR s.n = 2 THEN 1 END END AS `:action`, s.id AS `:0.id`, 'none' AS `:0.name`, NULL AS `:0.n` FROM `t@1` AS `t` RIGHT OUTER JOIN `s@2` AS `s` ON t.id = s.id OR t.n = s.n AND s.name = 'x'
keys      none

MERGE INTO t USING s ON t.row__id.writeid = s.id WHEN MATCHED AND t.row__id.rowid > s.row__id.rowid THEN UPDATE SET name = s.INPUT__FILE__NAME WHEN NOT MATCHED THEN INSERT (id) VALUES (s.row__id.rowid)
--> reads, rows, keys
reads     t@1: default.t with row__id
          s@2: default.s with row__id, INPUT__FILE__NAME
rows      SELECT .., CASE WHEN `t`.`t@1.row__id` IS NULL THEN 0 ELSE CASE WHEN `t`.`t@1.row__id`.rowid > `s`.`s@2.row__id`.rowid THEN 1 END END AS `:action`, .., `s`.`s@2.row__id`.rowid AS `:0.id`, 'none' AS `:0.name`, NULL AS `:0.n`, `s`.`s@2.input__file__name` AS `:1.name` FROM `t@1` AS `t` RIGHT OUTER JOIN `s@2` AS `s` ON `t`.`t@1.row__id`.writeid = s.id
keys      none

MERGE INTO t USING s ON t.row__id.writeid = s.id AND default.t.id = 1 WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.row__id.rowid, row__id.bucketid)
--> reads, rows
reads     s@1: default.s with row__id
          t@2: default.t with row__id
rows      SELECT 0 AS `:action`, `s`.`s@1.row__id`.rowid AS `:0.id`, 'none' AS `:0.name`, `s`.`s@1.row__id`.bucketid AS `:0.n` FROM `s@1` AS `s` LEFT ANTI JOIN `t@2` AS `t` ON `t`.`t@2.row__id`.writeid = s.id AND t.id = 1

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.row__id.rowid WHEN NOT MATCHED BY SOURCE AND t.row__id.writeid > 1 THEN DELETE
--> reads, rows
reads     s@1: default.s with row__id
          t@2: default.t with row__id
rows      SELECT .., CASE WHEN `s`.`:source` IS NULL THEN CASE WHEN `t`.`t@2.row__id`.writeid > 1 THEN 1 END ELSE 0 END AS `:action`, .., s.row__id.rowid AS `:0.name` FROM `t@2` AS `t` LEFT OUTER JOIN (SELECT * EXCEPT (`s@1.row__id`), `s`.`s@1.row__id` AS `row__id`, TRUE AS `:source` FROM `s@1` AS `s`) AS `s` ON t.id = s.id

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = (SELECT max(n) FROM t) WHEN NOT MATCHED AND s.id IN (SELECT id FROM plain) THEN INSERT (id, n) VALUES (s.id, (SELECT count(*) FROM t x WHERE x.n = s.n))
--> reads, rows
reads     plain@1: default.plain
          t@2: default.t
          t@3: default.t
          t@4: default.t with row__id
          s@5: default.s
rows      SELECT .., CASE WHEN `t`.`t@4.row__id` IS NULL THEN CASE WHEN s.id IN (SELECT id FROM `plain@1` AS `plain`) THEN 0 END ELSE 1 END AS `:action`, .., s.id AS `:0.id`, 'none' AS `:0.name`, (SELECT count(*) FROM `t@2` AS x WHERE x.n = s.n) AS `:0.n`, (SELECT max(n) FROM `t@3` AS `t`) AS `:1.n` FROM `t@4` AS `t` RIGHT OUTER JOIN `s@5` AS `s` ON t.id = s.id

MERGE INTO checked USING s ON checked.id = s.id WHEN MATCHED AND s.n = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n)
--> events, actions, checks, writes
events    SELECT `:branch`, `:row_id`, .. FROM (SELECT *, explode(CASE `:action` WHEN 0 THEN array(checked(0)) WHEN 1 THEN array(2, 4) WHEN 2 THEN array(checked(1), 3, 4) END) AS `:branch` FROM (SELECT `:action`, `:row_id`, .. FROM `:rows` WHERE `:action` IS NOT NULL))
actions   0: delta 0000
          1: delete_delta 0001, only counted
          2: delta 0002, delete_delta 0002, only counted
checks    delta 0000: NOT NULL on column id, violated if `id` IS NULL
          delta 0000: CHECK v > 0, violated if NOT (v > 0)
          delta 0002: NOT NULL on column id, violated if `id` IS NULL
          delta 0002: CHECK v > 0, violated if NOT (v > 0)
          no row twice: cardinality check
writes    delta 0000: WHEN NOT MATCHED THEN INSERT
          delta 0002: WHEN MATCHED THEN UPDATE, the new rows
          delete_delta 0001: WHEN MATCHED THEN DELETE
          delete_delta 0002: WHEN MATCHED THEN UPDATE, the old rows
          only counted: cardinality check

MERGE INTO rich USING rich r ON rich.info.zip = r.info.zip WHEN MATCHED THEN UPDATE SET info = r.info, tags = transform(r.tags, x -> upper(x)) WHEN NOT MATCHED AND info.city = 'Rome' THEN INSERT (info, tags) VALUES (named_struct('city', info.city, 'zip', r.info.zip), filter(tags, x -> x <> info.city))
--> reads, rows, keys, values
reads     rich@1: default.rich with row__id
          rich@2: default.rich
rows      SELECT .., CASE WHEN `rich`.`rich@1.row__id` IS NULL THEN CASE WHEN `r`.info.city = 'Rome' THEN 0 END ELSE 1 END AS `:action`, .., NULL AS `:0.id`, named_struct('city', `r`.info.city, 'zip', r.info.zip) AS `:0.info`, filter(`r`.tags, x -> x <> `r`.info.city) AS `:0.tags`, r.info AS `:1.info`, TRANSFORM(r.tags, x -> upper(x)) AS `:1.tags` FROM `rich@1` AS `rich` RIGHT OUTER JOIN `rich@2` AS r ON rich.info.zip = r.info.zip
keys      none
values    `id` = CASE `:action` WHEN 0 THEN CAST(`:0.id` AS INT) WHEN 1 THEN `id` END
          `info` = CASE `:action` WHEN 0 THEN CAST(`:0.info` AS struct<city:string,zip:int>) WHEN 1 THEN CAST(`:1.info` AS struct<city:string,zip:int>) END
          `tags` = CASE `:action` WHEN 0 THEN CAST(`:0.tags` AS array<string>) WHEN 1 THEN CAST(`:1.tags` AS array<string>) END

MERGE INTO t USING s ON t.id = s.id AND s.n = :n WHEN MATCHED AND t.name = :name THEN UPDATE SET n = ?
--> rows
rows      SELECT .., CASE WHEN t.name = :name THEN 0 END AS `:action`, .., ? AS `:0.n` FROM `t@1` AS `t` INNER JOIN `s@2` AS `s` ON t.id = s.id AND s.n = :n

SET hive.merge.cardinality.check=false

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.n = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n
--> actions, writes, checks
actions   0: delete_delta 0000
          1: delta 0001, delete_delta 0001
writes    delta 0001: WHEN MATCHED THEN UPDATE, the new rows
          delete_delta 0000: WHEN MATCHED THEN DELETE
          delete_delta 0001: WHEN MATCHED THEN UPDATE, the old rows
checks    none

SET hive.merge.cardinality.check=true

EXPLAIN LOCKS MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *
-->
LOCK INFORMATION:
default.s -> SHARED_READ
default.t -> EXCL_WRITE

EXPLAIN MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.n > 2 THEN DELETE WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT *
-->
MERGE default.t
reads
  default.t with row__id
    only partitions, files and stripes with values of id that a small source has
  default.s
checks
  no two rows of the source change one row
writes
  delta_W_W_0000: WHEN NOT MATCHED THEN INSERT
  delta_W_W_0002: WHEN MATCHED THEN UPDATE, the new rows
  delete_delta_W_W_0001: WHEN MATCHED THEN DELETE
  delete_delta_W_W_0002: WHEN MATCHED THEN UPDATE, the old rows
strategy
  by Arrow (files that it reads and writes, values that it stores as Spark does)
  by the driver (up to acidsql.driver.write.max.bytes)
  in each task (from 32 MiB)
  else shuffled

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 1 WHEN MATCHED AND s.n = 2 THEN DELETE
-->
[MERGE_UNCONDITIONAL_NOT_LAST] [Error 10404] When there are more than one WHEN MATCHED clauses, all but the last must have an AND predicate: this clause can never act.
1 | MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 1 WHEN MATCHED AND s.n = 2 THEN DELETE
  |                                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Hint: Give the earlier clause an AND condition, or drop this one.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED AND s.n = 1 THEN INSERT (id) VALUES (1)
-->
[MERGE_UNCONDITIONAL_NOT_LAST] [Error 10404] When there are more than one WHEN NOT MATCHED clauses, all but the last must have an AND predicate: this clause can never act.
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED AND s.n = 1 THEN INSERT (id) VALUES (1)
  |                                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Hint: Give the earlier clause an AND condition, or drop this one.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE
-->
[MERGE_CLAUSE_ORDER] WHEN MATCHED stands behind WHEN NOT MATCHED
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE
  |                                                                    ^^^^^^^^^^^^^^^^^^^^^^^^
Hint: Write the MATCHED clauses first, then NOT MATCHED, then NOT MATCHED BY SOURCE.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED THEN INSERT *
-->
[MERGE_CLAUSE_ORDER] WHEN NOT MATCHED stands behind WHEN NOT MATCHED BY SOURCE
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED THEN INSERT *
  |                                                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Hint: Write the MATCHED clauses first, then NOT MATCHED, then NOT MATCHED BY SOURCE.

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN INSERT *
-->
[MERGE_CLAUSE_ORDER] WHEN MATCHED takes UPDATE or DELETE
1 | MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN INSERT *
  |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN DELETE
-->
[MERGE_CLAUSE_ORDER] WHEN NOT MATCHED takes INSERT
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN DELETE
  |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *
-->
[MERGE_CLAUSE_ORDER] UPDATE SET * needs a source row, and WHEN NOT MATCHED BY SOURCE has none
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *
  |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

MERGE INTO t USING s ON s.id = 1 WHEN NOT MATCHED THEN INSERT *
-->
[MERGE_ON_WITHOUT_TARGET] No columns from target table 't' found in ON clause 's.id = 1' of MERGE statement.
1 | MERGE INTO t USING s ON s.id = 1 WHEN NOT MATCHED THEN INSERT *
  |                         ^^^^^^^^

-- Hive accepts an ON without target columns unless there is a NOT MATCHED clause.
MERGE INTO t USING s ON s.id = 1 WHEN MATCHED THEN DELETE
--> rows, checks
rows      SELECT .., 0 AS `:action` FROM `t@1` AS `t` INNER JOIN `s@2` AS `s` ON s.id = 1
checks    no row twice: WHEN MATCHED THEN DELETE

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name)
-->
[MERGE_INSERT_LENGTH] Column schema must have the same length as values (3 vs 2)
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name)
  |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Hint: The columns are id, name, n.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name, s.n)
-->
[MERGE_INSERT_LENGTH] Column schema must have the same length as values (2 vs 3)
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name, s.n)
  |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Hint: The columns are id, name.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, nam) VALUES (s.id, s.name)
-->
[INSERT_COLUMN_NOT_FOUND] 'nam' in insert schema specification is/are not found among regular columns of default.t nor dynamic partition columns. Did you mean name or n?
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, nam) VALUES (s.id, s.name)
  |                                                                       ^^^

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, t.id) VALUES (s.id, s.name)
-->
[DUPLICATE_COLUMN] [Error 10036] Duplicate column name: id
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, t.id) VALUES (s.id, s.name)
  |                                                                       ^^^^

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET nam = s.name
-->
[SET_COLUMN_NOT_FOUND] [Error 10408] Target column "nam" of set clause is not found in table "default.t". Did you mean name or n?
1 | MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET nam = s.name
  |                                                                  ^^^

MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 1, n = 2
-->
[SET_COLUMN_TWICE] Column n is set twice in one SET clause.
1 | MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 1, n = 2
  |                                                                         ^

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id)
-->
[COLUMN_NOT_FOUND] [Error 10002] Invalid column reference 't.id'
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (t.id)
  |                                                                               ^^^^
Hint: A row that is NOT MATCHED has no columns of t.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED AND t.n = 1 THEN INSERT (id) VALUES (s.id)
-->
[COLUMN_NOT_FOUND] [Error 10002] Invalid column reference 't.n'
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED AND t.n = 1 THEN INSERT (id) VALUES (s.id)
  |                                                          ^^^
Hint: A row that is NOT MATCHED has no columns of t.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND s.n = 1 THEN DELETE
-->
[COLUMN_NOT_FOUND] [Error 10002] Invalid column reference 's.n'
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND s.n = 1 THEN DELETE
  |                                                                    ^^^
Hint: A row that is NOT MATCHED BY SOURCE has no columns of s.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = s.n
-->
[COLUMN_NOT_FOUND] [Error 10002] Invalid column reference 's.n'
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = s.n
  |                                                                                    ^^^
Hint: A row that is NOT MATCHED BY SOURCE has no columns of s.

MERGE INTO t USING t ON t.id = t.id WHEN MATCHED THEN DELETE
-->
[MERGE_NAMES] target and source are both called t: give one of them an alias
1 | MERGE INTO t USING t ON t.id = t.id WHEN MATCHED THEN DELETE
  |            ^

MERGE INTO plain USING s ON plain.id = s.id WHEN MATCHED THEN DELETE
-->
[NOT_TRANSACTIONAL] [Error 10297] Attempt to do update or delete on table default.plain that is not transactional
1 | MERGE INTO plain USING s ON plain.id = s.id WHEN MATCHED THEN DELETE
  |            ^^^^^
Hint: Create it with TBLPROPERTIES ('transactional'='true').

MERGE INTO only USING s ON only.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id)
-->
[INSERT_ONLY] [Error 10414] Attempt to do update or delete on table default.only that is insert-only transactional
1 | MERGE INTO only USING s ON only.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id)
  |            ^^^^

MERGE INTO t USING nowhere w ON t.id = w.id WHEN MATCHED THEN DELETE
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'nowhere' (there is checked, only, plain, rich, s, t)
1 | MERGE INTO t USING nowhere w ON t.id = w.id WHEN MATCHED THEN DELETE
  |                    ^^^^^^^^^

MERGE INTO t USING (SELECT * FROM s) ON t.id = s.id WHEN MATCHED THEN DELETE
-->
[MERGE_NAMES] the source has no name: give it an alias
1 | MERGE INTO t USING (SELECT * FROM s) ON t.id = s.id WHEN MATCHED THEN DELETE
  |                            ^^^^^^^^

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (default.t.id)
-->
[COLUMN_NOT_FOUND] [Error 10002] Invalid column reference 't.id'
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (default.t.id)
  |                                                                                       ^^^^
Hint: A row that is NOT MATCHED has no columns of t.

MERGE INTO t USING hr.s ON t.id = hr.s.id WHEN MATCHED AND hr.s.wage > 1 THEN UPDATE SET n = hr.s.row__id.rowid WHEN NOT MATCHED BY SOURCE THEN DELETE
--> reads, rows, actions
reads     s@1: hr.s with row__id
          t@2: default.t with row__id
rows      SELECT .., CASE WHEN `s`.`:source` IS NULL THEN 1 ELSE CASE WHEN s.wage > 1 THEN 0 END END AS `:action`, .., s.row__id.rowid AS `:0.n` FROM `t@2` AS `t` LEFT OUTER JOIN (SELECT * EXCEPT (`s@1.row__id`), `s`.`s@1.row__id` AS `row__id`, TRUE AS `:source` FROM `s@1` AS `s`) AS `s` ON t.id = s.id
actions   0: delta 0000, delete_delta 0000
          1: delete_delta 0001

MERGE INTO t USING plain p ON t.id = p.id WHEN MATCHED AND p.row__id.writeid = 1 THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE
-->
[ROW_ID_OF_PLAIN_TABLE] default.plain has no row__id: it is not a transactional table

-- A NOT MATCHED row has no target columns in a subquery either.
MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM plain p WHERE p.id = t.id) THEN INSERT *
-->
[COLUMN_NOT_FOUND] [Error 10002] Invalid column reference 't.id'
1 | MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM plain p WHERE p.id = t.id) THEN INSERT *
  |                                                                                                     ^^^^
Hint: A row that is NOT MATCHED has no columns of t.

MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED AND EXISTS (SELECT 1 FROM t WHERE t.id = s.n) THEN INSERT *
--> reads, rows, keys
reads     t@1: default.t
          s@2: default.s
          t@3: default.t
rows      SELECT CASE WHEN EXISTS(SELECT 1 FROM `t@1` AS `t` WHERE t.id = s.n) THEN 0 END AS `:action`, `s`.`id` AS `:0.id`, `s`.`name` AS `:0.name`, `s`.`n` AS `:0.n` FROM `s@2` AS `s` LEFT ANTI JOIN `t@3` AS `t` ON t.id = s.id
keys      SELECT s.id AS `:keys0` FROM `s@2` AS `s`
          t@3: SELECT `t`.* FROM `t@3` AS `t` LEFT SEMI JOIN `:keys` ON t.id = `:keys`.`:keys0`

-- Spark refuses a condition without a type: NULL is cast.
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND NULL THEN DELETE
--> rows
rows      SELECT .., CASE WHEN CAST(NULL AS BOOLEAN) THEN 0 END AS `:action` FROM `t@1` AS `t` INNER JOIN `s@2` AS `s` ON t.id = s.id
