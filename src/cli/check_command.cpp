// `weir check`: what is wrong with hosts and network, before a run.
#include "cli/command_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/assertion_report.hpp"
#include "cli/introduction.hpp"
#include "cli/launcher.hpp"
#include "cli/start_job.hpp"
#include "config/host_list.hpp"
#include "config/quantities.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/usage_error.hpp"
#include "core/plan.hpp"
#include "files/formatting.hpp"
#include "files/json.hpp"
#include "host/abort_message.hpp"
#include "host/check_report.hpp"
#include "host/probe.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "job/mpi_choice.hpp"
#include "job/pair_probe.hpp"
#include "job/watchdog.hpp"
#include "loop/counter_sampler.hpp"
#include "participant/exit_status.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

using host::CheckResult;
using host::HostSettings;

constexpr auto default_probe_time = core::Duration::seconds(5);

HostSettings settings_of_this_host(const std::string& root) {
    HostSettings settings = job::host_snapshot(root);
    settings.versions["weir"] = build_info::git_commit.empty()
                                    ? std::string(build_info::version)
                                    : fmt::format("{} ({})", build_info::version, build_info::git_commit);
    return settings;
}

class Output {
  public:
    explicit Output(config::OutputForm form)
        : json_(form == config::OutputForm::json), colours_(!json_ && host::colours_wanted()) {}

    [[nodiscard]] std::string text(const CheckResult& result) const {
        if (json_) {
            return files::json_text(host::check_json(result), 2) + '\n';
        }
        return host::check_text(
            result, [](std::span<const std::string> hosts) { return config::compress_hosts(hosts); },
            colours_);
    }

    /// For the case that the check does not come to its end; the sentence is for people only.
    [[nodiscard]] std::string broken_off(const CheckResult& result) const {
        return json_ ? text(result) : '\n' + text(result) + "The check did not finish: the job was ended.\n";
    }

    void print(const CheckResult& result) const {
        std::fputs(text(result).c_str(), stdout);
        std::fflush(stdout);
    }

    /// One host of many is printed as JSON only: the text has the findings of all.
    void print_json_only(const CheckResult& result) const {
        if (json_) {
            print(result);
        }
    }

    /// A remark beside the result.
    void remark(const std::string& line) const {
        if (!json_) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        }
    }

  private:
    bool json_;
    bool colours_;
};

bool is_serious(const host::Finding& finding) {
    return finding.severity == host::Severity::serious;
}

int status_of(const CheckResult& result) {
    return std::any_of(result.findings.begin(), result.findings.end(), is_serious)
               ? participant::exit_requirement
               : participant::exit_ok;
}

/// Of hosts that have no part in a plan yet.
CheckResult result_of(std::vector<HostSettings> hosts) {
    CheckResult result;
    for (HostSettings& settings : hosts) {
        result.hosts.emplace_back(std::move(settings));
    }
    host::judge_hosts(result);
    return result;
}

int check_this_host(const Output& output, const std::string& root) {
    const CheckResult result = result_of({settings_of_this_host(root)});
    output.print(result);
    output.remark(
        "This host only. To compare hosts and to probe the network between them:\n"
        "  mpirun ... weir check [the options that `weir run` will get]");
    return status_of(result);
}

/// By the launcher's variables.
bool first_on_host() {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"}) {
        if (const char* value = std::getenv(name)) {
            return std::string_view(value) == "0";
        }
    }
    return true;
}

/// Findings with which MPI does not start: UCX ends the process or hangs, and its messages do not
/// always state the cause.
std::vector<host::Finding> what_keeps_mpi_from_starting(const CheckResult& local) {
    constexpr std::array<std::string_view, 3> topics{"device", "gid", "locked_memory"};
    std::vector<host::Finding> found;
    std::copy_if(local.findings.begin(), local.findings.end(), std::back_inserter(found),
                 [&](const host::Finding& finding) {
                     return is_serious(finding) &&
                            std::find(topics.begin(), topics.end(), finding.topic) != topics.end();
                 });
    return found;
}

