"""python_phases -- truth: sample points "first", "second" and "last"; the loop between pause and resume is not seen"""

import time

import collector

collector.sample("first")
deadline = time.process_time() + 0.2
while time.process_time() < deadline:
    sum(range(2000))
collector.sample("second")
with collector.paused():
    deadline = time.process_time() + 0.2
    while time.process_time() < deadline:
        sum(range(2000))
collector.sample("last")
print("done")
