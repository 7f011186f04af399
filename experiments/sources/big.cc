// big.cc -- template-heavy code to compile: regular expressions, containers of containers, tuples, closures, COPIES times over
#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#ifndef COPIES
#define COPIES 4
#endif

template <int N> struct Store {
    using Row = std::tuple<int, double, std::array<char, N + 1>>;
    std::map<std::string, std::vector<Row>> table;
    std::unordered_map<int, std::shared_ptr<std::set<Row>>> index;
    std::variant<int, std::string, std::vector<Row>> value;

    template <typename F> auto apply(F f) const
    {
        std::vector<decltype(f(std::string(), N))> out;
        for (const auto &entry : table)
            out.push_back(f(entry.first, static_cast<int>(entry.second.size()) + N));
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    int total() const
    {
        int sum = 0;
        for (const auto &entry : index)
            sum += static_cast<int>(entry.second->size());
        for (const auto &entry : table)
            sum += std::accumulate(entry.second.begin(), entry.second.end(), 0, [](int s, const Row &row) { return s + std::get<0>(row); });
        return sum + std::visit([](const auto &held) -> int {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, int>)
                return held;
            else
                return static_cast<int>(held.size());
        }, value);
    }
};

template <int N> int exercise(std::istream &in)
{
    Store<N> store;
    std::string word;
    std::basic_regex<char> pattern("([a-z]+)([0-9]{" + std::to_string(N) + "})");
    while (in >> word) {
        std::smatch match;
        if (!std::regex_match(word, match, pattern))
            continue;
        store.table[match[1]].emplace_back(N, 0.5 * N, std::array<char, N + 1>());
        auto &set = store.index[N];
        if (!set)
            set = std::make_shared<std::set<typename Store<N>::Row>>();
        set->insert(store.table[match[1]].back());
    }
    auto names = store.apply([](const std::string &name, int n) { return name + std::to_string(n); });
    auto sizes = store.apply([](const std::string &name, int n) { return std::make_tuple(name.size(), n, name); });
    std::function<int(int)> add = [&](int n) { return n + store.total() + static_cast<int>(names.size() + sizes.size()); };
    return add(N);
}

template <int... N> int exercise_all(std::integer_sequence<int, N...>)
{
    return (exercise<N + 1>(std::cin) + ...);
}

int main()
{
    std::cout << exercise_all(std::make_integer_sequence<int, COPIES>()) << '\n';
}
