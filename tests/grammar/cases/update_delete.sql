UPDATE employee SET salary = 7000 WHERE id = 2;
-->
Update(target=employee, alias=None, assignments=[Assignment(column=salary, value=7000)], where=id = 2)
tables: employee

DELETE FROM employee WHERE id = 1;
-->
Delete(target=employee, alias=None, where=id = 1)
tables: employee

WITH c AS (SELECT * FROM x) UPDATE t SET a = (SELECT max(b) FROM c) WHERE t.b IN (SELECT c FROM c.c)
-->
Update(target=t, alias=None, assignments=[Assignment(column=a, value=(SELECT max(b) FROM c))], where=t.b IN (SELECT c FROM c.c), ctes=WITH c AS (SELECT * FROM x))
tables: t x c.c

UPDATE t AS x SET x.a = x.a + 1, b = CASE WHEN a = 1 THEN 2 ELSE 3 END
-->
Update(target=t, alias=x, assignments=[Assignment(column=a, value=x.a + 1), Assignment(column=b, value=CASE WHEN a = 1 THEN 2 ELSE 3 END)], where=None)
tables: t

UPDATE t x SET a = 'x' WHERE EXISTS (SELECT 1 FROM s WHERE s.a = x.a)
-->
Update(target=t, alias=x, assignments=[Assignment(column=a, value='x')], where=EXISTS(SELECT 1 FROM s WHERE s.a = x.a))
tables: t s

UPDATE db.t SET db.t.a = default WHERE b NOT IN (1, 2) AND NOT c
-->
Update(target=db.t, alias=None, assignments=[Assignment(column=a, value=DEFAULT)], where=NOT b IN (1, 2) AND NOT c)
tables: db.t

DELETE FROM t x WHERE x.a IN (WITH c AS (SELECT a FROM s) SELECT a FROM c)
-->
Delete(target=t, alias=x, where=x.a IN (WITH c AS (SELECT a FROM s) SELECT a FROM c))
tables: t s

WITH c AS (SELECT 1 AS a) DELETE FROM t WHERE a IN (SELECT a FROM c)
-->
Delete(target=t, alias=None, where=a IN (SELECT a FROM c), ctes=WITH c AS (SELECT 1 AS a))
tables: t
