create table t(k int, dt date, ts timestamp, a array<timestamp>, m map<string,struct<t:timestamp>>) stored as parquet tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t select 1, date '2024-07-01', timestamp '2024-07-01 12:34:56.789', array(timestamp '2024-01-01 00:00:00'), map('x',named_struct('t',timestamp '2024-07-01 00:00:00'));
insert into t select 2, date '1582-10-04', timestamp '1582-10-04 12:00:00', array(timestamp '0001-01-01 00:00:00', timestamp '1883-11-18 12:00:00'), map('x',named_struct('t',timestamp '1970-01-01 00:00:00'));
insert into t(k, dt, ts) select 3, date '0001-01-01', timestamp '1969-12-31 23:59:59.5';
insert into t(k, dt, ts) select 4, date '1969-12-31', timestamp '2024-11-03 01:30:00';
insert into t(k) values (5);
