create table t(id int, name string) skewed by (name) on ('a','b') stored as directories stored as orc tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t values (1,'a'),(2,'b'),(3,'c'),(4,'a');
