create table t(id int, v int, st struct<a:int,s:struct<x:int>>, ar array<struct<a:int>>, m map<string,struct<v:int>>) stored as orc tblproperties('transactional'='true');
insert into t select 1, 7, named_struct('a',1,'s',named_struct('x',1)), array(named_struct('a',1)), map('k',named_struct('v',1));
alter table t change st st struct<a:bigint,s:struct<x:int,y:string>>;
alter table t change ar ar array<struct<a:int,b:string>>;
alter table t change m m map<string,struct<v:double,w:int>>;
insert into t select 2, 7, named_struct('a',cast(2 as bigint),'s',named_struct('x',2,'y','q')), array(named_struct('a',2,'b','z')), map('k',named_struct('v',cast(2.5 as double),'w',3));
update t set id = 11 where id = 1;
