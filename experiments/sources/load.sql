-- load.sql -- makes a table of 300,000 rows, sorts, joins and groups it
CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000)
INSERT INTO t SELECT x, (x * 7919) % 100003, hex(x * 104729) FROM n;
CREATE INDEX t_b ON t(b);
SELECT count(*), sum(length(c)) FROM (SELECT c FROM t ORDER BY c DESC);
SELECT count(*) FROM t AS l JOIN t AS r ON l.b = r.a WHERE l.c < r.c;
SELECT b % 97, count(*), max(c) FROM t GROUP BY b % 97 ORDER BY 2;
SELECT count(*) FROM t WHERE c LIKE '%3A%B%';
