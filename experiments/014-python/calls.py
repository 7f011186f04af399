"""calls -- a fixed amount of pure Python: functions that call each other twelve deep, methods, comprehensions, generators, dictionaries; so many rounds"""

import sys


class Account:
    def __init__(self, owner, balance):
        self.owner, self.balance = owner, balance

    def pay(self, other, amount):
        self.balance -= amount
        other.balance += amount


def deep(level, number):
    return deep(level - 1, number + 1) if level else sum(turn * number % 7 for turn in range(200))


def squares(count):
    return [number * number for number in range(count) if number % 3]


def words(count):
    counts = {}
    for number in range(count):
        word = f"w{number % 97}"
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=counts.get)


def round_of(accounts, turn):
    for one, other in zip(accounts, accounts[1:]):
        one.pay(other, turn % 5)
    return deep(8, turn) + len(squares(300)) + len(words(300))


def main(rounds):
    accounts = [Account(str(number), 100) for number in range(100)]
    print(sum(round_of(accounts, turn) for turn in range(rounds)))


main(int(sys.argv[1]))
