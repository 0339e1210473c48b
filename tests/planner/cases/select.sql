CREATE TRANSACTIONAL TABLE emp (id int, name string, boss int, info struct<city:string,zip:int>);
CREATE TRANSACTIONAL TABLE dept (id int, title string, head int);
CREATE TRANSACTIONAL TABLE hr.emp (id int, wage decimal(10,2));
CREATE TABLE plain (id int, note string);
CREATE VIEW seen AS SELECT 1 AS id;

SELECT * FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT * FROM `emp@1` AS `emp`

SELECT id, name FROM emp WHERE id > 1 ORDER BY id LIMIT 3
--> rows
rows      SELECT id, name FROM `emp@1` AS `emp` WHERE id > 1 ORDER BY id NULLS LAST LIMIT 3

-- row__id.* gives the fields of row__id.
SELECT ROW__ID.*, e.row__id.*, e.info.*, e.* FROM emp e
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT `e`.`emp@1.row__id`.writeid, `e`.`emp@1.row__id`.bucketid, `e`.`emp@1.row__id`.rowid, `e`.`emp@1.row__id`.writeid, `e`.`emp@1.row__id`.bucketid, `e`.`emp@1.row__id`.rowid, e.info.*, e.* EXCEPT (`emp@1.row__id`) FROM `emp@1` AS e

SELECT row__id.* FROM plain
-->
[ROW_ID_OF_PLAIN_TABLE] default.plain has no row__id: it is not a transactional table
1 | SELECT row__id.* FROM plain
  |        ^^^^^^^

-- * does not contain row__id.
SELECT row__id, * FROM emp
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT `emp`.`emp@1.row__id` AS `row__id`, * EXCEPT (`emp@1.row__id`) FROM `emp@1` AS `emp`

SELECT row__id.writeid, e.row__id.rowid AS r, emp.row__id FROM emp e JOIN hr.emp ON e.id = emp.id
-->
[AMBIGUOUS_ROW_ID] row__id is ambiguous: more than one transactional table is in scope (default.emp, hr.emp)
1 | SELECT row__id.writeid, e.row__id.rowid AS r, emp.row__id FROM emp e JOIN hr.emp ON e.id = emp.id
  |        ^^^^^^^
Hint: Say which: e.row__id

SELECT ROW__ID, INPUT__FILE__NAME, name FROM emp ORDER BY ROW__ID
--> reads, rows
reads     emp@1: default.emp with row__id, INPUT__FILE__NAME
rows      SELECT `emp`.`emp@1.row__id` AS `row__id`, `emp`.`emp@1.input__file__name` AS `input__file__name`, name FROM `emp@1` AS `emp` ORDER BY ROW__ID NULLS LAST

SELECT e.*, d.row__id FROM emp e JOIN dept d ON e.id = d.head
--> reads, rows
reads     emp@1: default.emp
          dept@2: default.dept with row__id
rows      SELECT e.*, `d`.`dept@2.row__id` AS `row__id` FROM `emp@1` AS e JOIN `dept@2` AS d ON e.id = d.head

SELECT e.*, d.* FROM emp e JOIN dept d ON e.id = d.head WHERE e.row__id.writeid = 1 AND d.row__id.rowid < 5
--> reads, rows
reads     emp@1: default.emp with row__id
          dept@2: default.dept with row__id
rows      SELECT e.* EXCEPT (`emp@1.row__id`), d.* EXCEPT (`dept@2.row__id`) FROM `emp@1` AS e JOIN `dept@2` AS d ON e.id = d.head WHERE `e`.`emp@1.row__id`.writeid = 1 AND `d`.`dept@2.row__id`.rowid < 5

SELECT d.*, row__id FROM plain p JOIN dept d ON p.id = d.id
--> reads, rows
reads     plain@1: default.plain
          dept@2: default.dept with row__id
rows      SELECT d.* EXCEPT (`dept@2.row__id`), `d`.`dept@2.row__id` AS `row__id` FROM `plain@1` AS p JOIN `dept@2` AS d ON p.id = d.id

-- A self-join is two scans, each with its own row__id.
SELECT a.id, b.id FROM emp a JOIN emp b ON a.row__id = b.row__id
--> reads, rows
reads     emp@1: default.emp with row__id
          emp@2: default.emp with row__id
rows      SELECT a.id, b.id FROM `emp@1` AS a JOIN `emp@2` AS b ON `a`.`emp@1.row__id` = `b`.`emp@2.row__id`

