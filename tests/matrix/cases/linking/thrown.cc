/* thrown.cc -- C++: exceptions through threads and at exit, thread_local with destructors, static initialisation that works */
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

static volatile unsigned long sink;
static void spend(long steps) { for (long i = 0; i < steps; i++) sink = sink * 5 + 1; }
struct Early { Early() { spend(20000000); } ~Early() { spend(10000000); std::puts("static gone"); } } early;
struct Local { ~Local() { spend(100000); } };
static thread_local Local local;

static int deep(int depth) { std::string held(100, 'x'); if (depth == 0) throw std::runtime_error("deep"); return deep(depth - 1) + (int)held.size(); }

int main(int argc, char **)
{
    int caught = 0;
    for (int i = 0; i < 3000; i++)
        try { deep(30); } catch (const std::exception &) { caught++; }
    std::thread([] { (void)&local; try { deep(5); } catch (...) { std::puts("in a thread"); } }).join();
    std::printf("caught %d\n", caught);
    std::fflush(stdout);
    if (argc > 1) {
        std::set_terminate([] { std::puts("terminated"); std::fflush(stdout); std::_Exit(4); });
        throw 1;
    }
}
