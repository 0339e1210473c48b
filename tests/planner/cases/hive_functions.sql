CREATE TRANSACTIONAL TABLE emp (id int, name string, wage double, hired date, at timestamp, tags array<string>);

-- the characters of TRIM come second in Hive
SELECT trim(name, 'x'), rtrim(trim(name), 'y') FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT TRIM(BOTH 'x' FROM name) AS `trim(name, 'x')`, TRIM(TRAILING 'y' FROM trim(name)) AS `rtrim(trim(name), 'y')` FROM `emp@1` AS `emp`

-- NOT LIKE ANY and ALL negate the whole condition
DELETE FROM emp WHERE name NOT LIKE ANY ('a%', 'b%')
-->
DELETE default.emp
reads
  emp@1: default.emp with row__id
rows
  SELECT `emp`.`emp@1.row__id` AS `:row_id` FROM `emp@1` AS `emp` WHERE (NOT (name LIKE ANY ('a%', 'b%')))
events
  SELECT 0 AS `:branch`, `:row_id`,
    CAST(NULL AS INT) AS `id`,
    CAST(NULL AS STRING) AS `name`,
    CAST(NULL AS DOUBLE) AS `wage`,
    CAST(NULL AS DATE) AS `hired`,
    CAST(NULL AS TIMESTAMP) AS `at`,
    CAST(NULL AS array<string>) AS `tags`
  FROM `:rows`
writes
  delete_delta_W_W_0000: DELETE
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), in place (one file per bucket, up to 128 MiB each), else shuffled

SELECT id FROM emp WHERE name NOT LIKE ALL ('a%', 'b%') AND name NOT LIKE 'c%'
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT id FROM `emp@1` AS `emp` WHERE (NOT (name LIKE ALL ('a%', 'b%'))) AND name NOT LIKE 'c%'

-- a backslash that escapes nothing is a character
SELECT id FROM emp WHERE name LIKE 'a\\b\_c%'
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT id FROM `emp@1` AS `emp` WHERE name LIKE 'a\\\\b\\_c%'

-- a plain expression is repeated, a nested rewrite and a random number are not
SELECT sqrt(wage + 1), sqrt(sqrt(wage)), sqrt(rand()) FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT IF(CAST((wage + 1) AS DOUBLE) < 0, NULL, sqrt((wage + 1))) AS `sqrt(wage + 1)`, element_at(transform(array(named_struct('a', IF(CAST(wage AS DOUBLE) < 0, NULL, sqrt(wage)))), `@argument` -> IF(CAST(`@argument`.a AS DOUBLE) < 0, NULL, sqrt(`@argument`.a))), 1) AS `sqrt(sqrt(wage))`, element_at(transform(array(named_struct('a', rand())), `@argument` -> IF(CAST(`@argument`.a AS DOUBLE) < 0, NULL, sqrt(`@argument`.a))), 1) AS `sqrt(rand())` FROM `emp@1` AS `emp`

-- a variable of a rule hides no column
SELECT percentile_approx(h, p) FROM (SELECT wage AS h, 0.5 AS p FROM emp) t
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT element_at(TRANSFORM(array(histogram_numeric(CAST(h AS DOUBLE), 10000)), `@h` -> element_at(TRANSFORM(array(p), `@p` -> aggregate(`@h`, named_struct('x', CAST(NULL AS DOUBLE), 'n', 0D, 'r', CAST(NULL AS DOUBLE)), (`@s`, `@b`) -> named_struct('x', CAST(`@b`.x AS DOUBLE), 'n', `@s`.n + `@b`.y, 'r', CASE WHEN NOT `@s`.r IS NULL THEN `@s`.r WHEN (`@s`.n + `@b`.y) / aggregate(`@h`, 0D, (`@t`, `@c`) -> `@t` + `@c`.y) < `@p` THEN NULL WHEN `@s`.x IS NULL THEN CAST(`@b`.x AS DOUBLE) ELSE `@s`.x + (`@p` * aggregate(`@h`, 0D, (`@t`, `@c`) -> `@t` + `@c`.y) - `@s`.n) * (`@b`.x - `@s`.x) / `@b`.y END), `@s` -> `@s`.r)), 1)), 1) AS `percentile_approx(h, p)` FROM (SELECT wage AS h, 0.5 AS p FROM `emp@1` AS `emp`) AS t

-- a position that is a literal needs no rule
SELECT substr(name, 2), substr(name, -2, 1), substr(name, id) FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT substr(name, 2) AS `substr(name, 2)`, substr(name, IF(length(name) < -(-2), length(name) + 1, (-2)), 1) AS `substr(name, -2, 1)`, substr(name, IF(length(name) < -id, length(name) + 1, id)) AS `substr(name, id)` FROM `emp@1` AS `emp`

