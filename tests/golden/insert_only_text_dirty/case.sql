create table t(id int, ti tinyint, d double, b boolean, dt date, ts timestamp, dec1 decimal(5,2), vc varchar(3), c char(3), bin binary) stored as textfile tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t(id) values (1);
-- @python write t/delta_0000001_0000001_0000/000000_0
