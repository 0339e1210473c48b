-- The employee story: every kind of row-level write on a Hive ACID table. `make demo` runs it.
CREATE TABLE employee (id int, name string, salary int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO employee VALUES (1, 'Jerry', 5000), (2, 'Tom', 8000), (3, 'Kate', 6000);
UPDATE employee SET salary = 7000 WHERE id = 2;

CREATE TABLE employee_update (id int, name string, salary int) STORED AS ORC TBLPROPERTIES ('transactional'='true');
INSERT INTO employee_update VALUES (2, 'Tom', 7500), (4, 'Mary', 9000);
MERGE INTO employee AS A USING employee_update AS B ON A.id = B.id
  WHEN MATCHED THEN UPDATE SET salary = B.salary
  WHEN NOT MATCHED THEN INSERT VALUES (B.id, B.name, B.salary);
DELETE FROM employee WHERE id = 1;

-- row__id is (write ID, bucket, row number): Kate is still of write 1, Tom and Mary are of the MERGE, write 3.
SELECT row__id, * FROM employee ORDER BY id;