/// The end of the job where MPI cannot start. Ranks cannot exchange anything yet, so each host reports for
/// itself.
int end_before_mpi(const CheckResult& local, const std::vector<host::Finding>& reasons,
                   const Output& output) {
    if (first_on_host()) {
        for (const host::Finding& finding : reasons) {
            fmt::print(stderr, "weir check: {}: {}; {}\n", local.hosts.front().settings.host, finding.what,
                       finding.advice);
        }
        // One after the other: launchers mix what several ranks write at a time, and a reader of JSON takes
        // the first object.
        constexpr std::uint32_t most_turns = 6;
        std::this_thread::sleep_for(std::chrono::milliseconds(250) *
                                    std::min(launched_as().rank.value_or(0), most_turns));
        output.print_json_only(local);
    }
    // The launcher ends the job with the first rank that ends: leave the other hosts time to report.
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return participant::exit_requirement;
}

/// The job, from the introduction to the exit status.
class JobCheck {
  public:
    JobCheck(job::Job& job, job::Watchdog& watchdog, host::AbortMessage& abort_message, const Output& output)
        : job_(job),
          mpi_(dynamic_cast<job::MpiJob*>(&job)),
          watchdog_(watchdog),
          abort_message_(abort_message),
          output_(output) {}

    int run(config::RunRequest request, HostSettings settings, const std::string& root,
            core::Duration probe_time) {
        // The first exchange may find out that ranks cannot reach each other.
        watchdog_.enter("introduction", core::Duration::seconds(180));
        auto all_settings = gather_settings(settings);
        const Introduction all = introduce(job_, request);
        result_.told_apart = all.one_name;
        const core::RoleMap roles = agree_on_layout(all, request);
        if (leads()) {
            for (HostSettings& host : all_settings) {
                host::HostPart part = part_of(host.host, request, roles, all.locations);
                result_.hosts.emplace_back(std::move(host), std::move(part),
                                           mpi_ == nullptr || request.engine.engine == core::Engine::ucx);
            }
            host::judge_hosts(result_);
            abort_message_.set({.text = output_.broken_off(result_)});
        }
        const auto time = core::Duration{
            std::stoll(job_.broadcast(std::to_string(probe_time.ns), 0, "agreement on the probe"))};
        const bool clean = time.ns <= 0 || probe(roles, all.locations, root, time);
        return end(clean);
    }

  private:
    [[nodiscard]] bool leads() const { return job_.rank() == 0; }

    /// What each rank has, on the first one; nothing of ranks that do not answer. Throws job::JobError
    /// instead without MPI, where the end of a rank shows.
    std::vector<std::optional<std::string>> collect(const nlohmann::ordered_json& mine, const char* what) {
        const std::string text = files::json_text(mine);
        if (mpi_ != nullptr) {
            const auto limit = core::Duration::seconds(20) + core::Duration::milliseconds(10) * job_.size();
            return mpi_->collect(text, 0, limit, what);
        }
        std::vector<std::optional<std::string>> texts;
        job_.gather(std::as_bytes(std::span(text)), 0, what, [&](int, std::span<const std::byte> bytes) {
            texts.emplace_back(std::in_place, reinterpret_cast<const char*>(bytes.data()), bytes.size());
        });
        return texts;
    }

    /// Gives each host once, on the first rank. Ends the job if ranks do not answer.
    std::vector<HostSettings> gather_settings(const HostSettings& settings) {
        std::vector<HostSettings> hosts;
        const auto texts = collect({{"place", host::encode_location(host::this_location())},
                                    {"settings", host::encode_settings(settings)}},
                                   "settings");
        std::vector<host::RankLocation> locations;
        std::vector<std::string> settings_of;
        std::string silent;
        for (std::size_t rank = 0; rank < texts.size(); ++rank) {
            if (!texts[rank]) {
                silent += fmt::format("{}{}", silent.empty() ? "" : ", ", rank);
                continue;
            }
            const auto json = files::parse_json(*texts[rank]);
            locations.push_back(host::decode_location(json.at("place")));
            settings_of.push_back(json.at("settings"));
        }
        static_cast<void>(host::tell_apart(locations));
        std::set<std::string> known;
        for (std::size_t i = 0; i < locations.size(); ++i) {
            if (known.insert(locations[i].host).second) {
                hosts.push_back(host::decode_settings(settings_of[i]));
                hosts.back().host = locations[i].host;
            }
        }
        if (!silent.empty()) {
            end_without(silent, std::move(hosts));
        }
        return hosts;
    }

