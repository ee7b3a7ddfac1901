#include "cli/prepare_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "cli/describe.hpp"
#include "cli/introduction.hpp"
#include "cli/run_directory.hpp"
#include "config/checks.hpp"
#include "config/usage_error.hpp"
#include "files/json.hpp"
#include "host/common_clock.hpp"
#include "host/host_facts.hpp"
#include "host/process.hpp"
#include "host/signals.hpp"
#include "host/slurm_job.hpp"
#include "participant/exit_status.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

std::optional<host::IdleMode> idle_mode(config::Idle idle) {
    switch (idle) {
        case config::Idle::automatic:
            return std::nullopt;
        case config::Idle::spin:
            return host::IdleMode::spin;
        case config::Idle::yield:
            return host::IdleMode::yield;
        case config::Idle::nap:
            return host::IdleMode::nap;
    }
    return std::nullopt;
}

/// Refuses a job whose ranks run different builds: they would not understand each other's packets.
void check_versions(job::Job& job) {
    const std::string mine = this_build();
    const auto versions = job.share(mine, "introduction");
    const auto other = std::find_if(versions.begin(), versions.end(),
                                    [&](const std::string& version) { return version != versions.front(); });
    if (other != versions.end()) {
        throw config::UsageError(
            fmt::format("rank 0 runs weir {}, but rank {} runs weir {}: install the same build on all hosts",
                        versions.front(), other - versions.begin(), *other));
    }
}

std::vector<std::string> hosts_of(const job::RunSettings& settings) {
    std::vector<std::string> hosts;
    hosts.reserve(settings.locations.size());
    for (const host::RankLocation& location : settings.locations) {
        hosts.push_back(location.host);
    }
    return hosts;
}

/// Memory and open files of all hosts. Raises the limit of this process, where its connections need that.
void check_limits(const config::RunRequest& request, const job::RunSettings& settings,
                  const Introduction& all, int rank) {
    const std::vector<std::string> hosts = hosts_of(settings);
    config::check_memory(request, settings.roles, hosts, all.memory);
    config::check_open_files(request, settings.roles, hosts, all.sockets);
    const config::SocketRoom& room = all.sockets[static_cast<std::size_t>(rank)];
    if (request.engine.queue_pairs > 1 && room.open_files > 0) {
        static_cast<void>(host::allow_open_files(
            config::open_files_needed(request, settings.roles, hosts, rank, room.within_host)));
    }
}

/// A JSON object, for run.json.
std::string environment_of(const config::RunRequest& request, const job::Job& job,
                           const std::vector<std::string>& told_apart) {
    nlohmann::ordered_json environment = host::environment_facts(job.library());
    environment["weir_version"] = std::string(build_info::version);
    environment["weir_commit"] = std::string(build_info::git_commit);
    environment["compiler"] = std::string(build_info::compiler);
    environment["build_type"] = std::string(build_info::build_type);
    environment["job_ranks"] = job.size();
    environment["job"] = host::slurm_job_facts();
    if (!request.scenario.empty()) {
        environment["scenario"] = request.scenario;
    }
    if (!told_apart.empty()) {
        environment["hosts_told_apart"] = told_apart;
    }
    auto& arguments = environment["options_given"] = nlohmann::ordered_json::array();
    for (const auto& option : request.command_line) {
        arguments.push_back({{"option", option.name}, {"value", option.value}});
    }
    return files::json_text(environment);
}

}  // namespace

std::string this_build() {
    return fmt::format("{} ({})", build_info::version, build_info::git_commit);
}

show::LiveForm live_form(config::OutputForm form) {
    switch (form) {
        case config::OutputForm::text:
            return show::LiveForm::text;
        case config::OutputForm::json:
            return show::LiveForm::json;
        case config::OutputForm::quiet:
            return show::LiveForm::quiet;
    }
    return show::LiveForm::text;
}

job::RunSettings prepare_run(job::Job& job, const config::RunRequest& asked) {
    check_versions(job);
    Introduction all = introduce(job, asked);
    config::RunRequest request = asked;
    job::RunSettings settings;
    settings.roles = agree_on_layout(all, request);
    settings.set_locations(std::move(all.locations));
    settings.told_apart = std::move(all.one_name);
    check_limits(request, settings, all, job.rank());
    settings.idle_mode = idle_mode(request.idle);
    settings.silence_timeout = request.silence_timeout;
    settings.output = live_form(request.output);
    settings.records_hosts = request.counters;
    settings.datagrams = {request.socket_buffer, request.datagram_network, settings.host_of(job.rank())};
    settings.engine = request.engine;
    describe(request, settings);
    settings.environment = environment_of(request, job, settings.told_apart);
    for (const std::string& text : request.injections) {
        settings.faults.push_back(transport::parse_disturbance(text));
    }
    return settings;
}

std::string make_run_directory(job::Job& job, const config::RunRequest& request, int leader,
                               const std::vector<std::string>& parts) {
    std::string directory;
    std::string refusal;
    if (job.rank() == leader) {
        try {
            directory = create_run_directory(request.out, host::wall_clock_ns() / 1000000000, parts);
        } catch (const config::UsageError& error) {
            refusal = error.what();
        }
    }
    if (const auto objection = job.first_objection(refusal, "creation of the run directory")) {
        throw config::UsageError(objection->text);
    }
    return job.broadcast(directory, leader, "name of the run directory");
}

void end_before_the_layout(job::Job& job, const config::RunRequest& request, const job::JobError& error) {
    constexpr auto patience = core::Duration::seconds(3);
    const auto roll = job.call_roll(patience, [] { return host::caught_signal() != 0; });
    if (job.rank() == job.leader()) {
        fmt::print(
            stderr, "weir run: rank {} {}; {}\n", job.rank(), error.what(),
            roll.missing.empty()
                ? "all ranks answer now"
                : fmt::format("no answer from rank {} ({}`weir check` shows what may be wrong with hosts)",
                              fmt::join(roll.missing, ", "),
                              request.join.host.empty() ? "mpirun --display-map shows where it is, " : ""));
    } else if (roll.leader_answers) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(patience.ns));
    } else {
        fmt::print(stderr, "weir run: rank {} {}; no answer from rank {}\n", job.rank(), error.what(),
                   job.leader());
    }
    job.abort(participant::exit_failed);
}

}  // namespace weir::cli
