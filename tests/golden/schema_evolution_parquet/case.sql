create table t(id int, a int, s struct<x:int>) stored as parquet tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t select 1,1,named_struct('x',1);
alter table t add columns (b string);
insert into t select 2,2,named_struct('x',2),'b';
alter table t change a a2 int;
insert into t select 3,3,named_struct('x',3),'c';
alter table t change s s struct<x:int,y:string>;
insert into t select 4,4,named_struct('x',3,'y','q'),'c';
