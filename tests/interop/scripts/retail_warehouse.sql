-- The nightly load of a small retail warehouse, as a team wrote it for Hive. The database comes from a variable.
-- Hive 4.0.1 and acidsql run this file unchanged (tests/interop/test_hive_script.py).
SET hive.exec.dynamic.partition=true;
SET hive.exec.dynamic.partition.mode=nonstrict;
SET hivevar:load_date=2024-03-31;
SET hivevar:low=25;

CREATE DATABASE IF NOT EXISTS ${hivevar:db} COMMENT 'retail warehouse';
USE ${hivevar:db};

-- ------------------------------------------------------------------------------------------------ staging

DROP TABLE IF EXISTS stage_customer;
CREATE TABLE stage_customer (
  id string,
  name string,
  mail string,
  city string,
  joined string
)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'
STORED AS TEXTFILE;

INSERT INTO stage_customer VALUES
  ('1', ' Ann ', 'ANN@EXAMPLE.COM', 'Bonn', '2023-12-31'),
  ('2', 'Bob', 'bob@example', 'Ulm', '2024-01-31'),
  ('3', 'Cid', NULL, 'Nice', '2024-02-29'),
  ('4', 'Dan', 'dan@example.org', '', '2024-02-30'),
  ('4', 'Daniel', 'dan@example.org', 'Lyon', '2024-03-01'),
  ('x', 'nobody', 'x@y.z', 'Rome', '2024-03-02');

DROP TABLE IF EXISTS stage_sale;
CREATE TABLE stage_sale (
  sale_id bigint,
  customer string,
  sold_at string,
  amount string,
  tags array<string>,
  detail map<string,string>
)
STORED AS ORC
TBLPROPERTIES ('transactional'='false');

INSERT INTO stage_sale
SELECT 100, '1', '2024-01-31 08:30:00', '19.90', array('web', 'new'), map('shop', 'a', 'coupon', 'X1') UNION ALL
SELECT 101, '1', '2024-02-29 23:59:59', '25', array('shop'), map('shop', 'b') UNION ALL
SELECT 102, '2', '2024-02-29 00:00:00', '25.00', array('web'), map('shop', 'a') UNION ALL
SELECT 103, '3', '2024-03-01 12:00:00', '-5.5', array('web', 'return'), map('shop', 'c') UNION ALL
SELECT 104, '4', '2024-03-15 17:45:10.5', '1e2', array('shop', 'big'), map('shop', 'b', 'coupon', '') UNION ALL
SELECT 105, '9', '2024-03-31', 'n/a', array('web'), map('shop', 'a');

-- ------------------------------------------------------------------------------------------------ tables

DROP TABLE IF EXISTS customer;
CREATE TABLE customer (
  id int NOT NULL ENFORCED,
  name varchar(20),
  mail string,
  city string DEFAULT 'unknown',
  joined date,
  level char(4),
  valid_from date,
  valid_to date,
  CHECK (id > 0)
)
COMMENT 'a slowly changing dimension'
CLUSTERED BY (id) INTO 2 BUCKETS
STORED AS ORC
TBLPROPERTIES ('transactional'='true');

DROP TABLE IF EXISTS sale;
CREATE TABLE sale (
  sale_id bigint,
  customer_id int,
  amount decimal(10,2),
  sold_at timestamp,
  web boolean
)
PARTITIONED BY (month string)
STORED AS ORC
TBLPROPERTIES ('transactional'='true');

DROP TABLE IF EXISTS rejected;
CREATE TABLE rejected (
  source string,
  id string,
  reason string
)
STORED AS ORC
TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only');

DROP TABLE IF EXISTS tag_count;
CREATE TABLE tag_count (
  tag string,
  sales bigint,
  total decimal(20,2)
)
STORED AS ORC
TBLPROPERTIES ('transactional'='true');

-- ------------------------------------------------------------------------------------------------ customers

DROP VIEW IF EXISTS clean_customer;
CREATE VIEW clean_customer AS
SELECT CAST(id AS int) AS id, trim(name) AS name, lower(mail) AS mail,
       CASE WHEN city = '' THEN NULL ELSE city END AS city,
       CAST(joined AS date) AS joined
FROM (
  SELECT s.*, row_number() OVER (PARTITION BY id ORDER BY joined DESC) AS place
  FROM stage_customer s
  WHERE id RLIKE '^[0-9]+$'
) latest
WHERE place = 1;

