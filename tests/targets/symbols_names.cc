// symbols_names.cc -- C++ names; its truth: shapes::Box<int>::grow(int, long) calls
// (anonymous namespace)::hidden(char const*), operator<< and a lambda, and throws in a cold part.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

volatile int sink;

namespace {
__attribute__((noinline)) int hidden(const char *text)
{
    return sink + text[0];
}
} // namespace

namespace shapes {

template <typename T> struct Box {
    std::vector<T> items;
    __attribute__((noinline)) int grow(T value, long times)
    {
        for (long i = 0; i < times; i++)
            items.push_back(value + static_cast<T>(i));
        auto twice = [&](int x) __attribute__((noinline)) { return x * 2 + sink; };
        if (items.size() > 1000000)
            throw std::length_error("too many");
        return twice(static_cast<int>(items.size())) + hidden("x");
    }
};

template <typename T> __attribute__((noinline)) Box<T> &operator<<(Box<T> &box, T value)
{
    box.items.push_back(value + sink);
    return box;
}

} // namespace shapes

int main(int argc, char **argv)
{
    shapes::Box<int> box;
    std::string name(argv[0]);
    box << argc;
    std::printf("%d\n", box.grow(argc, static_cast<long>(name.size())));
    return 0;
}
