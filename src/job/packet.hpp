// What travels in a control packet: a batch of the protocol's messages, a second's report, a part of an
// event's result (below), or a notice about the end of the run (job.hpp). A packet has an
// 8-byte head and then plain structs; both sides run the same executable (checked at start), so the structs
// need no translation. Sizes are still checked: a packet is data from outside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/actions.hpp"
#include "core/messages.hpp"
#include "transport/transport.hpp"

namespace weir::job {

enum class PacketKind : std::uint8_t { control = 1, report = 2, notice = 3, result = 4 };

struct PacketHead {
    static constexpr std::uint16_t expected_magic = 0x5752;  // "WR"
    std::uint16_t magic = expected_magic;
    PacketKind kind = PacketKind::control;
    std::uint8_t reserved = 0;
    std::uint32_t count = 0;  ///< structs that follow
};
static_assert(sizeof(PacketHead) == 8);

/// Replaces `packet` with one that holds `items`.
template <typename T>
void encode_packet(PacketKind kind, std::span<const T> items, std::vector<std::byte>& packet) {
    static_assert(std::is_trivially_copyable_v<T>);
    const PacketHead head{.kind = kind, .count = static_cast<std::uint32_t>(items.size())};
    packet.resize(sizeof head + items.size_bytes());
    std::memcpy(packet.data(), &head, sizeof head);
    if (!items.empty()) {
        std::memcpy(packet.data() + sizeof head, items.data(), items.size_bytes());
    }
}

/// The kind of a packet, or nothing if it is none.
inline std::optional<PacketKind> packet_kind(std::span<const std::byte> packet) {
    PacketHead head;
    if (packet.size() < sizeof head) {
        return std::nullopt;
    }
    std::memcpy(&head, packet.data(), sizeof head);
    if (head.magic != PacketHead::expected_magic) {
        return std::nullopt;
    }
    return head.kind;
}

/// Copies the structs of a packet to `items`. False if the sizes do not fit together.
template <typename T>
bool decode_packet(std::span<const std::byte> packet, std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    PacketHead head;
    if (packet.size() < sizeof head) {
        return false;
    }
    std::memcpy(&head, packet.data(), sizeof head);
    const std::span body = packet.subspan(sizeof head);
    if (body.size() != head.count * sizeof(T)) {
        return false;
    }
    items.resize(head.count);
    if (!body.empty()) {
        std::memcpy(items.data(), body.data(), body.size());
    }
    return true;
}

/// The same for the protocol's messages; false also if one of them is of no known kind.
inline bool decode_messages(std::span<const std::byte> packet, std::vector<core::ControlMessage>& messages) {
    return decode_packet(packet, messages) && std::all_of(messages.begin(), messages.end(), core::is_message);
}

// Results of events on their way from consumers to the scheduler. A result is cut into control packets, which
// arrive in order, so the credit that is sent behind it also arrives behind it. Nothing is put together
// again: the scheduler checks each part and keeps a few numbers per rank. How much can be under way is
// bounded by the credits: a slot has one result at a time, and config bounds slots x size.
//
// The bytes are pseudo-random, seeded by event and place, and compared on arrival. Rejected: messages of
// their own size on a communicator of their own, which would need receives as large as the largest result
// from every consumer, and an order between two communicators.

/// Sends `result` to `rank` in as many packets as it takes. `packet` is scratch memory.
void send_result(transport::Transport& transport, transport::Rank rank, const core::SendResult& result,
                 std::vector<std::byte>& packet);

class ResultArrivals {
  public:
    explicit ResultArrivals(int ranks) : partial_(static_cast<std::size_t>(ranks)) {}

    struct Received {
        std::optional<core::SendResult> whole;  ///< its last part has arrived
        std::string refusal;                    ///< not empty: what is wrong with the packet
    };
    /// Receives one packet of kind `result` that came from `rank`.
    Received receive(int rank, std::span<const std::byte> packet);

  private:
    struct Partial {
        core::SendResult result;
        std::int64_t arrived = 0;
    };
    std::vector<Partial> partial_;  ///< by rank: the result whose parts are arriving
    std::vector<std::byte> expected_;
};

}  // namespace weir::job