INSERT INTO customer
SELECT id, name, mail, coalesce(city, 'unknown'), joined,
       CASE WHEN joined < '2024-01-01' THEN 'gold' WHEN joined IS NULL THEN 'new' ELSE 'std' END,
       CAST('${hivevar:load_date}' AS date), NULL
FROM clean_customer;

INSERT INTO rejected
SELECT 'customer', id, concat('id is no number: ', name) FROM stage_customer WHERE NOT id RLIKE '^[0-9]+$';

UPDATE customer SET mail = NULL WHERE mail NOT LIKE '%@%.%';

INSERT INTO customer (id, name, level, valid_from) VALUES (7, 'Eve', 'std', DATE '2024-03-01'), (8, 'Finn', 'std', NULL);

-- ------------------------------------------------------------------------------------------------ sales

FROM (
  SELECT s.sale_id, s.customer, CAST(s.amount AS decimal(10,2)) AS amount, CAST(s.sold_at AS timestamp) AS sold_at,
         array_contains(s.tags, 'web') AS web, substr(s.sold_at, 1, 7) AS month
  FROM stage_sale s
) read_sale
INSERT INTO sale PARTITION (month)
  SELECT sale_id, CAST(customer AS int), amount, sold_at, web, month
  WHERE amount IS NOT NULL
INSERT INTO rejected
  SELECT 'sale', CAST(sale_id AS string), 'no amount'
  WHERE amount IS NULL;

INSERT OVERWRITE TABLE tag_count
SELECT tag, count(*), sum(CAST(amount AS decimal(10,2)))
FROM stage_sale LATERAL VIEW explode(tags) exploded AS tag
GROUP BY tag
HAVING count(*) > 0;

UPDATE sale SET amount = amount * 2, web = (NOT web) WHERE amount > ${hivevar:low} OR customer_id = 3;
DELETE FROM sale WHERE amount < 0;

-- ------------------------------------------------------------------------------------------------ the next day

SET hivevar:load_date=2024-04-01;
TRUNCATE TABLE stage_customer;
INSERT INTO stage_customer VALUES
  ('1', 'Anna', 'ann@example.com', 'Kiel', '2023-12-31'),
  ('5', 'Gil', 'gil@example.com', 'Metz', '2024-04-01'),
  ('3', 'Cid', 'cid@example.com', 'Nice', '2024-02-29');

MERGE INTO customer AS c
USING (SELECT * FROM clean_customer) AS n
ON c.id = n.id AND c.valid_to IS NULL
WHEN MATCHED AND c.name <> n.name THEN
  UPDATE SET name = n.name, city = n.city, mail = n.mail
WHEN MATCHED AND n.mail IS NULL THEN DELETE
WHEN NOT MATCHED THEN
  INSERT VALUES (n.id, n.name, n.mail, n.city, n.joined, 'new', CAST('${hivevar:load_date}' AS date), NULL);

DELETE FROM customer WHERE id IN (SELECT customer_id FROM sale WHERE month = '2024-02' AND web IS NULL) OR city IS NULL;

ALTER TABLE sale DROP IF EXISTS PARTITION (month < '2024-02');
INSERT OVERWRITE TABLE sale PARTITION (month = '2024-03')
SELECT sale_id, customer_id, amount, sold_at, web FROM sale WHERE month = '2024-03' AND amount <> 0;

ALTER TABLE customer ADD COLUMNS (score double);
UPDATE customer SET score = length(name) / 4 WHERE level IN ('gold', 'std ');

-- ------------------------------------------------------------------------------------------------ reports

DROP TABLE IF EXISTS month_report;
CREATE TABLE month_report STORED AS ORC AS
SELECT s.month, c.level, count(*) AS sales, sum(s.amount) AS total, max(s.sold_at) AS last_sale,
       CAST(avg(s.amount) AS decimal(12,4)) AS mean
FROM sale s LEFT JOIN customer c ON s.customer_id = c.id
GROUP BY s.month, c.level;

WITH ranked AS (
  SELECT month, sale_id, amount, rank() OVER (PARTITION BY month ORDER BY amount DESC, sale_id) AS place FROM sale
)
INSERT INTO tag_count
SELECT concat('best of ', month), place, amount FROM ranked WHERE place = 1;

DROP VIEW clean_customer;
