"""hot -- functions, objects, closures, recursion, text and sorting, for so many milliseconds of CPU time"""

import sys
import time


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def words(count):
    counts = {}
    for i in range(count):
        word = str(i * 7919 % 1009)
        counts[word] = counts.get(word, 0) + 1
    return len(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def main(ms):
    end, total = time.process_time() + ms / 1000, 0
    while time.process_time() < end:
        total += sum(collatz(i) for i in range(1, 3000)) + fib(18) + words(5000)
    print(total > 0)


main(int(sys.argv[1]))
