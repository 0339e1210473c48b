INSERT INTO employee VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, 'Kate', DEFAULT);
-->
Insert(target=employee, rows=Values(rows=[[1, 'Jerry', 5000], [2, 'Tom', 8000], [3, 'Kate', DEFAULT]]))
tables: employee

WITH c AS (SELECT * FROM x) INSERT INTO t SELECT * FROM c
-->
Insert(target=t, rows=WITH c AS (SELECT * FROM x) SELECT * FROM c)
tables: t x

INSERT INTO t WITH c AS (SELECT 1) SELECT * FROM c
-->
Insert(target=t, rows=WITH c AS (SELECT 1) SELECT * FROM c)
tables: t

INSERT OVERWRITE TABLE db.t PARTITION (p='a', q) IF NOT EXISTS SELECT * FROM s
-->
Insert(target=db.t, rows=SELECT * FROM s, partition=[PartitionItem(column=p, value='a'), PartitionItem(column=q, value=None)], overwrite=True, if_not_exists=True)
tables: db.t s

INSERT INTO t (a, b) (SELECT 1, 2)
-->
Insert(target=t, rows=(SELECT 1, 2), columns=[a, b])
tables: t

FROM s INSERT INTO a SELECT x WHERE y = 1 INSERT OVERWRITE TABLE b PARTITION (p) SELECT z, p GROUP BY z
-->
MultiInsert(scanned=s, branches=[Insert(target=a, rows=SELECT x WHERE y = 1), Insert(target=b, rows=SELECT z, p GROUP BY z, partition=[PartitionItem(column=p, value=None)], overwrite=True)])
tables: a b s

FROM (SELECT * FROM s) x LATERAL VIEW explode(a) e AS b INSERT INTO t SELECT b
-->
MultiInsert(scanned=(SELECT * FROM s) AS x LATERAL VIEW explode(a) e AS b, branches=[Insert(target=t, rows=SELECT b)])
tables: t s

WITH c AS (SELECT 1) FROM c INSERT INTO t SELECT *
-->
MultiInsert(scanned=c, branches=[Insert(target=t, rows=SELECT *)], ctes=WITH c AS (SELECT 1))
tables: t

INSERT INTO t SELECT * FROM a UNION ALL SELECT * FROM b
-->
Insert(target=t, rows=SELECT * FROM a UNION ALL SELECT * FROM b)
tables: t a b

INSERT INTO t VALUES (1, (SELECT max(x) FROM y)), (-1, CAST('a' AS INT)), (`default`, default)
-->
Insert(target=t, rows=Values(rows=[[1, (SELECT max(x) FROM y)], [-1, CAST('a' AS INT)], [`default`, DEFAULT]]))
tables: t y

INSERT INTO t VALUES 1, 2
-->
Insert(target=t, rows=Values(rows=[[1], [2]]))
tables: t

INSERT INTO TABLE t PARTITION (p=1) VALUES (1)
-->
Insert(target=t, rows=Values(rows=[[1]]), partition=[PartitionItem(column=p, value=1)])
tables: t

INSERT INTO t PARTITION (p=1) (a) VALUES (1)
-->
Insert(target=t, rows=Values(rows=[[1]]), columns=[a], partition=[PartitionItem(column=p, value=1)])
tables: t

INSERT INTO t FROM s SELECT a
-->
Insert(target=t, rows=SELECT a FROM s)
tables: t s

FROM (SELECT a FROM s) INSERT INTO t SELECT a
-->
MultiInsert(scanned=(SELECT a FROM s), branches=[Insert(target=t, rows=SELECT a)])
tables: t s

FROM s JOIN u ON s.a = u.a INSERT INTO t SELECT s.a INSERT INTO v SELECT u.a ORDER BY 1 LIMIT 3
-->
MultiInsert(scanned=s JOIN u ON s.a = u.a, branches=[Insert(target=t, rows=SELECT s.a), Insert(target=v, rows=SELECT u.a ORDER BY 1 LIMIT 3)])
tables: t v s u

FROM s x INSERT INTO t (a, b) SELECT x.a, 1
-->
MultiInsert(scanned=s AS x, branches=[Insert(target=t, rows=SELECT x.a, 1, columns=[a, b])])
tables: t s

FROM {df} INSERT INTO t SELECT *
-->
MultiInsert(scanned=`df`, branches=[Insert(target=t, rows=SELECT *)])
tables: t

LOAD DATA LOCAL INPATH '/a' OVERWRITE INTO TABLE t PARTITION (p='x')
-->
LoadData(path='/a', target=t, local=True, overwrite=True, partition=[PartitionItem(column=p, value='x')])
tables: t

LOAD DATA INPATH '/a' INTO TABLE t INPUTFORMAT 'org.apache.hadoop.mapred.TextInputFormat' SERDE 's.S'
-->
LoadData(path='/a', target=t, input_format='org.apache.hadoop.mapred.TextInputFormat', serde='s.S')
tables: t

INSERT OVERWRITE LOCAL DIRECTORY '/x' ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE SELECT * FROM s
-->
InsertDirectory(output=CreateTable(table=/x, file_format='textfile', delimited=True, row_format=[['field.delim', ',']], external=True), query=SELECT * FROM s, local=True)
tables: s

WITH c AS (SELECT 1 a) INSERT OVERWRITE DIRECTORY 'x' SELECT a FROM c
-->
InsertDirectory(output=CreateTable(table=x, file_format='textfile', external=True), query=WITH c AS (SELECT 1 AS a) SELECT a FROM c)

INSERT OVERWRITE DIRECTORY SELECT 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'SELECT': expected a string
1 | INSERT OVERWRITE DIRECTORY SELECT 1
  |                            ^^^^^^
