create table t(id int, name string, d double) row format delimited fields terminated by ',' escaped by '\\' null defined as 'NULL' stored as textfile tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t values (1,'a,b',1.5),(2,null,null),(3,'\\N',-1),(4,'a\nb\rc\\',2),(5,'NULL',3),(6,'',4),(7,'nr',5);
-- @python write t/delta_0000001_0000001_0000/000000_0_copy_1
