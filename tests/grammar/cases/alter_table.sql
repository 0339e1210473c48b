ALTER TABLE t COMPACT 'major'
-->
AlterTable(table=t, action=Compact(type='major'))
tables: t

ALTER TABLE t PARTITION (p='x') COMPACT 'minor' AND WAIT
-->
AlterTable(table=t, action=Compact(type='minor', partition=[PartitionItem(column=p, value='x')], wait=True))
tables: t

ALTER TABLE t RENAME TO db.u
-->
AlterTable(table=t, action=RenameTable(new_name=db.u))
tables: t

ALTER TABLE t SET TBLPROPERTIES ('a'='b')
-->
AlterTable(table=t, action=SetTableProperties(properties=[['a', 'b']]))
tables: t

ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a', 'b')
-->
AlterTable(table=t, action=UnsetTableProperties(keys=['a', 'b'], if_exists=True))
tables: t

ALTER TABLE t ADD COLUMNS (a int COMMENT 'x', b string) CASCADE
-->
AlterTable(table=t, action=AddColumns(columns=[ColumnDefinition(name=a, type='int', comment='x'), ColumnDefinition(name=b, type='string')]))
tables: t

ALTER TABLE t REPLACE COLUMNS (a int)
-->
AlterTable(table=t, action=ReplaceColumns(columns=[ColumnDefinition(name=a, type='int')]))
tables: t

ALTER TABLE t CHANGE COLUMN a b int COMMENT 'x' AFTER c
-->
AlterTable(table=t, action=ChangeColumn(column=a, definition=ColumnDefinition(name=b, type='int', comment='x'), position='after c'))
tables: t

ALTER TABLE t CHANGE a a bigint FIRST
-->
AlterTable(table=t, action=ChangeColumn(column=a, definition=ColumnDefinition(name=a, type='bigint'), position='first'))
tables: t

ALTER TABLE t ADD IF NOT EXISTS PARTITION (p='a', q=1) LOCATION '/x' PARTITION (p='b', q=2)
-->
AlterTable(table=t, action=AddPartitions(partitions=[[[PartitionItem(column=p, value='a'), PartitionItem(column=q, value=1)], '/x'], [[PartitionItem(column=p, value='b'), PartitionItem(column=q, value=2)], None]], if_not_exists=True))
tables: t

ALTER TABLE t DROP IF EXISTS PARTITION (p='a'), PARTITION (p > 'b', q <= 3) PURGE
-->
AlterTable(table=t, action=DropPartitions(partitions=[[PartitionItem(column=p, value='a')], [PartitionItem(column=p, value='b', operator='>'), PartitionItem(column=q, value=3, operator='<=')]], if_exists=True, purge=True))
tables: t

ALTER TABLE t PARTITION (p='a') RENAME TO PARTITION (p='b')
-->
AlterTable(table=t, action=RenamePartition(partition=[PartitionItem(column=p, value='a')], new_partition=[PartitionItem(column=p, value='b')]))
tables: t

ALTER TABLE t PARTITION (p='a') SET LOCATION '/x'
-->
AlterTable(table=t, action=SetLocation(location='/x', partition=[PartitionItem(column=p, value='a')]))
tables: t

ALTER TABLE t COMPACT 'rebalance' CLUSTERED INTO 4 BUCKETS ORDER BY a DESC, b POOL 'x' WITH OVERWRITE TBLPROPERTIES ('a'='b')
-->
AlterTable(table=t, action=Compact(type='rebalance', buckets=4, order_by=[OrderItem(value=a, descending=True), OrderItem(value=b)], pool='x', properties=[['a', 'b']]))
tables: t

ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (a, b) DISABLE NOVALIDATE RELY
-->
AlterTable(table=t, action=AddConstraint(constraint=NamedConstraint(name=pk, kind=PRIMARY KEY, columns=[a, b], enabled=False)))
tables: t

ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (a) REFERENCES db.u (b) DISABLE NOVALIDATE
-->
AlterTable(table=t, action=AddConstraint(constraint=NamedConstraint(name=fk, kind=FOREIGN KEY, columns=[a], parent=db.u, parent_columns=[b], enabled=False)))
tables: t

