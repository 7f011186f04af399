"""load -- objects, dictionaries, text and sorting, so many rounds"""

import sys


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def length(self):
        return (self.x * self.x + self.y * self.y) ** 0.5


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def main(rounds):
    text = " ".join(str(i * 7919 % 1009) for i in range(5000))
    total = 0
    for turn in range(rounds):
        total += sum(Point(i, turn).length() for i in range(5000))
        total += len(count_words(text))
    print(int(total))


main(int(sys.argv[1]))