SELECT count(*), count(DISTINCT row__id) FROM emp
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT count(*), count(DISTINCT `emp`.`emp@1.row__id`) FROM `emp@1` AS `emp`

SELECT row__id.writeid AS w, count(*) FROM emp GROUP BY row__id.writeid HAVING max(row__id.rowid) > 0
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT `emp`.`emp@1.row__id`.writeid AS w, count(*) FROM `emp@1` AS `emp` GROUP BY `emp`.`emp@1.row__id`.writeid HAVING max(`emp`.`emp@1.row__id`.rowid) > 0

WITH e AS (SELECT row__id AS rid, * FROM emp) SELECT rid, name FROM e
--> reads, rows
reads     emp@1: default.emp with row__id
rows      WITH e AS (SELECT `emp`.`emp@1.row__id` AS rid, * EXCEPT (`emp@1.row__id`) FROM `emp@1` AS `emp`) SELECT rid, name FROM e

-- A CTE that has the name of a table can read that table.
WITH emp AS (SELECT * FROM emp WHERE id = 1) SELECT * FROM emp
--> reads, rows
reads     emp@1: default.emp
rows      WITH emp AS (SELECT * FROM `emp@1` AS `emp` WHERE id = 1) SELECT * FROM emp

-- The names of CTEs ignore case.
WITH Dept AS (SELECT 1 AS id) SELECT * FROM dept d JOIN DEPT ON d.id = DEPT.id
--> reads, rows
reads     none
rows      WITH dept AS (SELECT 1 AS id) SELECT * FROM dept AS d JOIN dept ON d.id = dept.id

WITH dept AS (SELECT 1 AS id) SELECT * FROM default.dept JOIN dept AS c ON c.id = dept.id
--> reads, rows
reads     dept@1: default.dept
rows      WITH dept AS (SELECT 1 AS id) SELECT * FROM `dept@1` AS `dept` JOIN dept AS c ON c.id = dept.id

SELECT name FROM emp e WHERE EXISTS (SELECT 1 FROM dept d WHERE d.head = e.id AND e.row__id.writeid = 1)
--> reads, rows
reads     dept@1: default.dept
          emp@2: default.emp with row__id
rows      SELECT name FROM `emp@2` AS e WHERE EXISTS(SELECT 1 FROM `dept@1` AS d WHERE d.head = e.id AND `e`.`emp@2.row__id`.writeid = 1)

-- row__id in a subquery belongs to the subquery's table.
SELECT id FROM emp WHERE row__id IN (SELECT row__id FROM emp WHERE name = 'x')
--> reads, rows
reads     emp@1: default.emp with row__id
          emp@2: default.emp with row__id
rows      SELECT id FROM `emp@2` AS `emp` WHERE `emp`.`emp@2.row__id` IN (SELECT `emp`.`emp@1.row__id` AS `row__id` FROM `emp@1` AS `emp` WHERE name = 'x')

SELECT id, (SELECT max(d.title) FROM dept d WHERE d.head = emp.id) FROM emp
--> rows
rows      SELECT id, (SELECT max(d.title) FROM `dept@1` AS d WHERE d.head = emp.id) FROM `emp@2` AS `emp`

SELECT * FROM emp JOIN dept USING (id)
--> rows
rows      SELECT * FROM `emp@1` AS `emp` JOIN `dept@2` AS `dept` USING (id)

SELECT *, d.row__id FROM emp JOIN dept d USING (id)
--> reads, rows
reads     emp@1: default.emp
          dept@2: default.dept with row__id
rows      SELECT * EXCEPT (`dept@2.row__id`), `d`.`dept@2.row__id` AS `row__id` FROM `emp@1` AS `emp` JOIN `dept@2` AS d USING (id)

SELECT id FROM emp UNION ALL SELECT id FROM dept EXCEPT SELECT row__id.rowid FROM hr.emp
--> reads, rows
reads     emp@1: default.emp
          dept@2: default.dept
          emp@3: hr.emp with row__id
rows      SELECT id FROM `emp@1` AS `emp` UNION ALL SELECT id FROM `dept@2` AS `dept` EXCEPT SELECT `emp`.`emp@3.row__id`.rowid FROM `emp@3` AS `emp`

