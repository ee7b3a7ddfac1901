#include "simulation/address_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/policies/policy_table.hpp"

namespace weir::simulation {

using core::ConsumerId;
using core::NodeId;
using core::ProducerId;

namespace {

constexpr std::uint64_t pairs_at_each_turn = 256;
/// Grants of an end to others, for each of its partners: after so many at both ends a pair may be served
/// before all others, and after so many it must have been.
constexpr std::uint64_t grants_until_overdue = 16;
constexpr std::uint64_t most_passed_over = 33;
/// Fair policies keep a credit for others from so many slots of a consumer on.
constexpr std::uint32_t fewest_slots_to_keep = 4;
/// Policies that serve in rounds: one that the pair does not take part in, one in which it is the last, and
/// as many as the others may be behind because they waited later, with all streams under way.
constexpr std::uint64_t rounds = 2;
/// Walking over all partners at each grant is for small runs only; the rule is the same in large ones.
constexpr std::size_t few_partners = 64;

std::uint32_t producer_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32U);
}

std::uint32_t consumer_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}

}  // namespace

AddressChecker::AddressChecker(core::Plan plan)
    : plan_(std::move(plan)),
      fair_(core::is_fair(core::match_rule(plan_.policy))),
      producer_grants_(plan_.producers),
      consumer_grants_(plan_.consumers) {}

AddressChecker::MaybeObjection AddressChecker::generated(ProducerId producer, NodeId to, core::Bytes bytes) {
    if (to.role != core::Role::consumer || to.index >= plan_.consumers) {
        return fmt::format("producer {} generates an event for no consumer", producer.value);
    }
    pair(producer.value, to.index).generated += bytes;
    return std::nullopt;
}

AddressChecker::MaybeObjection AddressChecker::offered(ProducerId producer, const core::Offer& offer,
                                                       std::uint64_t& more) {
    Pair& account = pair(producer.value, offer.to.value);
    if (offer.offered.events < account.offered) {
        return fmt::format("producer {} takes back what it offered consumer {}", producer.value,
                           offer.to.value);
    }
    more = offer.offered.events - account.offered;
    if (!account.waits() && more > 0) {
        account.producer_grants = producer_grants_[producer.value];
        account.consumer_grants = consumer_grants_[offer.to.value];
        account.left_out = 0;
    }
    account.offered = offer.offered.events;
    return std::nullopt;
}

AddressChecker::MaybeObjection AddressChecker::granted(ProducerId producer, ConsumerId consumer,
                                                       const Credits& credits) {
    Pair& account = pair(producer.value, consumer.value);
    if (account.granted >= account.offered) {
        return fmt::format("producer {} is granted a slot of consumer {}, for which it has nothing",
                           producer.value, consumer.value);
    }
    MaybeObjection objection = check_turns(producer, consumer, credits);
    ++account.granted;
    account.producer_grants = ++producer_grants_[producer.value];
    account.consumer_grants = ++consumer_grants_[consumer.value];
    account.left_out = 0;
    if (!objection) {
        objection = check_starving(consumer);
    }
    return objection;
}

AddressChecker::Passed AddressChecker::passed_over(std::uint64_t key, const Pair& account) const {
    const std::uint32_t producer = producer_of(key);
    const std::uint32_t consumer = consumer_of(key);
    return {(producer_grants_[producer] - account.producer_grants) /
                plan_.traffic->receivers_of({producer}).size(),
            (consumer_grants_[consumer] - account.consumer_grants) /
                plan_.traffic->senders_to({consumer}).size()};
}

bool AddressChecker::is_overdue(std::uint64_t key, const Pair& account) const {
    const Passed passed = passed_over(key, account);
    return account.waits() && passed.by_producer >= grants_until_overdue &&
           passed.by_consumer >= grants_until_overdue;
}

bool AddressChecker::has_overdue(std::uint32_t consumer) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& entry) {
        return consumer_of(entry.first) == consumer && is_overdue(entry.first, entry.second);
    });
}

/// A credit may be kept for another producer; one more, or one of a consumer that has no other producer, is
/// for this one.
AddressChecker::MaybeObjection AddressChecker::check_turns(ProducerId producer, ConsumerId consumer,
                                                           const Credits& credits) {
    const std::span<const ConsumerId> receivers = plan_.traffic->receivers_of(producer);
    if (!fair_ || receivers.size() > few_partners) {
        return std::nullopt;
    }
    for (const ConsumerId other : receivers) {
        Pair& account = pair(producer.value, other.value);
        const bool open = credits(other.value) > 1 ||
                          (credits(other.value) == 1 && plan_.traffic->senders_to(other).size() == 1);
        if (other == consumer || !account.waits() || !open) {
            continue;
        }
        if (++account.left_out > (rounds + plan_.streams) * receivers.size() && !has_overdue(other.value)) {
            return fmt::format(
                "producer {} leaves out consumer {}, for which it has {} events, in {} grants "
                "while a credit was there",
                producer.value, other.value, account.offered - account.granted, account.left_out);
        }
    }
    return std::nullopt;
}

