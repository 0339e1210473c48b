create table s(id int, name string) clustered by (id) into 2 buckets stored as orc;
insert into s values (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e');
create table t(id int, name string) clustered by (id) into 2 buckets stored as orc tblproperties('transactional'='true');
-- @python cp s/000000_0 in/000000_0
-- @python cp s/000001_0 in/000001_0
set hive.strict.checks.bucketing=false;
load data local inpath '/warehouse/golden_load_data_bucketed.db/in' into table t;
delete from t where id = 2;
update t set name='u' where id=3;
