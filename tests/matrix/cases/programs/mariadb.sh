#!/usr/bin/env bash
# mariadb.sh -- a database made, a server on a socket of its own, 20,000 rows, an orderly end
set -e
place=$(mktemp -d /tmp/matrix-mariadb-XXXXXX)
trap 'rm -rf "$place"' EXIT
mariadb-install-db --no-defaults --user=root --datadir="$place/data" --auth-root-authentication-method=normal >"$place/log" 2>&1
mariadbd --no-defaults --user=root --datadir="$place/data" --socket="$place/socket" --skip-networking --pid-file="$place/pid" >>"$place/log" 2>&1 &
until mysqladmin --no-defaults -u root -S "$place/socket" ping >/dev/null 2>&1; do sleep 0.05; done
mysql --no-defaults -u root -S "$place/socket" -e 'create database d; use d; create table t(a int primary key, b varchar(40)); insert into t select seq, sha1(seq) from seq_1_to_20000; select count(*), max(b) from t'
mysqladmin --no-defaults -u root -S "$place/socket" shutdown
wait $!
