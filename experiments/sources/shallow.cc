// shallow -- what C++ programs do all day, for as many seconds of each thread's CPU time as are asked: words into maps, numbers sorted, text parsed and written
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Generator {
    std::uint64_t state;
    std::uint64_t operator()() { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; }
};

static std::size_t count_words(Generator &next)
{
    std::map<std::string, int> ordered;
    std::unordered_map<std::string, int> hashed;
    for (int i = 0; i < 4000; i++) {
        const std::string word = "word" + std::to_string(next() % 900);
        ordered[word]++;
        hashed[word]++;
    }
    return ordered.size() + hashed.size();
}

static std::size_t sort_numbers(Generator &next)
{
    std::vector<std::pair<std::uint64_t, std::string>> rows;
    for (int i = 0; i < 3000; i++)
        rows.emplace_back(next() % 1000, std::to_string(next()));
    std::sort(rows.begin(), rows.end());
    std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
    return rows.front().first;
}

static std::size_t parse_text(Generator &next)
{
    std::ostringstream out;
    for (int i = 0; i < 1500; i++)
        out << next() % 10000 << ' ' << 0.5 * static_cast<double>(next() % 100) << '\n';
    std::istringstream in(out.str());
    double sum = 0, left, right;
    while (in >> left >> right)
        sum += left * right;
    return static_cast<std::size_t>(sum);
}

static void work(unsigned seed, double seconds, std::size_t *result)
{
    Generator next{seed};
    for (*result = 0; cpu_seconds() < seconds;)
        *result += count_words(next) + sort_numbers(next) + parse_text(next);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
    std::size_t results[2];
    std::thread other(work, 1, seconds, &results[1]);
    work(2, seconds, &results[0]);
    other.join();
    std::cout << results[0] + results[1] << '\n';
}
