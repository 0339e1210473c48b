create table t(id int, v string) partitioned by (p int) stored as orc tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t values (1,'a',1),(2,'b',1),(3,'c',2);
insert into t partition(p=1) select 4,'d' union all select 5,'e';
insert overwrite table t partition(p=2) values (6,'f');
alter table t set tblproperties('transactional_properties'='default');
delete from t where id in (1,5);
update t set v='u' where id in (2,6);
insert into t values (7,'g',1);
alter table t partition(p=1) compact 'minor' and wait;
