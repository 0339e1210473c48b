SELECT 1
-->
Query(tree=SELECT 1)

SELECT row__id, * FROM employee ORDER BY id;
-->
Query(tree=SELECT row__id, * FROM employee ORDER BY id)
tables: employee

FROM s SELECT a
-->
Query(tree=SELECT a FROM s)
tables: s

SELECT * FROM {new} n JOIN t ON n.a = t.a WHERE a = :p AND b = ?
-->
Query(tree=SELECT * FROM `new` AS n JOIN t ON n.a = t.a WHERE a = :p AND b = ?)
tables: t

WITH t AS (SELECT * FROM t) SELECT * FROM t
-->
Query(tree=WITH t AS (SELECT * FROM t) SELECT * FROM t)
tables: t

WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a, b, c
-->
Query(tree=WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a CROSS JOIN b CROSS JOIN c)
tables: b c

SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) y JOIN x ON 1 = 1
-->
Query(tree=SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) AS y JOIN x ON 1 = 1)
tables: x

SELECT * FROM a WHERE b IN (SELECT c FROM a.b) UNION SELECT * FROM A
-->
Query(tree=SELECT * FROM a WHERE b IN (SELECT c FROM a.b) UNION SELECT * FROM A)
tables: a a.b

SELECT * FROM range(10)
-->
Query(tree=SELECT * FROM range(10))

SELECT a FROM t TABLESAMPLE (10 PERCENT) s
-->
Query(tree=SELECT a FROM t TABLESAMPLE (10 PERCENT) AS s)
tables: t

SELECT 1;;
-->
Query(tree=SELECT 1)

SELECT a FROM t INNR JOIN s ON t.a = s.a
-->
Query(tree=SELECT a FROM t AS INNR JOIN s ON t.a = s.a)
tables: t s

SELECT DISTINT a FROM t
-->
Query(tree=SELECT DISTINT AS a FROM t)
tables: t

SELECT "a" FROM t AS `b c`
-->
Query(tree=SELECT 'a' FROM t AS `b c`)
tables: t

SELECT /*+ MAPJOIN(t) */ * FROM t
-->
Query(tree=SELECT /*+ MAPJOIN(t) */ * FROM t)
tables: t

SELECT a.* FROM t a WHERE a.b LIKE 'x\_y'
-->
Query(tree=SELECT a.* FROM t AS a WHERE a.b LIKE 'x\\_y')
tables: t

SELECT * FROM t WHERE INPUT__FILE__NAME LIKE '%x' AND row__id.writeid > 3
-->
Query(tree=SELECT * FROM t WHERE INPUT__FILE__NAME LIKE '%x' AND row__id.writeid > 3)
tables: t

SELECT TRANSFORM(a) USING 'cat' FROM t
-->
[NOT_YET_SUPPORTED] TRANSFORM .. USING is not yet supported by acidsql.
1 | SELECT TRANSFORM(a) USING 'cat' FROM t
  |                  ^^^^^^^^^^^^^^

SELECT * FROM ONLY t
-->
Query(tree=SELECT * FROM ONLY AS t)
tables: only

SELECT * FROM (SHOW TABLES)
-->
Query(tree=SELECT * FROM (SHOW AS TABLES))
tables: show

SELECT * FROM t, LATERAL explode(a) x
-->
Query(tree=SELECT * FROM t CROSS JOIN LATERAL explode(a) AS x)
tables: t

SELECT a FROM t ORDER BY a NULLS FIRST
-->
Query(tree=SELECT a FROM t ORDER BY a)
tables: t

SELECT a IS DISTINCT FROM b FROM t
-->
Query(tree=SELECT a IS DISTINCT FROM b FROM t)
tables: t

SELECT x FROM t WHERE (a, b) IN (SELECT 1, 2)
-->
Query(tree=SELECT x FROM t WHERE (a, b) IN (SELECT 1, 2))
tables: t

SELECT * EXCLUDE (a) FROM t
-->
Query(tree=SELECT * EXCEPT (a) FROM t)
tables: t

SELECT a AS 'x' FROM t
-->
Query(tree=SELECT a AS `x` FROM t)
tables: t

SELECT COLUMNS('a') FROM t
-->
Query(tree=SELECT COLUMNS('a') FROM t)
tables: t

SELECT a FROM t1 UNION ALL BY NAME SELECT b FROM t2
-->
Query(tree=SELECT a FROM t1 UNION ALL BY NAME SELECT b FROM t2)
tables: t1 t2

SELECT CAST(a AS STRUCT<a: INT>), CAST(b AS MAP<STRING, INT>) FROM t
-->
Query(tree=SELECT CAST(a AS STRUCT<a: INT>), CAST(b AS MAP<STRING, INT>) FROM t)
tables: t

SELECT TRY_CAST(a AS INT), a << 2 FROM t
-->
Query(tree=SELECT TRY_CAST(a AS INT), a << 2 FROM t)
tables: t

SELECT f(DISTINCT a ORDER BY b) FROM t
-->
Query(tree=SELECT f(DISTINCT a ORDER BY b) FROM t)
tables: t