SELECT default.emp.name, hr.emp.wage FROM default.emp JOIN hr.emp ON default.emp.id = hr.emp.id
-->
[AMBIGUOUS_TABLE_ALIAS] [Error 10008] Ambiguous table alias 'emp'
1 | SELECT default.emp.name, hr.emp.wage FROM default.emp JOIN hr.emp ON default.emp.id = hr.emp.id
  |                                                            ^^^^^^
Hint: Give one of them an alias of its own.

SELECT hr.emp.row__id, wage FROM hr.emp
--> reads, rows
reads     emp@1: hr.emp with row__id
rows      SELECT `emp`.`emp@1.row__id` AS `row__id`, wage FROM `emp@1` AS `emp`

SELECT emp.info.city, info.zip FROM emp WHERE emp.info.zip = 1
--> rows
rows      SELECT emp.info.city, info.zip FROM `emp@1` AS `emp` WHERE emp.info.zip = 1

SELECT * FROM emp, dept WHERE emp.id = dept.head
--> rows
rows      SELECT * FROM `emp@1` AS `emp` CROSS JOIN `dept@2` AS `dept` WHERE emp.id = dept.head

SELECT * FROM emp LEFT JOIN LATERAL (SELECT title FROM dept WHERE dept.head = emp.id) x ON true
--> rows
rows      SELECT * FROM `emp@2` AS `emp` LEFT JOIN LATERAL (SELECT title FROM `dept@1` AS `dept` WHERE dept.head = emp.id) AS x ON TRUE

SELECT id, piece FROM emp LATERAL VIEW explode(split(name, ' ')) pieces AS piece
--> rows
rows      SELECT id, piece FROM `emp@1` AS `emp` LATERAL VIEW explode(split(name, ' ')) pieces AS piece

SELECT * FROM (SELECT id, row__id AS r FROM emp) x JOIN (SELECT * FROM dept) y ON x.id = y.id
--> reads, rows
reads     emp@1: default.emp with row__id
          dept@2: default.dept
rows      SELECT * FROM (SELECT id, `emp`.`emp@1.row__id` AS r FROM `emp@1` AS `emp`) AS x JOIN (SELECT * FROM `dept@2` AS `dept`) AS y ON x.id = y.id

SELECT * FROM {new} n JOIN emp ON n.id = emp.id
--> reads, rows
reads     emp@1: default.emp
          new@frame: {new}
rows      SELECT * FROM `new@frame` AS n JOIN `emp@1` AS `emp` ON n.id = emp.id

SELECT n.*, row__id FROM {new} n JOIN emp ON n.id = emp.id
--> reads, rows
reads     emp@1: default.emp with row__id
          new@frame: {new}
rows      SELECT n.*, `emp`.`emp@1.row__id` AS `row__id` FROM `new@frame` AS n JOIN `emp@1` AS `emp` ON n.id = emp.id

SELECT * FROM seen JOIN emp ON seen.id = emp.id
--> reads, rows
reads     emp@1: default.emp
rows      SELECT * FROM seen JOIN `emp@1` AS `emp` ON seen.id = emp.id

SELECT * FROM plain
--> rows
rows      SELECT * FROM `plain@1` AS `plain`

VALUES (1, 'a'), (2, 'b')
--> rows
rows      SELECT * FROM VALUES (1, 'a'), (2, 'b') AS _values

SELECT 1 AS one
--> rows
rows      SELECT 1 AS one

SELECT count(*) OVER (PARTITION BY boss ORDER BY row__id.rowid) FROM emp
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT count(*) OVER (PARTITION BY boss ORDER BY `emp`.`emp@1.row__id`.rowid NULLS LAST) FROM `emp@1` AS `emp`

EXPLAIN LOCKS SELECT * FROM emp a JOIN emp b ON a.id = b.boss JOIN hr.emp ON a.id = emp.id
-->
LOCK INFORMATION:
default.emp -> SHARED_READ
hr.emp -> SHARED_READ

SELECT row__id FROM plain
-->
[ROW_ID_OF_PLAIN_TABLE] default.plain has no row__id: it is not a transactional table
1 | SELECT row__id FROM plain
  |        ^^^^^^^

SELECT p.row__id FROM plain p JOIN emp ON p.id = emp.id
-->
[ROW_ID_OF_PLAIN_TABLE] default.plain has no row__id: it is not a transactional table
1 | SELECT p.row__id FROM plain p JOIN emp ON p.id = emp.id
  |        ^^^^^^^^^