ALTER TABLE t ADD CONSTRAINT ck CHECK (a > 0 AND b <> 'x') ENABLE NOVALIDATE
-->
AlterTable(table=t, action=AddConstraint(constraint=NamedConstraint(name=ck, kind=CHECK, condition=a > 0 AND b <> 'x')))
tables: t

ALTER TABLE t ADD CONSTRAINT ck CHECK (a > 0) DISABLE
-->
AlterTable(table=t, action=AddConstraint(constraint=NamedConstraint(name=ck, kind=CHECK, condition=a > 0, enabled=False)))
tables: t

ALTER TABLE t ADD CONSTRAINT ck CHECK (a > 0) ENABLE VALIDATE
-->
[INVALID_CONSTRAINT] [Error 10326] Invalid Constraint syntax VALIDATE feature not supported yet. Please use NOVALIDATE instead.
1 | ALTER TABLE t ADD CONSTRAINT ck CHECK (a > 0) ENABLE VALIDATE
  |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

ALTER TABLE t ADD CONSTRAINT uk UNIQUE (a)
-->
[INVALID_CONSTRAINT] [Error 10326] Invalid Constraint syntax ENABLE/ENFORCED feature not supported yet. Please use DISABLE/NOT ENFORCED instead.
1 | ALTER TABLE t ADD CONSTRAINT uk UNIQUE (a)
  |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

ALTER TABLE t DROP CONSTRAINT PK
-->
AlterTable(table=t, action=DropConstraint(name=pk))
tables: t

ALTER TABLE t CHANGE a b int CONSTRAINT nn NOT NULL ENABLE CONSTRAINT df DEFAULT 1 CONSTRAINT ck CHECK (b > 0) CONSTRAINT pk PRIMARY KEY DISABLE NOVALIDATE COMMENT 'x' AFTER c
-->
AlterTable(table=t, action=ChangeColumn(column=a, definition=ColumnDefinition(name=b, type='int', comment='x', not_null=True, default=1, check=b > 0, check_name='ck', names=[NamedConstraint(name=nn, kind=NOT NULL, columns=[b]), NamedConstraint(name=df, kind=DEFAULT, columns=[b]), NamedConstraint(name=pk, kind=PRIMARY KEY, columns=[b], enabled=False)]), position='after c'))
tables: t

ALTER TABLE t PARTITION (p='x') CONCATENATE
-->
AlterTable(table=t, action=Compact(type='major', partition=[PartitionItem(column=p, value='x')], wait=True))
tables: t

ALTER TABLE t EXCHANGE PARTITION (p='x') WITH TABLE db.u
-->
AlterTable(table=t, action=ExchangePartition(partition=[PartitionItem(column=p, value='x')], other=db.u))
tables: t

ALTER TABLE t CONVERT TO ACID
-->
AlterTable(table=t, action=SetTableProperties(properties=[['transactional', 'true']]))
tables: t

LOCK TABLE t EXCLUSIVE
-->
[EXPLICIT_LOCKS] [Error 10271] Current transaction manager does not support explicit lock requests.
1 | LOCK TABLE t EXCLUSIVE
  | ^^^^
Hint: Each statement locks what it reads and writes; START TRANSACTION .. COMMIT keeps the locks of several.

UNLOCK DATABASE d
-->
[EXPLICIT_LOCKS] [Error 10271] Current transaction manager does not support explicit lock requests.
1 | UNLOCK DATABASE d
  | ^^^^^^
Hint: Each statement locks what it reads and writes; START TRANSACTION .. COMMIT keeps the locks of several.

