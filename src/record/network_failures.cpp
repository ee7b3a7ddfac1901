#include "record/network_failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "files/formatting.hpp"
#include "record/json_values.hpp"

namespace weir::record {

namespace {

using Json = nlohmann::ordered_json;

double seconds(core::Instant at) {
    return (at - core::Instant{}).in_seconds();
}

Json to_json(const LostPackets& lost) {
    return {{"packets", lost.packets}, {"bytes", lost.bytes.count}};
}

Json to_json(const NetworkFailure& failure) {
    return {{"fault", failure.fault},
            {"begin_s", seconds(failure.begin)},
            {"end_s", failure.end ? Json(seconds(*failure.end)) : Json()},
            {"lost", to_json(failure.lost())},
            {"lost_on_links", to_json(failure.on_links)},
            {"lost_in_queues", to_json(failure.in_queues)},
            {"lost_before_convergence", to_json(failure.sent_to_cut)},
            {"lost_without_way", to_json(failure.without_way)},
            {"lost_by_errors", to_json(failure.by_errors)},
            {"gaps", failure.gaps},
            {"open_gaps", failure.open_gaps},
            {"longest_gap_s", failure.longest_gap.in_seconds()},
            {"loads_even_after_s", or_null(failure.loads_even_after)}};
}

Json to_json(const SwitchEvent& event) {
    Json json{{"at_s", seconds(event.at)}, {"what", event.what}};
    if (!event.link.empty()) {
        json["link"] = event.link;
        json["priority"] = event.priority;
    }
    if (!event.cycle.empty()) {
        json["cycle"] = event.cycle;
    }
    return json;
}

std::string text_of(const NetworkFailure& failure) {
    const LostPackets lost = failure.lost();
    std::string text = fmt::format("{} lost {} ({})", failure.fault, files::counted(lost.packets, "packet"),
                                   files::readable(lost.bytes));
    if (failure.gaps > 0) {
        text += fmt::format("; at worst nothing of a flow came in order for {}",
                            files::readable(failure.longest_gap));
    }
    if (failure.open_gaps > 0) {
        text += fmt::format(", and of {} nothing more came", files::counted(failure.open_gaps, "flow"));
    }
    if (failure.loads_even_after && failure.loads_even_after->ns > 0) {
        text += fmt::format("; parallel links were loaded as evenly as before after {}",
                            files::readable(*failure.loads_even_after));
    }
    return text + '.';
}

}  // namespace

LostPackets NetworkFailure::lost() const {
    LostPackets all;
    for (const LostPackets& some : {on_links, in_queues, sent_to_cut, without_way, by_errors}) {
        all.packets += some.packets;
        all.bytes += some.bytes;
    }
    return all;
}

std::uint64_t NetworkFailures::lost_packets() const {
    std::uint64_t all = dropped_by_watchdog.packets;
    for (const NetworkFailure& failure : failures) {
        all += failure.lost().packets;
    }
    return all;
}

const SwitchEvent* NetworkFailures::deadlock() const {
    const auto found = std::find_if(events.begin(), events.end(),
                                    [](const SwitchEvent& event) { return event.what == "deadlocked"; });
    return found == events.end() ? nullptr : &*found;
}

Json to_json(const NetworkFailures& failures) {
    const auto json_of = [](const auto& one) { return to_json(one); };
    return {{"faults", list_of(failures.failures, json_of)},
            {"watchdog", failures.watchdog ? Json{{"storms_detected", failures.storms_detected},
                                                  {"storms_restored", failures.storms_restored},
                                                  {"dropped", to_json(failures.dropped_by_watchdog)}}
                                           : Json()},
            {"possible_deadlock", failures.possible_deadlock},
            {"deadlocked", failures.deadlock() != nullptr},
            {"events", list_of(failures.events, json_of)}};
}

std::string deadlock_text(const NetworkFailures& failures) {
    const SwitchEvent* const deadlock = failures.deadlock();
    if (deadlock == nullptr) {
        return {};
    }
    const auto end = std::find_if(failures.events.begin(), failures.events.end(), [&](const auto& event) {
        return event.what == "deadlock-resolved" && event.at >= deadlock->at;
    });
    return fmt::format(
        "the network was deadlocked from {} {}: {} were paused and waited for each other",
        files::instant(seconds(deadlock->at), 6),
        end == failures.events.end() ? std::string{"on"} : "to " + files::instant(seconds(end->at), 6),
        fmt::join(deadlock->cycle, ", "));
}

std::string failures_text(const NetworkFailures& failures) {
    std::vector<std::string> sentences;
    for (const NetworkFailure& failure : failures.failures) {
        if (failure.lost().packets > 0) {
            sentences.push_back(text_of(failure));
        }
    }
    if (failures.storms_detected > 0) {
        sentences.push_back(
            fmt::format("Watchdogs of switches found a queue paused for too long {}, and "
                        "dropped {}.",
                        files::counted(failures.storms_detected, "time"),
                        files::counted(failures.dropped_by_watchdog.packets, "packet")));
    }
    if (const std::string deadlock = deadlock_text(failures); !deadlock.empty()) {
        sentences.push_back(files::capitalised(deadlock) + '.');
    }
    return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace weir::record
