#include "record/switch_counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "record/json_values.hpp"

namespace weir::record {

namespace {

using Json = nlohmann::ordered_json;

double part_of(core::Duration part, core::Duration whole) {
    return whole.ns > 0 ? static_cast<double>(part.ns) / static_cast<double>(whole.ns) : 0;
}

double part_of(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void add_row(SwitchRow& sum, const SwitchRow& row) {
    sum.sent_packets += row.sent_packets;
    sum.sent_bytes += row.sent_bytes;
    sum.queue_peak = std::max(sum.queue_peak, row.queue_peak);
    sum.marked_packets += row.marked_packets;
    sum.dropped_packets += row.dropped_packets;
    sum.dropped_bytes += row.dropped_bytes;
    sum.pauses_received += row.pauses_received;
    sum.pauses_sent += row.pauses_sent;
    sum.received_packets += row.received_packets;
    sum.received_bytes += row.received_bytes;
    sum.pausing += row.pausing;
    sum.paused += row.paused;
}

/// Of a class, over all ports of all switches.
Json class_json(const CountedClass& one, const SwitchRow& sum) {
    return {{"name", one.name},
            {"priority", one.priority},
            {"lossless", one.lossless},
            {"carries", one.carries},
            {"others_bits_per_second", one.of_others.bits_per_second},
            {"sent_packets", sum.sent_packets},
            {"sent_bytes", sum.sent_bytes.count},
            {"received_packets", sum.received_packets},
            {"received_bytes", sum.received_bytes.count},
            {"queue_peak_bytes", sum.queue_peak.count},
            {"marked_packets", sum.marked_packets},
            {"dropped_packets", sum.dropped_packets},
            {"dropped_bytes", sum.dropped_bytes.count},
            {"pauses_sent", sum.pauses_sent},
            {"pauses_received", sum.pauses_received}};
}

/// What each class has of the bytes that switches sent, and what it lost.
std::string classes_text(const SwitchTotals& totals) {
    const core::Bytes all = totals.sum().sent_bytes;
    std::vector<std::string> parts;
    for (const CountedClass& one : totals.classes) {
        const SwitchRow sum = totals.sum(one.priority);
        parts.push_back(fmt::format(
            "{} {}{}", one.name, files::percent(sum.sent_bytes.count, all.count),
            sum.dropped_packets > 0
                ? fmt::format(" ({} of it dropped)", files::percent(sum.dropped_packets, sum.packets_seen()))
                : std::string{}));
    }
    return fmt::format("of all bytes sent: {}", fmt::join(parts, ", "));
}

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

std::string switch_file(std::string_view name) {
    return fmt::format("switch/{}.csv", name);
}

std::string switch_csv_header(const SwitchHardware& description) {
    const std::string columns =
        "begin_s,covered_s,phase,port,peer,priority,sent_packets,sent_bytes,queue_peak_bytes,"
        "queue_mean_bytes,marked_packets,dropped_packets,dropped_bytes,pauses_sent,pausing_s,"
        "pauses_received,paused_s,pool_peak_bytes";
    return columns + (description.counts_received ? ",received_packets,received_bytes\n" : "\n");
}

std::string switch_csv_lines(const SwitchHardware& description, const SwitchReading& reading,
                             core::Instant begin, core::Duration length, Phase phase) {
    std::string lines;
    const auto seconds = files::exact_seconds;
    const std::string time = switch_row_time(begin, length, phase);
    for (const SwitchRow& row : reading.rows) {
        lines += fmt::format("{},{},{},{},{},{},{},{:.0f},{},{},{},{},{},{},{},{}", time, row.port,
                             description.ports[row.port].peer, row.priority, row.sent_packets,
                             row.sent_bytes.count, row.queue_peak.count, row.queue_mean_bytes,
                             row.marked_packets, row.dropped_packets, row.dropped_bytes.count,
                             row.pauses_sent, seconds(row.pausing.ns), row.pauses_received,
                             seconds(row.paused.ns), reading.pool_peak.count);
        if (description.counts_received) {
            lines += fmt::format(",{},{}", row.received_packets, row.received_bytes.count);
        }
        lines += '\n';
    }
    return lines;
}

bool SwitchPort::leads_to(core::Role role) const {
    return std::any_of(ranks.begin(), ranks.end(), [&](core::NodeId rank) { return rank.role == role; });
}

double SwitchPortTotals::use(core::Duration measured) const {
    const double bits = static_cast<double>(port.rate.bits_per_second) * measured.in_seconds();
    return bits > 0 ? 8.0 * static_cast<double>(row.sent_bytes.count) / bits : 0;
}

void SwitchTotals::add(const SwitchHardware& description, const SwitchReading& reading,
                       core::Duration length) {
    pool_peak = std::max(pool_peak, reading.pool_peak);
    for (const SwitchRow& row : reading.rows) {
        SwitchPortTotals& total = ports[{description.name, row.port, row.priority}];
        total.port = description.ports[row.port];
        total.row.port = row.port;
        total.row.priority = row.priority;
        add_row(total.row, row);
        total.queue_byte_seconds += row.queue_mean_bytes * length.in_seconds();
    }
}

SwitchRow SwitchTotals::sum(std::optional<std::uint32_t> priority) const {
    SwitchRow all;
    for (const auto& [key, total] : ports) {
        if (!priority || total.row.priority == *priority) {
            add_row(all, total.row);
        }
    }
    return all;
}

const SwitchPortTotals* SwitchTotals::fullest() const {
    const auto fullest = std::max_element(ports.begin(), ports.end(), [](const auto& a, const auto& b) {
        return a.second.row.queue_peak < b.second.row.queue_peak;
    });
    return fullest == ports.end() ? nullptr : &fullest->second;
}

SwitchTotals::Stopped SwitchTotals::producers_stopped() const {
    // Priorities may be paused at the same time.
    std::map<std::string, core::Duration> longest;
    for (const auto& [key, total] : ports) {
        if (total.port.leads_to(core::Role::producer)) {
            core::Duration& known = longest[total.port.peer];
            known = std::max(known, total.row.pausing);
        }
    }
    Stopped stopped;
    for (const auto& [peer, time] : longest) {
        const double part = part_of(time, measured);
        stopped.mean_share += part / static_cast<double>(longest.size());
        if (part > stopped.most_share) {
            stopped.most_share = part;
            stopped.most = peer;
        }
    }
    return stopped;
}

SwitchTotals::ConsumerPorts SwitchTotals::consumer_ports() const {
    std::map<std::string, double> uses;
    for (const auto& [key, total] : ports) {
        if (total.port.leads_to(core::Role::consumer)) {
            uses[total.port.peer] += total.use(measured);
        }
    }
    ConsumerPorts found;
    if (!uses.empty()) {
        const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
        const auto [least, most] = std::minmax_element(uses.begin(), uses.end(), less);
        found = {least->second, most->second, least->first, most->first};
    }
    return found;
}

std::vector<std::string> SwitchTotals::ports_with_room() const {
    constexpr double most_use = 0.95;
    constexpr double two_packets = 10'000;
    constexpr double most_of_longest = 0.1;
    std::map<std::string, std::pair<double, double>> ports_of;
    for (const auto& [key, total] : ports) {
        if (total.port.leads_to(core::Role::consumer)) {
            auto& [use, queue_byte_seconds] = ports_of[total.port.peer];
            use += total.use(measured);
            queue_byte_seconds += total.queue_byte_seconds;
        }
    }
    double longest = 0;
    for (const auto& [peer, port] : ports_of) {
        longest = std::max(longest, port.second);
    }
    const double most_queue = std::max(two_packets * measured.in_seconds(), most_of_longest * longest);
    std::vector<std::string> found;
    for (const auto& [peer, port] : ports_of) {
        if (port.first < most_use && port.second < most_queue) {
            found.push_back(peer);
        }
    }
    return found;
}

Json to_json(const SwitchTotals& totals) {
    Json ports = Json::array();
    for (const auto& [key, total] : totals.ports) {
        const SwitchRow& row = total.row;
        const double seconds = totals.measured.in_seconds();
        ports.push_back({{"switch", std::get<0>(key)},
                         {"port", row.port},
                         {"peer", total.port.peer},
                         {"priority", row.priority},
                         {"link_bits_per_second", total.port.rate.bits_per_second},
                         {"use", total.use(totals.measured)},
                         {"sent_packets", row.sent_packets},
                         {"sent_bytes", row.sent_bytes.count},
                         {"queue_peak_bytes", row.queue_peak.count},
                         {"queue_mean_bytes", seconds > 0 ? total.queue_byte_seconds / seconds : 0},
                         {"marked_packets", row.marked_packets},
                         {"dropped_packets", row.dropped_packets},
                         {"dropped_bytes", row.dropped_bytes.count},
                         {"pauses_sent", row.pauses_sent},
                         {"pausing_share", part_of(row.pausing, totals.measured)},
                         {"pauses_received", row.pauses_received},
                         {"paused_share", part_of(row.paused, totals.measured)}});
        if (!totals.classes.empty()) {
            ports.back()["received_packets"] = row.received_packets;
            ports.back()["received_bytes"] = row.received_bytes.count;
        }
        // The name of the peer is that of its only rank.
        if (total.port.ranks.size() > 1) {
            Json& ranks = ports.back()["ranks"] = Json::array();
            for (const core::NodeId rank : total.port.ranks) {
                ranks.push_back(fmt::format("{}-{}", core::role_name(rank.role), rank.index));
            }
        }
    }
    const SwitchRow sum = totals.sum();
    const SwitchTotals::Stopped stopped = totals.producers_stopped();
    Json json{{"files", totals.files},
              {"row_s", totals.row_length.in_seconds()},
              {"problem", text_or_null(totals.problem)},
              {"measured_s", totals.measured.in_seconds()},
              {"pool_bytes", totals.pool.count > 0 ? Json(totals.pool.count) : Json()},
              {"pool_peak_bytes", totals.pool_peak.count},
              {"queue_peak_bytes", sum.queue_peak.count},
              {"sent_packets", sum.sent_packets},
              {"sent_bytes", sum.sent_bytes.count},
              {"marked_packets", sum.marked_packets},
              {"marked_share", part_of(sum.marked_packets, sum.sent_packets)},
              {"dropped_packets", sum.dropped_packets},
              {"dropped_bytes", sum.dropped_bytes.count},
              {"pauses_sent", sum.pauses_sent},
              {"pauses_received", sum.pauses_received},
              {"producers_paused_share", {{"mean", stopped.mean_share}, {"max", stopped.most_share}}},
              {"consumers_with_room", totals.ports_with_room()},
              {"packets_sent_again", totals.reactions.packets_sent_again},
              {"timeouts", totals.reactions.timeouts},
              {"ports", std::move(ports)}};
    if (!totals.failures.none()) {
        json["failures"] = to_json(totals.failures);
    }
    for (const CountedClass& one : totals.classes) {
        json["classes"].push_back(class_json(one, totals.sum(one.priority)));
    }
    if (!totals.parallel_links.empty()) {
        json["parallel_links_file"] = parallel_links_file();
        json["parallel_links"] = to_json(totals.parallel_links);
    }
    return json;
}

std::string switch_text(const SwitchTotals& totals) {
    const SwitchRow sum = totals.sum();
    std::vector<std::string> parts;
    if (const SwitchPortTotals* fullest = totals.fullest()) {
        const double seconds = totals.measured.in_seconds();
        const core::Bytes mean{
            static_cast<std::int64_t>(seconds > 0 ? fullest->queue_byte_seconds / seconds : 0)};
        parts.push_back(fmt::format("longest queue {} (to {}, mean {})",
                                    files::readable(fullest->row.queue_peak), fullest->port.peer,
                                    files::readable(mean)));
    }
    parts.push_back(
        fmt::format("memory in use up to {}{}", files::readable(totals.pool_peak),
                    totals.pool.count > 0 ? " of " + files::readable(totals.pool) : std::string{}));
    const auto share_of_packets = [&](std::uint64_t packets, const char* what) {
        return packets == 0 ? fmt::format("no packet {}", what)
                            : fmt::format("{} {} ({})", files::counted(packets, "packet"), what,
                                          files::percent(packets, sum.packets_seen()));
    };
    parts.push_back(share_of_packets(sum.marked_packets, "marked"));
    parts.push_back(share_of_packets(sum.dropped_packets, "dropped"));
    if (totals.reactions.packets_sent_again > 0) {
        parts.push_back(share_of_packets(totals.reactions.packets_sent_again, "sent again"));
    }
    if (totals.reactions.timeouts > 0) {
        parts.push_back(files::counted(totals.reactions.timeouts, "time-out"));
    }
    if (sum.pauses_sent > 0) {
        const SwitchTotals::Stopped stopped = totals.producers_stopped();
        parts.push_back(fmt::format(
            "{}: producers stopped for {} of the time{}", files::counted(sum.pauses_sent, "pause"),
            files::percent(stopped.mean_share),
            stopped.most.empty()
                ? std::string{}
                : fmt::format(" (most: {}, {})", stopped.most, files::percent(stopped.most_share))));
    }
    if (const SwitchTotals::ConsumerPorts ports = totals.consumer_ports(); !ports.least_name.empty()) {
        parts.push_back(ports.least_name == ports.most_name
                            ? fmt::format("port to {} used {}", ports.least_name, files::percent(ports.least))
                            : fmt::format("ports to consumers used from {} ({}) to {} ({})",
                                          files::percent(ports.least), ports.least_name,
                                          files::percent(ports.most), ports.most_name));
    }
    if (!totals.classes.empty()) {
        parts.push_back(classes_text(totals));
    }
    if (std::string balance = parallel_links_text(totals.parallel_links); !balance.empty()) {
        parts.push_back(std::move(balance));
    }
    constexpr double often = 0.05;
    const std::size_t with_room = totals.ports_with_room().size();
    if (totals.producers_stopped().mean_share > often && with_room > 0) {
        parts.push_back(
            fmt::format("while producers were stopped, ports to {} had room: their data waited "
                        "behind that of others",
                        files::counted(with_room, "consumer")));
    }
    if (!totals.problem.empty()) {
        parts.push_back(totals.problem);
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

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
