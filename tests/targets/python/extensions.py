"""extensions -- truth: a thread's CPU time in functions that leave their work to C: zlib, hashlib, json, re, sort with a key, bytes, integers, numpy

    extensions.py MILLISECONDS

Each works the same time, a tenth of a second at a time or less, and prints what it used.
"""

import hashlib
import json
import re
import sys
import time
import zlib

try:
    import numpy
except ImportError:
    numpy = None

TEXT = " ".join(str(number * 7919 % 10007) for number in range(20000))
BYTES = TEXT.encode()
DOCUMENT = json.dumps([{"name": word, "length": len(word)} for word in TEXT.split()[:4000]])
PATTERN = re.compile(r"(\d)(\d+)\1")
NUMBERS = [number * 7919 % 10007 for number in range(20000)]
MATRIX = numpy.ones((160, 160)) if numpy else None


def compresses():
    return zlib.compress(BYTES, 9)


def hashes():
    return hashlib.sha256(BYTES * 10).digest()


def parses_json():
    return json.loads(DOCUMENT)


def matches():
    return len(PATTERN.findall(TEXT))


def by_distance(number):
    return abs(number - 5000)


def sorts_by_key():
    return sorted(NUMBERS, key=by_distance)


def raises_to_a_power():
    return 3**60000 % 1000003


def replaces_bytes():
    return len(BYTES.replace(b"1", b"one").replace(b"two", b"2").split(b" "))


def multiplies_matrices():
    return numpy.einsum("ij,jk->ik", MATRIX, MATRIX)


WORK = [compresses, hashes, parses_json, matches, sorts_by_key, raises_to_a_power, replaces_bytes, *([multiplies_matrices] if numpy else [])]


def burst(work, limit_ns):
    """Work for so long, and what it really took."""
    begun = now = time.thread_time_ns()
    while now - begun < limit_ns:
        work()
        now = time.thread_time_ns()
    return now - begun


def main():
    spent = dict.fromkeys(WORK, 0)
    bursts = max(1, int(sys.argv[1]) // 37)
    for _ in range(bursts):
        for work in WORK:
            spent[work] += burst(work, 37_000_000 // len(WORK))
    for work in WORK:
        print(work.__name__, spent[work])
    print("process", time.process_time_ns())


main()
