create table t(id int, name string) partitioned by (p string) clustered by (id) into 3 buckets stored as orc;
insert into t values (1,'a','x'),(2,'b','x'),(3,'c','x'),(4,'d','y z'),(5,'e','y z');
insert into t values (6,'f','x'),(7,'g','x'),(8,'h','y z');
alter table t set tblproperties('EXTERNAL'='FALSE','transactional'='true');
update t set name='u' where id in (2,6,8);
delete from t where id in (1,4);
insert into t values (9,'n','x');
alter table t partition(p='x') compact 'minor' and wait;
