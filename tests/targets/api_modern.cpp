/* api_modern.cpp -- truth: samples "lambda", "template", "member" and "exception", in that order */
#include <cstdio>
#include <stdexcept>
#include <string>

#include "libcollector.h"

namespace {

template <class Text> void from_template(Text text)
{
    collector_sample(text);
}

struct Member {
    static void sample() { collector_sample(std::string("member").c_str()); }
};

}

int main()
{
    auto from_lambda = [] { collector_sample("lambda"); };
    from_lambda();
    from_template("template");
    Member::sample();
    try {
        throw std::runtime_error("exception");
    } catch (const std::runtime_error &error) {
        collector_sample(error.what());
    }
    std::puts("done");
    return 3;
}
