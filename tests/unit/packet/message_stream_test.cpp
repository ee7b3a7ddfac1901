#include "packet/message_stream.hpp"

#include "catch.hpp"

using namespace weir;
using namespace weir::packet;

TEST_CASE("Messages are cut into packets that carry all of their bytes, the last one the rest") {
    MessageStream stream({1000});
    stream.post(7, {2500});
    stream.post(8, {1000});
    stream.post(9, {1});
    REQUIRE(stream.end() == 5);
    const std::int64_t bytes[] = {1000, 1000, 500, 1000, 1};
    // In order, again from an earlier one, and backwards.
    for (const std::uint32_t sequence : {0U, 1U, 2U, 3U, 4U, 1U, 2U, 3U, 0U, 4U, 3U, 2U, 1U, 0U}) {
        CHECK(stream.payload_bytes_of(sequence) == bytes[sequence]);
    }
}

TEST_CASE("A message has arrived, or is acknowledged, once its last packet is") {
    MessageStream stream({1000});
    stream.post(7, {2500});
    stream.post(8, {1000});
    std::vector<MessageHandle> done;
    CHECK_FALSE(stream.arrive(2, done));
    CHECK(stream.arrive(4, done));
    CHECK(done == std::vector<MessageHandle>{7, 8});
    done.clear();
    CHECK_FALSE(stream.arrive(4, done));
    CHECK(done.empty());
    stream.acknowledge(3, done);
    CHECK(done == std::vector<MessageHandle>{7});
    CHECK(stream.payload_bytes_of(3) == 1000);
    stream.post(9, {10});
    CHECK(stream.payload_bytes_of(4) == 10);
    stream.acknowledge(5, done);
    CHECK(done == std::vector<MessageHandle>{7, 8, 9});
}
