#!/usr/bin/env bash
# apache.sh -- a server with threads, some requests, a graceful restart, an orderly end
set -e
place=$(mktemp -d /tmp/matrix-apache-XXXXXX)
trap 'rm -rf "$place"' EXIT
seq 20000 >"$place/page"
modules=/usr/lib/apache2/modules
printf '%s\n' "ServerRoot $place" "PidFile pid" "Listen 127.0.0.1:18099" "LoadModule mpm_event_module $modules/mod_mpm_event.so" \
    "LoadModule authz_core_module $modules/mod_authz_core.so" "DocumentRoot $place" "ErrorLog errors" "ServerName here" >"$place/settings"
get() { python3 -c 'import urllib.request; print(len(urllib.request.urlopen("http://127.0.0.1:18099/page").read()))' 2>/dev/null; }
apache2 -f "$place/settings" -k start
until get; do sleep 0.05; done
apache2 -f "$place/settings" -k graceful
for _ in 1 2 3; do get; done
apache2 -f "$place/settings" -k stop
while [ -e "$place/pid" ]; do sleep 0.05; done
