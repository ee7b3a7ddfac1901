// What --verify full promises of a chunk on its way from a producer's buffer into a slot: which damages are
// found, whatever the size of a chunk is. Producers here have as few buffers as they can, so that the next
// event comes out of the same memory.
#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "transport/chunk_header.hpp"
#include "transport/transport_base.hpp"

using namespace weir;
using transport::DisturbanceKind;
using transport::header_bytes;
using transport::stamp_distance_bytes;

namespace {

using Message = std::vector<std::byte>;

core::Plan verified_plan(std::int64_t chunk_bytes) {
    core::Plan plan;
    plan.producers = 3;
    plan.consumers = 2;
    plan.chunk_size = {chunk_bytes};
    plan.slot_size = {3 * chunk_bytes - chunk_bytes / 3};
    plan.buffer = {1};
    plan.window = 1;
    plan.slots = 1;
    plan.streams = 1;
    plan.verify = core::Verify::full;
    return plan;
}

class VerifiedProducer {
  public:
    explicit VerifiedProducer(std::int64_t chunk_bytes)
        : plan_(verified_plan(chunk_bytes)),
          buffers_(transport::ChunkBuffers::for_producer(plan_)),
          chunks_(plan_, buffers_) {
        transport::fill_payload(payload_in_memory(), 5);
    }

    /// What leaves as chunk `sequence` of the event.
    Message sent(std::uint64_t event, std::uint32_t sequence,
                 std::optional<DisturbanceKind> disturbance = std::nullopt) {
        const core::Bytes offset = plan_.chunk_size * sequence;
        const core::SendChunk chunk{.to = {1},
                                    .place = {0},
                                    .stream = {0},
                                    .chunk = {.event = core::EventId::of(core::ProducerId{2}, event),
                                              .event_bytes = plan_.slot_size,
                                              .offset = offset,
                                              .length = std::min(plan_.chunk_size, plan_.slot_size - offset),
                                              .sequence = sequence,
                                              .generated_at = {5}}};
        const std::size_t entry = chunks_.begin(chunk, disturbance);
        const auto message = chunks_.message(entry);
        Message copy(message.begin(), message.end());
        chunks_.end_copy(entry);
        return copy;
    }
    [[nodiscard]] bool verifies(const Message& message) const {
        const auto arrived = transport::inspect_chunk(message, {0}, transport::Rank{4},
                                                      transport::ChunkBounds::of(plan_), plan_.verify);
        REQUIRE(arrived.header_intact);
        return arrived.payload_intact;
    }
    [[nodiscard]] std::span<std::byte> payload_in_memory() const {
        return buffers_.at(0).subspan(header_bytes);
    }

  private:
    core::Plan plan_;
    transport::ChunkBuffers buffers_;
    transport::OutgoingChunks chunks_;
};

/// The header of one, the payload of the other, from byte `begin` to `end` of it.
Message joined(Message header, const Message& payload, std::size_t begin = 0, std::size_t end = SIZE_MAX) {
    end = std::min({end, header.size() - header_bytes, payload.size() - header_bytes});
    std::copy(payload.begin() + static_cast<std::ptrdiff_t>(header_bytes + begin),
              payload.begin() + static_cast<std::ptrdiff_t>(header_bytes + end),
              header.begin() + static_cast<std::ptrdiff_t>(header_bytes + begin));
    return header;
}

/// Around a stamp, a page and a group of 32 pages, and multiples of nothing.
std::int64_t chunk_bytes_of_any_size() {
    return GENERATE(3, 7, 8, 9, 100, 999, 4095, 4096, 4097, 4104, 12345, 70001, 131072, 131079, 300007);
}

}  // namespace

TEST_CASE("what was sent verifies, however often its buffer was used") {
    VerifiedProducer producer(chunk_bytes_of_any_size());
    for (std::uint64_t event = 0; event < 3; ++event) {
        // The last chunk is shorter: the next one out of the buffer has more pages.
        for (const std::uint32_t sequence : {2U, 0U, 1U}) {
            CHECK(producer.verifies(producer.sent(event, sequence)));
        }
    }
}

TEST_CASE("a flipped bit is found, wherever it is") {
    const std::int64_t chunk_bytes = chunk_bytes_of_any_size();
    VerifiedProducer producer(chunk_bytes);
    producer.sent(6, 0);
    Message message = producer.sent(7, 0);
    // All bits of small chunks; of larger ones a bit of each 61st byte, and all about the edges of pages.
    for (std::size_t at = header_bytes; at < message.size(); ++at) {
        const std::size_t in_page = (at - header_bytes) % stamp_distance_bytes;
        const bool edge = in_page < 10 || in_page + 2 > stamp_distance_bytes || at + 2 > message.size();
        if (chunk_bytes > 1000 && (at % 61 != 0 || chunk_bytes > 100000) && !edge) {
            continue;
        }
        const std::byte flipped = std::byte{1} << static_cast<int>(at % 8);
        message[at] ^= flipped;
        if (producer.verifies(message)) {
            FAIL("a bit of byte " << at - header_bytes << " flipped and not found");
        }
        message[at] ^= flipped;
    }
    CHECK(producer.verifies(message));
}

