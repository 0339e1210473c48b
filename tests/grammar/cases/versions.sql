SELECT * FROM t VERSION AS OF 3
-->
Query(tree=SELECT * FROM t VERSION AS OF 3)
tables: t

SELECT * FROM t FOR VERSION AS OF 3 AS x JOIN d.t FOR SYSTEM_VERSION AS OF :v y ON x.id = y.id
-->
Query(tree=SELECT * FROM t VERSION AS OF 3 AS x JOIN d.t VERSION AS OF :v AS y ON x.id = y.id)
tables: t d.t

SELECT * FROM t TIMESTAMP AS OF '2026-11-01 00:00:00', t FOR SYSTEM_TIME AS OF DATE '2026-11-01' x
-->
Query(tree=SELECT * FROM t TIMESTAMP AS OF '2026-11-01 00:00:00' CROSS JOIN t TIMESTAMP AS OF DATE '2026-11-01' AS x)
tables: t

SELECT * FROM t version, u timestamp WHERE version.id = timestamp.id
-->
Query(tree=SELECT * FROM t AS version CROSS JOIN u AS timestamp WHERE version.id = timestamp.id)
tables: t u

MERGE INTO t USING t VERSION AS OF 3 s ON t.id = s.id WHEN MATCHED THEN DELETE
-->
Merge(target=t, alias=None, using=t VERSION AS OF 3 AS s, on=t.id = s.id, clauses=[MergeClause(when=MATCHED, condition=None, action=MergeDelete())])
tables: t

FROM t VERSION AS OF 3 x INSERT INTO u SELECT *
-->
MultiInsert(scanned=t VERSION AS OF 3 AS x, branches=[Insert(target=u, rows=SELECT *)])
tables: u t

SELECT * FROM t FOR VERSION 3
-->
[PARSE_SYNTAX_ERROR] Syntax error near '3': expected AS OF after VERSION
1 | SELECT * FROM t FOR VERSION 3
  |                             ^

SELECT * FROM t VERSION AS OF
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: a value is missing after AS OF
1 | SELECT * FROM t VERSION AS OF
  |                              ^

UPDATE t VERSION AS OF 3 SET a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VERSION': a version stands directly behind the name of a table that is only read
1 | UPDATE t VERSION AS OF 3 SET a = 1
  |          ^^^^^^^

DELETE FROM t FOR SYSTEM_VERSION AS OF 3 WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOR': a version stands directly behind the name of a table that is only read
1 | DELETE FROM t FOR SYSTEM_VERSION AS OF 3 WHERE a = 1
  |               ^^^

INSERT INTO t VERSION AS OF 3 SELECT 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VERSION': a version stands directly behind the name of a table that is only read
1 | INSERT INTO t VERSION AS OF 3 SELECT 1
  |               ^^^^^^^

MERGE INTO t VERSION AS OF 3 USING s ON t.id = s.id WHEN MATCHED THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VERSION': a version stands directly behind the name of a table that is only read
1 | MERGE INTO t VERSION AS OF 3 USING s ON t.id = s.id WHEN MATCHED THEN DELETE
  |              ^^^^^^^

SELECT * FROM t x VERSION AS OF 3
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VERSION': a version stands directly behind the name of a table that is only read
1 | SELECT * FROM t x VERSION AS OF 3
  |                   ^^^^^^^

SELECT * FROM (SELECT 1) VERSION AS OF 3
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VERSION': a version stands directly behind the name of a table that is only read
1 | SELECT * FROM (SELECT 1) VERSION AS OF 3
  |                          ^^^^^^^

RESTORE TABLE d.t TO VERSION AS OF 5
-->
RestoreTable(table=d.t, version=VERSION AS OF 5)
tables: d.t

RESTORE t TO TIMESTAMP AS OF '2026-11-01 00:00:00'
-->
RestoreTable(table=t, version=TIMESTAMP AS OF '2026-11-01 00:00:00')
tables: t

EXPLAIN RESTORE TABLE t TO VERSION AS OF :v
-->
Explain(statement=RestoreTable(table=t, version=VERSION AS OF :v))
tables: t

RESTORE TABLE t PARTITION (p = 1) TO VERSION AS OF 1
-->
[NOT_YET_SUPPORTED] RESTORE of single partitions is not yet supported by acidsql.
1 | RESTORE TABLE t PARTITION (p = 1) TO VERSION AS OF 1
  |                 ^^^^^^^^^^^^^^^^^
Hint: INSERT OVERWRITE TABLE t PARTITION (..) SELECT .. FROM t VERSION AS OF n WHERE .. restores a partition.

RESTORE TABLE t VERSION AS OF 5
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VERSION': expected '.', PARTITION or TO
1 | RESTORE TABLE t VERSION AS OF 5
  |                 ^^^^^^^

RESTORE TABLE t TO VERSION 5
-->
[PARSE_SYNTAX_ERROR] Syntax error near '5': expected AS
1 | RESTORE TABLE t TO VERSION 5
  |                            ^

RESTOR TABLE t TO VERSION AS OF 5
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'RESTOR': did you mean RESTORE?
1 | RESTOR TABLE t TO VERSION AS OF 5
  | ^^^^^^

