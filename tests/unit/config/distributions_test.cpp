#include "config/distributions.hpp"

#include "catch.hpp"
#include "core/distribution.hpp"
#include "refusal.hpp"
#include "temporary_file.hpp"

using namespace weir::config;
using weir::core::DistributionKind;

TEST_CASE("event sizes are fixed or drawn") {
    const auto fixed = parse_event_size("16MiB");
    CHECK(fixed.distribution.kind == DistributionKind::fixed);
    CHECK(fixed.distribution.mean == 16777216);
    CHECK(parse_event_size("fixed:16MiB") == fixed);

    const auto normal = parse_event_size("normal:10MB,deviation=2MB,max=15MB").distribution;
    CHECK(normal.kind == DistributionKind::normal);
    CHECK(normal.mean == 1e7);
    CHECK(normal.deviation == 2e6);
    CHECK(normal.maximum == 1.5e7);
}

TEST_CASE("busy times have many distributions") {
    CHECK(parse_busy("none").distribution.kind == DistributionKind::none);
    CHECK(parse_busy("1.2s") == parse_busy("fixed:1.2s"));
    CHECK(parse_busy("poisson:1.2s,quantum=100ms").distribution.quantum == 1e8);
    CHECK(parse_busy("pareto:1.2s,shape=2.5").distribution.shape == 2.5);
    CHECK(parse_busy("exponential:1.2s,max=5s").distribution.maximum == 5e9);
    CHECK(parse_busy("lognormal:1.2s,deviation=1s").distribution.deviation == 1e9);
}

TEST_CASE("the quantum is a quarter of the mean and at most 50ms") {
    CHECK(parse_busy("poisson:1.2s").distribution.quantum == 5e7);
    CHECK(parse_busy("poisson:100ms").distribution.quantum == 2.5e7);
    CHECK(parse_busy("poisson:2ns").distribution.quantum == 1);
}

TEST_CASE("what is accepted can be drawn from, and prints as what reads back the same") {
    const auto text = GENERATE("none", "fixed:1.2s", "poisson:1.2s,quantum=50ms", "exponential:300ms,max=2s",
                               "lognormal:1.2s,deviation=400ms", "pareto:1.2s,shape=2.5,max=100s");
    const NamedDistribution busy = parse_busy(text);
    CHECK(weir::core::is_valid(busy.distribution));
    CHECK(busy_text(busy) == text);
    CHECK(parse_busy(busy_text(busy)) == busy);
}

TEST_CASE("event sizes print as what reads back the same") {
    const auto text = GENERATE("16MiB", "2.68125GB", "normal:10MiB,deviation=2MiB",
                               "lognormal:1MB,deviation=300kB,max=3MB");
    const NamedDistribution size = parse_event_size(text);
    CHECK(event_size_text(size) == text);
    CHECK(parse_event_size(event_size_text(size)) == size);
}

TEST_CASE("wrong distributions are refused with what would be right") {
    const auto size = [](const char* text) { return refusal_of([=] { parse_event_size(text); }); };
    const auto busy = [](const char* text) { return refusal_of([=] { parse_busy(text); }); };
    CHECK(contains(size("gauss:1MB"), "there are: fixed normal lognormal trace"));
    CHECK(contains(size("poisson:1MB"), "not a distribution of event sizes"));
    CHECK(contains(busy("normal:1s"), "not a distribution of busy times"));
    CHECK(contains(size("normal:1MB"), "normal:MEAN,deviation="));
    CHECK(contains(busy("pareto:1s"), "shape=2.5"));
    CHECK(contains(busy("pareto:1s,shape=1"), "above 1"));
    CHECK(contains(busy("pareto:1s,2.5"), "NAME=VALUE with: shape max"));
    CHECK(contains(busy("fixed:1s,max=2s"), "takes no parameter"));
    CHECK(contains(busy("exponential:1s,max=0.5s"), "below the mean"));
    CHECK(contains(busy("poisson:1s,quantum=0s"), "quantum=0s is not above zero; write a larger one"));
    CHECK(contains(size("normal:100kB,deviation=0B"),
                   "deviation=0B is not above zero; for values that are all alike write the mean alone, "
                   "without normal: and deviation"));
    CHECK(contains(busy("poisson:1000h,quantum=1ns"), "quantum is too small"));
    CHECK(contains(busy("poisson"), "needs a mean"));
    CHECK(contains(busy("trace:"), "needs a file"));
    CHECK(contains(busy("none:1s"), "takes no value"));
    CHECK(contains(busy("2"), "has no unit"));
    CHECK(contains(busy("-1s"), "is negative"));
    CHECK(contains(busy("0s"), "not above zero"));
    CHECK(contains(busy(""), "nothing is given"));
}

