#include "transport/disturbing_transport.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace weir;
using transport::ChunkDisturbance;
using transport::DisturbanceKind;

namespace {

/// Takes everything, and sends at once.
class RecordingTransport final : public transport::Transport {
  public:
    [[nodiscard]] std::size_t packet_limit() const override { return 100; }
    void send_packet(transport::Rank /*to*/, std::span<const std::byte> /*packet*/) override { ++packets; }
    void open_place(core::PlaceId /*place*/) override { ++opened; }
    void send_chunk(const core::SendChunk& chunk) override { sent.push_back(chunk); }
    void poll(transport::Polled& found) override {
        for (; reported < sent.size(); ++reported) {
            found.sent.push_back({sent[reported].stream, sent[reported].chunk.sequence});
        }
    }
    void close_places() override { ++closed; }
    [[nodiscard]] std::size_t packets_under_way() const override { return packets; }
    void disturb_next_chunk(DisturbanceKind kind) override { faults.emplace_back(sent.size(), kind); }

    std::size_t packets = 0;
    int opened = 0;
    int closed = 0;
    std::size_t reported = 0;
    std::vector<core::SendChunk> sent;
    std::vector<std::pair<std::size_t, DisturbanceKind>> faults;  ///< (number of the chunk, fault)
};

core::SendChunk chunk_of(std::uint32_t producer, std::uint64_t event, std::uint32_t sequence) {
    core::SendChunk chunk{};
    chunk.stream = {1};
    chunk.chunk.event = core::EventId::of(core::ProducerId{producer}, event);
    chunk.chunk.sequence = sequence;
    return chunk;
}

}  // namespace

TEST_CASE("fault specifications are read and written") {
    CHECK(transport::parse_disturbance("corrupt-payload:producer=1,event=3,chunk=2") ==
          ChunkDisturbance{DisturbanceKind::corrupt_payload, 1, 3, 2});
    CHECK(transport::parse_disturbance("corrupt-header:event=17592186044415") ==
          ChunkDisturbance{DisturbanceKind::corrupt_header, 0, 17592186044415, 0});
    CHECK(transport::parse_disturbance("duplicate:chunk=5,producer=4294967295") ==
          ChunkDisturbance{DisturbanceKind::duplicate, 4294967295, 0, 5});
    CHECK(transport::parse_disturbance("lose") == ChunkDisturbance{DisturbanceKind::lose, 0, 0, 0});
}

TEST_CASE("wrong fault specifications are refused with a reason") {
    const auto* const text =
        GENERATE("", ":", "explode:event=1", "lose:event", "lose:event=", "lose:event=-1", "lose:event=1x",
                 "lose:consumer=1", "lose:,", "lose:producer=4294967296", "lose:event=17592186044416",
                 "lose:event=99999999999999999999");
    INFO(text);
    try {
        transport::parse_disturbance(text);
        FAIL("was accepted");
    } catch (const std::invalid_argument& error) {
        CHECK(std::string(error.what()).find("corrupt-payload") != std::string::npos);
    }
}

TEST_CASE("faults reach the chunks that they name, once, and no other") {
    RecordingTransport inner;
    transport::DisturbingTransport faulty(inner, {{DisturbanceKind::corrupt_payload, 1, 3, 0},
                                                  {DisturbanceKind::duplicate, 1, 3, 1},
                                                  {DisturbanceKind::lose, 1, 4, 0},
                                                  {DisturbanceKind::lose, 2, 4, 0}});
    transport::Polled found;
    faulty.send_chunk(chunk_of(1, 2, 0));
    faulty.send_chunk(chunk_of(1, 3, 0));
    faulty.send_chunk(chunk_of(1, 3, 1));
    faulty.send_chunk(chunk_of(1, 3, 2));
    faulty.send_chunk(chunk_of(1, 4, 0));
    faulty.send_chunk(chunk_of(1, 3, 0));
    faulty.send_chunk(chunk_of(1, 4, 0));
    CHECK(inner.sent.size() == 6);
    CHECK(inner.faults == std::vector<std::pair<std::size_t, DisturbanceKind>>{
                              {1, DisturbanceKind::corrupt_payload}, {2, DisturbanceKind::duplicate}});
    faulty.poll(found);
    CHECK(found.sent.size() == 7);  // the lost one is reported like the others
    found.clear();
    faulty.poll(found);
    CHECK(found.empty());
    CHECK(faulty.pending() == std::vector<ChunkDisturbance>{{DisturbanceKind::lose, 2, 4, 0}});
}

TEST_CASE("everything else passes through fault injection") {
    RecordingTransport inner;
    transport::DisturbingTransport faulty(inner, {});
    faulty.send_packet({0}, {});
    faulty.open_place({0});
    faulty.close_places();
    CHECK(faulty.packet_limit() == 100);
    CHECK(faulty.packets_under_way() == 1);
    CHECK(inner.opened == 1);
    CHECK(inner.closed == 1);
}
