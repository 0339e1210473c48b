create table s(id int, name string) stored as orc;
insert into s values (1,'a'),(2,'b'),(3,'c');
create table t(id int, name string) partitioned by (p int) stored as orc tblproperties('transactional'='true');
-- @python cp s/000000_0 in/000000_0
-- @python cp s/000000_0 in/000001_0
-- @python cp s/000000_0 in/000000_0_copy_1
load data local inpath '/warehouse/golden_load_data_partitioned.db/in' into table t partition(p=1);
-- @python cp s/000000_0 in2/000000_0
-- @python cp s/000000_0 in2/000002_0
load data local inpath '/warehouse/golden_load_data_partitioned.db/in2' overwrite into table t partition(p=2);
delete from t where id = 2;
update t set name = 'u' where id = 3;
insert into t values (4,'d',1);
load data local inpath '/warehouse/golden_load_data_partitioned.db/in2' into table t partition(p=2);
alter table t partition(p=1) compact 'minor' and wait;
delete from t where id = 1 and p = 2;
