SHOW TRANSACTIONS
-->
Show(what=TRANSACTIONS)

SHOW STREAMS
-->
Show(what=STREAMS)

SHOW STREAMS FROM db LIKE 'clicks-%'
-->
Show(what=STREAMS, database=db, pattern='clicks-%')

SHOW STREAMS t PARTITION (p = 1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 't': expected the end, a string, FROM, IN or LIKE
1 | SHOW STREAMS t PARTITION (p = 1)
  |              ^

SHOW LOCKS t EXTENDED
-->
Show(what=LOCKS, table=t, extended=True)
tables: t

SHOW COMPACTIONS
-->
Show(what=COMPACTIONS)

SHOW COMPACTIONS WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WHERE'
1 | SHOW COMPACTIONS WHERE a = 1
  |                  ^^^^^

SHOW COMPACTIONS LIMIT few
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'few': expected a number
1 | SHOW COMPACTIONS LIMIT few
  |                        ^^^

SHOW COMPACTIONS DATABASE db POOL 'p' TYPE major STATUS 'ready for cleaning' ORDER BY start DESC, tabname ASC LIMIT 3
-->
Show(what=COMPACTIONS, database=db, clauses=[CompactionFilter(column='poolname', value='p'), CompactionFilter(column='type', value='major'), CompactionFilter(column='state', value='ready for cleaning'), CompactionOrder(columns=[[start, True], [tabname, False]]), CompactionLimit(rows=3)])

SHOW COMPACTIONS 7
-->
Show(what=COMPACTIONS, clauses=[CompactionId(id=7)])

SHOW COMPACTIONS t PARTITION (p='a') STATE 'x'
-->
Show(what=COMPACTIONS, table=t, partition=[PartitionItem(column=p, value='a')], clauses=[CompactionFilter(column='state', value='x')])
tables: t

SHOW TABLES IN db LIKE 'a*'
-->
Show(what=TABLES, database=db, pattern='a*')

SHOW TABLES 'x'
-->
Show(what=TABLES, pattern='x')

SHOW PARTITIONS t
-->
Show(what=PARTITIONS, table=t)
tables: t

SHOW CREATE TABLE t
-->
Show(what=CREATE TABLE, table=t)
tables: t

DESCRIBE FORMATTED t
-->
Describe(table=t, detail='FORMATTED')
tables: t

DESC t a
-->
Describe(table=t, column=a)
tables: t

DESCRIBE HISTORY db.t
-->
DescribeHistory(table=db.t)
tables: db.t

DESC HISTORY t LIMIT 5
-->
DescribeHistory(table=t, limit=5)
tables: t

DESCRIBE history
-->
Describe(table=history)
tables: history

DESCRIBE DATABASE x
-->
Describe(database=x)

EXPLAIN LOCKS UPDATE t SET a = 1
-->
Explain(statement=Update(target=t, alias=None, assignments=[Assignment(column=a, value=1)], where=None), locks=True)
tables: t

EXPLAIN SELECT 1
-->
Explain(statement=Query(tree=SELECT 1))

SET a.b=c d
-->
SetSetting(key='a.b', value='c d')

SET
-->
SetSetting()

SET x
-->
SetSetting(key='x')

START TRANSACTION
-->
StartTransaction()

COMMIT
-->
Commit()

ABORT TRANSACTIONS 1 2 3
-->
AbortTransactions(txn_ids=[1, 2, 3])

USE default
-->
UseDatabase(database=default)

CREATE DATABASE IF NOT EXISTS x COMMENT 'a' LOCATION '/b' WITH DBPROPERTIES ('a'='b')
-->
CreateDatabase(database=x, if_not_exists=True, comment='a', location='/b', properties=[['a', 'b']])

CREATE SCHEMA x
-->
CreateDatabase(database=x)

DROP SCHEMA IF EXISTS x CASCADE
-->
DropDatabase(database=x, if_exists=True, cascade=True)

CREATE OR REPLACE VIEW v (a COMMENT 'x', b) COMMENT 'c' AS SELECT 1, 2
-->
CreateView(view=v, query=SELECT 1, 2, columns=[ViewColumn(name=a, comment='x'), ViewColumn(name=b)], comment='c', replace=True)
tables: v

CREATE VIEW v AS WITH c AS (SELECT 1) SELECT * FROM c
-->
CreateView(view=v, query=WITH c AS (SELECT 1) SELECT * FROM c)
tables: v

CREATE VIEW IF NOT EXISTS d.v (a COMMENT 'x', b) COMMENT 'c' PARTITIONED ON (b) TBLPROPERTIES ('k'='v') AS SELECT 1, x FROM t
-->
CreateView(view=d.v, query=SELECT 1, x FROM t, columns=[ViewColumn(name=a, comment='x'), ViewColumn(name=b)], comment='c', partition_columns=[b], properties=[['k', 'v']], if_not_exists=True)
tables: d.v t

CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1
-->
[PARSE_SYNTAX_ERROR] Syntax error: Can't combine IF NOT EXISTS and OR REPLACE.
1 | CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1
  |                        ^^^^^^^^^^^^^

CREATE VIEW v PARTITIONED BY (b) AS SELECT 1, 2 AS b
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'PARTITIONED BY'
1 | CREATE VIEW v PARTITIONED BY (b) AS SELECT 1, 2 AS b
  |               ^^^^^^^^^^^^^^

ALTER VIEW v AS SELECT * FROM t JOIN d.u ON t.id = u.id
-->
AlterView(view=v, action=ViewQuery(query=SELECT * FROM t JOIN d.u ON t.id = u.id))
tables: v t d.u

ALTER VIEW v SELECT 1
-->
AlterView(view=v, action=ViewQuery(query=SELECT 1))
tables: v

ALTER VIEW d.v RENAME TO e.w
-->
AlterView(view=d.v, action=RenameTable(new_name=e.w))
tables: d.v

ALTER VIEW v SET TBLPROPERTIES ('comment'='c')
-->
AlterView(view=v, action=SetTableProperties(properties=[['comment', 'c']]))
tables: v

ALTER VIEW v UNSET TBLPROPERTIES IF EXISTS ('a', 'b')
-->
AlterView(view=v, action=UnsetTableProperties(keys=['a', 'b'], if_exists=True))
tables: v

ALTER VIEW v ADD PARTITION (p = 1)
-->
[NOT_YET_SUPPORTED] ALTER VIEW .. ADD PARTITION is not yet supported by acidsql.
1 | ALTER VIEW v ADD PARTITION (p = 1)
  |              ^^^^^^^^^^^^^

DROP VIEW IF EXISTS d.v
-->
DropView(view=d.v, if_exists=True)
tables: d.v

SHOW VIEWS IN d LIKE 'v*'
-->
Show(what=VIEWS, database=d, pattern='v*')

TRUNCATE t
-->
TruncateTable(table=t)
tables: t

TRUNCATE TABLE t PARTITION (p='a')
-->
TruncateTable(table=t, partition=[PartitionItem(column=p, value='a')])
tables: t

DROP TABLE IF EXISTS a.b PURGE
-->
DropTable(table=a.b, if_exists=True, purge=True)
tables: a.b

SHOW COLUMNS IN t FROM db LIKE 'a*'
-->
Show(what=COLUMNS, table=db.t, pattern='a*')
tables: db.t

SHOW TBLPROPERTIES t ('a')
-->
Show(what=TBLPROPERTIES, table=t, property_key='a')
tables: t

SHOW LOCKS DATABASE x
-->
Show(what=LOCKS, database=x)

SHOW LOCKS
-->
Show(what=LOCKS)

DESCRIBE EXTENDED db.t PARTITION (p='a') b
-->
Describe(table=db.t, column=b, partition=[PartitionItem(column=p, value='a')], detail='EXTENDED')
tables: db.t

DESCRIBE SCHEMA EXTENDED x
-->
Describe(database=x, detail='EXTENDED')

EXPLAIN EXTENDED INSERT INTO t VALUES (1)
-->
Explain(statement=Insert(target=t, rows=Values(rows=[[1]])), detail='EXTENDED')
tables: t

START TRANSACTION ISOLATION LEVEL SNAPSHOT, READ WRITE
-->
StartTransaction()

BEGIN
-->
StartTransaction()

ROLLBACK WORK
-->
Rollback()

ABORT TRANSACTIONS 1, 2
-->
AbortTransactions(txn_ids=[1, 2])

ABORT COMPACTIONS 7
-->
AbortCompactions(compaction_ids=[7])

SET a.b = 'c;d'
-->
SetSetting(key='a.b', value="'c;d'")

SET AUTOCOMMIT FALSE
-->
SetAutocommit(on=False)

SET autocommit true
-->
SetAutocommit(on=True)

SET AUTOCOMMIT maybe
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'maybe': expected SET AUTOCOMMIT TRUE or SET AUTOCOMMIT FALSE
1 | SET AUTOCOMMIT maybe
  |                ^^^^^

SET -v
-->
SetSetting()

REFRESH TABLE db.t
-->
NoEffect(operation='REFRESH TABLE', cache=Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one.)

REFRESH t
-->
NoEffect(operation='REFRESH', cache=Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one.)

REFRESH '/path'
-->
NoEffect(operation='REFRESH', cache=Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one.)

CACHE LAZY TABLE t OPTIONS ('storageLevel'='DISK_ONLY')
-->
NoEffect(operation='CACHE TABLE', cache=Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one.)

CACHE TABLE t AS SELECT 1
-->
[NOT_YET_SUPPORTED] CACHE TABLE .. AS is not yet supported by acidsql.
1 | CACHE TABLE t AS SELECT 1
  |               ^^^^^^^^^^^
Hint: CREATE VIEW keeps the query, CREATE TABLE .. AS keeps its rows.

UNCACHE TABLE IF EXISTS t
-->
NoEffect(operation='UNCACHE TABLE', cache=Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one.)

CLEAR CACHE
-->
NoEffect(operation='CLEAR CACHE', cache=Nothing was done: each statement reads the present files of its tables, and keeps no rows for the next one.)

RELOAD FUNCTIONS
-->
NoEffect(operation='RELOAD FUNCTIONS', cache=Nothing was done: acidsql loads no functions from the metastore.)

MSCK REPAIR TABLE db.t
-->
RepairTable(table=db.t, repairs=True)
tables: db.t

MSCK TABLE t
-->
RepairTable(table=t)
tables: t

MSCK REPAIR TABLE t SYNC PARTITIONS
-->
RepairTable(table=t, repairs=True, drops=True)
tables: t

MSCK REPAIR TABLE t DROP PARTITIONS
-->
RepairTable(table=t, repairs=True, adds=False, drops=True)
tables: t

MSCK REPAIR TABLE t ADD PARTITIONS (p > 3)
-->
[NOT_YET_SUPPORTED] MSCK of some partitions only is not yet supported by acidsql.
1 | MSCK REPAIR TABLE t ADD PARTITIONS (p > 3)
  |                                    ^^^^^^^

MSCK REPAIR TABLE t UPDATE PARTITIONS
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'UPDATE': expected the end, '.', ADD, DROP or SYNC
1 | MSCK REPAIR TABLE t UPDATE PARTITIONS
  |                     ^^^^^^

SHOW TABLE EXTENDED IN db LIKE 'a*' PARTITION (p = 1)
-->
Show(what=TABLE EXTENDED, database=db, pattern='a*', partition=[PartitionItem(column=p, value=1)])

SHOW TABLE EXTENDED LIKE visit
-->
Show(what=TABLE EXTENDED, pattern='visit')

DESCRIBE FORMATTED t PARTITION (p = 1)
-->
Describe(table=t, partition=[PartitionItem(column=p, value=1)], detail='FORMATTED')
tables: t

SHOW FUNCTIONS
-->
Show(what=FUNCTIONS)

SHOW FUNCTIONS LIKE 'a%'
-->
Show(what=FUNCTIONS, pattern='a%')

SHOW FUNCTIONS LIKE upper
-->
Show(what=FUNCTIONS, pattern='upper')

DESC FUNCTION EXTENDED upper
-->
Describe(detail='EXTENDED', function='upper')

DESCRIBE FUNCTION '+'
-->
Describe(function='+')

ALTER DATABASE d SET DBPROPERTIES ('a'='b', 'c'='d')
-->
AlterDatabase(database=d, action=SetDatabaseProperties(properties=[['a', 'b'], ['c', 'd']]))

ALTER SCHEMA d SET LOCATION '/x'
-->
AlterDatabase(database=d, action=SetDatabaseLocation(location='/x'))

ALTER DATABASE d SET OWNER USER bob
-->
AlterDatabase(database=d, action=SetOwner(owner='bob', kind=USER))

ALTER DATABASE d SET MANAGEDLOCATION '/x'
-->
AlterDatabase(database=d, action=SetDatabaseLocation(location='/x', managed=True))

CREATE DATABASE d MANAGEDLOCATION '/x'
-->
CreateDatabase(database=d, managed_location='/x')

SHOW CREATE DATABASE d
-->
Show(what=CREATE DATABASE, database=d)

CREATE OR REPLACE TEMPORARY VIEW v AS SELECT a FROM t
-->
CreateView(view=v, query=SELECT a FROM t, replace=True, temporary=True)
tables: v t

CREATE TEMP VIEW IF NOT EXISTS v AS SELECT 1
-->
CreateView(view=v, query=SELECT 1, if_not_exists=True, temporary=True)
tables: v

CREATE TEMPORARY MACRO m(x int, y struct<a:string>) concat(x, y.a)
-->
CreateMacro(macro=m, parameters=[MacroParameter(name=x, type='int'), MacroParameter(name=y, type='struct<a:string>')], body=concat(x, y.a))

CREATE TEMPORARY MACRO m() 42
-->
CreateMacro(macro=m, parameters=[], body=42)

DROP TEMPORARY MACRO IF EXISTS m
-->
DropMacro(macro=m, if_exists=True)

CREATE TEMPORARY FUNCTION F AS 'package.module.function'
-->
CreateFunction(function=f, python_name='package.module.function')

DROP TEMPORARY FUNCTION f
-->
DropFunction(function=f)

EXPLAIN VECTORIZATION ONLY DETAIL SELECT 1
-->
Explain(statement=Query(tree=SELECT 1), detail='VECTORIZATION ONLY DETAIL')

EXPLAIN EXTENDED CBO JOINCOST SELECT 1
-->
Explain(statement=Query(tree=SELECT 1), detail='EXTENDED CBO JOINCOST')

EXPLAIN REWRITE SELECT 1
-->
Explain(statement=Query(tree=SELECT 1), detail='REWRITE')

EXPLAIN AST LOCKS DELETE FROM t
-->
Explain(statement=Delete(target=t, alias=None, where=None), locks=True, detail='AST')
tables: t

DESCRIBE FUNCTION +
-->
Describe(function='+')

DESC FUNCTION EXTENDED <=>
-->
Describe(detail='EXTENDED', function='<=>')

DESCRIBE FUNCTION NOT
-->
Describe(function='not')

SELECT count(a) OVER (CLUSTER BY b) FROM t
-->
Query(tree=SELECT count(a) OVER (PARTITION BY b) FROM t)
tables: t

RESET
-->
ResetSettings()

RESET hive.lock.numretries Acidsql.write.conflicts
-->
ResetSettings(keys=['hive.lock.numretries', 'Acidsql.write.conflicts'])

EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS
-->
Explain(statement=AnalyzeTable(table=t))
tables: t
