create table t(id int, a int) stored as textfile tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t values (1,1);
alter table t add columns (b string);
insert into t values (2,2,'b');
alter table t change a a2 bigint;
insert into t values (3,3000000000,'c');
