#!/usr/bin/env bash
# postgres.sh -- initdb, a server, pgbench with two clients, and the sum of what they did; as the user postgres where we are root
set -e
PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
place=$(mktemp -d /tmp/matrix-pg-XXXXXX)
trap 'rm -rf "$place"' EXIT
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    chown postgres "$place"
    as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
fi
cd "$place"
as initdb -D "$place/data" -A trust -N -U matrix >/dev/null
as pg_ctl -D "$place/data" -o "-k $place -c listen_addresses= -c fsync=off -c autovacuum=off" -l "$place/log" -w start >/dev/null
as pgbench -h "$place" -U matrix -i -q postgres >/dev/null 2>&1
as pgbench -h "$place" -U matrix -c 2 -j 2 -t 50 -n postgres | grep 'actually processed'
as psql -h "$place" -U matrix -At -c 'select count(*) from pgbench_history' -c 'select count(*), sum(aid) from pgbench_accounts' postgres
as pg_ctl -D "$place/data" -m fast -w stop >/dev/null
grep -c -E 'FATAL|PANIC|signal' "$place/log" || true
