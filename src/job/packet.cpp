#include "job/packet.hpp"

#include <fmt/format.h>

#include "transport/chunk_header.hpp"

namespace weir::job {

namespace {

/// Behind the packet's head, which counts the bytes of the result that follow.
struct PartHead {
    std::uint64_t event = 0;
    std::int64_t bytes = 0;  ///< of the whole result
    std::int64_t offset = 0;
    std::uint32_t slot = 0;
    std::uint32_t reserved = 0;
};
static_assert(std::is_trivially_copyable_v<PartHead> && sizeof(PartHead) == 32);
constexpr std::size_t heads = sizeof(PacketHead) + sizeof(PartHead);

void fill_part(std::span<std::byte> part, core::EventId event, std::int64_t offset) {
    transport::fill_payload(part, core::ledger_mix(event, core::Bytes{offset}));
}

}  // namespace

void send_result(transport::Transport& transport, transport::Rank rank, const core::SendResult& result,
                 std::vector<std::byte>& packet) {
    const auto most = static_cast<std::int64_t>(transport.packet_limit() - heads);
    WEIR_ASSERT(most > 0 && result.bytes > core::Bytes{0});
    for (std::int64_t offset = 0; offset < result.bytes.count; offset += most) {
        const auto length = static_cast<std::size_t>(std::min(most, result.bytes.count - offset));
        const PacketHead head{.kind = PacketKind::result, .count = static_cast<std::uint32_t>(length)};
        const PartHead part{.event = result.event.value,
                            .bytes = result.bytes.count,
                            .offset = offset,
                            .slot = result.slot.value};
        packet.resize(heads + length);
        std::memcpy(packet.data(), &head, sizeof head);
        std::memcpy(packet.data() + sizeof head, &part, sizeof part);
        fill_part(std::span(packet).subspan(heads), result.event, offset);
        transport.send_packet(rank, packet);
    }
}

ResultArrivals::Received ResultArrivals::receive(int rank, std::span<const std::byte> packet) {
    PacketHead head;
    PartHead part;
    if (packet.size() <= heads) {
        return {{}, fmt::format("a part of a result of {} bytes, which is too short", packet.size())};
    }
    std::memcpy(&head, packet.data(), sizeof head);
    std::memcpy(&part, packet.data() + sizeof head, sizeof part);
    const std::span body = packet.subspan(heads);
    const core::SendResult result{{part.slot}, {part.event}, {part.bytes}};
    const auto length = static_cast<std::int64_t>(body.size());
    Partial& partial = partial_.at(static_cast<std::size_t>(rank));
    const bool next = part.offset == partial.arrived && (part.offset == 0 || result == partial.result);
    if (body.size() != head.count || !next || part.bytes - part.offset < length) {
        return {{},
                fmt::format("a part of a result out of turn: {} bytes at byte {} of {}, after {}", length,
                            part.offset, part.bytes, partial.arrived)};
    }
    expected_.resize(body.size());
    fill_part(expected_, result.event, part.offset);
    if (std::memcmp(expected_.data(), body.data(), body.size()) != 0) {
        return {
            {},
            fmt::format("a result whose bytes do not verify: event {} of producer {}, {} bytes at byte {}",
                        result.event.sequence(), result.event.producer().value, length, part.offset)};
    }
    partial.result = result;
    partial.arrived += length;
    if (partial.arrived < part.bytes) {
        return {};
    }
    partial.arrived = 0;
    return {result, {}};
}

}  // namespace weir::job