SELECT f(a => 1) FROM t
-->
Query(tree=SELECT f(a => 1) FROM t)
tables: t

SELECT a FROM t WHERE a LIKE 'x' ESCAPE '/'
-->
Query(tree=SELECT a FROM t WHERE a LIKE 'x' ESCAPE '/')
tables: t

SELECT count(*) FILTER (WHERE a > 1), sum(a) OVER w FROM t WINDOW w AS (ORDER BY b RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING)
-->
Query(tree=SELECT count(*) FILTER(WHERE a > 1), sum(a) OVER w FROM t WINDOW w AS (ORDER BY b RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING))
tables: t

SELECT EXTRACT(YEAR FROM d), FLOOR(d TO DAY), CEIL(a), TRIM(LEADING 'x' FROM a) FROM t
-->
Query(tree=SELECT EXTRACT(YEAR FROM d), FLOOR(d TO DAY), CEIL(a), TRIM(LEADING 'x' FROM a) FROM t)
tables: t

SELECT IF(a, 1, 2), IF FROM t
-->
Query(tree=SELECT IF(a, 1, 2), IF FROM t)
tables: t

SELECT date, timestamp, year, comment, first, last, rows, key, value, user, type, filter, percent, format, set FROM t
-->
Query(tree=SELECT date, timestamp, year, comment, first, last, rows, key, value, user, type, filter, percent, format, set FROM t)
tables: t

SELECT left, right, semi, anti FROM t
-->
Query(tree=SELECT left, right, semi, anti FROM t)
tables: t

SELECT t.date, t.order FROM t
-->
Query(tree=SELECT t.date, t.order FROM t)
tables: t

SELECT INTERVAL '1' DAY + INTERVAL '2' HOUR, d + INTERVAL 3 MONTHS FROM t
-->
Query(tree=SELECT INTERVAL '1' DAY + INTERVAL '2' HOUR, d + INTERVAL '3' MONTHS FROM t)
tables: t

SELECT - 1, +1, - - 1, 1 - -1
-->
Query(tree=SELECT -1, 1, - -1, 1 - -1)

SELECT 1e5, 1E-5, 1., .5, 0x1F, 1_000
-->
Query(tree=SELECT 1e5, 1E-5, 1., .5, 0x1F, 1_000)

SELECT a.1b FROM t
-->
Query(tree=SELECT a.1b FROM t)
tables: t

SELECT 'a' 'b', "x""y", 'it''s'
-->
Query(tree=SELECT 'ab', 'xy', 'its')

SELECT a FROM t LATERAL VIEW explode(a) AS x
-->
Query(tree=SELECT a FROM t LATERAL VIEW explode(a) AS x)
tables: t

SELECT a FROM t LATERAL VIEW explode(a) e
-->
Query(tree=SELECT a FROM t LATERAL VIEW explode(a) e)
tables: t

SELECT a FROM t UNPIVOT (v FOR n IN (a, b))
-->
Query(tree=SELECT a FROM t UNPIVOT(v FOR n IN (a, b)))
tables: t

SELECT 1 = 1 = 1
-->
Query(tree=SELECT 1 = 1 = 1)

SELECT NOT a = b, NOT a IS NULL
-->
Query(tree=SELECT NOT a = b, NOT a IS NULL)

SELECT a FROM t WHERE EXISTS(SELECT 1) AND NOT EXISTS (SELECT 2)
-->
Query(tree=SELECT a FROM t WHERE EXISTS(SELECT 1) AND NOT EXISTS(SELECT 2))
tables: t

SELECT a FROM t HAVING a > 1
-->
Query(tree=SELECT a FROM t HAVING a > 1)
tables: t

SELECT ALL a, b FROM t GROUP BY 1, 2 HAVING count(1) > 2 ORDER BY 1 LIMIT 5
-->
Query(tree=SELECT a, b FROM t GROUP BY 1, 2 HAVING count(1) > 2 ORDER BY 1 LIMIT 5)
tables: t

SELECT (a).b, (SELECT 1).x FROM t
-->
Query(tree=SELECT (a).b, (SELECT 1).x FROM t)
tables: t

SELECT a.*, b.* EXCEPT (x) FROM a JOIN b
-->
Query(tree=SELECT a.*, b.* EXCEPT (x) FROM a CROSS JOIN b)
tables: a b

SELECT /*+ REPARTITION(3) */ /* c */ a -- d
-->
Query(tree=SELECT /*+ REPARTITION(3) */ a)

SELECT row_number() OVER () FROM t
-->
Query(tree=SELECT row_number() OVER () FROM t)
tables: t

SELECT :a AS b, a = :b, :c.d, f(:e), ?
-->
Query(tree=SELECT :a AS b, a = :b, :c.d, f(:e), ?)

SELECT a FROM t LIMIT :n
-->
Query(tree=SELECT a FROM t LIMIT :n)
tables: t

SELECT INTERVAL :x DAY
-->
Query(tree=SELECT INTERVAL (:x) DAY)
