// Who received how much from whom, and the file of it.
#include "record/pairs.hpp"

#include <sys/resource.h>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>

#include "catch.hpp"
#include "temporary_directory.hpp"

namespace record_traffic_matrix_test_file {

using namespace weir::files;
using namespace weir::record;
using namespace weir::core;

namespace {

std::vector<ProducerTraffic> entries(const std::vector<std::uint32_t>& producers) {
    std::vector<ProducerTraffic> entries;
    for (const std::uint32_t producer : producers) {
        entries.push_back({.producer = producer, .traffic = {std::uint64_t{producer} + 1, {100}}});
    }
    return entries;
}

}  // namespace

TEST_CASE("Of a consumer's counts those with events are entries") {
    const std::vector<Traffic> counts{{0, {}}, {3, {300}}, {0, {}}, {1, {5}}};
    const auto found = traffic_entries(counts);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == ProducerTraffic{.producer = 1, .traffic = {3, {300}}});
    CHECK(found[1] == ProducerTraffic{.producer = 3, .traffic = {1, {5}}});
    CHECK(is_traffic(found));
    CHECK(traffic_entries({}).empty());
    CHECK(is_traffic({}));
}

TEST_CASE("Pairs are sorted by producer, then consumer, whoever came first") {
    const TemporaryDirectory directory;
    const std::string file = directory / "traffic.csv";
    TrafficMatrix matrix;
    matrix.set({2}, entries({0, 7}));
    matrix.set({0}, entries({7}));
    matrix.set({3}, entries({0, 1, 4294967295}));
    std::vector<PairTime> times;
    add_transfer(times, 3, Duration::milliseconds(500));
    add_transfer(times, 1, Duration::milliseconds(100));
    add_transfer(times, 3, Duration::milliseconds(250));
    REQUIRE(times.size() == 2);
    CHECK(is_pair_times(times));
    CHECK(times.back().transfers == 2);
    matrix.set_times({0}, times);
    CHECK(matrix.under_way({0}, {3}) == Duration::milliseconds(750));
    CHECK(matrix.under_way({0}, {2}) == Duration{});
    CHECK(matrix.under_way({5}, {3}) == Duration{});
    CHECK(matrix.consumers() == 4);
    CHECK(matrix.of({1}).empty());
    CHECK(matrix.of({9}).empty());
    REQUIRE_FALSE(write_traffic_csv(file, matrix));
    CHECK(text_of(file) ==
          "producer,consumer,received_events,received_bytes,under_way_s\n"
          "0,2,1,100,0.000000\n"
          "0,3,1,100,0.750000\n"
          "1,3,2,100,0.000000\n"
          "7,0,8,100,0.000000\n"
          "7,2,8,100,0.000000\n"
          "4294967295,3,4294967296,100,0.000000\n");
    CHECK(directory.files() == 1);  // no temporary is left
}

TEST_CASE("Without traffic there is a header") {
    const TemporaryDirectory directory;
    const std::string file = directory / "traffic.csv";
    REQUIRE_FALSE(write_traffic_csv(file, {}));
    CHECK(text_of(file) == "producer,consumer,received_events,received_bytes,under_way_s\n");
}

TEST_CASE("A matrix that is larger than a block is whole") {
    const TemporaryDirectory directory;
    const std::string file = directory / "traffic.csv";
    TrafficMatrix matrix;
    std::vector<std::uint32_t> producers(100);
    for (std::uint32_t producer = 0; producer < producers.size(); ++producer) {
        producers[producer] = producer;
    }
    for (std::uint32_t consumer = 0; consumer < 200; ++consumer) {
        matrix.set({consumer}, entries(producers));
    }
    REQUIRE_FALSE(write_traffic_csv(file, matrix));
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    for (std::uint32_t pair = 0; pair < 20'000; ++pair) {
        std::getline(in, line);
        const std::uint32_t producer = pair / 200;
        if (line != std::to_string(producer) + "," + std::to_string(pair % 200) + "," +
                        std::to_string(producer + 1) + ",100,0.000000") {
            FAIL("line of pair " << pair << ": " << line);
        }
    }
    CHECK_FALSE(std::getline(in, line));
}

TEST_CASE("A traffic file that does not fit leaves nothing and an error") {
    const TemporaryDirectory directory;
    const std::string file = directory / "traffic.csv";
    TrafficMatrix matrix;
    matrix.set({0}, entries({0, 1, 2, 3, 4, 5}));
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit tight = before;
    tight.rlim_cur = 60;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
    const MaybeIoError error = write_traffic_csv(file, matrix);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    REQUIRE(error);
    CHECK(error->message() == "cannot write " + file + ": File too large");
    CHECK(error->error_number == EFBIG);
    CHECK(directory.files() == 0);
}

}  // namespace record_traffic_matrix_test_file
