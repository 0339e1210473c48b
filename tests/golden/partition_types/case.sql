create table t(id int, v string) partitioned by (a decimal(10,2), c char(4), d date, e timestamp, f double, g bigint, h varchar(5), j smallint) stored as orc tblproperties('transactional'='true');
insert into t values (1, 'v', 1.50, 'ab', '2024-02-29', '2024-02-29 12:34:56.5', 1.5, 9000000000, 'x y', 3), (2, 'v', -0.01, 'abcd', '1969-12-31', '1969-12-31 23:59:59', 1e100, -1, '%/=', -3);
insert into t partition(a=2.5,c='z',d='2020-01-01',e='2020-01-01 00:00:00',f=2,g=007,h='q',j=01) values (4, 'w');
insert into t values (5, 'x', 100, 'q', '9999-12-31', '9999-12-31 23:59:59.999999', 'NaN', 0, 'y', 0);
delete from t where id = 4;
