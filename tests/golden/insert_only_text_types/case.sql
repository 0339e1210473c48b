create table t(k int, ti tinyint, si smallint, bi bigint, f float, d double, dec1 decimal(10,2), dec2 decimal(38,18), s string, vc varchar(5), c char(5), b boolean, bin binary, dt date, ts timestamp) stored as textfile tblproperties('transactional'='true','transactional_properties'='insert_only');
insert into t values (1, 1, 2, 3, 1.5, 1e100, 1.50, 1.5, 'a', 'abc', 'ab', true, 'bin', '2024-02-29', '2024-02-29 12:34:56.789');
insert into t values (2, -128, -32768, -9223372036854775808, 0.5, 4.9e-324, -99999999.99, -99999999999999999999.999999999999999999, ' x ', '', '', false, '', '0001-01-01', '0001-01-01 00:00:00');
insert into t select 3, null,null,null,cast('NaN' as float),cast('-Infinity' as double),null,null,'','ab   ','     ',null,null,date '9999-12-31', timestamp '9999-12-31 23:59:59.999999';
insert into t select 4, null,null,null,null,null,0.00,0,null,null,null,null,unhex('00ff8001'),date '1582-10-04', timestamp '1582-10-04 00:00:00';