TEST_CASE("payloads of two chunks that were swapped are found, within an event and between events") {
    VerifiedProducer producer(chunk_bytes_of_any_size());
    const Message first = producer.sent(7, 0);
    const Message second = producer.sent(7, 1);
    CHECK_FALSE(producer.verifies(joined(first, second)));
    CHECK_FALSE(producer.verifies(joined(second, first)));
    const Message other_event = producer.sent(8, 0);
    CHECK_FALSE(producer.verifies(joined(first, other_event)));
    CHECK_FALSE(producer.verifies(joined(other_event, first)));
    CHECK_FALSE(producer.verifies(joined(second, other_event)));
}

TEST_CASE("a stale payload is found: that of an earlier event in the same slot, or any page of it") {
    const std::int64_t chunk_bytes = chunk_bytes_of_any_size();
    VerifiedProducer producer(chunk_bytes);
    for (const std::uint32_t sequence : {0U, 2U}) {
        const Message earlier = producer.sent(7, sequence);
        const Message later = producer.sent(8, sequence);
        CHECK_FALSE(producer.verifies(joined(later, earlier)));
        if (chunk_bytes >= 100) {  // a stamp cut to few bytes may be the same by chance
            for (std::size_t page = 0; page + 8 < later.size() - header_bytes; page += stamp_distance_bytes) {
                CHECK_FALSE(producer.verifies(joined(later, earlier, page, page + stamp_distance_bytes)));
            }
        }
    }
}

TEST_CASE("a payload that comes again under the headers that follow is found") {
    VerifiedProducer producer(chunk_bytes_of_any_size());
    const Message repeated = producer.sent(7, 0);
    for (std::uint64_t event = 7; event < 10; ++event) {
        for (const std::uint32_t sequence : {0U, 1U}) {
            const bool its_own = event == 7 && sequence == 0;
            CHECK(producer.verifies(joined(producer.sent(event, sequence), repeated)) == its_own);
        }
    }
}

TEST_CASE("a payload that lies some bytes off, or whose pages are in another order, is found") {
    const std::int64_t chunk_bytes = chunk_bytes_of_any_size();
    VerifiedProducer producer(chunk_bytes);
    const Message message = producer.sent(7, 1);
    const auto payload = static_cast<std::ptrdiff_t>(header_bytes);
    for (const std::ptrdiff_t by : {1, 8, 64, 4096, 8192}) {
        if (by < chunk_bytes) {
            Message moved = message;
            std::rotate(moved.begin() + payload, moved.begin() + payload + by, moved.end());
            CHECK_FALSE(producer.verifies(moved));
        }
    }
    const auto page = static_cast<std::ptrdiff_t>(stamp_distance_bytes);
    if (chunk_bytes >= 2 * page) {
        Message swapped = message;
        std::swap_ranges(swapped.begin() + payload, swapped.begin() + payload + page,
                         swapped.begin() + payload + page);
        CHECK_FALSE(producer.verifies(swapped));
    }
}

TEST_CASE("what changes in the producer's memory is found in the next event") {
    VerifiedProducer producer(5 * 4096);
    CHECK(producer.verifies(producer.sent(7, 0)));
    producer.payload_in_memory()[10000] ^= std::byte{1};
    CHECK_FALSE(producer.verifies(producer.sent(8, 0)));
}

TEST_CASE("damage done on purpose is that of one chunk") {
    VerifiedProducer producer(chunk_bytes_of_any_size());
    CHECK(producer.verifies(producer.sent(7, 0)));
    CHECK_FALSE(producer.verifies(producer.sent(7, 1, DisturbanceKind::corrupt_payload)));
    CHECK(producer.verifies(producer.sent(8, 0)));
}

TEST_CASE(
    "what leaves event after event does not compress: no word comes twice in a buffer, stamps included") {
    VerifiedProducer producer(std::int64_t{1} << 20);
    std::vector<std::uint64_t> words;
    for (std::uint64_t event = 0; event < 3; ++event) {
        const Message message = producer.sent(event, 0);
        // In the second and the third event only the stamps are new.
        for (std::size_t at = header_bytes; at < message.size();
             at += event == 0 ? sizeof(std::uint64_t) : stamp_distance_bytes) {
            std::uint64_t word = 0;
            std::copy_n(message.data() + at, sizeof word, reinterpret_cast<std::byte*>(&word));
            words.push_back(word);
        }
    }
    std::sort(words.begin(), words.end());
    CHECK(std::adjacent_find(words.begin(), words.end()) == words.end());
}
