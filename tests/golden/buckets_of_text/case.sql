create table t(id int, v int, s string) clustered by (s) into 11 buckets stored as orc tblproperties('transactional'='true');
insert into t select pos, 7, concat('s',pos) from (select posexplode(split(space(60),' ')) as (pos,x)) q;
delete from t where id % 3 = 0;
update t set id = id + 1000 where id % 5 = 1;
alter table t compact 'minor' and wait;
delete from t where id > 1040;
