create table t(id int, a array<int>, m map<string,int>, s struct<x:int,y:string>, aa array<array<int>>, am map<string,array<int>>) stored as textfile tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t select 1, array(1,2,null), map('a',1,'b',null), named_struct('x',1,'y','z'), array(array(1,2),array(3)), map('k',array(1,2));
insert into t(id) values (2);
insert into t select 3, array(cast(null as int)), map('',0), named_struct('x',cast(null as int),'y',cast(null as string)), array(array(cast(null as int))), map('',array(0));