SELECT * FROM t CHANGES FROM VERSION 5 TO VERSION 9 AS x JOIN d.t CHANGES FROM VERSION :v y ON x.id = y.id
-->
Query(tree=SELECT * FROM t CHANGES FROM VERSION 5 TO VERSION 9 AS x JOIN d.t CHANGES FROM VERSION :v AS y ON x.id = y.id)
tables: t d.t

SELECT * FROM t changes JOIN u changed ON changes.id = changed.id
-->
Query(tree=SELECT * FROM t AS changes JOIN u AS changed ON changes.id = changed.id)
tables: t u

SELECT * FROM t CHANGES FROM TIMESTAMP '2026-11-01' TO TIMESTAMP '2026-11-02'
-->
Query(tree=SELECT * FROM t CHANGES FROM TIMESTAMP '2026-11-01' TO TIMESTAMP '2026-11-02')
tables: t

MERGE INTO t USING t CHANGES FROM VERSION 3 s ON t.id = s.id WHEN MATCHED THEN DELETE
-->
Merge(target=t, alias=None, using=t CHANGES FROM VERSION 3 AS s, on=t.id = s.id, clauses=[MergeClause(when=MATCHED, condition=None, action=MergeDelete())])
tables: t

FROM t CHANGES FROM VERSION 2 TO VERSION 3 x INSERT INTO u SELECT *
-->
MultiInsert(scanned=t CHANGES FROM VERSION 2 TO VERSION 3 AS x, branches=[Insert(target=u, rows=SELECT *)])
tables: u t

SELECT * FROM t CHANGES FROM SYSTEM_VERSION 5 EXCLUSIVE TO SYSTEM_VERSION 9 INCLUSIVE WITH ('deduplicationMode' = 'netChanges', computeUpdates = true, rowId = 'id') c
-->
Query(tree=SELECT * FROM t CHANGES FROM VERSION 5 EXCLUSIVE TO VERSION 9 WITH ('deduplicationMode' = 'netChanges', 'computeUpdates' = TRUE, 'rowId' = 'id') AS c)
tables: t

SELECT * FROM t CHANGES FROM SYSTEM_TIME '2026-11-01' TO TIMESTAMP '2026-11-02' EXCLUSIVE, u
-->
Query(tree=SELECT * FROM t CHANGES FROM TIMESTAMP '2026-11-01' TO TIMESTAMP '2026-11-02' EXCLUSIVE CROSS JOIN u)
tables: t u

SELECT * FROM t CHANGES FROM VERSION 3 TO TIMESTAMP '2026-11-02'
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'TIMESTAMP': expected VERSION after TO of CHANGES FROM VERSION
1 | SELECT * FROM t CHANGES FROM VERSION 3 TO TIMESTAMP '2026-11-02'
  |                                           ^^^^^^^^^

SELECT * FROM t CHANGES FROM VERSION 3 WITH ()
-->
[PARSE_SYNTAX_ERROR] Syntax error near ')': expected an option, 'key' = 'value', after WITH of CHANGES
1 | SELECT * FROM t CHANGES FROM VERSION 3 WITH ()
  |                                              ^

SELECT * FROM t CHANGES FROM VERSION 3 WITH ('a' 'b')
-->
[PARSE_SYNTAX_ERROR] Syntax error near ')': expected an option, 'key' = 'value', after WITH of CHANGES
1 | SELECT * FROM t CHANGES FROM VERSION 3 WITH ('a' 'b')
  |                                                     ^

SELECT * FROM t CHANGES FROM VERSION 3 WITH ('a' = 'b'
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected an option, 'key' = 'value', after WITH of CHANGES
1 | SELECT * FROM t CHANGES FROM VERSION 3 WITH ('a' = 'b'
  |                                                       ^

SELECT * FROM t CHANGES FROM VERSION
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: a value is missing after VERSION
1 | SELECT * FROM t CHANGES FROM VERSION
  |                                     ^

SELECT * FROM t CHANGES FROM VERSION 3 TO 5
-->
[PARSE_SYNTAX_ERROR] Syntax error near '5': expected VERSION after TO of CHANGES FROM VERSION
1 | SELECT * FROM t CHANGES FROM VERSION 3 TO 5
  |                                           ^

UPDATE t CHANGES FROM VERSION 3 SET a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | UPDATE t CHANGES FROM VERSION 3 SET a = 1
  |          ^^^^^^^

DELETE FROM t CHANGES FROM VERSION 3 TO VERSION 4 WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | DELETE FROM t CHANGES FROM VERSION 3 TO VERSION 4 WHERE a = 1
  |               ^^^^^^^

INSERT INTO t CHANGES FROM VERSION 3 SELECT 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | INSERT INTO t CHANGES FROM VERSION 3 SELECT 1
  |               ^^^^^^^

MERGE INTO t CHANGES FROM VERSION 3 USING s ON t.id = s.id WHEN MATCHED THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | MERGE INTO t CHANGES FROM VERSION 3 USING s ON t.id = s.id WHEN MATCHED THEN DELETE
  |              ^^^^^^^

SELECT * FROM t x CHANGES FROM VERSION 3
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | SELECT * FROM t x CHANGES FROM VERSION 3
  |                   ^^^^^^^

SELECT * FROM (SELECT 1) CHANGES FROM VERSION 3
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CHANGES': CHANGES FROM stands directly behind the name of a table that is only read
1 | SELECT * FROM (SELECT 1) CHANGES FROM VERSION 3
  |                          ^^^^^^^