TRUNCATE TABLE t PARTITION (p='x') COLUMNS (a, b)
-->
[TRUNCATE_COLUMNS] [Error 10237] Only RCFileFormat supports column truncation.
1 | TRUNCATE TABLE t PARTITION (p='x') COLUMNS (a, b)
  |                                    ^^^^^^^^^^^^^^

ALTER TABLE t SET FILEFORMAT parquet
-->
AlterTable(table=t, action=SetFileFormat(format='parquet'))
tables: t

ALTER TABLE t PARTITION (p='x') SET FILEFORMAT INPUTFORMAT 'i' OUTPUTFORMAT 'o' SERDE 's' INPUTDRIVER 'd' OUTPUTDRIVER 'e'
-->
AlterTable(table=t, action=SetFileFormat(format=None, partition=[PartitionItem(column=p, value='x')], input_class='i', serde='s'))
tables: t

ALTER TABLE t SET FILEFORMAT thing
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'thing': expected one of AVRO, JSONFILE, ORC, PARQUET, RCFILE, SEQUENCEFILE, TEXTFILE after SET FILEFORMAT
1 | ALTER TABLE t SET FILEFORMAT thing
  |                              ^^^^^

ALTER TABLE t SET SERDE 'org.x' WITH SERDEPROPERTIES ('a'='b')
-->
AlterTable(table=t, action=SetSerde(serde='org.x', properties=[['a', 'b']]))
tables: t

ALTER TABLE t PARTITION (p='x') SET SERDEPROPERTIES ('a'='b')
-->
AlterTable(table=t, action=SetSerdeProperties(properties=[['a', 'b']], partition=[PartitionItem(column=p, value='x')]))
tables: t

ALTER TABLE t UNSET SERDEPROPERTIES ('a', 'b')
-->
AlterTable(table=t, action=UnsetSerdeProperties(keys=['a', 'b']))
tables: t

ALTER TABLE t CLUSTERED BY (a, b) SORTED BY (c DESC) INTO 4 BUCKETS
-->
AlterTable(table=t, action=SetClustering(clustering=Clustering(columns=[a, b], count=4, sort_columns=[c])))
tables: t

ALTER TABLE t PARTITION (p='x') NOT CLUSTERED
-->
AlterTable(table=t, action=SetClustering(clustering=None, partition=[PartitionItem(column=p, value='x')]))
tables: t

ALTER TABLE t NOT SORTED
-->
AlterTable(table=t, action=NotSorted())
tables: t

ALTER TABLE t INTO 8 BUCKETS
-->
AlterTable(table=t, action=SetBucketCount(count=8))
tables: t

ALTER TABLE t PARTITION (p='x') UPDATE STATISTICS SET ('numRows'='5')
-->
AlterTable(table=t, action=UpdateStatistics(statistics=[['numRows', '5']], partition=[PartitionItem(column=p, value='x')]))
tables: t

ALTER TABLE t UPDATE STATISTICS FOR COLUMN c SET ('numDVs'='5') COMMENT 'x'
-->
AlterTable(table=t, action=UpdateColumnStatistics(column=c, statistics=[['numDVs', '5']]))
tables: t

ALTER TABLE t UPDATE STATISTICS FOR c SET ('numDVs'='5')
-->
AlterTable(table=t, action=UpdateColumnStatistics(column=c, statistics=[['numDVs', '5']]))
tables: t

ALTER TABLE t TOUCH PARTITION (p='x') PARTITION (p='y')
-->
AlterTable(table=t, action=Touch(partitions=[[PartitionItem(column=p, value='x')], [PartitionItem(column=p, value='y')]]))
tables: t

ALTER TABLE t SET OWNER GROUP `My Group`
-->
AlterTable(table=t, action=SetOwner(owner='My Group', kind=GROUP))
tables: t

ALTER TABLE t SKEWED BY (a) ON (1)
-->
[NOT_YET_SUPPORTED] ALTER TABLE .. SKEWED BY is not yet supported by acidsql.
1 | ALTER TABLE t SKEWED BY (a) ON (1)
  |               ^^^^^^^^^
