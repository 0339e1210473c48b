CREATE TABLE employee (id int, name string, salary int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
-->
CreateTable(table=employee, columns=[ColumnDefinition(name=id, type='int'), ColumnDefinition(name=name, type='string'), ColumnDefinition(name=salary, type='int')], file_format='orc', properties=[['transactional', 'true']])
tables: employee

CREATE TRANSACTIONAL TABLE IF NOT EXISTS db.t (a int NOT NULL ENABLE, b string DEFAULT 'x' COMMENT 'c', c decimal CHECK (c > 0) ENABLE, d varchar(10) CONSTRAINT nn NOT NULL DISABLE NOVALIDATE, CONSTRAINT pk PRIMARY KEY (a) DISABLE NOVALIDATE, CONSTRAINT ck CHECK (a < b)) COMMENT 'tt' PARTITIONED BY (p string, q date) CLUSTERED BY (a) SORTED BY (a ASC, b DESC) INTO 4 BUCKETS ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS ORC LOCATION '/x' TBLPROPERTIES ('a'='b')
-->
CreateTable(table=db.t, columns=[ColumnDefinition(name=a, type='int', not_null=True), ColumnDefinition(name=b, type='string', comment='c', default='x'), ColumnDefinition(name=c, type='decimal(10,0)', check=c > 0), ColumnDefinition(name=d, type='varchar(10)', names=[NamedConstraint(name=nn, kind=NOT NULL, columns=[d], enabled=False)])], partition_columns=[ColumnDefinition(name=p, type='string'), ColumnDefinition(name=q, type='date')], bucket_columns=[a], bucket_count=4, sort_columns=[a, b], file_format='orc', delimited=True, row_format=[['field.delim', ',']], location='/x', comment='tt', properties=[['a', 'b']], checks=[CheckConstraint(name='ck', condition=a < b)], names=[NamedConstraint(name=pk, kind=PRIMARY KEY, columns=[a], enabled=False)], if_not_exists=True, transactional=True)
tables: db.t

CREATE TABLE t AS SELECT * FROM s
-->
CreateTable(table=t, query=SELECT * FROM s)
tables: t s

CREATE TABLE t STORED AS ORC AS WITH c AS (SELECT 1) SELECT * FROM c
-->
CreateTable(table=t, file_format='orc', query=WITH c AS (SELECT 1) SELECT * FROM c)
tables: t

CREATE TABLE t LIKE s
-->
CreateTable(table=t, like=s)
tables: t s

CREATE EXTERNAL TABLE t (a array<struct<b:int>>, `comment` string, location int) 
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='array<struct<b:int>>'), ColumnDefinition(name=comment, type='string'), ColumnDefinition(name=location, type='int')], external=True)
tables: t

CREATE TABLE t (a timestamp with local time zone, b double precision NOT NULL, c struct<x:int,y:array<map<string,decimal(10,2)>>> COMMENT 'x')
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='timestamp with local time zone'), ColumnDefinition(name=b, type='double', not_null=True), ColumnDefinition(name=c, type='struct<x:int,y:array<map<string,decimal(10,2)>>>', comment='x')])
tables: t

CREATE TABLE t (a int, b string) PARTITIONED BY (c) AS SELECT 1
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='int'), ColumnDefinition(name=b, type='string')], partition_columns=[ColumnDefinition(name=c, type='')], query=SELECT 1)
tables: t

CREATE TABLE t PARTITIONED BY (c) STORED AS PARQUET AS SELECT 1 AS c
-->
CreateTable(table=t, partition_columns=[ColumnDefinition(name=c, type='')], file_format='parquet', query=SELECT 1 AS c)
tables: t

CREATE TABLE t (a int DEFAULT -1, b timestamp DEFAULT current_timestamp(), c string DEFAULT CAST(1 AS string), d date DEFAULT DATE '2020-01-01' NOT NULL, e int DEFAULT NULL)
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='int', default=-1), ColumnDefinition(name=b, type='timestamp', default=current_timestamp()), ColumnDefinition(name=c, type='string', default=CAST(1 AS STRING)), ColumnDefinition(name=d, type='date', not_null=True, default=DATE '2020-01-01'), ColumnDefinition(name=e, type='int', default=NULL)])
tables: t

CREATE TABLE t (a int) ROW FORMAT SERDE 'org.x' WITH SERDEPROPERTIES ('a'='b') STORED AS TEXTFILE
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='int')], file_format='textfile', serde='org.x', row_format=[['a', 'b']])
tables: t

CREATE TABLE t (a int) TBLPROPERTIES ('transactional'=true, bucketing_version=2)
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='int')], properties=[['transactional', 'true'], ['bucketing_version', '2']])
tables: t

CREATE TEMPORARY TABLE x.t (check int, primary string, `select` int, unique int)
-->
CreateTable(table=x.t, columns=[ColumnDefinition(name=check, type='int'), ColumnDefinition(name=primary, type='string'), ColumnDefinition(name=select, type='int'), ColumnDefinition(name=unique, type='int')], temporary=True)
tables: x.t

CREATE TABLE t LIKE s LOCATION '/x' TBLPROPERTIES ('a'='b')
-->
CreateTable(table=t, location='/x', properties=[['a', 'b']], like=s)
tables: t s

CREATE TABLE t (a int NOT NULL, b int DISABLE)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'DISABLE': it stands after no constraint
1 | CREATE TABLE t (a int NOT NULL, b int DISABLE)
  |                                       ^^^^^^^

CREATE TABLE t (a int CONSTRAINT x CHECK (a > 0) DISABLE, b int DEFAULT 1 ENABLE NOVALIDATE COMMENT 'b' NOT NULL DISABLE, CHECK (a < b) DISABLE NOVALIDATE RELY, CONSTRAINT y CHECK (a <> b), FOREIGN KEY (a) REFERENCES s(b) DISABLE NOVALIDATE, UNIQUE (a) DISABLE)
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='int', names=[NamedConstraint(name=x, kind=CHECK, columns=[a], condition=a > 0, enabled=False)]), ColumnDefinition(name=b, type='int', comment='b', default=1)], checks=[CheckConstraint(name='y', condition=a <> b)])
tables: t

CREATE MANAGED TABLE t (a char(3), b NUMERIC(5), c uniontype<int,string>) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' ESCAPED BY '\\' COLLECTION ITEMS TERMINATED BY ',' MAP KEYS TERMINATED BY ':' LINES TERMINATED BY '\n' NULL DEFINED AS 'x'
-->
CreateTable(table=t, columns=[ColumnDefinition(name=a, type='char(3)'), ColumnDefinition(name=b, type='decimal(5,0)'), ColumnDefinition(name=c, type='uniontype<int,string>')], delimited=True, row_format=[['field.delim', '\t'], ['escape.delim', '\\'], ['colelction.delim', ','], ['mapkey.delim', ':'], ['line.delim', '\n'], ['serialization.null.format', 'x']], transactional=True)
tables: t
