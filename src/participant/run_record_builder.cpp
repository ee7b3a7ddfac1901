#include "participant/run_record_builder.hpp"

#include <fmt/format.h>

#include <sstream>

#include "judge/ledger_check.hpp"
#include "judge/network_findings.hpp"
#include "participant/exit_status.hpp"

namespace weir::participant {

namespace {

void add_ended_lives_of(record::RankSummary& summary, const record::SecondCollector& collector) {
    if (const record::RankSummary* const ended = collector.ended_lives(summary.node)) {
        summary.add_sums(*ended);
    }
}

/// Until so many are listed.
template <typename Item>
void add_first(std::vector<Item>& listed, const std::vector<Item>& more, std::size_t most) {
    const std::size_t room = most - std::min(most, listed.size());
    listed.insert(listed.end(), more.begin(),
                  more.begin() + static_cast<std::ptrdiff_t>(std::min(room, more.size())));
}

}  // namespace

RunRecordBuilder::RunRecordBuilder(const RunDescription& run, std::string started_at) : run_(run) {
    static_cast<show::RunAsPlanned&>(base_) = static_cast<const show::RunAsPlanned&>(run);
    base_.started_at = std::move(started_at);
    if (run.plan.addressed()) {
        phase_times_.emplace(run.plan);
        if (!run.plan.traffic->collectives().empty() && record::keeps_each_phase(run.plan)) {
            collective_times_.emplace(run.plan);
        }
    }
    if (record::keeps_each_transfer(run.plan)) {
        trace_times_.emplace(run.plan);
    }
    base_.ranks.reserve(static_cast<std::size_t>(run.roles.ranks()));
    for (int rank = 0; rank < run.roles.ranks(); ++rank) {
        const core::NodeId node = run.roles.node(rank);
        record::RankRecord record;
        static_cast<record::RankHost&>(record) = run.rank_hosts[static_cast<std::size_t>(rank)];
        record.rank = rank;
        record.summary.node = node;
        record.ended_regularly = false;
        record.file = "ranks/" + record::rank_file_name(rank, node.role);
        base_.ranks.push_back(std::move(record));
    }
    if (run.records_hosts) {
        add_hosts();
    }
}

void RunRecordBuilder::add_hosts() {
    std::set<std::string> known;
    for (const record::RankRecord& rank : base_.ranks) {
        if (known.insert(rank.host).second) {
            record::HostCounters host;
            host.host = rank.host;
            host.file = record::host_file(rank.host);
            base_.hosts.push_back(std::move(host));
        }
    }
}

void RunRecordBuilder::take_host(const std::string& counters) {
    if (counters.empty()) {
        return;  // of a rank that counts for no host, as all are in a simulation
    }
    auto sums = record::decode_host(counters);
    if (!sums) {
        return;
    }
    for (record::HostCounters& host : base_.hosts) {
        if (host.host == sums->host) {
            host = std::move(*sums);
            return;
        }
    }
}

void RunRecordBuilder::add(int rank, const RankAccount& account) {
    record::RankRecord& record = base_.ranks.at(static_cast<std::size_t>(rank));
    record.summary = account.summary;
    record.ended_regularly = true;
    record.listening = account.listening;
    latencies_.merge(account.latencies);
    const core::NodeId node = run_.roles.node(rank);
    if (node.role == core::Role::producer) {
        traffic_.set_times(core::ProducerId{node.index}, account.pair_times);
    }
    if (node.role == core::Role::consumer) {
        traffic_.set(core::ConsumerId{node.index}, account.traffic);
        if (collective_times_) {
            collective_times_->add({node.index}, account.phase_ends);
        }
        if (phase_times_) {
            phase_times_->add({node.index}, account.transfers, account.phase_ends);
        }
        if (trace_times_) {
            trace_times_->add({node.index}, account.completions);
        }
    }
    if (!account.event_marks.empty()) {
        base_.event_marks = account.event_marks;
    }
    datagrams_.add(run_.roles.node(rank), account.datagrams);
    clock_error_ns_ = std::max(clock_error_ns_, account.clock_error_ns);
    base_.fault_count += account.fault_count;
    add_first(base_.faults, account.faults, show::RunRecord::listed_max);
    recovery_.redelivered_events += account.broken_off.taken_back_events;
    recovery_.doubtful_events += account.broken_off.doubtful_events;
    recovery_.refused_bytes += account.broken_off.refused_bytes;
    add_first(recovery_.broken, account.broken_off.deliveries, record::Recovery::listed_max);
    base_.lost_range_count += account.lost.size();
    add_first(base_.lost, account.lost, show::RunRecord::listed_max);
    if (account.started_late > core::Duration{}) {
        late_starts_.push_back(fmt::format("{} began {} after the agreed start", rank_text(run_, rank),
                                           files::readable(account.started_late)));
    }
    std::istringstream paths(account.ucx_paths);
    std::string network;
    std::uint32_t connections = 0;
    for (std::string path; paths >> network >> connections && std::getline(paths >> std::ws, path);) {
        ucx_paths_[network][path] += connections;
    }
    take_host(account.host_counters);
    if (!account.log_error.empty()) {
        log_errors_.push_back(fmt::format("{}: {}", rank_text(run_, rank), account.log_error));
    }
}

void RunRecordBuilder::add_network(const core::NetworkPlan& simulated,
                                   std::vector<record::HostCounters> hosts,
                                   std::optional<record::SwitchTotals> switches) {
    simulated_ = simulated;
    if (phase_times_) {
        phase_times_->set_network(simulated);
    }
    if (trace_times_) {
        trace_times_->set_network(simulated);
    }
    if (collective_times_) {
        collective_times_->set_network(simulated);
    }
    base_.hosts = std::move(hosts);
    base_.switches = std::move(switches);
}

void RunRecordBuilder::add_recovery(const core::Scheduler& scheduler,
                                    const std::vector<core::Instant>& silent_since,
                                    const record::RecoveryWatch& watch) {
    const core::Plan& plan = run_.plan;
    record::Recovery recovery = recovery_;
    recovery.done_by_lost = scheduler.done_by_lost();
    recovery.done_too_late = scheduler.done_too_late();
    recovery.refused_messages = scheduler.refused_messages();
    for (std::size_t i = 0; i < scheduler.losses().size(); ++i) {
        const core::Scheduler::Loss& loss = scheduler.losses()[i];
        recovery.losses.push_back({.consumer = loss.consumer,
                                   .silent_since = silent_since[i],
                                   .lost_at = loss.lost_at,
                                   .back_at = loss.back_at,
                                   .revoked_grants = loss.revoked,
                                   .unprocessed_events = loss.unprocessed});
    }
    recovery.loss_count = recovery.losses.size();
    // Sets that come less often than once a second make every second's rate another.
    if (plan.generation != core::Generation::sets || plan.interval <= core::Duration::seconds(1)) {
        watch.measure(plan.duration, recovery.losses);
    }
    if (recovery.losses.size() > record::Recovery::listed_max) {
        recovery.losses.resize(record::Recovery::listed_max);
    }
    for (const record::RankRecord& rank : base_.ranks) {
        const core::ConsumerId consumer{rank.summary.node.index};
        if (rank.summary.node.role != core::Role::consumer) {
            continue;
        }
        const bool reported = scheduler.has_reported(rank.summary.node);
        if (!reported || !rank.ended_regularly) {
            recovery.without_ledger.push_back(consumer);
        }
        if (reported && !rank.ended_regularly) {  // lost between the end of the run and its account
            recovery.done_by_lost += scheduler.done_in_this_life(consumer);
        }
    }
    for (record::RankRecord& rank : base_.ranks) {
        if (recovery.is_without_ledger(rank.summary.node)) {
            rank.ended_regularly = false;
            rank.summary.ledger_known = false;
            rank.summary.ledger = {};
            traffic_.set(core::ConsumerId{rank.summary.node.index}, {});
        }
    }
    base_.recovery = std::move(recovery);
}

void RunRecordBuilder::add_ended_lives(const record::SecondCollector& collector) {
    for (record::RankRecord& rank : base_.ranks) {
        add_ended_lives_of(rank.summary, collector);
    }
}

bool RunRecordBuilder::counts_datagrams() const {
    return run_.plan.lossy() && !datagrams_.pairs().empty();
}

files::MaybeIoError RunRecordBuilder::write_traffic() {
    files::MaybeIoError error = write_traffic_csv(run_.directory + "/traffic.csv", traffic_);
    if (!error && counts_datagrams()) {
        error = write_datagrams_csv(run_.directory + "/datagrams.csv", datagrams_);
    }
    if (!error && phase_times_) {
        error = phase_times_->write_transfers_csv(run_.directory + "/transfers.csv");
        if (!error && record::keeps_each_phase(run_.plan)) {
            error = phase_times_->write_phases_csv(run_.directory + "/phases.csv");
        }
    }
    if (!error && trace_times_) {
        error = trace_times_->write_csv(run_.directory + "/completions.csv");
    }
    if (error) {
        log_errors_.push_back(error->message());
    }
    return error;
}

judge::RunFacts RunRecordBuilder::facts_of(const show::RunRecord& record) const {
    judge::RunFacts facts;
    facts.blocked_at_once = record.blocked_at_once;
    facts.ledger_differences = record.ledger_differences;
    facts.simulated = simulated_ ? &*simulated_ : nullptr;
    facts.network = record.network ? &*record.network : nullptr;
    facts.switches = record.switches ? &*record.switches : nullptr;
    facts.recovery = record.recovery ? &*record.recovery : nullptr;
    facts.datagrams = record.datagrams ? &*record.datagrams : nullptr;
    facts.traffic = &traffic_;
    facts.interface_rates = interface_rates(record);
    return facts;
}

/// A simulated interface has the speed that was given for it, whatever a disturbance makes of its link.
std::vector<core::BitRate> RunRecordBuilder::interface_rates(const show::RunRecord& record) const {
    std::vector<core::BitRate> rates(record.ranks.size());
    if (simulated_) {
        const auto producers = core::producer_links(*simulated_, run_.plan.producers);
        const auto consumers = core::consumer_links(*simulated_, run_.plan.consumers);
        for (std::size_t i = 0; i < rates.size(); ++i) {
            const core::NodeId node = record.ranks[i].summary.node;
            rates[i] = node.role == core::Role::producer   ? producers.at(node.index)
                       : node.role == core::Role::consumer ? consumers.at(node.index)
                                                           : core::BitRate{};
        }
        return rates;
    }
    std::map<std::string, core::BitRate> of_hosts;
    for (const record::HostCounters& host : record.hosts) {
        of_hosts[host.host] = record::interface_rate(host);
    }
    std::map<std::pair<std::string, core::Role>, std::int64_t> ranks_there;
    for (const record::RankRecord& rank : record.ranks) {
        ++ranks_there[{rank.host, rank.summary.node.role}];
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const record::RankRecord& rank = record.ranks[i];
        if (const auto found = of_hosts.find(rank.host); found != of_hosts.end()) {
            rates[i] = {found->second.bits_per_second / ranks_there.at({rank.host, rank.summary.node.role})};
        }
    }
    return rates;
}

show::RunRecord RunRecordBuilder::complete(const record::SecondCollector& collector) {
    show::RunRecord record = base_;
    record.status = show::RunStatus::complete;
    record.latencies = record::digest(latencies_);
    record.clock_error_us = static_cast<double>(clock_error_ns_) * 1e-3;
    record.blocked_at_once = collector.blocked_at_once();
    record.ledger_checked = true;
    const record::Recovery* const recovery = record.recovery ? &*record.recovery : nullptr;
    record.ledger_differences = judge::ledger_differences(run_.plan, record.ranks, recovery);
    const auto of_traffic = judge::traffic_differences(run_.plan, traffic_, record.ranks, recovery);
    record.ledger_differences.insert(record.ledger_differences.end(), of_traffic.begin(), of_traffic.end());
    if (phase_times_) {
        record.phases = phase_times_->summaries();
    }
    if (trace_times_) {
        record.size_classes = trace_times_->size_classes();
    }
    if (collective_times_) {
        record.collectives = collective_times_->summaries();
    }
    record.late_starts = late_starts_;
    record.ucx_paths = ucx_paths_;
    if (counts_datagrams()) {
        record.datagrams =
            record::account_for_datagrams(record.ranks, datagrams_, record.hosts, run_.socket_buffer);
    }
    if (!record.hosts.empty()) {
        core::Bytes payload;
        judge::OwnLosses own{.datagrams = run_.plan.lossy()};
        for (const record::RankRecord& rank : record.ranks) {
            payload += rank.summary.measured.received.bytes;
            own.given_up_events += rank.summary.ledger.incomplete.events;
        }
        if (record.datagrams) {
            own.missing_datagrams = record.datagrams->missing;
            own.dropped_at_sockets = record.datagrams->explained.socket;
        }
        const judge::BusiestLink busiest =
            record.switches ? judge::busiest_link(*record.switches) : judge::busiest_link(record.hosts);
        record.network = judge::judge_network(record.hosts, payload, own, busiest.text);
        record.network->busiest_use = busiest.use;
    }
    record.verdict = judge::judge_run(run_.plan, record.ranks, facts_of(record));
    const auto fail = [&](const std::string& what) {
        record.status = show::RunStatus::failed;
        record.failure = {.what = what};
    };
    if (!log_errors_.empty()) {
        fail(log_errors_.front());
    } else if (record.fault_count > 0) {
        fail(record.faults.empty() ? fmt::format("{} faults, none of them listed", record.fault_count)
                                   : show::fault_text(record.faults.front()));
    } else if (!record.ledger_differences.empty()) {
        fail(record.ledger_differences.front());
    }
    return record;
}

bool RunRecordBuilder::explain(show::RunRecord& record, const ExplainRun& search) const {
    const auto causes = search ? search(record) : std::nullopt;
    if (causes) {
        judge::RunFacts facts = facts_of(record);
        facts.proved = &*causes;
        record.verdict = judge::judge_run(run_.plan, record.ranks, facts);
    }
    return causes.has_value();
}

show::RunRecord RunRecordBuilder::from_reports(const record::SecondCollector* collector) const {
    show::RunRecord record = base_;
    if (!record.hosts.empty()) {
        record.network = judge::network_not_judged();
    }
    if (collector != nullptr) {
        record.blocked_at_once = collector->blocked_at_once();
        for (record::RankRecord& rank : record.ranks) {
            if (const record::LiveSample* report = collector->latest(rank.summary.node)) {
                rank.summary = record::summary_from(*report);
            }
            add_ended_lives_of(rank.summary, *collector);
        }
    }
    judge::RunFacts facts = facts_of(record);
    facts.complete = false;
    record.verdict = judge::judge_run(run_.plan, record.ranks, facts);
    return record;
}

show::RunRecord RunRecordBuilder::interrupted(const record::SecondCollector* collector, int signal) const {
    show::RunRecord record = from_reports(collector);
    record.status = show::RunStatus::interrupted;
    record.failure = {.what = fmt::format("signal {} ({})", signal, strsignal(signal))};
    return record;
}

show::RunRecord RunRecordBuilder::failed(const record::SecondCollector* collector,
                                         const show::Failure& failure) const {
    show::RunRecord record = from_reports(collector);
    record.status = show::RunStatus::failed;
    record.failure = failure;
    // What broke the run filled the buffers too: a verdict would name the network as the cause.
    record.verdict.judged = false;
    record.verdict.causes.clear();
    record.verdict.advice.clear();
    record.verdict.text = record.verdict.findings =
        fmt::format("Not judged: the run failed after {} of {}.", show::seconds_of(record),
                    files::length_text(run_.plan.duration));
    return record;
}

std::vector<std::string> RunRecordBuilder::unmet_requirements(const show::RunRecord& record) const {
    std::vector<std::string> unmet;
    if (run_.require_sustained && !(record.verdict.judged && record.verdict.sustained)) {
        const bool cannot_tell = record.status == show::RunStatus::complete && !record.verdict.judged;
        unmet.emplace_back(cannot_tell ? "--require sustained: whether the run is sustained is not known"
                                       : "--require sustained: the run was not sustained");
    }
    if (run_.require_on_time && !record.verdict.on_time.value_or(false)) {
        unmet.push_back(record.verdict.late_sets > 0
                            ? fmt::format("--require on-time: {} of {} late", record.verdict.late_sets,
                                          files::counted(record.verdict.sets, "set"))
                            : "--require on-time: the run was not on time");
    }
    const auto lost = show::totals_of(record).lost.events;
    if (run_.require_lossless && lost > 0) {
        unmet.push_back(fmt::format("--require lossless: {} lost", files::counted(lost, "event")));
    }
    return unmet;
}

int RunRecordBuilder::exit_status(const show::RunRecord& record) const {
    if (record.status != show::RunStatus::complete) {
        return exit_failed;
    }
    return unmet_requirements(record).empty() ? exit_ok : exit_requirement;
}

}  // namespace weir::participant
