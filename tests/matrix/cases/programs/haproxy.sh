# haproxy.sh -- a master with a worker of two threads, 300 requests, new workers for old, 300 more, an end
w() { for i in $(seq 100); do "$@" && return; sleep 0.05; done; echo never; }
ask() { python3 -S -c '
import socket
total = 0
for i in range(300):
    s = socket.socket(socket.AF_UNIX); s.connect("front"); s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    total += len(b"".join(iter(lambda: s.recv(4096), b"")).partition(b"\r\n\r\n")[2])
print(total)'; }
printf 'global\n nbthread 2\ndefaults\n mode http\n timeout connect 9s\n timeout client 9s\n timeout server 9s\nfrontend f\n bind unix@front\n http-request return status 200 content-type text/plain string hello\n' >settings
haproxy -W -db -f settings >/dev/null 2>&1 &
w test -S front
ask
worker() { tr -d ' ' </proc/$1/task/$1/children; }
is_new() { now=$(worker $1); [ -n "$now" ] && [ $now != $2 ] && kill -0 $now 2>/dev/null; }
before=$(worker $!)
kill -USR2 $!
w is_new $! $before
ask
kill $!
wait $!
echo status $?
rm -f front* settings
