// What ranks send the first one after a probe of `weir check`.
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "host/probe.hpp"
#include "job/pair_probe.hpp"

using namespace weir;

namespace probe_texts_test_file {

namespace {

std::string one_pair(const char* producer, const char* bytes) {
    return std::string(R"({"pairs":[{"consumer":1,"producer_host":"a","consumer_host":"b","reached":true,)") +
           R"("round_trip_us":1.5,"bits_per_second":1e9,"producer":)" + producer + R"(,"bytes":)" + bytes +
           R"(}],"stopped":"","clean":true})";
}

std::string one_counter(const char* rise) {
    return std::string(
               R"({"host":"a","layer":"ucx","within":[],"between":["rc"],"listening":[],"counters":[{"column":"eth0.rx_bytes","rise":)") +
           rise + "}]}";
}

}  // namespace

TEST_CASE("What a probe found is read back, and numbers that fit nowhere are refused") {
    const auto probes = job::decode_probes(one_pair("7", "1000"));
    REQUIRE(probes.pairs.size() == 1);
    CHECK(probes.pairs[0].producer == 7);
    CHECK(probes.pairs[0].bytes == 1000);
    CHECK(job::decode_probes(job::encode_probes(probes)).pairs[0].consumer_host == "b");
    for (const char* number : {"4294967297", "-1", "1e300", "null", "1.5"}) {
        CHECK_THROWS_AS(job::decode_probes(one_pair(number, "1000")), nlohmann::json::exception);
    }
    CHECK_THROWS_AS(job::decode_probes(one_pair("7", "1e300")), nlohmann::json::exception);
}

TEST_CASE("How counters rose during a probe is read back, and numbers that fit nowhere are refused") {
    const auto host = host::decode_host_probe(one_counter("18446744073709551615"));
    REQUIRE(host.counters.size() == 1);
    CHECK(host.counters[0].rise == 18446744073709551615U);
    CHECK(host::decode_host_probe(host::encode_host_probe(host)).counters[0].column == "eth0.rx_bytes");
    for (const char* number : {"21111111111111111157", "-1", "1e300", "true"}) {
        CHECK_THROWS_AS(host::decode_host_probe(one_counter(number)), nlohmann::json::exception);
    }
}

}  // namespace probe_texts_test_file
