set hive.parquet.date.proleptic.gregorian=true;
create table t(k int, dt date, ts timestamp) stored as parquet tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t values (1, '1582-10-04', '1582-10-04 12:00:00'), (2, '0001-01-01', '0001-01-01 00:00:00'), (3, '2024-07-01', '2024-07-01 12:00:00');