    [[noreturn]] void end_without(const std::string& silent, std::vector<HostSettings> heard) {
        result_ = result_of(std::move(heard));
        result_.findings.push_back(
            {.severity = host::Severity::serious,
             .topic = "reach",
             .hosts = {},
             .what = fmt::format(
                 "rank 0 received nothing over MPI from rank {}. The settings above are of the hosts "
                 "that answered",
                 silent),
             .advice = "look at the hosts that are missing above: links, firewalls, routes, GID types"});
        result_.findings = host::in_order(std::move(result_.findings));
        abort_message_.set({});
        output_.print(result_);
        job_.abort(participant::exit_requirement);
    }

    /// False: MPI still has messages of it and cannot be ended in order.
    bool probe(const core::RoleMap& roles, const std::vector<host::RankLocation>& locations,
               const std::string& root, core::Duration time) {
        const host::ProbeRounds rounds(roles.producers(), roles.consumers(), time);
        if (leads()) {
            output_.remark(fmt::format(
                "weir check: probing {} of {} pairs in {} rounds, about {}", rounds.pairs(),
                rounds.all_pairs(), rounds.count(),
                files::rough_time(static_cast<double>(rounds.count()) * (rounds.slice().in_seconds() + 0.02) +
                                  1)));
        }
        watchdog_.enter("probe", core::Duration::seconds(60));
        const bool records = loop::records_its_host(job_.rank(), locations);
        std::optional<host::CounterRises> counters;
        if (records) {
            counters.emplace(root, host::kernel_calls());
        }
        const job::PairProbes mine = job::probe_pairs(*mpi_, roles, locations, rounds);
        host::HostProbe host;
        host.host = locations[static_cast<std::size_t>(job_.rank())].host;
        host.message_layer = job::message_layer();
        host.lanes = host::lanes_in(job::ucx_log::text());
        host.listening = host::listening_sockets();
        if (counters) {
            host.counters = counters->since();
        }
        watchdog_.enter("result", core::Duration::seconds(60));
        const auto texts =
            collect({{"pairs", job::encode_probes(mine)}, {"host", host::encode_host_probe(host)}},
                    "result of the probe");
        if (!leads()) {
            return mine.mpi_is_clean;
        }
        return put_together(texts, rounds.all_pairs(), locations);
    }

    bool put_together(const std::vector<std::optional<std::string>>& texts, std::uint64_t all_pairs,
                      const std::vector<host::RankLocation>& locations) {
        host::ProbeResult probe;
        probe.all_pairs = all_pairs;
        bool clean = true;
        std::vector<std::string> silent;
        for (std::size_t rank = 0; rank < texts.size(); ++rank) {
            if (!texts[rank]) {
                silent.push_back(fmt::format("rank {} on {}", rank, locations[rank].host));
                continue;
            }
            const auto json = files::parse_json(*texts[rank]);
            const auto part = job::decode_probes(json.at("pairs"));
            probe.pairs.insert(probe.pairs.end(), part.pairs.begin(), part.pairs.end());
            clean = clean && part.mpi_is_clean;
            probe.stopped = probe.stopped.empty() ? part.stopped : probe.stopped;
            add_host(probe, host::decode_host_probe(json.at("host")));
        }
        if (!silent.empty()) {
            probe.stopped = fmt::format("no more messages from {}", fmt::join(silent, ", "));
        }
        std::sort(probe.pairs.begin(), probe.pairs.end(), [](const auto& a, const auto& b) {
            return std::pair(a.producer, a.consumer) < std::pair(b.producer, b.consumer);
        });
        result_.probe = std::move(probe);
        host::judge_hosts(result_);
        return clean && silent.empty();
    }

    /// Ranks of one host make one entry.
    static void add_host(host::ProbeResult& probe, host::HostProbe part) {
        const auto same = std::find_if(probe.hosts.begin(), probe.hosts.end(),
                                       [&](const auto& other) { return other.host == part.host; });
        if (same == probe.hosts.end()) {
            probe.hosts.push_back(std::move(part));
            return;
        }
        const auto merge = [](std::vector<std::string>& into, const std::vector<std::string>& from) {
            for (const std::string& lane : from) {
                if (std::find(into.begin(), into.end(), lane) == into.end()) {
                    into.push_back(lane);
                }
            }
        };
        merge(same->listening, part.listening);
        merge(same->lanes.within, part.lanes.within);
        merge(same->lanes.between, part.lanes.between);
        if (same->counters.empty()) {
            same->counters = std::move(part.counters);
        }
    }

