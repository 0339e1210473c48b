create table t(id int, v int, ts timestamp, a array<timestamp>) stored as orc tblproperties('transactional'='true');
insert into t select 1, 7, timestamp '1969-12-31 23:59:59.5', array(timestamp '1969-12-31 23:59:59.5', timestamp '1969-12-31 23:59:59.000001', timestamp '1969-12-31 23:59:58.5', timestamp '1969-12-31 23:59:59', timestamp '1970-01-01 00:00:00');
insert into t select 2, 7, timestamp '1969-12-31 23:59:59.999', array(timestamp '1969-12-31 23:59:59.999', timestamp '1960-01-01 00:00:00.123');
insert into t select 3, 7, timestamp '0001-01-01 00:00:00.5', array(timestamp '0001-01-01 00:00:00', timestamp '9999-12-31 23:59:59.999999');
