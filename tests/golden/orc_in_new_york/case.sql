create table t(k int, v int, dt date, ts timestamp, a array<timestamp>) stored as orc tblproperties('transactional'='true');
insert into t select 1, 7, date '1582-10-04', timestamp '1582-10-04 12:00:00', array(timestamp '2024-07-01 12:00:00.5', timestamp '2024-03-10 02:30:00', timestamp '2024-11-03 01:30:00', timestamp '1969-12-31 23:59:59.5', timestamp '1900-01-01 00:00:00', timestamp '1883-11-18 12:00:00');
update t set k = 2;
