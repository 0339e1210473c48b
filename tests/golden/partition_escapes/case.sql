create table t(id int, v string) partitioned by (p string, `q q` string) stored as orc tblproperties('transactional'='true');
insert into t values (1,'v','a b','c+d'),(2,'v','100%','x=y'),(3,'v','ż','日本'),(4,'v','a/b\\c','{x}[y]'),(5,'v','q"\'','^#?:*'),(6,'v','tab\there','~!@&()'),(7,'v',' lead','trail '),(8,'v','__HIVE_DEFAULT_PARTITION__',null),(9,'v','.hidden','_under');
delete from t where id in (2,4);
update t set id=id+100 where id in (1,3,5);
insert into t values (10,'v','}','{'),(11,'v','x}y','*');