-- The ON of a semi join sees the right side.
SELECT id FROM emp LEFT SEMI JOIN default.dept ON emp.row__id.writeid = default.dept.row__id.writeid
--> reads, rows
reads     emp@1: default.emp with row__id
          dept@2: default.dept with row__id
rows      SELECT id FROM `emp@1` AS `emp` LEFT SEMI JOIN `dept@2` AS `dept` ON `emp`.`emp@1.row__id`.writeid = `dept`.`dept@2.row__id`.writeid

SELECT row__id FROM emp LEFT ANTI JOIN dept ON emp.id = dept.head
--> reads, rows
reads     emp@1: default.emp with row__id
          dept@2: default.dept
rows      SELECT `emp`.`emp@1.row__id` AS `row__id` FROM `emp@1` AS `emp` LEFT ANTI JOIN `dept@2` AS `dept` ON emp.id = dept.head

SELECT * FROM emp, LATERAL (SELECT title, emp.row__id AS r FROM dept WHERE dept.head = emp.id) x
--> reads, rows
reads     dept@1: default.dept
          emp@2: default.emp with row__id
rows      SELECT * EXCEPT (`emp@2.row__id`) FROM `emp@2` AS `emp` CROSS JOIN LATERAL (SELECT title, `emp`.`emp@2.row__id` AS r FROM `dept@1` AS `dept` WHERE dept.head = emp.id) AS x

SELECT e.row__id, d.* FROM (emp e JOIN dept d ON e.id = d.head)
--> reads, rows
reads     emp@1: default.emp with row__id
          dept@2: default.dept
rows      SELECT `e`.`emp@1.row__id` AS `row__id`, d.* FROM (`emp@1` AS e JOIN `dept@2` AS d ON e.id = d.head)

(SELECT row__id FROM emp ORDER BY row__id LIMIT 1) UNION ALL (SELECT row__id FROM dept)
--> reads, rows
reads     emp@1: default.emp with row__id
          dept@2: default.dept with row__id
rows      (SELECT `emp`.`emp@1.row__id` AS `row__id` FROM `emp@1` AS `emp` ORDER BY row__id NULLS LAST LIMIT 1) UNION ALL (SELECT `dept`.`dept@2.row__id` AS `row__id` FROM `dept@2` AS `dept`)

SELECT rank() OVER w FROM emp WINDOW w AS (PARTITION BY row__id.writeid ORDER BY row__id.rowid)
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT rank() OVER w FROM `emp@1` AS `emp` WINDOW w AS (PARTITION BY `emp`.`emp@1.row__id`.writeid ORDER BY `emp`.`emp@1.row__id`.rowid NULLS LAST)

SELECT id FROM emp DISTRIBUTE BY row__id.bucketid SORT BY row__id.rowid
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT id FROM `emp@1` AS `emp` DISTRIBUTE BY `emp`.`emp@1.row__id`.bucketid SORT BY `emp`.`emp@1.row__id`.rowid NULLS LAST

SELECT id FROM emp WHERE exists(array(1, 2), row__id -> row__id > id)
--> rows
rows      SELECT id FROM `emp@1` AS `emp` WHERE exists(array(1, 2), row__id -> row__id > id)

SELECT `Id`, `emp`.`NAME`, EMP.boss AS `select` FROM `EMP` WHERE `emp`.`Id` = 1
--> rows
rows      SELECT `Id`, `emp`.`NAME`, emp.boss AS `select` FROM `emp@1` AS `emp` WHERE `emp`.`Id` = 1

SELECT * FROM emp WHERE id IN (SELECT head FROM dept WHERE title IN (SELECT name FROM hr.emp))
--> reads, rows
reads     emp@1: hr.emp
          dept@2: default.dept
          emp@3: default.emp
rows      SELECT * FROM `emp@3` AS `emp` WHERE id IN (SELECT head FROM `dept@2` AS `dept` WHERE title IN (SELECT name FROM `emp@1` AS `emp`))

WITH a AS (SELECT * FROM emp), b AS (SELECT * FROM a JOIN dept USING (id)) SELECT * FROM a UNION SELECT * FROM a
--> reads, rows
reads     emp@1: default.emp
          dept@2: default.dept
rows      WITH a AS (SELECT * FROM `emp@1` AS `emp`), b AS (SELECT * FROM a JOIN `dept@2` AS `dept` USING (id)) SELECT * FROM a UNION SELECT * FROM a

