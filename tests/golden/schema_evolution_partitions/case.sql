create table t(id int, a int) partitioned by (p int) stored as orc tblproperties('transactional'='true');
insert into t values (1,1,1),(2,2,2);
alter table t add columns (b string);
insert into t values (3,3,'c',1),(4,4,'d',3);
alter table t partition(p=2) add columns (b string);
insert into t partition(p=2) values (5,5,'e');
alter table t change a aa bigint cascade;
insert into t values (6,6000000000,'f',1);
update t set b='u' where id in (1,2);
