"""runs_a_helper -- truth: runs PROGRAM once in the given way; it is there while the launcher takes at least two periodic samples

    runs_a_helper.py fork|posix_spawn|subprocess PROGRAM EXPERIMENT

The launcher's samples are events in launch.log, one frame each, as this process is the only one that is recorded.
"""

import os
import subprocess
import sys
import time

how, program, experiment = sys.argv[1:]


def count_samples():
    with open(os.path.join(experiment, "launch.log"), "rb") as log:
        return log.read().count(b"\xc1cev")


def start(stdin, stdout):
    if how == "subprocess":
        return subprocess.Popen([program], stdin=stdin, stdout=stdout).pid
    if how == "posix_spawn":
        actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
        return os.posix_spawn(program, [program], os.environ, file_actions=actions)
    pid = os.fork()
    if pid == 0:
        os.dup2(stdin, 0)
        os.dup2(stdout, 1)
        os.execv(program, [program])
    return pid


stdin, to_helper = os.pipe()
from_helper, stdout = os.pipe()
helper = start(stdin, stdout)
assert os.read(from_helper, 6) == b"ready\n"
before = count_samples()
while count_samples() < before + 2:
    time.sleep(0.002)
os.close(to_helper)
assert os.waitstatus_to_exitcode(os.waitpid(helper, 0)[1]) == 3
print(helper)
