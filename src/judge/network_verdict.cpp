#include "judge/network_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "files/formatting.hpp"
#include "judge/network_findings.hpp"

namespace weir::judge {

namespace {

using Meaning = record::CounterMeaning;

/// At least one part in so many of the payload must have come through interfaces.
constexpr std::uint64_t payload_parts = 100;
/// The same where nothing was reported. Ranks of both roles on each of two hosts exchange half of
/// it through the network.
constexpr std::uint64_t payload_parts_of_nothing = 4;

std::string uncounted(const NetworkFindings& found) {
    return found.uncounted_device.empty()
               ? std::string{"ranks on one host exchange data through memory"}
               : fmt::format("{} does not count what it receives", found.uncounted_device);
}

/// Why the counters do not describe the run; empty: they do.
std::string unusable_reason(const NetworkFindings& found, core::Bytes payload) {
    if (found.hosts_with_losses == 0) {
        return "no host has counters of lost packets";
    }
    if (payload.count <= 0) {
        return "nothing was received in the measured seconds";
    }
    if (found.bytes < static_cast<std::uint64_t>(payload.count) / payload_parts) {
        return fmt::format("{} of {} came through interfaces ({})",
                           found.bytes == 0 ? std::string{"nothing"}
                                            : "only " + files::bytes_text(static_cast<double>(found.bytes)),
                           files::readable(payload), uncounted(found));
    }
    return {};
}

std::string own_losses(const OwnLosses& own) {
    std::vector<std::string> parts;
    if (own.missing_datagrams > 0) {
        std::string text =
            fmt::format("{} of the run did not arrive",
                        files::counted(static_cast<std::uint64_t>(own.missing_datagrams), "datagram"));
        if (own.dropped_at_sockets > 0) {
            text += fmt::format(", {} of them dropped at full sockets of consumers",
                                std::min(own.dropped_at_sockets, own.missing_datagrams));
        }
        parts.push_back(std::move(text));
    }
    // Over a reliable transport an event that never became complete was cut off at the end, or weir or MPI
    // has an error; the ledgers say so.
    if (own.datagrams && own.given_up_events > 0) {
        parts.push_back(fmt::format("consumers gave up {}", files::counted(own.given_up_events, "event")));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string losses(const NetworkFindings& found) {
    const std::string dropped = found.listed({Meaning::dropped});
    const std::string resent =
        found.waited_too_long ? std::string{}
                              : found.listed({Meaning::resent, Meaning::resent_burst, Meaning::timed_out});
    std::vector<std::string> parts;
    if (!dropped.empty()) {
        parts.push_back("hosts dropped " + dropped);
    }
    if (!resent.empty()) {
        parts.push_back("out of order or retransmitted: " + resent);
        if (dropped.empty()) {
            parts.emplace_back(
                "no host dropped packets, so they were lost between hosts or overtook each other");
        }
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string with_time(std::string frames, const std::string& time) {
    return time.empty() ? std::move(frames) : fmt::format("{}; {}", frames, time);
}

std::string without_pause_counters(const NetworkFindings& found) {
    const std::size_t blind = found.hosts - found.hosts_with_pauses;
    return blind == 0 ? ""
           : blind == found.hosts
               ? "; pause frames are not counted on these hosts"
               : fmt::format("; pause frames are not counted on {} of {} hosts", blind, found.hosts);
}

std::string without_loss_counters(const NetworkFindings& found) {
    const std::size_t blind = found.hosts - found.hosts_with_losses;
    return blind == 0 ? ""
                      : fmt::format("; lost packets are not counted on {} of {} hosts", blind, found.hosts);
}

/// Puts the verdict together from mechanisms and their evidence, the worst first.
class VerdictWriter {
  public:
    explicit VerdictWriter(const NetworkFindings& found) : found_(found) {}

    /// `meanings`: of the counters that the mechanism is named by.
    void add(NetworkMechanism mechanism, std::string text, std::initializer_list<Meaning> meanings = {}) {
        if (verdict_.mechanisms.empty()) {
            verdict_.counted = found_.listed(meanings);
            verdict_.worst_host = found_.worst_host(meanings);
        }
        if (verdict_.mechanisms.empty() || verdict_.mechanisms.back() != mechanism) {
            verdict_.mechanisms.push_back(mechanism);
        }
        parts_.push_back(std::move(text));
    }

    void add_losses(const std::string& own, const std::string& counters) {
        if (!own.empty() || !counters.empty()) {
            add(NetworkMechanism::lossy,
                fmt::format("lossy: {}{}{}", own, own.empty() || counters.empty() ? "" : "; ", counters),
                {Meaning::dropped, Meaning::resent, Meaning::resent_burst, Meaning::timed_out});
            if (!own.empty()) {
                verdict_.counted = own;
            }
        }
    }

    void add_pauses() {
        const std::string received =
            with_time(found_.listed({Meaning::pause_received}), found_.listed({Meaning::pause_received_us}));
        const std::string sent =
            with_time(found_.listed({Meaning::pause_sent}), found_.listed({Meaning::pause_sent_us}));
        const bool were_stopped =
            !found_.listed({Meaning::pause_received}).empty() && !found_.pauses_were_short;
        if (were_stopped) {
            add(NetworkMechanism::held_back_by_pfc, "PFC paused senders: hosts were stopped by " + received,
                {Meaning::pause_received});
        }
        if (found_.listed({Meaning::pause_sent}).empty()) {
            return;
        }
        if (were_stopped) {
            parts_.push_back("hosts sent " + sent);
            return;
        }
        const bool lost = !verdict_.mechanisms.empty();
        add(NetworkMechanism::pauses_sent,
            fmt::format("pauses sent: {}; hosts received few or none, so it is not known whether the switch "
                        "obeyed them{}",
                        sent, lost ? ", and packets were lost" : ""),
            {Meaning::pause_sent});
    }

    /// Beside other mechanisms, of which they are no part.
    void add_short_pauses() {
        const std::string received = found_.listed({Meaning::pause_received});
        if (found_.pauses_were_short && !received.empty()) {
            parts_.push_back("pauses were too short to matter: " +
                             with_time(received, found_.listed({Meaning::pause_received_us}, true)));
        }
    }

    void add_marks() {
        const std::string notified = found_.listed({Meaning::notified});
        if (!found_.listed({Meaning::marked}).empty()) {
            add(NetworkMechanism::controlled_by_ecn,
                "ECN slowed senders: " + found_.listed({Meaning::marked, Meaning::notified}),
                {Meaning::marked, Meaning::notified});
        } else if (!notified.empty()) {
            add(NetworkMechanism::slowed_by_cnp,
                fmt::format(
                    "CNPs slowed senders: {}; {}, so the switch may not mark at all: receivers also send "
                    "CNPs when packets arrive out of order",
                    notified,
                    found_.counted(Meaning::marked) ? "few or no marks are counted"
                                                    : "marks are not counted on these hosts"),
                {Meaning::notified});
        }
    }

    void add_nothing_counted(core::Bytes payload, const std::string& busiest) {
        if (found_.bytes < static_cast<std::uint64_t>(payload.count) / payload_parts_of_nothing) {
            add(NetworkMechanism::unknown,
                fmt::format(
                    "unknown: only {} of {} came through interfaces, without losses, pauses or marks ({})",
                    files::bytes_text(static_cast<double>(found_.bytes)), files::readable(payload),
                    uncounted(found_)));
            return;
        }
        const std::string few =
            found_.listed({Meaning::dropped, Meaning::resent, Meaning::resent_burst, Meaning::timed_out,
                           Meaning::pause_received, Meaning::pause_received_us, Meaning::pause_sent,
                           Meaning::marked, Meaning::notified},
                          true);
        const std::string where = fmt::format("in {} of {}", files::counted(found_.counters, "known counter"),
                                              files::counted(found_.hosts, "host"));
        const bool unsure = found_.unknown_trouble() || !found_.gaps.empty();
        add(unsure ? NetworkMechanism::unknown : NetworkMechanism::nothing_counted,
            fmt::format("{}{}{}{}{}{}", unsure ? "unknown: " : "",
                        few.empty() ? "no loss, pause, mark or notification was counted " + where
                                    : "no losses, pauses, marks or notifications to speak of were counted: " +
                                          few + " " + where,
                        without_loss_counters(found_), without_pause_counters(found_),
                        busiest.empty() ? "" : "; ", busiest));
    }

    /// Beside any mechanism: what was counted is then of part of the run.
    void add_gaps() {
        if (!found_.gaps.empty()) {
            parts_.push_back(found_.gaps_text());
        }
    }

    /// Beside any mechanism, if they may be signs of others.
    void add_unknown_counters() {
        const bool alone = verdict_.mechanisms.back() == NetworkMechanism::nothing_counted;
        if (alone || found_.unknown_trouble()) {
            if (std::string text = found_.unknown_text(); !text.empty()) {
                parts_.push_back(std::move(text));
            }
        }
    }

    /// Beside other mechanisms or none.
    void add_long_waits() {
        const std::string timed_out = found_.listed({Meaning::timed_out});
        if (found_.waited_too_long && !timed_out.empty()) {
            parts_.push_back(
                fmt::format("acknowledgements did not come within the time-out, and packets were sent again "
                            "that had come: they waited for longer, or others near them were lost: {}",
                            timed_out));
        }
    }

    [[nodiscard]] bool empty() const { return verdict_.mechanisms.empty(); }

    NetworkVerdict verdict() && {
        verdict_.evidence = fmt::format("{}", fmt::join(parts_, "; "));
        verdict_.dropping_host = found_.worst_host({Meaning::dropped});
        verdict_.marked_share = found_.share_of(Meaning::marked);
        verdict_.pausing_host = found_.worst_host({Meaning::pause_sent});
        return std::move(verdict_);
    }

  private:
    const NetworkFindings& found_;
    NetworkVerdict verdict_;
    std::vector<std::string> parts_;
};

NetworkVerdict mechanisms_of(const NetworkFindings& found, core::Bytes payload, const OwnLosses& own,
                             const std::string& busiest) {
    const std::string lost = own_losses(own);
    VerdictWriter writer(found);
    if (const std::string reason = unusable_reason(found, payload); !reason.empty()) {
        writer.add_losses(lost, lost.empty() ? std::string{} : "counters do not show where: " + reason);
        if (writer.empty()) {
            writer.add(NetworkMechanism::unknown, "unknown: " + reason);
        }
        writer.add_gaps();
        return std::move(writer).verdict();
    }
    writer.add_losses(lost, losses(found));
    writer.add_pauses();
    writer.add_marks();
    if (writer.empty()) {
        writer.add_nothing_counted(payload, busiest);
    } else {
        writer.add_short_pauses();
    }
    writer.add_long_waits();
    writer.add_unknown_counters();
    writer.add_gaps();
    return std::move(writer).verdict();
}

std::vector<TcpLosses> tcp_losses(std::span<const record::HostCounters> hosts) {
    std::vector<TcpLosses> losses;
    for (const record::HostCounters& host : hosts) {
        const record::FamilySums sums = record::families_of(host);
        const auto sum = [&](std::string_view family) {
            const auto found = sums.find(family);
            return found == sums.end() ? 0 : found->second;
        };
        if (const std::uint64_t sent = sum("sent_segments"); sent > 0) {
            losses.push_back({host.host, sent, sum("tcp_retransmissions"), sum("tcp_timeouts")});
        }
    }
    return losses;
}

}  // namespace

const char* mechanism_name(NetworkMechanism mechanism) {
    static constexpr std::array names{"lossy",         "held_back_by_pfc", "pauses_sent", "controlled_by_ecn",
                                      "slowed_by_cnp", "nothing_counted",  "unknown"};
    return names.at(static_cast<std::size_t>(mechanism));
}

NetworkVerdict network_not_judged() {
    return {{NetworkMechanism::unknown},
            "unknown: the run ended before hosts handed in their sums; hosts/*.csv has each second"};
}

NetworkVerdict judge_network(std::span<const record::HostCounters> hosts, core::Bytes payload,
                             const OwnLosses& own, const std::string& busiest) {
    const NetworkFindings found = find_in_counters(hosts, own.datagrams);
    NetworkVerdict verdict = mechanisms_of(found, payload, own, busiest);
    verdict.tcp = tcp_losses(hosts);
    return verdict;
}

}  // namespace weir::judge
