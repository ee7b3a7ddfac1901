// Datagrams between every producer and every consumer: what each counted of the other, warm-up and drain
// included. Producers and consumers hand in their part with their account; datagrams.csv lists the pairs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ids.hpp"
#include "files/io_error.hpp"

namespace weir::record {

/// What a rank counted of one peer. Trivially copyable and without gaps: it travels as bytes.
struct PeerDatagrams {
    std::uint32_t peer = 0;  ///< index of the consumer or producer
    std::uint32_t reserved = 0;
    std::uint64_t sent = 0;        ///< producer
    std::uint64_t sent_again = 0;  ///< producer: besides, because the consumer asked for the event again
    std::uint64_t received = 0;    ///< consumer, as are all that follow
    std::uint64_t duplicate = 0;
    std::uint64_t late = 0;
    std::uint64_t corrupt = 0;

    PeerDatagrams& operator+=(const PeerDatagrams& other);
    bool operator==(const PeerDatagrams&) const = default;

    /// Those that were sent and never came: below 0 if more came than were sent. A datagram that was sent
    /// again comes as a duplicate if the first one came as well; so up to as many duplicates count as
    /// arrived.
    [[nodiscard]] std::int64_t missing() const;
};
static_assert(std::is_trivially_copyable_v<PeerDatagrams> && sizeof(PeerDatagrams) == 56);

/// Whether these can be a rank's entries: each peer once, in ascending order.
[[nodiscard]] bool is_datagrams(std::span<const PeerDatagrams> entries);

class DatagramMatrix {
  public:
    /// What `node`, a producer or a consumer, counted.
    void add(core::NodeId node, std::span<const PeerDatagrams> entries);

    /// By (producer, consumer); `peer` means nothing. Only pairs of which something was counted.
    [[nodiscard]] const std::map<std::pair<std::uint32_t, std::uint32_t>, PeerDatagrams>& pairs() const {
        return pairs_;
    }
    [[nodiscard]] PeerDatagrams sum() const;
    /// Sum of what is missing of each pair of which something is.
    [[nodiscard]] std::int64_t missing() const;

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, PeerDatagrams> pairs_;
};

/// A line with header for every pair, sorted by producer, then consumer; as a whole or not at all.
files::MaybeIoError write_datagrams_csv(const std::string& path, const DatagramMatrix& matrix);

}  // namespace weir::record
