#include "show/run_record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "judge/answer.hpp"
#include "show/run_record.hpp"

namespace weir::show {

namespace {

using core::Duration;
using core::Role;

/// The ranks of one role, compared.
struct RoleRates {
    std::size_t ranks = 0;
    const record::RankRecord* lowest = nullptr;  ///< by mean over the run
    const record::RankRecord* highest = nullptr;
    const record::RankRecord* slowest = nullptr;  ///< in its slowest window
    core::BitRate mean;
    record::TimeUse time;
    Duration covered;
};

RoleRates compare(const RunRecord& record, Role role) {
    RoleRates rates;
    double sum = 0;
    for (const record::RankRecord& rank : record.ranks) {
        const record::RankSummary& summary = rank.summary;
        if (summary.node.role != role || summary.covered <= Duration{0}) {
            continue;
        }
        ++rates.ranks;
        rates.time += summary.time;
        rates.covered += summary.covered;
        sum += static_cast<double>(summary.throughput().bits_per_second);
        if (rates.lowest == nullptr || summary.throughput() < rates.lowest->summary.throughput()) {
            rates.lowest = &rank;
        }
        if (rates.highest == nullptr || summary.throughput() > rates.highest->summary.throughput()) {
            rates.highest = &rank;
        }
        if (summary.slowest_window_second != record::no_second &&
            (rates.slowest == nullptr || summary.slowest_window < rates.slowest->summary.slowest_window)) {
            rates.slowest = &rank;
        }
    }
    if (rates.ranks > 0) {
        rates.mean = {static_cast<std::int64_t>(sum / static_cast<double>(rates.ranks))};
    }
    return rates;
}

class Page {
  public:
    /// A line that begins with its subject.
    template <typename... Values>
    void line(std::string_view subject, fmt::format_string<Values...> form, Values&&... values) {
        text_ += fmt::format("{:<{}}", subject, summary_subject_width);
        text_ += fmt::format(form, std::forward<Values>(values)...);
        text_ += '\n';
    }
    /// Of a text that may take several lines.
    void paragraph(std::string_view subject, std::string_view text) {
        line(subject, "{}", files::indented(text, summary_subject_width));
    }
    void raw(std::string_view text) { text_ += text; }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// The slowest rank of a role, over the window in which rates are compared.
std::string slowest_text(const RunRecord& record, const RoleRates& rates, files::Unit unit) {
    const auto window = rate_window_s(record);
    if (!window) {
        return "- (too few events)";
    }
    if (*window > seconds_of(record) || *window != record::kept_window_s(record.plan)) {
        return fmt::format("- (too few events: {} take {} s)", record::rate_window_events, *window);
    }
    if (rates.slowest == nullptr) {
        return "-";
    }
    const record::RankSummary& summary = rates.slowest->summary;
    const std::int64_t first = summary.slowest_window_second;
    return fmt::format("{} in {}, {}", files::in_unit(summary.slowest_window, unit),
                       *window == 1 ? fmt::format("second {}", first)
                                    : fmt::format("seconds {} to {}", first, first + *window - 1),
                       files::node_text(summary.node, rates.slowest->host));
}

void add_rates(Page& page, const RunRecord& record, const RoleRates& producers, const RoleRates& consumers) {
    if (producers.ranks + consumers.ranks == 0) {
        return;
    }
    const files::Unit unit =
        files::unit_for(std::max(std::min(producers.mean, consumers.mean), core::BitRate{1}));
    const std::int64_t window = rate_window_s(record).value_or(1);
    page.line(fmt::format("rate in {}", unit.name), "{:>8}{:>8}{:>8}   {}", "min", "mean", "max",
              window == 1 ? std::string{"slowest second of any rank"}
                          : fmt::format("slowest {} s of any rank", window));
    const auto add = [&](const char* name, const RoleRates& rates) {
        if (rates.ranks == 0) {
            return;
        }
        page.line("  " + files::counted(rates.ranks, name), "{:>8}{:>8}{:>8}   {}",
                  files::in_unit(rates.lowest->summary.throughput(), unit), files::in_unit(rates.mean, unit),
                  files::in_unit(rates.highest->summary.throughput(), unit),
                  slowest_text(record, rates, unit));
    };
    add("producer", producers);
    add("consumer", consumers);
}

void add_occupancy(Page& page, const RunRecord& record) {
    if (!std::isfinite(record.verdict.max_occupancy)) {
        return;
    }
    const record::RankRecord* fullest = nullptr;
    for (const record::RankRecord& rank : record.ranks) {
        if (rank.summary.node.role == Role::producer &&
            rank.summary.max_occupancy_second != record::no_second &&
            (fullest == nullptr || rank.summary.max_occupancy > fullest->summary.max_occupancy)) {
            fullest = &rank;
        }
    }
    if (fullest != nullptr) {
        const core::Plan& plan = record.plan;
        const double one_set =
            static_cast<double>(plan.set_bytes().count) / static_cast<double>(plan.buffer.count);
        const std::string note =
            plan.generation == core::Generation::sets && !plan.addressed()
                ? fmt::format(" (one new set is {}{})", files::number(one_set),
                              record.verdict.sustained ? "; what counts is the slack" : "")
                : "";
        page.line("worst occupancy", "{} in second {}, {}{}", files::number(fullest->summary.max_occupancy),
                  fullest->summary.max_occupancy_second,
                  files::node_text(fullest->summary.node, fullest->host), note);
    }
}

/// Addressed events: how long phases took, the slowest names first.
void add_phases(Page& page, const RunRecord& record) {
    std::vector<record::PhaseSummary> phases = record.phases;
    std::erase_if(phases, [](const record::PhaseSummary& phase) { return !phase.longest; });
    std::stable_sort(
        phases.begin(), phases.end(),
        [](const record::PhaseSummary& a, const record::PhaseSummary& b) { return *a.longest > *b.longest; });
    constexpr std::size_t shown_max = 5;
    phases.resize(std::min(phases.size(), shown_max));
    for (const record::PhaseSummary& phase : phases) {
        std::string text = fmt::format("median {}, longest {}", files::readable(*phase.median),
                                       files::readable(*phase.longest));
        if (phase.ideal && *phase.ideal > Duration{}) {
            text += fmt::format("; ideal {}, longest {} times that", files::readable(*phase.ideal),
                                files::number(phase.longest->in_seconds() / phase.ideal->in_seconds()));
        }
        if (phase.over_period > 0) {
            text += fmt::format("; {} of {} took longer than until the next phase", phase.over_period,
                                phase.phases);
        }
        page.paragraph(fmt::format("phase {}", phase.name), text);
    }
}

/// A trace: how much longer transfers took than alone, of all and by size.
void add_sizes(Page& page, const RunRecord& record) {
    for (const record::SizeClass& sizes : record.size_classes) {
        if (!sizes.median) {
            continue;
        }
        const bool all = &sizes == &record.size_classes.front();
        const std::string text = text_of(sizes, all);
        page.paragraph(all ? "transfers" : "", text);
    }
}

void add_collectives(Page& page, const RunRecord& record) {
    for (const record::CollectiveSummary& collective : record.collectives) {
        if (collective.jct) {
            page.paragraph("collective", text_of(collective));
        }
    }
}

std::string share(Duration part, Duration whole) {
    return files::percent(part.ns, whole.ns);
}

void add_time(Page& page, const RunRecord& record, const RoleRates& producers, const RoleRates& consumers) {
    if (consumers.ranks > 0) {
        std::string at_once;
        if (record.blocked_at_once.consumers > 0) {
            at_once = fmt::format(", up to {} of {} at once (second {})", record.blocked_at_once.consumers,
                                  consumers.ranks, record.blocked_at_once.second);
        }
        page.line("blocked consumers", "{} of their time{}", share(consumers.time.blocked, consumers.covered),
                  at_once);
    }
    if (producers.ranks > 0) {
        page.line("time of producers", "transferring {}, waiting for a slot {}, for a grant {}, for data {}",
                  share(producers.time.transferring, producers.covered),
                  share(producers.time.waiting_for_slot, producers.covered),
                  share(producers.time.waiting_for_grant, producers.covered),
                  share(producers.time.waiting_for_data, producers.covered));
    }
    if (consumers.ranks > 0) {
        page.line("time of consumers", "receiving {}, blocked {}, waiting for data {}; processing {}",
                  share(consumers.time.receiving, consumers.covered),
                  share(consumers.time.blocked, consumers.covered),
                  share(consumers.time.waiting_for_data, consumers.covered),
                  share(consumers.time.processing, consumers.covered));
    }
    const record::RankRecord* latest = nullptr;
    for (const record::RankRecord& rank : record.ranks) {
        if (latest == nullptr || rank.summary.poll_gap_max > latest->summary.poll_gap_max) {
            latest = &rank;
        }
    }
    if (latest != nullptr && latest->summary.poll_gap_second != record::no_second) {
        page.line("event-loop stall", "longest {} in second {}, {}",
                  files::readable(latest->summary.poll_gap_max), latest->summary.poll_gap_second,
                  files::node_text(latest->summary.node, latest->host));
    }
}

/// The words for a latency, by its name in run.json.
std::string latency_label(std::string name) {
    if (name == "offer_to_grant") {
        return "scheduling";
    }
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

/// A table whose longest latency is at least this long is in milliseconds.
constexpr double ms_from_us = 10'000;

void add_latencies(Page& page, const record::LatencyDigests& latencies) {
    std::vector<std::pair<std::string, const record::LatencyDigest*>> shown;
    for (const record::LatencyDigests::Latency& one : record::LatencyDigests::all()) {
        if (const record::LatencyDigest& digest = latencies.*one.item; digest.count > 0 && !one.of_shaping) {
            shown.emplace_back(latency_label(one.name), &digest);
        }
    }
    if (shown.empty()) {
        return;
    }
    const bool long_ones = std::any_of(shown.begin(), shown.end(),
                                       [](const auto& row) { return row.second->max_us >= ms_from_us; });
    const auto text = [&](double us) { return files::number(long_ones ? us / 1000 : us); };
    page.line(long_ones ? "latency in ms" : "latency in us", "{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}", "p50",
              "p90", "p99", "p99.9", "max", "events");
    for (const auto& [label, digest] : shown) {
        page.line("  " + label, "{:>11}{:>11}{:>11}{:>11}{:>11}{:>12}", text(digest->p50_us),
                  text(digest->p90_us), text(digest->p99_us), text(digest->p99_9_us), text(digest->max_us),
                  digest->count);
    }
}

/// Built in the measured time, per second; of a run that was broken off in as much as there was.
double built_per_second(const RunRecord& record) {
    std::uint64_t events = 0;
    core::Duration time;
    for (const record::RankRecord& rank : record.ranks) {
        events += rank.summary.measured.finished_events;
        time = std::max(time, rank.summary.covered);
    }
    time = std::min(time, record.plan.generated_until() - core::Instant{});
    return time > core::Duration{} ? static_cast<double>(events) / time.in_seconds() : 0;
}

/// How late producers' chunks were, against the grid of in-step shaping.
void add_pacing(Page& page, const RunRecord& record) {
    const record::LatencyDigest& error = record.latencies.pacing_error;
    const double grid_us = record.plan.shaping.grid.in_microseconds();
    if (record.plan.shaping.kind != core::ShapingKind::in_step || error.count == 0) {
        return;
    }
    page.line("pacing", "one chunk per {}: half were late by more than {}, 1 % by more than {}{}",
              files::exact(record.plan.shaping.grid), files::seconds_text(error.p50_us * 1e-6),
              files::seconds_text(error.p99_us * 1e-6),
              error.p50_us > grid_us ? "; this machine is too slow for that" : "");
}

/// How many packets of control messages a grant cost the scheduler, where they were counted.
void add_control(Page& page, const RunRecord& record) {
    for (const record::RankRecord& rank : record.ranks) {
        const record::Counts& run = rank.summary.run;
        if (rank.summary.node.role == core::Role::scheduler && run.control_packets > 0 && run.grants > 0) {
            page.line(
                "control messages", "{} packets per grant, to and from the scheduler",
                files::number(static_cast<double>(run.control_packets) / static_cast<double>(run.grants)));
        }
    }
}

void add_integrity(Page& page, const RunRecord& record) {
    const std::uint64_t violations = std::max(record.fault_count, std::uint64_t{record.faults.size()});
    if (!record.ledger_checked) {
        page.line("integrity check", "not made");
    } else if (record.ledger_differences.empty()) {
        const std::string text =
            fmt::format("{} ({})", violations > 0 ? "ledgers agree" : "passed", checked_text(record));
        page.paragraph("integrity check", text);
    } else {
        constexpr std::size_t shown_max = 3;
        for (std::size_t i = 0; i < std::min(record.ledger_differences.size(), shown_max); ++i) {
            page.line(i == 0 ? "integrity FAILED" : "", "{}", record.ledger_differences[i]);
        }
    }
    if (violations > 0) {
        page.line("violations", "{}{}", violations,
                  record.faults.empty() ? "" : ", the first: " + fault_text(record.faults[0]));
    }
}

void add_account(Page& page, const RunRecord& record) {
    const record::Counts totals = totals_of(record);
    page.line("events", "generated {}, sent {}, received {}; lost {}{}, corrupt {}, duplicate {}",
              totals.generated.events, totals.sent.events, totals.received.events, totals.lost.events,
              totals.lost.events > 0
                  ? fmt::format(" ({})", files::loss_share(totals.lost.events, totals.generated.events))
                  : "",
              totals.corrupt_events, totals.duplicate_events);
    page.line("data", "generated {}, sent {}, received {}", files::readable(totals.generated.bytes),
              files::readable(totals.sent.bytes), files::readable(totals.received.bytes));
    if (record.plan.builds()) {
        page.line("events built", "{}, {} per second; {} given up", totals.finished_events,
                  files::number(built_per_second(record)), totals.given_up_events);
    }
    if (record.plan.asks_again()) {
        page.line("requested again", "{}", files::counted(totals.asked_again, "fragment"));
    }
    if (totals.results.events > 0) {
        page.line("results", "{} received by the scheduler, {}", totals.results.events,
                  files::readable(totals.results.bytes));
    }
    add_control(page, record);
    if (record.recovery && record.recovery->loss_count > 0) {
        const record::Recovery& recovery = *record.recovery;
        page.line(
            "recovery", "consumers lost {}; {} broken off, {} of them doubtful; {} refused",
            recovery.loss_count == 1 ? std::string{"once"} : fmt::format("{} times", recovery.loss_count),
            recovery.redelivered_events == 1 ? std::string{"1 delivery"}
                                             : fmt::format("{} deliveries", recovery.redelivered_events),
            recovery.doubtful_events, files::counted(recovery.refused_messages, "old message"));
    }
    if (totals.events_without_credit > 0 && record.plan.generation != core::Generation::saturate) {
        page.line("credit stalls", "{} offered when no consumer had a credit",
                  files::counted(totals.events_without_credit, "event"));
    }
    add_integrity(page, record);
    page.line("clock error", "{}",
              record.clock_error_us ? files::seconds_text(*record.clock_error_us * 1e-6) : "not measured");
}

/// The sentence names rank, role and host itself.
std::string failure_text(const RunRecord& record) {
    const std::string& what = record.failure->what;
    return record.status == RunStatus::interrupted ? "Interrupted: " + what : "FAILED: " + what;
}

}  // namespace

std::string final_summary_text(const RunRecord& record, bool terminal) {
    Page page;
    const auto coloured = [&](std::string_view colour, const std::string& text) {
        page.raw(terminal ? fmt::format("{}{}{}", colour, files::wrapped(text), files::colour_none)
                          : files::wrapped(text));
    };
    if (record.failure) {
        coloured(files::colour_red, failure_text(record));
    }
    if (!record.verdict.findings.empty()) {
        page.raw(judge::answer_lines(answer_of(record), summary_subject_width, terminal));
    }
    page.raw("\n");
    const RoleRates producers = compare(record, Role::producer);
    const RoleRates consumers = compare(record, Role::consumer);
    if (const std::string evidence = judge::evidence_text(record.verdict); !evidence.empty()) {
        page.paragraph("evidence", evidence);
    }
    add_collectives(page, record);
    if (record.collectives.empty()) {
        add_phases(page, record);
    }
    add_sizes(page, record);
    add_occupancy(page, record);
    add_rates(page, record, producers, consumers);
    add_time(page, record, producers, consumers);
    add_latencies(page, record.latencies);
    add_pacing(page, record);
    add_account(page, record);
    if (record.datagrams) {
        page.paragraph("datagrams", record::losses_text(*record.datagrams));
        if (record.datagrams->mtu_bytes > 0) {
            page.paragraph("wire", record::wire_text(*record.datagrams));
        }
        for (const std::string& note : record.datagrams->notes) {
            page.paragraph("note", note);
        }
    }
    if (record.network) {
        page.paragraph("network", record.network->evidence);
    }
    if (record.switches) {
        page.paragraph("switch", record::switch_text(*record.switches));
    }
    page.line("words", "`weir help WORD` explains one: set, slack, occupancy, slot, blocked, ...");
    if (!record.directory.empty()) {
        page.line("run directory", "{}", record.directory);
    }
    return page.text();
}

std::string final_summary_json(const RunRecord& record) {
    nlohmann::ordered_json json = to_json(record);
    // Ranks, hosts and histograms are in run.json; a stream of lines is for the run as a whole.
    json.erase("ranks");
    json.erase("hosts");
    json.erase("environment");
    for (auto& [name, latency] : json["latency"].items()) {
        latency.erase("buckets");
    }
    return summary_line(json, record.directory);
}

}  // namespace weir::show