TEST_CASE("a comma in a number is not one between parameters") {
    CHECK(contains(refusal_of([] { parse_busy("poisson:1,2s,quantum=50ms"); }),
                   "'poisson:1,2s,quantum=50ms' has a comma in a number; the decimal separator is a point: "
                   "poisson:1.2s,quantum=50ms"));
    CHECK(contains(refusal_of([] { parse_busy("pareto:1s,shape=2,5"); }), "pareto:1s,shape=2.5"));
    CHECK(contains(refusal_of([] { parse_event_size("1,5MB"); }), "1.5 with its unit"));
}

TEST_CASE("a trace is one quantity per line with comments") {
    // Some editors begin a file with a byte order mark.
    const TemporaryFile file("\xef\xbb\xbf# header\n1.2s\n\n  300ms # a short one\r\n5us\n");
    const auto trace = parse_busy("trace:" + file.path());
    CHECK(trace.distribution.trace == std::vector<std::int64_t>{1200000000, 300000000, 5000});
    CHECK(busy_text(trace) == "trace:" + file.path());
}

TEST_CASE("a trace is refused with file and line") {
    const TemporaryFile file("1s\n2\n");
    CHECK(contains(refusal_of([&] { parse_busy("trace:" + file.path()); }),
                   file.path() + ":2: '2' has no unit"));
    const TemporaryFile empty("# nothing\n");
    CHECK(contains(refusal_of([&] { parse_busy("trace:" + empty.path()); }), "has no entry"));
    CHECK(contains(refusal_of([] { parse_busy("trace:/nowhere/x"); }), "cannot be read"));
}

TEST_CASE("sizes scale upwards to whole bytes") {
    auto sizes = parse_event_size("normal:10B,deviation=3B,max=20B").distribution;
    scale_values(sizes, {1, 4});
    CHECK(sizes.mean == 3);
    CHECK(sizes.deviation == 1);
    CHECK(sizes.maximum == 5);
}

TEST_CASE("index lists are ranges and numbers") {
    CHECK(parse_index_list("0-3,7") == std::vector<std::uint32_t>{0, 1, 2, 3, 7});
    CHECK(parse_index_list("7,2,2") == std::vector<std::uint32_t>{2, 7});
    CHECK(index_list_text({0, 1, 2, 3, 7}) == "0-3,7");
    CHECK(index_list_text({}).empty());
    for (const char* text : {"", "a", "3-1", "1,", ",1", "1--2", "-1", "1-", "1.5"}) {
        CAPTURE(text);
        CHECK(contains(refusal_of([&] { parse_index_list(text); }), "0-3,7"));
    }
}

TEST_CASE("result sizes may be a mixture of two") {
    const auto parsed = parse_result_size("mixture:28B,large=64KiB,every=200");
    CHECK(parsed.distribution.kind == DistributionKind::mixture);
    CHECK(parsed.distribution.mean == 28);
    CHECK(parsed.distribution.large == 65536);
    CHECK(parsed.distribution.every == 200);
    CHECK(parse_result_size(result_size_text(parsed)) == parsed);
    for (const char* text : {"none", "28B", "lognormal:1kB,deviation=1kB"}) {
        CHECK(parse_result_size(result_size_text(parse_result_size(text))) == parse_result_size(text));
    }
    CHECK(contains(refusal_of([] { parse_result_size("mixture:28B"); }), "'mixture' needs both values"));
    CHECK(contains(refusal_of([] { parse_result_size("mixture:28B,large=1kB"); }), "needs both values"));
    CHECK(contains(refusal_of([] { parse_result_size("mixture:28B,large=1kB,every=0.5"); }), "every=0.5"));
    CHECK(
        contains(refusal_of([] { parse_result_size("poisson:28B"); }), "not a distribution of result sizes"));
    CHECK(contains(refusal_of([] { parse_event_size("mixture:28B,large=1kB,every=2"); }),
                   "not a distribution of event sizes"));
}
