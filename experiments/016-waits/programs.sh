#!/usr/bin/env bash
# programs.sh -- NAME SECONDS: a program that mostly waits, and who keeps it a little busy; ends with 1 where it is not installed
name=$1
seconds=$2
case $name in
postgres) needed=pgbench ;;
redis) needed=redis-server ;;
java) needed=javac ;;
*) needed=$name ;;
esac
command -v "$needed" >/dev/null || exit 1
place=$(mktemp -d /tmp/waits-XXXXXX)
trap 'rm -rf "$place"' EXIT
cd "$place" || exit 1
case $name in
postgres)
    PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
    as() { if [ "$(id -u)" = 0 ]; then unshare --user --map-user=1 --map-group=1 "$@"; else "$@"; fi; } # it does not run as root
    as initdb -D data -A trust -N -U waits >/dev/null || exit 1
    as pg_ctl -D data -o "-k $place -c listen_addresses=" -l log -w start >/dev/null
    pgbench -h "$place" -U waits -i -q postgres >/dev/null 2>&1
    pgbench -h "$place" -U waits -c 4 -j 2 -R 100 -T "$seconds" -n postgres >/dev/null
    as pg_ctl -D data -m fast -w stop >/dev/null
    ;;
redis)
    redis-server --port 0 --unixsocket socket --save '' >/dev/null &
    until redis-cli -s socket ping >/dev/null 2>&1; do sleep 0.05; done
    for _ in $(seq "$seconds"); do
        redis-benchmark -s socket -q -n 2000 -t set,get >/dev/null
        sleep 0.8
    done
    redis-cli -s socket shutdown nosave
    wait
    ;;
nginx)
    seq 1 1000 >page
    chmod 755 .
    echo "worker_processes 2; pid $place/pid; error_log $place/log crit; events { worker_connections 64; }
http { access_log off; server { listen unix:$place/socket; root $place; } }" >config
    nginx -c "$place/config" -g 'daemon off;' &
    until [ -S socket ]; do sleep 0.05; done
    chmod 777 socket
    for _ in $(seq "$((seconds * 5))"); do
        curl -s --unix-socket socket http://localhost/page >/dev/null
        sleep 0.15
    done
    nginx -c "$place/config" -s quit
    wait
    ;;
node)
    node -e "const fs = require('fs'), end = Date.now() + $seconds * 1000;
        function again() { fs.readFile('/etc/passwd', () => { if (Date.now() < end) setTimeout(again, 20); }); }
        again();
        new (require('worker_threads').Worker)('setTimeout(() => 0, $seconds * 1000)', { eval: true });"
    ;;
java)
    cat >Waits.java <<END
import java.util.concurrent.*;
public class Waits {
    static void nap() { try { Thread.sleep(20); } catch (InterruptedException e) { } }
    public static void main(String[] a) throws Exception {
        var pool = Executors.newFixedThreadPool(4);
        long end = System.nanoTime() + ${seconds}_000_000_000L;
        while (System.nanoTime() < end) {
            var done = pool.submit(Waits::nap);
            synchronized (pool) { pool.wait(10); }
            done.get();
        }
        pool.shutdown();
    }
}
END
    javac Waits.java || exit 1
    java Waits
    ;;
python3)
    python3 - "$seconds" <<END
import sys, time
from concurrent.futures import ThreadPoolExecutor
end = time.monotonic() + float(sys.argv[1])
with ThreadPoolExecutor(4) as pool:
    while time.monotonic() < end:
        list(pool.map(time.sleep, [0.01, 0.02, 0.005, 0.03]))
        sum(range(20000))
END
    ;;
esac
