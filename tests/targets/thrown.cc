// thrown.cc -- truth: throws (by way of the C++ runtime's unwinder) and computes use the CPU time printed for them; every stack leads to main
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "measured_work.h"

struct Guard {
    int *count;
    ~Guard() { ++*count; }
};

NOINLINE int thrower(int number)
{
    int count = 0;
    Guard guard{&count};
    if (number >= 0)
        throw std::runtime_error("thrown");
    return count;
}

NOINLINE int carries(int depth, int number)
{
    int count = 0;
    Guard guard{&count};
    return depth == 0 ? thrower(number) : carries(depth - 1, number) + 1;
}

NOINLINE void throws(int rounds)
{
    for (int i = 0; i < rounds; i++)
        try {
            carries(20, i);
        } catch (const std::exception &) {
            churned = churned + 1;
        }
}

NOINLINE void computes() { work(about(3300)); }

int main(int argc, char **argv)
{
    account thrown = {"throws(int)", 0}, computed = {"computes()", 0};
    std::int64_t end = thread_ns() + (argc > 1 ? std::atol(argv[1]) : 500) * 1000000;
    while (thread_ns() < end) {
        BOOK(thrown, throws(static_cast<int>(about(1000))));
        BOOK(computed, computes());
    }
    std::printf("%s %lld\n%s %lld\n", thrown.name, static_cast<long long>(thrown.ns), computed.name, static_cast<long long>(computed.ns));
    return 0;
}
