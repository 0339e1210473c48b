SELCT 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'SELCT': did you mean SELECT?
1 | SELCT 1
  | ^^^^^

SELECT a FORM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FORM': did you mean FROM?
1 | SELECT a FORM t
  |          ^^^^

SELECT * FORM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FORM': did you mean FROM?
1 | SELECT * FORM t
  |          ^^^^

SELECT a FROM t WEHRE b = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WEHRE': did you mean WHERE?
1 | SELECT a FROM t WEHRE b = 1
  |                 ^^^^^

UPDATE t SET a = 1 WEHRE id = 2
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WEHRE': did you mean WHERE?
1 | UPDATE t SET a = 1 WEHRE id = 2
  |                    ^^^^^

UPDATE t STE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'STE': did you mean SET?
1 | UPDATE t STE a = 1
  |          ^^^

UPDATE t SET a 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near '1': expected '.' or '='
1 | UPDATE t SET a 1
  |                ^

INSERT INTO t VALUES (1, 2
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected ',' or ')'
1 | INSERT INTO t VALUES (1, 2
  |                           ^

INSERT INTO t VALUE (1, 2)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VALUE': did you mean VALUES?
1 | INSERT INTO t VALUE (1, 2)
  |               ^^^^^

INSERT INOT t VALUES (1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'INOT': did you mean INTO?
1 | INSERT INOT t VALUES (1)
  |        ^^^^

DROP TABEL t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'TABEL': did you mean TABLE?
1 | DROP TABEL t
  |      ^^^^^

SELECT (1 + 
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: an operand is missing
1 | SELECT (1 + 
  |            ^

SELECT 1; SELECT 2
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'SELECT': one statement is expected, and another follows
1 | SELECT 1; SELECT 2
  |           ^^^^^^

CREATE TABLE t (a strng)
-->
[INVALID_TYPE] strng is not a Hive type: did you mean string?
1 | CREATE TABLE t (a strng)
  |                   ^^^^^

CREATE TABLE t (a int b int)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'b'
1 | CREATE TABLE t (a int b int)
  |                       ^

CREATE TABLE t (a int,)
-->
[PARSE_SYNTAX_ERROR] Syntax error near ')'
1 | CREATE TABLE t (a int,)
  |                       ^

MERGE INTO t USING s ON t.a = s.a WHEN MATCHD THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'MATCHD': did you mean MATCHED?
1 | MERGE INTO t USING s ON t.a = s.a WHEN MATCHD THEN DELETE
  |                                        ^^^^^^

DELETE t WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 't': Hive has no DELETE without FROM
1 | DELETE t WHERE a = 1
  |        ^
Hint: DELETE FROM t WHERE a = 1

SELECT 'abc
-->
[PARSE_SYNTAX_ERROR] Syntax error: this string is not closed
1 | SELECT 'abc
  |        ^

SELECT {a b} FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{': no frame's name
1 | SELECT {a b} FROM t
  |        ^
Hint: {name} stands for a frame given with the call: a name in braces, without blanks.

SELECT {x} FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{x}': a frame stands where a table is read, nowhere else
1 | SELECT {x} FROM t
  |        ^^^

SELECT * FROM t WHERE
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end
1 | SELECT * FROM t WHERE
  |                      ^

DELETE FROM {x}
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{x}': expected a name
1 | DELETE FROM {x}
  |             ^^^

SELECT a b c FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'c': expected the end
1 | SELECT a b c FROM t
  |            ^

INSERT INTO t SELECT 1 2
-->
[PARSE_SYNTAX_ERROR] Syntax error near '2': expected the end
1 | INSERT INTO t SELECT 1 2
  |                        ^

SELECT a, FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM': something is missing beside the comma
1 | SELECT a, FROM t
  |           ^^^^

SELECT count( FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end
1 | SELECT count( FROM t
  |                     ^

UPDATE t SET a = WHERE b = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WHERE': an expression is missing
1 | UPDATE t SET a = WHERE b = 1
  |                  ^^^^^

INSERT INTO t (a, b VALUES (1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'VALUES': expected ',' or ')'
1 | INSERT INTO t (a, b VALUES (1)
  |                     ^^^^^^

WITH c AS (SELECT 1) DROP TABLE t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'DROP'
1 | WITH c AS (SELECT 1) DROP TABLE t
  |                      ^^^^

SELECT * FROM (DELETE FROM t)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM': expected ')'
1 | SELECT * FROM (DELETE FROM t)
  |                       ^^^^

INSERT INTO t (a) PARTITION (p=1) VALUES (1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'PARTITION': expected a query or VALUES
1 | INSERT INTO t (a) PARTITION (p=1) VALUES (1)
  |                   ^^^^^^^^^

INSERT INTO t TABLE s
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'TABLE'
1 | INSERT INTO t TABLE s
  |               ^^^^^

CREATE TABLE t (a int) PARTITIONED BY (c)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'c': expected a type after the partition column
1 | CREATE TABLE t (a int) PARTITIONED BY (c)
  |                                        ^

CREATE TABLE t (a int) CLUSTERED BY (a) INTO 0 BUCKETS
-->
[PARSE_SYNTAX_ERROR] Syntax error near '0': the number of buckets is a whole number from 1 to 2147483647
1 | CREATE TABLE t (a int) CLUSTERED BY (a) INTO 0 BUCKETS
  |                                              ^

CREATE TABLE t (a int) STORED AS ORK
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'ORK': expected one of AVRO, JSONFILE, ORC, PARQUET, RCFILE, SEQUENCEFILE, TEXTFILE after STORED AS
1 | CREATE TABLE t (a int) STORED AS ORK
  |                                  ^^^

CREATE TABLE a.b.c (x int)
-->
[PARSE_SYNTAX_ERROR] Syntax error near '.'
1 | CREATE TABLE a.b.c (x int)
  |                 ^

CREATE TABLE t ()
-->
[PARSE_SYNTAX_ERROR] Syntax error near ')'
1 | CREATE TABLE t ()
  |                 ^

CREATE TABLE (a int)
-->
[PARSE_SYNTAX_ERROR] Syntax error near '(': expected a name or IF
1 | CREATE TABLE (a int)
  |              ^

CREATE TABLE select (a int)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'select': expected a name or IF
1 | CREATE TABLE select (a int)
  |              ^^^^^^

ALTER TABLE t FOO
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOO'
1 | ALTER TABLE t FOO
  |               ^^^

SHOW FOO
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOO'
1 | SHOW FOO
  |      ^^^

DESCRIBE t a b
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'b': a column is named already
1 | DESCRIBE t a b
  |              ^

EXPLAIN EXPLAIN SELECT 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'EXPLAIN'
1 | EXPLAIN EXPLAIN SELECT 1
  |         ^^^^^^^

ROLLBACK TO x
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'TO': expected the end or WORK
1 | ROLLBACK TO x
  |          ^^

ABORT TRANSACTIONS 1.5
-->
[PARSE_SYNTAX_ERROR] Syntax error near '1.5': expected a whole number
1 | ABORT TRANSACTIONS 1.5
  |                    ^^^

ABORT FOO
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOO': expected COMPACTIONS or TRANSACTIONS
1 | ABORT FOO
  |       ^^^

SET a b
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'b': expected SET name=value
1 | SET a b
  |       ^

SET =x
-->
[PARSE_SYNTAX_ERROR] Syntax error near '=': expected SET name=value
1 | SET =x
  |     ^

USE a.b
-->
[PARSE_SYNTAX_ERROR] Syntax error near '.': expected the end
1 | USE a.b
  |      ^

CALL x()
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'CALL': no statement begins with this word
1 | CALL x()
  | ^^^^

FOO BAR
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOO': no statement begins with this word
1 | FOO BAR
  | ^^^

123
-->
[PARSE_SYNTAX_ERROR] Syntax error near '123': no statement begins with this word
1 | 123
  | ^^^

;
-->
[PARSE_SYNTAX_ERROR] Syntax error: there is no statement
1 | ;
  | ^

-- x
-->
[PARSE_SYNTAX_ERROR] Syntax error: there is no statement
1 | -- x
  | ^

SELECT
-->
[PARSE_SYNTAX_ERROR] Syntax error: SELECT of no columns
1 | SELECT
  | ^^^^^^

SELECT FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: SELECT of no columns
1 | SELECT FROM t
  |             ^

SELECT * FROM
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected table name
1 | SELECT * FROM
  |              ^

SELECT a FROM t GROUP a
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'a': expected BY after GROUP
1 | SELECT a FROM t GROUP a
  |                       ^

SELECT a FROM t ORDER a
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'a': expected BY after ORDER
1 | SELECT a FROM t ORDER a
  |                       ^

SELECT a FROM t WHERE a = 1 AND
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end
1 | SELECT a FROM t WHERE a = 1 AND
  |                                ^

SELECT a FROM t WHERE a == == 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near '==': an operand is missing
1 | SELECT a FROM t WHERE a == == 1
  |                            ^^

SELECT f(a FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM': expected ')'
1 | SELECT f(a FROM t
  |            ^^^^

SELECT a) FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near ')': expected the end
1 | SELECT a) FROM t
  |         ^

SELECT CASE WHEN a THEN b FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM': expected END after CASE
1 | SELECT CASE WHEN a THEN b FROM t
  |                           ^^^^

SELECT a FROM t LIMT 3
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'LIMT': did you mean LIMIT?
1 | SELECT a FROM t LIMT 3
  |                 ^^^^

SELECT a FROM t GRUOP BY a
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'GRUOP': did you mean GROUP?
1 | SELECT a FROM t GRUOP BY a
  |                 ^^^^^

SELECT a FROM t JION s ON t.a = s.a
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'JION': did you mean JOIN?
1 | SELECT a FROM t JION s ON t.a = s.a
  |                 ^^^^

SELECT a FROM t WHERE a BETWEN 1 AND 2
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'BETWEN': did you mean BETWEEN?
1 | SELECT a FROM t WHERE a BETWEN 1 AND 2
  |                         ^^^^^^

SELECT a FROM t WHERE a IN 1, 2
-->
[PARSE_SYNTAX_ERROR] Syntax error near '2': a table is missing after the comma
1 | SELECT a FROM t WHERE a IN 1, 2
  |                               ^

INSERT INTO t VALUES (1,, 2)
-->
[PARSE_SYNTAX_ERROR] Syntax error near ',': an expression is missing
1 | INSERT INTO t VALUES (1,, 2)
  |                         ^

INSERT INTO t VALUES (1, 2) FOO
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOO': expected the end
1 | INSERT INTO t VALUES (1, 2) FOO
  |                             ^^^

INSERT INTO t VALUES ()
-->
[PARSE_SYNTAX_ERROR] Syntax error near ')': an expression is missing
1 | INSERT INTO t VALUES ()
  |                       ^

INSERT INTO t VALUES
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: an expression is missing
1 | INSERT INTO t VALUES
  |                     ^

INSERT INTO t SELEC 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'SELEC': did you mean SELECT?
1 | INSERT INTO t SELEC 1
  |               ^^^^^

INSERT t VALUES (1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 't': expected INTO, OVERWRITE or WITH
1 | INSERT t VALUES (1)
  |        ^

INSERT INTO (a) VALUES (1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near '(': expected a name or TABLE
1 | INSERT INTO (a) VALUES (1)
  |             ^

UPDATE SET a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'SET': expected a name
1 | UPDATE SET a = 1
  |        ^^^

UPDATE t SET a = 1,
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected a name
1 | UPDATE t SET a = 1,
  |                    ^

UPDATE t SET WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WHERE': expected a name
1 | UPDATE t SET WHERE a = 1
  |              ^^^^^

UPDATE t SET a == 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near '==': expected '.' or '='
1 | UPDATE t SET a == 1
  |                ^^

DELETE FROM t WERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WERE': did you mean WHERE?
1 | DELETE FROM t WERE a = 1
  |               ^^^^

DELETE FROM t WHERE
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected an expression
1 | DELETE FROM t WHERE
  |                    ^

DELETE * FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near '*': Hive has no columns in DELETE
1 | DELETE * FROM t
  |        ^
Hint: DELETE FROM t

MERGE INTO t USING s ON t.a = s.a
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected WHEN
1 | MERGE INTO t USING s ON t.a = s.a
  |                                  ^

MERGE INTO t USING s WHEN MATCHED THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'WHEN': expected ON
1 | MERGE INTO t USING s WHEN MATCHED THEN DELETE
  |                      ^^^^

MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN INSRT VALUES (1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'INSRT': did you mean INSERT?
1 | MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN INSRT VALUES (1)
  |                                                     ^^^^^

MERGE INTO t USING s ON t.a = s.a WHEN MATCHED AND THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'THEN': an expression is missing
1 | MERGE INTO t USING s ON t.a = s.a WHEN MATCHED AND THEN DELETE
  |                                                    ^^^^

MERGE INTO t USING s ON t.a = s.a WHEN NOT MATCHED BY SORCE THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'SORCE': did you mean SOURCE?
1 | MERGE INTO t USING s ON t.a = s.a WHEN NOT MATCHED BY SORCE THEN DELETE
  |                                                       ^^^^^

MERGE INTO {t} USING s ON t.a = s.a WHEN MATCHED THEN DELETE
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{t}': expected a name
1 | MERGE INTO {t} USING s ON t.a = s.a WHEN MATCHED THEN DELETE
  |            ^^^

SELECT $x
-->
[PARSE_SYNTAX_ERROR] Syntax error near '$'
1 | SELECT $x
  |        ^

SELECT 'a' § 'b'
-->
[PARSE_SYNTAX_ERROR] Syntax error near '§'
1 | SELECT 'a' § 'b'
  |            ^

SELECT {x}.a FROM {x}
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{x}': a frame stands where a table is read, nowhere else
1 | SELECT {x}.a FROM {x}
  |        ^^^

SELECT * FROM db.{x}
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{x}': a frame stands where a table is read, nowhere else
1 | SELECT * FROM db.{x}
  |                  ^^^

SELECT * FROM t AS {x}
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{x}': a frame stands where a table is read, nowhere else
1 | SELECT * FROM t AS {x}
  |                    ^^^

SELECT * FROM { x }
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{': no frame's name
1 | SELECT * FROM { x }
  |               ^
Hint: {name} stands for a frame given with the call: a name in braces, without blanks.

SELECT a FROM t; DROP TABLE t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'DROP': one statement is expected, and another follows
1 | SELECT a FROM t; DROP TABLE t
  |                  ^^^^

SELECT 1 DROP TABLE t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'DROP': expected the end
1 | SELECT 1 DROP TABLE t
  |          ^^^^

START TRANSACTION x
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'x': expected the end, ISOLATION or READ
1 | START TRANSACTION x
  |                   ^

COMMIT x
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'x': expected the end or WORK
1 | COMMIT x
  |        ^

CREATE TABLE t LIKE
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected a name
1 | CREATE TABLE t LIKE
  |                    ^

CREATE TABLE t (a int) AS SELECT 1 FOO BAR
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'BAR': expected the end
1 | CREATE TABLE t (a int) AS SELECT 1 FOO BAR
  |                                        ^^^

EXPLAIN
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end
1 | EXPLAIN
  |        ^

EXPLAIN FOO
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOO'
1 | EXPLAIN FOO
  |         ^^^

SELECT a INTO x FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'INTO': Hive does this in another way
1 | SELECT a INTO x FROM t
  |          ^^^^
Hint: CREATE TABLE x AS SELECT a FROM t

SELECT TOP 3 a FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'TOP': Hive does this in another way
1 | SELECT TOP 3 a FROM t
  |        ^^^
Hint: SELECT a FROM t LIMIT 3

SELECT * FROM t FOR UPDATE
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FOR UPDATE': Hive does this in another way
1 | SELECT * FROM t FOR UPDATE
  |                 ^^^^^^^^^^
Hint: START TRANSACTION, the statements, COMMIT: they see one snapshot, and a conflict is an error

SELECT a -> '$.b' FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: JSONEXTRACT is not part of Hive's SQL
1 | SELECT a -> '$.b' FROM t
  |        ^

SELECT * FROM t PREWHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'PREWHERE': did you mean WHERE?
1 | SELECT * FROM t PREWHERE a = 1
  |                 ^^^^^^^^

SELECT * FROM t * WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near '*': a table's name is not followed by '*'
1 | SELECT * FROM t * WHERE a = 1
  |                 ^

SELECT * FROM t CONNECT BY a = b
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'BY': expected the end
1 | SELECT * FROM t CONNECT BY a = b
  |                         ^^

SELECT * FROM t |> WHERE a = 1
-->
[PARSE_SYNTAX_ERROR] Syntax error near '|': expected the end
1 | SELECT * FROM t |> WHERE a = 1
  |                 ^

SELECT a COLLATE x FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: COLLATE is not part of Hive's SQL
1 | SELECT a COLLATE x FROM t
  |        ^^^^^^^^^^^

SELECT a ~ b FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near '~': expected the end
1 | SELECT a ~ b FROM t
  |          ^

SELECT * FROM t AT x
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'x': expected the end
1 | SELECT * FROM t AT x
  |                    ^

SELECT * FROM t FETCH FIRST 3 ROWS ONLY
-->
[PARSE_SYNTAX_ERROR] Syntax error: FETCH is not part of Hive's SQL
1 | SELECT * FROM t FETCH FIRST 3 ROWS ONLY
  |                             ^

SELECT DISTINCT ON (a) a FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: DISTINCT ON is not part of Hive's SQL
1 | SELECT DISTINCT ON (a) a FROM t
  |                     ^

SELECT * FROM (DESCRIBE t)
-->
[PARSE_SYNTAX_ERROR] Syntax error: DESCRIBE is not part of Hive's SQL
1 | SELECT * FROM (DESCRIBE t)
  |                         ^

SELECT * FROM (INSERT INTO x VALUES (1))
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'INSERT': expected table name
1 | SELECT * FROM (INSERT INTO x VALUES (1))
  |                ^^^^^^

WITH c AS (DELETE FROM t) SELECT * FROM c
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'DELETE': expected ')'
1 | WITH c AS (DELETE FROM t) SELECT * FROM c
  |            ^^^^^^

SELECT * FROM t WHERE a IN 1
-->
[PARSE_SYNTAX_ERROR] Syntax error: expected '(' after IN
1 | SELECT * FROM t WHERE a IN 1
  |                       ^^^^^^

SELECT a FROM t WHERE a IN b
-->
[PARSE_SYNTAX_ERROR] Syntax error: expected '(' after IN
1 | SELECT a FROM t WHERE a IN b
  |                       ^^^^^^

SELECT * FROM UNNEST(a)
-->
[PARSE_SYNTAX_ERROR] Syntax error: UNNEST is not part of Hive's SQL
1 | SELECT * FROM UNNEST(a)
  |                      ^

SELECT [1, 2]
-->
[PARSE_SYNTAX_ERROR] Syntax error near '[': an array is written array(..)
1 | SELECT [1, 2]
  |        ^

SELECT ARRAY[1, 2]
-->
[PARSE_SYNTAX_ERROR] Syntax error: a subscript is one value
1 | SELECT ARRAY[1, 2]
  |        ^^^^^^^^^^

SELECT a[1:2] FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: SLICE is not part of Hive's SQL
1 | SELECT a[1:2] FROM t
  |          ^^^

SELECT {'a': 1}
-->
[PARSE_SYNTAX_ERROR] Syntax error near '{': no frame's name
1 | SELECT {'a': 1}
  |        ^
Hint: {name} stands for a frame given with the call: a name in braces, without blanks.

SELECT STRUCT<a int>(1)
-->
[PARSE_SYNTAX_ERROR] Syntax error: STRUCT is not part of Hive's SQL
1 | SELECT STRUCT<a int>(1)
  |                      ^

SELECT a:b FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: a parameter stands for a value, not for a name
1 | SELECT a:b FROM t
  |         ^^

SELECT @x
-->
[PARSE_SYNTAX_ERROR] Syntax error near '@'
1 | SELECT @x
  |        ^

SELECT a 'x' FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near ''x'': expected the end
1 | SELECT a 'x' FROM t
  |          ^^^

SELECT a FROM t TABLESAMPLE BERNOULLI (10)
-->
[PARSE_SYNTAX_ERROR] Syntax error: TABLESAMPLE takes (n PERCENT), (n ROWS) or (BUCKET x OUT OF y)
1 | SELECT a FROM t TABLESAMPLE BERNOULLI (10)
  |                                        ^^

SELECT CAST(a AS foo) FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'foo': expected TYPE after CAST
1 | SELECT CAST(a AS foo) FROM t
  |                  ^^^

SELECT * FROM t full
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'full': expected the end
1 | SELECT * FROM t full
  |                 ^^^^

SELECT case FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM': expected END after CASE
1 | SELECT case FROM t
  |             ^^^^

FROM_X
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM_X': did you mean FROM?
1 | FROM_X
  | ^^^^^^

SELECT * FROM :t
-->
[PARSE_SYNTAX_ERROR] Syntax error: a parameter stands for a value, not for a name
1 | SELECT * FROM :t
  |               ^^

SELECT * FROM a ASOF JOIN b
-->
[PARSE_SYNTAX_ERROR] Syntax error: ASOF JOIN is not part of Hive's SQL
1 | SELECT * FROM a ASOF JOIN b
  |                           ^

SELECT * FROM a CROSS APPLY f(x)
-->
[PARSE_SYNTAX_ERROR] Syntax error: APPLY is not part of Hive's SQL; use LATERAL VIEW
1 | SELECT * FROM a CROSS APPLY f(x)
  |                             ^^^

SELECT a FROM t TABLESAMPLE (100M)
-->
[PARSE_SYNTAX_ERROR] Syntax error near '100M': expected ')'
1 | SELECT a FROM t TABLESAMPLE (100M)
  |                              ^^^^

SELECT * FROM t CHANGES FROM 5
-->
[PARSE_SYNTAX_ERROR] Syntax error near '5': expected VERSION or TIMESTAMP after FROM of CHANGES
1 | SELECT * FROM t CHANGES FROM 5
  |                              ^

SELECT * t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 't': * has no alias
1 | SELECT * t
  |          ^

SELECT t.* x FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'x': * has no alias
1 | SELECT t.* x FROM t
  |            ^

SELECT * FROM . b
-->
[PARSE_SYNTAX_ERROR] Syntax error near '.': a name is missing before '.'
1 | SELECT * FROM . b
  |               ^

SELECT * FROM a..b
-->
[PARSE_SYNTAX_ERROR] Syntax error: a table is named table or database.table
1 | SELECT * FROM a..b
  |               ^^^^

SELECT * FROM a.b.c
-->
[PARSE_SYNTAX_ERROR] Syntax error: a table is named table or database.table
1 | SELECT * FROM a.b.c
  |               ^^^^^

FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: expected INSERT or SELECT
1 | FROM t
  |       ^

SELECT * FROM SELECT a
-->
[PARSE_SYNTAX_ERROR] Syntax error: a query in FROM stands in parentheses
1 | SELECT * FROM SELECT a
  |                      ^

SELECT * FROM t JOIN SELECT a
-->
[PARSE_SYNTAX_ERROR] Syntax error: a query in FROM stands in parentheses
1 | SELECT * FROM t JOIN SELECT a
  |                             ^

SELECT , a FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near ',': something is missing beside the comma
1 | SELECT , a FROM t
  |        ^

SELECT a FROM t,
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: a table is missing after the comma
1 | SELECT a FROM t,
  |                 ^

SELECT a FROM t, , s
-->
[PARSE_SYNTAX_ERROR] Syntax error near ',': a table is missing after the comma
1 | SELECT a FROM t, , s
  |                  ^

SELECT AS a FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'AS': an expression is missing
1 | SELECT AS a FROM t
  |        ^^

SELECT a FROM t WHERE a IN ()
-->
[PARSE_SYNTAX_ERROR] Syntax error: expected '(' after IN
1 | SELECT a FROM t WHERE a IN ()
  |                       ^

SELECT a FROM t WHERE a IN
-->
[PARSE_SYNTAX_ERROR] Syntax error: expected '(' after IN
1 | SELECT a FROM t WHERE a IN
  |                       ^

SELECT * FROM t AS
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end: an alias is missing
1 | SELECT * FROM t AS
  |                   ^

SELECT d - INTERVAL (5) FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near 'FROM': a unit is missing behind INTERVAL (..), such as DAY
1 | SELECT d - INTERVAL (5) FROM t
  |                         ^^^^

SELECT * EXCEPT FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error at the end
1 | SELECT * EXCEPT FROM t
  |                       ^

SELECT * FROM t TABLESAMPLE
-->
[PARSE_SYNTAX_ERROR] Syntax error: expected '(' after TABLESAMPLE
1 | SELECT * FROM t TABLESAMPLE
  | ^^^^^^

SELECT */ a FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: * is not a value
1 | SELECT */ a FROM t
  |        ^

SELECT a AS 'x' FROM t
-->
Query(tree=SELECT a AS `x` FROM t)
tables: t

SELECT * FROM 'x'
-->
[PARSE_SYNTAX_ERROR] Syntax error near ''x'': expected table name
1 | SELECT * FROM 'x'
  |               ^^^

SELECT f(,a)
-->
[PARSE_SYNTAX_ERROR] Syntax error near ',': something is missing beside the comma
1 | SELECT f(,a)
  |          ^

SELECT a FROM t ORDER BY , a
-->
[PARSE_SYNTAX_ERROR] Syntax error near ',': something is missing beside the comma
1 | SELECT a FROM t ORDER BY , a
  |                          ^

SELECT CAST(a AS `varchar(3))`) FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near '`varchar(3))`': expected TYPE after CAST
1 | SELECT CAST(a AS `varchar(3))`) FROM t
  |                  ^^^^^^^^^^^^^

SELECT posexplode(() => 1) FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error near '1': expected one name before =>
1 | SELECT posexplode(() => 1) FROM t
  |                         ^

SELECT f((a, b) => 1)
-->
[PARSE_SYNTAX_ERROR] Syntax error near '1': expected one name before =>
1 | SELECT f((a, b) => 1)
  |                    ^

SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM t
-->
[PARSE_SYNTAX_ERROR] Syntax error: EXCLUDE is not part of Hive's SQL
1 | SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM t
  |                                             ^
