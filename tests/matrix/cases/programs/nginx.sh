#!/usr/bin/env bash
# nginx.sh -- a master with two workers on a socket, twenty requests, a reload, and an orderly end
set -e
place=$(mktemp -d /tmp/matrix-nginx-XXXXXX)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
seq 1 1000 >"$place/page"
cat >"$place/config" <<END
worker_processes 2;
pid $place/pid;
error_log $place/log crit;
events { worker_connections 64; }
http { access_log off; server { listen unix:$place/socket; root $place; } }
END
fetch() { python3 - "$place/socket" <<'END'
import hashlib, socket, sys
with socket.socket(socket.AF_UNIX) as client:
    client.connect(sys.argv[1])
    client.sendall(b"GET /page HTTP/1.0\r\n\r\n")
    body = b"".join(iter(lambda: client.recv(65536), b"")).partition(b"\r\n\r\n")[2]
print(len(body), hashlib.sha256(body).hexdigest()[:8])
END
}
nginx -c "$place/config" -g 'daemon off;' &
until [ -S "$place/socket" ]; do sleep 0.05; done
chmod 777 "$place/socket"
fetch; fetch
nginx -c "$place/config" -s reload
fetch
nginx -c "$place/config" -s quit
wait $!
echo "status $?"
