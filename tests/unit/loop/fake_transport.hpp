// A transport without a network for tests of the loop: it keeps what it was called to do, in order,
// and gives out what a test put in. Everything it was given to send has left at once.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/messages.hpp"
#include "job/job.hpp"
#include "job/packet.hpp"
#include "transport/transport.hpp"

namespace weir::loop::test {

struct Packet {
    int rank = -1;  ///< where it goes, or where it comes from
    std::vector<std::byte> bytes;
};

class FakeTransport final : public transport::Transport {
  public:
    std::size_t limit = 8192;
    std::vector<Packet> packets;          ///< sent, in order
    std::vector<core::SendChunk> chunks;  ///< sent, in order
    std::vector<std::string> calls;       ///< "open 1", "chunk 0", "packet 2", "close", in order
    std::deque<Packet> inbox;             ///< one is given out by each poll
    std::deque<transport::ChunkArrived> arriving;
    std::deque<transport::ChunkSent> leaving;
    std::function<void()> on_poll = [] {};  ///< at the beginning of each

    [[nodiscard]] std::size_t packet_limit() const override { return limit; }
    void send_packet(transport::Rank to, std::span<const std::byte> packet) override {
        packets.push_back({to.value, {packet.begin(), packet.end()}});
        calls.push_back("packet " + std::to_string(to.value));
    }
    void open_place(core::PlaceId place) override { calls.push_back("open " + std::to_string(place.value)); }
    void send_chunk(const core::SendChunk& chunk) override {
        chunks.push_back(chunk);
        calls.push_back("chunk " + std::to_string(chunk.chunk.sequence));
    }
    void disconnect(transport::Rank rank) override {
        calls.push_back("disconnect " + std::to_string(rank.value));
    }
    void reconnect(transport::Rank rank, const transport::PeerAddress& /*address*/) override {
        calls.push_back("reconnect " + std::to_string(rank.value));
    }
    void poll(transport::Polled& found) override {
        on_poll();
        if (!inbox.empty()) {
            const Packet& packet = inbox.front();
            found.packets.push_back({{packet.rank}, found.bytes.size(), packet.bytes.size()});
            found.bytes.insert(found.bytes.end(), packet.bytes.begin(), packet.bytes.end());
            inbox.pop_front();
        }
        found.chunks.insert(found.chunks.end(), arriving.begin(), arriving.end());
        found.sent.insert(found.sent.end(), leaving.begin(), leaving.end());
        arriving.clear();
        leaving.clear();
    }
    void close_places() override { calls.emplace_back("close"); }
    [[nodiscard]] std::size_t packets_under_way() const override { return 0; }

    /// Puts a packet into the inbox.
    template <typename T>
    void receive(int from, job::PacketKind kind, const T& item) {
        Packet packet{from, {}};
        job::encode_packet(kind, std::span(&item, 1), packet.bytes);
        inbox.push_back(std::move(packet));
    }
    /// The structs of all packets of a kind that were sent to `rank`.
    template <typename T>
    [[nodiscard]] std::vector<T> sent_to(int rank, job::PacketKind kind) const {
        std::vector<T> all;
        std::vector<T> items;
        for (const Packet& packet : packets) {
            if (packet.rank == rank && job::packet_kind(packet.bytes) == kind &&
                job::decode_packet(packet.bytes, items)) {
                all.insert(all.end(), items.begin(), items.end());
            }
        }
        return all;
    }
};

}  // namespace weir::loop::test
