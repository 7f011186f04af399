/* fibers.cc -- Boost's fibers and coroutines, each on a stack of its own; exceptions on one with a guard page */
#include <boost/coroutine2/all.hpp>
#include <boost/fiber/all.hpp>
#include <cstdio>
#include <vector>

using coroutine = boost::coroutines2::coroutine<int>;

static long sum_of(coroutine::pull_type numbers)
{
    long sum = 0;
    for (int number : numbers)
        sum += number;
    return sum;
}

int main()
{
    long total = 0;
    std::vector<boost::fibers::fiber> fibers;
    for (int i = 0; i < 50; i++)
        fibers.emplace_back([&total] { for (int k = 0; k < 2000; k++) { total += k % 7; boost::this_fiber::yield(); } });
    for (auto &fiber : fibers)
        fiber.join();
    std::printf("%ld\n", total);
    std::printf("%ld\n", sum_of(coroutine::pull_type([](auto &yield) { for (int i = 0; i < 100000; i++) yield(i % 7); })));
    std::printf("%ld\n", sum_of(coroutine::pull_type(boost::coroutines2::protected_fixedsize_stack(65536), [](auto &yield) { for (int i = 0; i < 1000; i++) try { throw i; } catch (int thrown) { yield(thrown); } })));
}
