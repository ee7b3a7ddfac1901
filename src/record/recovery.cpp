#include "record/recovery.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "record/json_values.hpp"

namespace weir::record {

namespace {

using Json = nlohmann::ordered_json;

/// Share of the rate before from which on the rate counts as back.
constexpr double back_share = 0.95;
constexpr std::size_t named_max = 3;

double seconds_at(core::Instant instant) {
    return (instant - core::Instant{}).in_seconds();
}

std::string loss_text(const ConsumerLoss& loss) {
    std::string text =
        fmt::format("Consumer {} was silent from {} on, lost at {}{}.", loss.consumer.value,
                    files::instant(seconds_at(loss.silent_since)), files::instant(seconds_at(loss.lost_at)),
                    loss.back_at ? " and back at " + files::instant(seconds_at(*loss.back_at))
                                 : std::string{" and did not come back"});
    if (loss.rate_before.bits_per_second == 0) {
        return text;
    }
    if (!loss.sank()) {
        return text + " The rate of all consumers stayed above 95 % of what it was.";
    }
    text += fmt::format(" The rate of all consumers was below 95 % of what it was ({}) for {}, at worst {}",
                        files::readable(loss.rate_before),
                        files::counted(static_cast<std::uint64_t>(loss.seconds_below), "second"),
                        files::percent(loss.lowest_rate.bits_per_second, loss.rate_before.bits_per_second));
    const auto time = loss.recovery_time();
    return text + (time ? fmt::format(", and back after {}.", files::readable(*time))
                        : std::string{", and was not back before the next loss or the end of generation."});
}

Json json_of(const ConsumerLoss& loss) {
    const bool known = loss.rate_before.bits_per_second > 0;
    const auto time = loss.recovery_time();
    return {{"consumer", loss.consumer.value},
            {"silent_since_s", seconds_at(loss.silent_since)},
            {"lost_at_s", seconds_at(loss.lost_at)},
            {"back_at_s", loss.back_at ? Json(seconds_at(*loss.back_at)) : Json()},
            {"revoked_grants", loss.revoked_grants},
            {"unprocessed_events", loss.unprocessed_events},
            {"rate_before_bits_per_second", known ? Json(loss.rate_before.bits_per_second) : Json()},
            {"lowest_bits_per_second", loss.sank() ? Json(loss.lowest_rate.bits_per_second) : Json()},
            {"lowest_second", second_or_null(loss.lowest_second)},
            {"seconds_below", known ? Json(loss.seconds_below) : Json()},
            {"recovered_second", second_or_null(loss.recovered_second)},
            {"recovery_s", known ? or_null(time) : Json()},
            {"max_occupancy", finite_or_null(loss.max_occupancy)}};
}

}  // namespace

std::optional<core::Duration> ConsumerLoss::recovery_time() const {
    if (!sank()) {
        return core::Duration{};
    }
    if (recovered_second == no_second) {
        return std::nullopt;
    }
    return core::Instant{recovered_second * ns_per_second} - silent_since;
}

bool Recovery::is_without_ledger(core::NodeId node) const {
    return node.role == core::Role::consumer &&
           std::find(without_ledger.begin(), without_ledger.end(), core::ConsumerId{node.index}) !=
               without_ledger.end();
}

std::string recovery_text(const Recovery& recovery) {
    if (recovery.loss_count == 0) {
        return "";
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(named_max, recovery.losses.size()); ++i) {
        text += (i > 0 ? " " : "") + loss_text(recovery.losses[i]);
    }
    if (recovery.loss_count > named_max) {
        text += fmt::format(" Consumers were lost {} times in all.", recovery.loss_count);
    }
    return text + fmt::format(" {} sent in vain to consumers that were lost{}.",
                              files::counted(recovery.redelivered_events, "event") +
                                  (recovery.redelivered_events == 1 ? " was" : " were"),
                              recovery.doubtful_events == 0
                                  ? std::string{}
                                  : fmt::format("; {} of them may have been received all the same (run.json "
                                                "names them)",
                                                recovery.doubtful_events));
}

nlohmann::ordered_json to_json(const Recovery& recovery) {
    const auto broken = [](const core::BrokenDelivery& delivery) -> Json {
        return {{"producer", delivery.event.producer().value},
                {"sequence", delivery.event.sequence()},
                {"consumer", delivery.consumer.value},
                {"doubtful", delivery.doubtful}};
    };
    return {
        {"loss_count", recovery.loss_count},
        {"losses", list_of(recovery.losses, json_of)},
        {"without_ledger", list_of(recovery.without_ledger, [](core::ConsumerId one) { return one.value; })},
        {"done_by_lost_events", recovery.done_by_lost.events},
        {"done_by_lost_bytes", recovery.done_by_lost.bytes.count},
        {"done_too_late_events", recovery.done_too_late.events},
        {"redelivered_events", recovery.redelivered_events},
        {"doubtful_events", recovery.doubtful_events},
        {"broken_deliveries", list_of(recovery.broken, broken)},
        {"refused_messages", recovery.refused_messages},
        {"refused_bytes", recovery.refused_bytes.count}};
}

void RecoveryWatch::add(const ClusterSecond& second) {
    if (seconds_.empty()) {
        first_ = second.second;
    }
    const std::int64_t received =
        second.consumers.mean.bits_per_second * std::int64_t{second.consumers.ranks};
    seconds_.push_back({{received}, second.max_occupancy});
}

const RecoveryWatch::Second* RecoveryWatch::at(std::int64_t second) const {
    const std::int64_t position = second - first_;
    return position >= 0 && position < static_cast<std::int64_t>(seconds_.size())
               ? &seconds_[static_cast<std::size_t>(position)]
               : nullptr;
}

void RecoveryWatch::measure(core::Duration duration, std::vector<ConsumerLoss>& losses) const {
    for (std::size_t i = 0; i < losses.size(); ++i) {
        std::int64_t until = duration.ns / ns_per_second;
        for (std::size_t next = i + 1; next < losses.size(); ++next) {
            if (second_of(losses[next].silent_since) > second_of(losses[i].silent_since)) {
                until = std::min(until, second_of(losses[next].silent_since));
                break;
            }
        }
        measure(until, losses[i]);
    }
}

/// The rate sinks from the silence on, at the latest in the second after the loss was noticed.
void RecoveryWatch::measure(std::int64_t until, ConsumerLoss& loss) const {
    const std::int64_t begin = second_of(loss.silent_since);
    std::int64_t sum = 0;
    std::int64_t count = 0;
    for (std::int64_t second = begin - seconds_before; second < begin; ++second) {
        if (const Second* const before = at(second)) {
            sum += before->received.bits_per_second;
            ++count;
        }
    }
    if (count == 0 || sum == 0 || begin >= until) {
        return;
    }
    loss.rate_before = {sum / count};
    const double enough = back_share * static_cast<double>(loss.rate_before.bits_per_second);
    for (std::int64_t second = begin; second < until; ++second) {
        const Second* const now = at(second);
        if (now == nullptr) {
            return;
        }
        const bool below = static_cast<double>(now->received.bits_per_second) < enough;
        if (!below && loss.sank()) {
            loss.recovered_second = second;
            return;
        }
        if (!below && second > second_of(loss.lost_at)) {
            return;
        }
        loss.max_occupancy = std::fmax(loss.max_occupancy, now->max_occupancy);
        if (below) {
            ++loss.seconds_below;
            if (!loss.sank() || now->received < loss.lowest_rate) {
                loss.lowest_rate = now->received;
                loss.lowest_second = second;
            }
        }
    }
}

}  // namespace weir::record
