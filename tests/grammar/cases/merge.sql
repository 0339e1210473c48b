MERGE INTO employee AS A USING employee_update AS B ON A.id = B.id WHEN MATCHED THEN UPDATE SET salary = B.salary WHEN NOT MATCHED THEN INSERT VALUES (B.id, B.name, B.salary);
-->
Merge(target=employee, alias=a, using=employee_update AS B, on=A.id = B.id, clauses=[MergeClause(when=MATCHED, condition=None, action=MergeUpdate(assignments=[Assignment(column=salary, value=B.salary)])), MergeClause(when=NOT MATCHED, condition=None, action=MergeInsert(columns=None, values=[B.id, B.name, B.salary]))])
tables: employee employee_update

MERGE INTO db.t USING {new} s ON t.id = s.id AND t.d <=> s.d WHEN MATCHED AND s.x > 1 THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.a = 1 THEN UPDATE SET t.a = DEFAULT, db.t.b = `default` WHEN NOT MATCHED BY TARGET THEN INSERT * 
-->
Merge(target=db.t, alias=None, using=`new` AS s, on=t.id = s.id AND t.d <=> s.d, clauses=[MergeClause(when=MATCHED, condition=s.x > 1, action=MergeDelete()), MergeClause(when=NOT MATCHED BY SOURCE, condition=t.a = 1, action=MergeUpdate(assignments=[Assignment(column=a, value=DEFAULT), Assignment(column=b, value=`default`)])), MergeClause(when=NOT MATCHED, condition=None, action=MergeInsert(columns=None, values=None))])
tables: db.t

MERGE INTO t USING (VALUES (1, 2)) AS s(a, b) ON t.a = s.a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, DEFAULT) WHEN MATCHED THEN UPDATE SET *
-->
Merge(target=t, alias=None, using=VALUES (1, 2) AS s(a, b), on=t.a = s.a, clauses=[MergeClause(when=NOT MATCHED, condition=None, action=MergeInsert(columns=[a, b], values=[s.a, DEFAULT])), MergeClause(when=MATCHED, condition=None, action=MergeUpdate(assignments=None))])
tables: t

MERGE INTO t USING (SELECT * FROM {x}) s ON t.a = s.a WHEN MATCHED THEN DELETE
-->
Merge(target=t, alias=None, using=(SELECT * FROM `x`) AS s, on=t.a = s.a, clauses=[MergeClause(when=MATCHED, condition=None, action=MergeDelete())])
tables: t

WITH c AS (SELECT 1 AS a) MERGE INTO t USING c ON t.a = c.a WHEN MATCHED THEN DELETE
-->
Merge(target=t, alias=None, using=c, on=t.a = c.a, clauses=[MergeClause(when=MATCHED, condition=None, action=MergeDelete())], ctes=WITH c AS (SELECT 1 AS a))
tables: t

MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE
-->
Merge(target=t, alias=None, using=s, on=t.a = s.a, clauses=[MergeClause(when=MATCHED, condition=None, action=MergeDelete())], evolves=True)
tables: t s
