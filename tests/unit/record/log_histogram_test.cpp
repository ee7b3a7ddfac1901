
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"
#include "record/latencies.hpp"

using namespace weir::record;
using weir::core::Duration;

TEST_CASE("Buckets of a log histogram follow each other without gaps and are at most 1/32 wide") {
    for (std::size_t bucket = 0; bucket + 1 < LogHistogram::buckets; ++bucket) {
        const std::int64_t low = LogHistogram::lower_bound_of(bucket);
        const std::int64_t next = LogHistogram::lower_bound_of(bucket + 1);
        REQUIRE(next > low);
        REQUIRE(LogHistogram::bucket_of(low) == bucket);
        REQUIRE(LogHistogram::bucket_of(next - 1) == bucket);
        REQUIRE((next - low == 1 || static_cast<double>(next - low) <= static_cast<double>(low) / 32));
    }
    CHECK(LogHistogram::bucket_of(0) == 0);
    CHECK(LogHistogram::bucket_of(-5) == 0);
    CHECK(LogHistogram::bucket_of((std::int64_t{1} << 45) - 1) == LogHistogram::buckets - 1);
    CHECK(LogHistogram::bucket_of(Duration::seconds(1000000).ns) == LogHistogram::buckets - 1);
}

TEST_CASE("Quantiles of a log histogram are those of the samples within half a bucket") {
    const std::uint64_t seed = 20260101;
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> draw(std::log(50e3), 2.5);
    std::vector<std::int64_t> samples;
    LogHistogram histogram;
    for (int i = 0; i < 20001; ++i) {
        samples.push_back(static_cast<std::int64_t>(draw(random)) + 1);
        histogram.add(Duration{samples.back()});
    }
    std::sort(samples.begin(), samples.end());
    for (const double p : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
        const auto rank = std::max(
            std::size_t{1}, static_cast<std::size_t>(std::ceil(p * static_cast<double>(samples.size()))));
        const auto exact = static_cast<double>(samples[rank - 1]);
        CAPTURE(p, exact);
        CHECK(std::abs(static_cast<double>(histogram.quantile(p).ns) - exact) <= exact / 64 + 0.5);
    }
    CHECK(histogram.count() == samples.size());
    CHECK(histogram.min().ns == samples.front());
    CHECK(histogram.max().ns == samples.back());
    CHECK(histogram.quantile(0).ns == samples.front());
    CHECK(histogram.quantile(1).ns == samples.back());
}

TEST_CASE("Merging histograms gives the histogram of all samples, in any order") {
    LogHistogram all;
    LogHistogram odd;
    LogHistogram even;
    for (std::int64_t i = 1; i < 3000; ++i) {
        all.add(Duration{i * i});
        (i % 2 == 1 ? odd : even).add(Duration{i * i});
    }
    LogHistogram one = odd;
    one.merge(even);
    LogHistogram other = even;
    other.merge(odd);
    other.merge(LogHistogram{});
    for (const LogHistogram* merged : {&one, &other}) {
        CHECK(merged->count() == all.count());
        CHECK(merged->min() == all.min());
        CHECK(merged->max() == all.max());
        for (std::size_t bucket = 0; bucket < LogHistogram::buckets; ++bucket) {
            REQUIRE(merged->count_in(bucket) == all.count_in(bucket));
        }
    }
}

TEST_CASE("One sample is its own quantile, whatever its size") {
    for (const std::int64_t ns : {std::int64_t{-7}, std::int64_t{0}, std::int64_t{1}, std::int64_t{123456789},
                                  std::int64_t{1} << 50}) {
        LogHistogram histogram;
        histogram.add(Duration{ns});
        CAPTURE(ns);
        CHECK(histogram.quantile(0.5).ns == ns);
        CHECK(histogram.max().ns == ns);
    }
}

TEST_CASE("The buckets that are not empty come with their upper bounds in microseconds") {
    LogHistogram histogram;
    CHECK(filled_buckets(histogram).upper_us.empty());
    CHECK(filled_buckets(histogram).events.empty());
    for (const std::int64_t ns : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{65'535},
                                  std::int64_t{65'000}, std::int64_t{65'536}, std::int64_t{1} << 50}) {
        histogram.add(Duration{ns});
    }
    const LatencyBuckets filled = filled_buckets(histogram);
    CHECK(filled.upper_us == std::vector<double>{0.001, 65.536, 67.584, 35184372088.832});
    CHECK(filled.events == std::vector<std::uint64_t>{2, 2, 1, 1});
    CHECK(digest(histogram).buckets.events == filled.events);
}

TEST_CASE("A digest has quantiles in microseconds and only a count of 0 when there is nothing") {
    LogHistogram histogram;
    CHECK(digest(histogram).count == 0);
    histogram.add(Duration::microseconds(250));
    const LatencyDigest one = digest(histogram);
    CHECK(one.count == 1);
    CHECK(one.p50_us == 250);
    CHECK(one.p99_9_us == 250);
    CHECK(one.max_us == 250);
    Latencies latencies;
    latencies.delivery.add(Duration::microseconds(3));
    CHECK(digest(latencies).delivery.max_us == 3);
    CHECK(digest(latencies).all()[3].name == std::string("delivery"));
}
