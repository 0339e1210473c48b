create table t(id int, name string) stored as orc tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t select 1,'a' union all select 2,'b';
insert overwrite table t select 3,'c' union all select 4,'d';
insert into t select 5,'e' union all select 6,'f' union all select 7,'g';
