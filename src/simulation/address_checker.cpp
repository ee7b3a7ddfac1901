#include "simulation/address_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir::simulation {

using core::ConsumerId;
using core::NodeId;
using core::ProducerId;

namespace {

constexpr std::uint64_t pairs_at_each_turn = 256;

std::uint32_t producer_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32U);
}

std::uint32_t consumer_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}

}  // namespace

AddressChecker::AddressChecker(core::Plan plan) : plan_(std::move(plan)) {}

AddressChecker::Objection AddressChecker::generated(ProducerId producer, NodeId to, core::Bytes bytes) {
    if (to.role != core::Role::consumer || to.index >= plan_.consumers) {
        return fmt::format("producer {} generates an event for no consumer", producer.value);
    }
    pair(producer.value, to.index).generated += bytes;
    return std::nullopt;
}

AddressChecker::Objection AddressChecker::offered(ProducerId producer, const core::Offer& offer,
                                                  std::uint64_t& more) {
    Pair& account = pair(producer.value, offer.to.value);
    if (offer.offered.events < account.offered) {
        return fmt::format("producer {} takes back what it offered consumer {}", producer.value,
                           offer.to.value);
    }
    more = offer.offered.events - account.offered;
    account.offered = offer.offered.events;
    return std::nullopt;
}

AddressChecker::Objection AddressChecker::granted(ProducerId producer, ConsumerId consumer) {
    Pair& account = pair(producer.value, consumer.value);
    if (account.granted >= account.offered) {
        return fmt::format("producer {} is granted a slot of consumer {}, for which it has nothing",
                           producer.value, consumer.value);
    }
    ++account.granted;
    return std::nullopt;
}

void AddressChecker::drained(ProducerId producer) {
    for (auto& [key, account] : pairs_) {
        if (producer_of(key) == producer.value) {
            account.offered = account.granted;
        }
    }
}

AddressChecker::Objection AddressChecker::decided(const IsAble& producer_is_free,
                                                  const IsAble& consumer_has_credit) {
    if (turns_++ % (pairs_.size() / pairs_at_each_turn + 1) != 0) {
        return std::nullopt;
    }
    for (const auto& [key, account] : pairs_) {
        if (account.offered > account.granted && producer_is_free(producer_of(key)) &&
            consumer_has_credit(consumer_of(key))) {
            return fmt::format(
                "the scheduler leaves {} events of producer {} for consumer {} waiting, which "
                "both could transfer",
                account.offered - account.granted, producer_of(key), consumer_of(key));
        }
    }
    return std::nullopt;
}

AddressChecker::Objection AddressChecker::finished() const {
    // Sets begin at multiples of the interval; the duration is whole intervals.
    const std::int64_t sets = plan_.duration.ns / plan_.interval.ns + plan_.warmup.ns / plan_.interval.ns;
    std::unordered_map<std::uint64_t, core::Bytes> expected;
    for (std::uint32_t producer = 0; producer < plan_.producers; ++producer) {
        for (const core::AddressedTransfer& transfer : plan_.traffic->of({producer})) {
            expected[(std::uint64_t{producer} << 32U) | transfer.to.value] += transfer.bytes * sets;
        }
    }
    for (const auto& [key, bytes] : expected) {
        const auto found = pairs_.find(key);
        const core::Bytes generated = found == pairs_.end() ? core::Bytes{} : found->second.generated;
        if (generated != bytes) {
            return fmt::format("producer {} generated {} bytes for consumer {}, and the traffic plan has {}",
                               producer_of(key), generated.count, consumer_of(key), bytes.count);
        }
    }
    const bool none_beyond = std::all_of(pairs_.begin(), pairs_.end(), [&](const auto& entry) {
        return entry.second.generated == core::Bytes{} || expected.contains(entry.first);
    });
    return none_beyond ? std::nullopt : Objection{"a pair that is not in the traffic plan has data"};
}

}  // namespace weir::simulation