WITH new AS (SELECT 1 AS id) SELECT * FROM {new} f JOIN new ON f.id = new.id
--> reads, rows
reads     new@frame: {new}
rows      WITH new AS (SELECT 1 AS id) SELECT * FROM `new@frame` AS f JOIN new ON f.id = new.id

WITH RECURSIVE r AS (SELECT id, boss FROM emp WHERE boss IS NULL UNION ALL SELECT e.id, e.boss FROM emp e JOIN r ON e.boss = r.id) SELECT * FROM r
--> reads, rows
reads     emp@1: default.emp
          emp@2: default.emp
rows      WITH RECURSIVE r AS (SELECT id, boss FROM `emp@1` AS `emp` WHERE boss IS NULL UNION ALL SELECT e.id, e.boss FROM `emp@2` AS e JOIN r ON e.boss = r.id) SELECT * FROM r

SELECT * FROM emp e JOIN dept E ON e.id = E.head
-->
[AMBIGUOUS_TABLE_ALIAS] [Error 10008] Ambiguous table alias 'e'
1 | SELECT * FROM emp e JOIN dept E ON e.id = E.head
  |                          ^^^^^^
Hint: Give one of them an alias of its own.

SELECT id FROM emp WHERE name = :name AND boss = :boss
--> rows
rows      SELECT id FROM `emp@1` AS `emp` WHERE name = :name AND boss = :boss

-- Comments and strings that look like names are no names.
SELECT 'row__id' AS x, "emp.row__id" /* row__id */ FROM emp -- row__id
--> reads, rows
reads     emp@1: default.emp, only counted
rows      SELECT 'row__id' AS x, 'emp.row__id' FROM `emp@1` AS `emp`

USE hr

SELECT wage, title FROM emp JOIN default.dept ON emp.id = dept.id
--> reads, rows
reads     emp@1: hr.emp
          dept@2: default.dept
rows      SELECT wage, title FROM `emp@1` AS `emp` JOIN `dept@2` AS `dept` ON emp.id = dept.id

SELECT name FROM dept
-->
[TABLE_NOT_FOUND] [Error 10001] Table not found 'dept' Did you mean emp?
1 | SELECT name FROM dept
  |                  ^^^^

USE default

SELECT DISTINCT ROW__ID FROM emp ORDER BY row__id, emp.row__id.rowid
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT DISTINCT `emp`.`emp@1.row__id` AS `row__id` FROM `emp@1` AS `emp` ORDER BY row__id NULLS LAST, `emp`.`emp@1.row__id`.rowid NULLS LAST

SELECT row__id.rowid AS row__id FROM emp ORDER BY row__id DESC
--> reads, rows
reads     emp@1: default.emp with row__id
rows      SELECT `emp`.`emp@1.row__id`.rowid AS row__id FROM `emp@1` AS `emp` ORDER BY row__id DESC NULLS FIRST

SELECT a, row__id, INPUT__FILE__NAME, x.* FROM emp AS x(a, b, c, d)
--> reads, rows
reads     emp@1: default.emp with row__id, INPUT__FILE__NAME
rows      SELECT a, `x`.`emp@1.row__id` AS `row__id`, `x`.`emp@1.input__file__name` AS `input__file__name`, x.* EXCEPT (`emp@1.row__id`, `emp@1.input__file__name`) FROM `emp@1` AS x(a, b, c, d, `emp@1.row__id`, `emp@1.input__file__name`)

SELECT count(*) FROM emp JOIN dept ON NULL WHERE (NULL) GROUP BY emp.id HAVING NULL
--> rows
rows      SELECT count(*) FROM `emp@1` AS `emp` JOIN `dept@2` AS `dept` ON CAST(NULL AS BOOLEAN) WHERE CAST(NULL AS BOOLEAN) GROUP BY emp.id HAVING CAST(NULL AS BOOLEAN)

SELECT count(*) AS n, 'all' FROM emp
--> reads, rows
reads     emp@1: default.emp, only counted
rows      SELECT count(*) AS n, 'all' FROM `emp@1` AS `emp`

SELECT (SELECT count(1) FROM emp) + max(id) FROM dept WHERE EXISTS (SELECT 7 FROM emp)
--> reads, rows
reads     emp@1: default.emp, only counted
          emp@2: default.emp, only counted
          dept@3: default.dept
rows      SELECT (SELECT count(1) FROM `emp@1` AS `emp`) + max(id) FROM `dept@3` AS `dept` WHERE EXISTS(SELECT 7 FROM `emp@2` AS `emp`)
