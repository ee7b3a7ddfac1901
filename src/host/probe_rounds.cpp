#include "host/probe_rounds.hpp"

#include <algorithm>

namespace weir::host {

namespace {

/// Below this, what starting a round takes hides the rate; above, nothing more is learned.
constexpr auto shortest_slice = core::Duration::milliseconds(20);
constexpr auto longest_slice = core::Duration::milliseconds(500);

}  // namespace

ProbeRounds::ProbeRounds(std::uint32_t producers, std::uint32_t consumers, core::Duration time)
    : producers_(producers), consumers_(consumers) {
    const std::uint32_t more = std::max(producers, consumers);
    const std::uint32_t fewer = std::min(producers, consumers);
    if (fewer == 0) {
        return;
    }
    // Producer p meets consumer (p + offset) modulo the larger number. Offsets in steps of the smaller number
    // touch new nodes each time.
    for (std::uint32_t first = 0; first < fewer; ++first) {
        for (std::uint64_t offset = first; offset < more; offset += fewer) {
            offsets_.push_back(static_cast<std::uint32_t>(offset));
        }
    }
    const std::size_t touching_all = (more + fewer - 1) / fewer;
    const auto fitting = static_cast<std::size_t>(std::max<std::int64_t>(0, time.ns / shortest_slice.ns));
    offsets_.resize(std::min(offsets_.size(), std::max(touching_all, fitting)));
    slice_ = std::clamp(core::Duration{time.ns / static_cast<std::int64_t>(offsets_.size())}, shortest_slice,
                        longest_slice);
    for (std::size_t round = 0; round < count(); ++round) {
        for (std::uint32_t producer = 0; producer < producers_; ++producer) {
            pairs_ += consumer_of(round, producer) ? 1 : 0;
        }
    }
}

std::optional<std::uint32_t> ProbeRounds::consumer_of(std::size_t round, std::uint32_t producer) const {
    const std::uint64_t more = std::max(producers_, consumers_);
    const auto consumer = static_cast<std::uint32_t>((producer + std::uint64_t{offsets_[round]}) % more);
    return consumer < consumers_ ? std::optional(consumer) : std::nullopt;
}

std::optional<std::uint32_t> ProbeRounds::producer_of(std::size_t round, std::uint32_t consumer) const {
    const std::uint64_t more = std::max(producers_, consumers_);
    const auto producer = static_cast<std::uint32_t>((consumer + more - offsets_[round]) % more);
    return producer < producers_ ? std::optional(producer) : std::nullopt;
}

}  // namespace weir::host