SELECT add_months(hired, 1), trunc(hired, 'MM'), extract(second FROM at), floor(at TO month), floor_day(at) FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT CAST(IF(CAST(hired AS DATE) = last_day(hired), last_day(add_months(hired, 1)), add_months(hired, 1)) AS STRING) AS `add_months(hired, 1)`, CAST(IF('MM' IN ('MM', 'MON', 'MONTH', 'YEAR', 'YYYY', 'YY', 'Q', 'QUARTER'), trunc(hired, IF('MM' = 'Q', 'QUARTER', 'MM')), NULL) AS STRING) AS `trunc(hired, 'MM')`, int(EXTRACT(SECOND FROM at)) AS `EXTRACT(SECOND FROM at)`, CAST(date_trunc('MONTH', CAST(at AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ) AS `FLOOR(at TO month)`, CAST(date_trunc('DAY', CAST(at AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ) AS `floor_day(at)` FROM `emp@1` AS `emp`

SELECT hired + interval '1' day, hired - interval (id) hours, hired + interval '1' month, hired + 2 days FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT CAST(hired AS TIMESTAMP_NTZ) + INTERVAL '1' DAY AS `hired + INTERVAL '1' DAY`, CAST(hired AS TIMESTAMP_NTZ) - ((id) * INTERVAL '1' HOURS) AS `hired - INTERVAL (id) HOURS`, hired + INTERVAL '1' MONTH, CAST(hired AS TIMESTAMP_NTZ) + INTERVAL '2' DAYS AS `hired + INTERVAL '2' DAYS` FROM `emp@1` AS `emp`

SELECT at - at + interval '1' day, cast(interval '1-2' year to month AS string) FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT at - at + INTERVAL '1' DAY, concat(IF(((INTERVAL '1-2' YEAR TO MONTH) + INTERVAL '0-0' YEAR TO MONTH) < INTERVAL '0' MONTH, '-', ''), CAST(abs(EXTRACT(YEAR FROM ((INTERVAL '1-2' YEAR TO MONTH) + INTERVAL '0-0' YEAR TO MONTH))) AS STRING), '-', CAST(abs(EXTRACT(MONTH FROM ((INTERVAL '1-2' YEAR TO MONTH) + INTERVAL '0-0' YEAR TO MONTH))) AS STRING)) AS `CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING)` FROM `emp@1` AS `emp`

SELECT cast(hired AS string FORMAT 'dd/mm/yyyy "at" hh24:mi'), cast(name AS date FORMAT 'yyyy-mm-dd') FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT date_format(CAST(hired AS TIMESTAMP_NTZ), 'dd/MM/yyyy \'at\' HH:mm') AS `CAST(hired AS STRING FORMAT 'dd/mm/yyyy "at" hh24:mi')`, CAST(to_timestamp_ntz(name, 'yyyy-MM-dd') AS DATE) AS `CAST(name AS DATE FORMAT 'yyyy-mm-dd')` FROM `emp@1` AS `emp`

SELECT cast(hired AS string FORMAT 'iw') FROM emp
-->
[NOT_YET_SUPPORTED] iw in the FORMAT of a CAST is not yet supported by acidsql.
1 | SELECT cast(hired AS string FORMAT 'iw') FROM emp
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^

SELECT date_format(hired, 'uuuu-MM'), from_unixtime(id, 'EEE u') FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT date_format(hired, 'yyyy-MM') AS `date_format(hired, 'uuuu-MM')`, from_unixtime(id, 'EEE y') AS `from_unixtime(id, 'EEE u')` FROM `emp@1` AS `emp`

SELECT id FROM emp WHERE date_format(hired, 'w') = '3'
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT id FROM `emp@1` AS `emp` WHERE concat(element_at(transform(array(named_struct('n', ((dayofyear(element_at(transform(array(named_struct('a', CAST(hired AS DATE))), `@argument` -> date_add(`@argument`.a, 7 - dayofweek(`@argument`.a))), 1)) - 1) DIV 7 + 1))), `@argument` -> lpad(CAST(`@argument`.n AS STRING), greatest(1, length(CAST(`@argument`.n AS STRING))), '0')), 1)) = '3'

-- set operations go from left to right
SELECT id FROM emp UNION ALL SELECT 2 INTERSECT SELECT 3 UNION SELECT 4
-->
SELECT
reads
  emp@1: default.emp
query
  (SELECT id FROM `emp@1` AS `emp` UNION ALL SELECT 2) INTERSECT SELECT 3 UNION SELECT 4

SELECT id FROM emp UNION ALL (SELECT 2 INTERSECT SELECT 3)
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT id FROM `emp@1` AS `emp` UNION ALL (SELECT 2 INTERSECT SELECT 3)

SELECT id FROM emp WHERE id > ALL (SELECT 1) AND id = ANY (SELECT 2) AND id <> ALL (SELECT 3)
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT id FROM `emp@1` AS `emp` WHERE (CASE WHEN (id) <= (SELECT named_struct('least', min(`@quantified1`.`@value`), 'most', max(`@quantified1`.`@value`), 'rows', count(1), 'known', count(`@quantified1`.`@value`)) FROM (SELECT 1) AS `@quantified1`(`@value`)).`most` THEN FALSE WHEN (SELECT named_struct('least', min(`@quantified1`.`@value`), 'most', max(`@quantified1`.`@value`), 'rows', count(1), 'known', count(`@quantified1`.`@value`)) FROM (SELECT 1) AS `@quantified1`(`@value`)).`rows` = 0 THEN TRUE WHEN (id) IS NULL OR (SELECT named_struct('least', min(`@quantified1`.`@value`), 'most', max(`@quantified1`.`@value`), 'rows', count(1), 'known', count(`@quantified1`.`@value`)) FROM (SELECT 1) AS `@quantified1`(`@value`)).`known` < (SELECT named_struct('least', min(`@quantified1`.`@value`), 'most', max(`@quantified1`.`@value`), 'rows', count(1), 'known', count(`@quantified1`.`@value`)) FROM (SELECT 1) AS `@quantified1`(`@value`)).`rows` THEN CAST(NULL AS BOOLEAN) ELSE TRUE END) AND id IN (SELECT 2) AND NOT id IN (SELECT 3)

SELECT count(DISTINCT id) OVER (PARTITION BY name), row_number() OVER (PARTITION BY name), rank() OVER w FROM emp WINDOW w AS (ORDER BY id)
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT bigint(size(collect_set(id) OVER (PARTITION BY name))) AS `count(DISTINCT id) OVER (PARTITION BY name)`, row_number() OVER (PARTITION BY name ORDER BY NULL) AS `row_number() OVER (PARTITION BY name)`, rank() OVER w FROM `emp@1` AS `emp` WINDOW w AS (ORDER BY id NULLS LAST)

SELECT rank(2, 'b') WITHIN GROUP (ORDER BY id, name DESC) FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT (count_if((id < 2 OR (id <=> 2 AND (name > 'b' OR name IS NULL)))) + 1) AS `rank(2, 'b') WITHIN GROUP (ORDER BY id NULLS LAST, name DESC NULLS FIRST)` FROM `emp@1` AS `emp`

SELECT name, grouping__id, count(*) FROM emp GROUP BY name, id GROUPING SETS ((name, id), (id, name), name, ())
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT name, grouping_id() AS `grouping__id`, count(*) FROM `emp@1` AS `emp` GROUP BY name, id GROUPING SETS ((name, id), name, ())

SELECT array_contains(tags, 'a'), concat_ws('-', split(name, ','), 'z'), struct(id, name).col2 FROM emp
-->
SELECT
reads
  emp@1: default.emp
query
  SELECT coalesce(array_contains(tags, 'a'), FALSE) AS `array_contains(tags, 'a')`, concat_ws('-', array_join(split(name, ','), '-', 'null'), 'z') AS `concat_ws('-', split(name, ','), 'z')`, named_struct('col1', id, 'col2', name).col2 AS `struct(id, name).col2` FROM `emp@1` AS `emp`

SELECT v.x FROM TABLE(VALUES (1, 'a'), (2, 'b')) AS v(x, y)
-->
SELECT
query
  SELECT v.x FROM VALUES (1, 'a'), (2, 'b') AS v(x, y)

SELECT ngrams(sentences(name), 2, 10) FROM emp
-->
[NOT_YET_SUPPORTED] The function ngrams is not yet supported by acidsql.
1 | SELECT ngrams(sentences(name), 2, 10) FROM emp
  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
Hint: explode(sentences(text)) gives the words of each sentence.

SELECT surrogate_key() FROM emp
-->
[NOT_YET_SUPPORTED] The function surrogate_key is not yet supported by acidsql.
1 | SELECT surrogate_key() FROM emp
  |        ^^^^^^^^^^^^^
Hint: row__id identifies a row of a transactional table; uuid() is a unique text.

UPDATE emp SET name = trim(name, '-') WHERE sqrt(wage) IS NULL
-->
UPDATE default.emp
reads
  emp@1: default.emp with row__id
rows
  SELECT `emp`.`emp@1.row__id` AS `:row_id`, `emp`.`id` AS `id`, `emp`.`wage` AS `wage`, `emp`.`hired` AS `hired`, `emp`.`at` AS `at`, `emp`.`tags` AS `tags`, TRIM(BOTH '-' FROM name) AS `:name` FROM `emp@1` AS `emp` WHERE IF(CAST(wage AS DOUBLE) < 0, NULL, sqrt(wage)) IS NULL
events
  SELECT
    `:branch`,
    `:row_id`,
    CASE WHEN `:branch` < 1 THEN `id` END AS `id`,
    CASE WHEN `:branch` < 1 THEN CAST(`:name` AS STRING) END AS `name`,
    CASE WHEN `:branch` < 1 THEN `wage` END AS `wage`,
    CASE WHEN `:branch` < 1 THEN `hired` END AS `hired`,
    CASE WHEN `:branch` < 1 THEN `at` END AS `at`,
    CASE WHEN `:branch` < 1 THEN `tags` END AS `tags`
  FROM (SELECT *, explode(array(1, 0)) AS `:branch` FROM `:rows`)
writes
  delta_W_W_0000: UPDATE, the new rows
  delete_delta_W_W_0000: UPDATE, the old rows
strategy: by Arrow (files that it reads and writes, values that it stores as Spark does), by the driver (up to acidsql.driver.write.max.bytes), in place (one file per bucket, up to 128 MiB each), in each task (from 32 MiB), else shuffled