    int end(bool clean) {
        int status = participant::exit_ok;
        if (leads()) {
            abort_message_.set({});
            output_.print(result_);
            if (mpi_ == nullptr) {
                output_.remark("No probe without MPI: `weir run --join` measures the network.");
            }
            status = status_of(result_);
            if (!clean) {
                job_.abort(status);
            }
        }
        watchdog_.enter("end", core::Duration::seconds(60));
        return std::stoi(job_.broadcast(std::to_string(status), 0, "exit status"));
    }

    job::Job& job_;
    job::MpiJob* mpi_;  ///< nullptr: --join
    job::Watchdog& watchdog_;
    host::AbortMessage& abort_message_;
    const Output& output_;
    CheckResult result_;
};

core::Duration probe_time_of(const CommandLine& line, bool joins) {
    if (line.probe.empty()) {
        return joins ? core::Duration{} : default_probe_time;
    }
    try {
        const core::Duration time = config::parse_duration(line.probe);
        if (time.ns < 0 || time > core::Duration::seconds(3600)) {
            throw config::UsageError(fmt::format("'{}': write a time from 0s to 1h", line.probe));
        }
        if (joins && time.ns > 0) {
            throw config::UsageError(
                fmt::format("'{}': the probe needs MPI; leave it out with --join", line.probe));
        }
        return time;
    } catch (const config::UsageError& error) {
        throw config::UsageError(fmt::format("--probe: {}", error.what()));
    }
}

/// From the start of the job to the exit status. Throws config::UsageError before it has started.
int check_job(const config::RunRequest& asked, const HostSettings& settings, const Output& output,
              const std::string& root, core::Duration probe_time) {
    host::AbortMessage abort_message;
    job::Watchdog watchdog("weir check", fmt::format("rank {}", launched_as().rank.value_or(0)));
    StartedJob started;
    try {
        started = start_job(asked, watchdog, "check");
    } catch (const job::JobError& error) {
        fmt::print(stderr, "weir check: {}\n", error.what());
        return participant::exit_failed;
    }
    job::Job& job = *started.job;
    host::install_signal_handlers();
    job.set_waiting_hook([&watchdog] {
        watchdog.alive();
        if (host::caught_signal() != 0) {
            host::AbortMessage::write_now();
            job::Job::leave(participant::exit_signal_base + host::caught_signal());
        }
    });
    job.set_silence_limit(started.request.silence_timeout);
    try {
        return JobCheck(job, watchdog, abort_message, output)
            .run(started.request, settings, root, probe_time);
    } catch (const config::UsageError& error) {
        if (job.rank() == 0) {
            fmt::print(stderr, "weir check: {}\n", error.what());
        }
        abort_message.set({});
        job.barrier("refusal");
        return participant::exit_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "weir check: rank {}: {}\n", job.rank(), error.what());
        host::AbortMessage::write_now();
        job.abort(participant::exit_failed);
    }
}

/// Hosts that start without MPI need no common one.
void leave_out_mpi(HostSettings& settings) {
    settings.versions.erase("MPI");
    std::erase_if(settings.variables, [](const auto& variable) {
        return variable.first.starts_with("OMPI_") || variable.first.starts_with("MPICH_");
    });
}

}  // namespace

int check_command(const CommandLine& line) {
    const config::RunRequest request = config::resolve(line.options);
    if (config::number_of_groups(request) > 1) {
        throw config::UsageError(
            "--groups: a check is of one group; leave it out, and start the check on the ranks of one group");
    }
    const bool joins = !request.join.host.empty();
    const core::Duration probe_time = probe_time_of(line, joins);
    const Output output(request.output);
    if (!joins && !launched_as().size) {
        return check_this_host(output, line.root);
    }
    if (!joins) {
        job::ucx_log::begin_anew_with_log();
    }
    report_assertions();
    HostSettings settings = settings_of_this_host(line.root);
    if (joins) {
        leave_out_mpi(settings);
    } else {
        const CheckResult local = result_of({settings});
        const auto reasons = what_keeps_mpi_from_starting(local);
        if (!reasons.empty()) {
            return end_before_mpi(local, reasons, output);
        }
    }
    return check_job(request, settings, output, line.root, probe_time);
}

}  // namespace weir::cli
