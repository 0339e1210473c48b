create table t(id int, v int, b binary, a array<map<int,struct<x:decimal(38,10),y:char(3),z:varchar(4),w:date,t:timestamp,bin:binary,bo:boolean>>>) stored as orc tblproperties('transactional'='true');
insert into t select 1, 7, unhex('00ff'), array(map(1, named_struct('x',cast(12345678901234567890.12345 as decimal(38,10)),'y',cast('a' as char(3)),'z',cast('zz' as varchar(4)),'w',date '1500-01-01','t',timestamp '1969-12-31 23:59:59.5','bin',unhex('01'),'bo',true)));
insert into t(id) values (2);
update t set id = 3 where id = 1;
