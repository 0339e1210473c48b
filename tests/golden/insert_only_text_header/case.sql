create table t(id int, name string) stored as textfile tblproperties('transactional'='true','transactional_properties'='insert_only','skip.header.line.count'='1');
insert into t values (1,'a'),(2,'b'),(3,'c');
insert into t values (4,'d'),(5,'e');
