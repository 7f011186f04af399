"""sandboxes -- commands that change user, root or namespace around a program"""

from __future__ import annotations

from matrix.case import Build, Case, Nature

_PLAIN = Build("plain", "linking/plain.c")


def _around(name: str, sentence: str, shell: str, *needs: str, natures: tuple[Nature, ...] = ()) -> Case:
    return Case("sandboxes", name, sentence, shell=shell, builds=(_PLAIN,), needs=needs, burns=3, natures=natures)


CASES = [
    _around("setpriv", "setpriv to nobody", "setpriv --reuid=65534 --regid=65534 --clear-groups {program} all", "setpriv"),
    _around("su", "su to nobody", "su nobody -s /bin/sh -c '{program} all'", "su"),
    _around("no_capabilities", "all capabilities dropped", "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs {program} all", "setpriv"),
    _around("capsh", "capsh that drops cap_sys_admin", "capsh --drop=cap_sys_admin,cap_perfmon -- -c '{program} all'", "capsh"),
    _around("unshare_all", "unshare of mount, pid, net and ipc, with a new /proc", "unshare -m -p -n -i -f --mount-proc {program} all", "unshare"),
    _around("unshare_user", "unshare of a user namespace with root mapped", "unshare -r {program} all", "unshare"),
    _around("bwrap", "bubblewrap with namespaces of its own", "bwrap --dev-bind / / --unshare-pid --unshare-net --proc /proc {program} all", "bwrap"),
    _around("bwrap_read_only", "bubblewrap whose files cannot be written", "bwrap --ro-bind / / --dev /dev --proc /proc {program} all", "bwrap",
            natures=(Nature("time", "Where no file can be written no log can be."),)),
    _around("hidden_library", "a mount namespace in which the recorder's library cannot be seen", 'unshare -m sh -c \'mount -t tmpfs none "$(dirname "$COLLECTOR_LIBRARY")"; exec {program} all\'', "unshare",
            natures=(Nature("time", "Where the library cannot be seen it cannot be loaded."),)),
    _around("fakeroot", "fakeroot with Python, chown and stat", "fakeroot sh -c 'touch file; chown 12:34 file; stat -c %u:%g file; python3 -c \"import os; print(os.stat(\\\"file\\\").st_uid)\"; {program} all'", "fakeroot"),
    _around("nice_and_limits", "nice, prlimit, taskset and timeout around it", "nice -n 5 prlimit --nofile=64 taskset -c 0 timeout 60 {program} all", "prlimit", "taskset"),
    _around("empty_environment", "env -i", "env -i {program} all"),
    _around("another_session", "setsid, nohup and the background", "setsid nohup {program} all 2>/dev/null & wait $!"),
]
