/* tbb.cc -- TBB's workers: a reduction, tasks, an exception, a vector that all append to */
#include <cstdio>
#include <functional>
#include <tbb/tbb.h>

int main()
{
    long sum = tbb::parallel_reduce(tbb::blocked_range<long>(0, 20000000), 0L, [](auto &range, long s) { for (long i = range.begin(); i < range.end(); i++) s += i % 7; return s; }, std::plus<long>());
    std::printf("%ld\n", sum);
    tbb::task_group group;
    for (int i = 0; i < 100; i++)
        group.run([] {});
    group.wait();
    try {
        tbb::parallel_for(0, 100, [](int i) { if (i == 50) throw 5; });
    } catch (int thrown) {
        std::printf("caught %d\n", thrown);
    }
    tbb::concurrent_vector<int> all;
    tbb::parallel_for(0, 10000, [&](int i) { all.push_back(i); });
    std::printf("%zu\n", all.size());
    return 3;
}