AddressChecker::MaybeObjection AddressChecker::check_starving(ConsumerId consumer) const {
    for (const core::TrafficPlan::Sender& sender : plan_.traffic->senders_to(consumer)) {
        const std::uint64_t key = (std::uint64_t{sender.producer.value} << 32U) | consumer.value;
        const auto found = pairs_.find(key);
        if (found == pairs_.end() || !found->second.waits()) {
            continue;
        }
        const Passed passed = passed_over(key, found->second);
        if (passed.by_producer > most_passed_over && passed.by_consumer > most_passed_over) {
            return fmt::format(
                "producer {} starves at consumer {}: they served others {} and {} times for "
                "each partner while {} events waited",
                sender.producer.value, consumer.value, passed.by_producer, passed.by_consumer,
                found->second.offered - found->second.granted);
        }
    }
    return std::nullopt;
}

void AddressChecker::drained(ProducerId producer) {
    for (auto& [key, account] : pairs_) {
        if (producer_of(key) == producer.value) {
            account.offered = account.granted;
        }
    }
}

AddressChecker::MaybeObjection AddressChecker::decided(const IsAble& producer_is_free,
                                                       const Credits& credits) {
    if (turns_++ % (pairs_.size() / pairs_at_each_turn + 1) != 0) {
        return std::nullopt;
    }
    // Consumers of which a credit may be kept for a producer without a stream.
    std::vector<bool> keeps(plan_.consumers);
    for (const auto& [key, account] : pairs_) {
        const std::uint32_t consumer = consumer_of(key);
        if (account.waits() && !producer_is_free(producer_of(key)) &&
            ((fair_ && plan_.slots >= fewest_slots_to_keep && credits(consumer) == 1) ||
             is_overdue(key, account))) {
            keeps[consumer] = true;
        }
    }
    for (const auto& [key, account] : pairs_) {
        const std::uint32_t consumer = consumer_of(key);
        if (account.waits() && producer_is_free(producer_of(key)) && credits(consumer) > 0 &&
            !keeps[consumer]) {
            return fmt::format(
                "the scheduler leaves {} events of producer {} for consumer {} waiting, which "
                "both could transfer",
                account.offered - account.granted, producer_of(key), consumer);
        }
    }
    return std::nullopt;
}

AddressChecker::MaybeObjection AddressChecker::finished() const {
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
    return none_beyond ? std::nullopt : MaybeObjection{"a pair that is not in the traffic plan has data"};
}

using core::Bytes;
using core::Instant;

DependencyChecker::DependencyChecker(const core::Plan& plan) : interval_(plan.interval) {
    const core::TrafficPlan& traffic = *plan.traffic;
    for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
        for (const core::TrafficPlan::Input& input : traffic.inputs_of({producer})) {
            const core::AddressedTransfer& waits = traffic.of({producer})[input.transfer];
            const core::TrafficPlan::Incoming& needed = traffic.to({producer})[input.incoming];
            inputs_[{producer, waits.to.value, waits.at}].push_back(
                {{needed.from.value, producer, needed.at}, needed.bytes, input.compute});
        }
    }
}

void DependencyChecker::generated(core::EventId event, core::ConsumerId to, Instant at) {
    const std::int64_t interval = core::periods_until(at, interval_);
    events_[event.value] = {{event.producer().value, to.value, at - Instant{} - interval_ * interval},
                            interval};
}

void DependencyChecker::received(Instant now, core::EventId event, Bytes bytes) {
    if (const auto found = events_.find(event.value); found != events_.end()) {
        Arrived& arrived = arrived_[found->second];
        arrived.bytes += bytes;
        arrived.last = now;
        events_.erase(found);
    }
}

DependencyChecker::MaybeObjection DependencyChecker::started(Instant now, core::EventId event) const {
    const auto found = events_.find(event.value);
    const auto waits = found == events_.end() ? inputs_.end() : inputs_.find(found->second.name);
    if (waits == inputs_.end()) {
        return std::nullopt;
    }
    for (const Input& input : waits->second) {
        const auto arrived = arrived_.find({input.name, found->second.interval});
        const Bytes bytes = arrived == arrived_.end() ? Bytes{} : arrived->second.bytes;
        if (bytes != input.bytes || now < arrived->second.last + input.compute) {
            return fmt::format(
                "producer {} begins event {} although its worker has {} of the {} bytes of an input from "
                "producer "
                "{}, or has not computed for {} ns since",
                event.producer().value, event.sequence(), bytes.count, input.bytes.count,
                std::get<0>(input.name), input.compute.ns);
        }
    }
    return std::nullopt;
}

}  // namespace weir::simulation
