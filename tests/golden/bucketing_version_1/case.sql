create table t(id int, v int, s string) clustered by (id, s) into 4 buckets stored as orc tblproperties('transactional'='true','bucketing_version'='1');
insert into t select pos, 7, concat('ż',pos) from (select posexplode(split(space(20),' ')) as (pos,x)) q;
delete from t where id % 3 = 0;
