#!/usr/bin/env bash
# redis.sh -- a server on a socket of its own, 2,000 writes, a background save (which forks), and an orderly end
set -e
place=$(mktemp -d /tmp/matrix-redis-XXXXXX)
trap 'rm -rf "$place"' EXIT
redis-server --port 0 --unixsocket "$place/socket" --dir "$place" --daemonize no --loglevel warning >"$place/log" 2>&1 &
until redis-cli -s "$place/socket" ping >/dev/null 2>&1; do sleep 0.05; done
for i in $(seq 1 2000); do echo "set key$i value$i"; done | redis-cli -s "$place/socket" --pipe | grep -E 'errors|replies'
redis-cli -s "$place/socket" bgsave >/dev/null
until redis-cli -s "$place/socket" info persistence | grep -q rdb_bgsave_in_progress:0; do sleep 0.05; done
redis-cli -s "$place/socket" dbsize
redis-cli -s "$place/socket" eval 'local s = 0; for i = 1, 2000 do s = s + #redis.call("get", "key" .. i) end; return s' 0
redis-cli -s "$place/socket" shutdown nosave
wait $!
