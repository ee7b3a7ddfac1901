#include "cli/start_job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/launcher.hpp"
#include "config/input_file.hpp"
#include "config/resolve.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "host/host_facts.hpp"
#include "host/process.hpp"
#include "job/joined_job.hpp"
#include "job/mpi_job.hpp"
#include "weir_version.hpp"

namespace weir::cli {

namespace {

constexpr const char* token_variable = job::join_token_variable;
constexpr std::size_t token_least_bytes = 16;
constexpr std::size_t token_file_most_bytes = 65536;
/// Rank 0 serves all connections in one thread, some of them in every turn.
constexpr std::uint32_t ranks_max = 1000;
/// How long a process that was given up tries to come back.
constexpr auto return_limit = core::Duration::seconds(60);
/// With --join these belong to the process, and not to the job.
constexpr std::array own_options{std::string_view{"join"}, std::string_view{"join-token"},
                                 std::string_view{"ranks"}};

bool is_own(std::string_view name) {
    return std::find(own_options.begin(), own_options.end(), name) != own_options.end();
}

using Print = std::function<void(const std::string& line)>;

std::string first_line_of(const std::string& file) {
    std::string token = config::read_input_file(
        file, token_file_most_bytes, "the name of a file with the token in its first line, for --join-token");
    token.resize(std::min(token.size(), token.find('\n')));
    if (token.ends_with('\r')) {
        token.pop_back();
    }
    return token;
}

void warn_of_readers(const std::string& file, const Print& print_line) {
    struct stat status = {};
    if (::stat(file.c_str(), &status) == 0 && (status.st_mode & (S_IRGRP | S_IROTH)) != 0) {
        print_line(
            fmt::format("--join-token: others than its owner may read '{0}', and with the token join the "
                        "run; chmod 600 {0}",
                        file));
    }
}

/// Who listens on the way sees what a token proves, and can try short ones.
std::string read_token(const config::JoinRequest& join) {
    const char* const text = std::getenv(token_variable);
    std::string token = !join.token_file.empty() ? first_line_of(join.token_file)
                        : text != nullptr        ? std::string(text)
                                                 : std::string{};
    const std::string source =
        join.token_file.empty() ? token_variable : fmt::format("--join-token: '{}'", join.token_file);
    if (token.empty() && join.token_file.empty()) {
        throw config::UsageError(
            fmt::format("--join: needs a token that all processes know: set {}, or name a file with "
                        "--join-token (`openssl rand -hex 16` makes one)",
                        token_variable));
    }
    if (token.size() < token_least_bytes) {
        throw config::UsageError(
            fmt::format("{}: the token has {} bytes, and can be guessed; write at least {} (`openssl rand "
                        "-hex 16` makes them)",
                        source, token.size(), token_least_bytes),
            config::UsageError::Reach::this_host);
    }
    return token;
}

/// `warn` may be empty: one rank of a launcher's many is enough.
job::JoinTerms terms_of(const config::JoinRequest& join, std::string_view command, const Print& warn) {
    std::string token = read_token(join);
    if (warn && !join.token_file.empty()) {
        warn_of_readers(join.token_file, warn);
    }
    return {.address = {join.host, join.port},
            .token = std::move(token),
            .version = fmt::format("{} ({}) {}", build_info::version, build_info::git_commit, command)};
}

/// Each rank of the job is a connection to this process, and may be one more when it comes back.
void allow_connections(std::uint32_t ranks) {
    const std::uint64_t needed =
        2 * std::uint64_t{ranks} + job::JoinListener::strangers_max + job::JoinListener::kept_descriptors;
    if (!host::allow_open_files(needed)) {
        throw config::UsageError(fmt::format("--join: rank 0 of {} ranks needs {} open files, and this host "
                                             "allows {}; raise it (ulimit -n)",
                                             ranks, needed, host::most_open_files()),
                                 config::UsageError::Reach::this_host);
    }
}

/// Where other hosts are to come, or a name was given that looks as if they could: they would wait in vain.
void warn_of_own_address(const config::RunRequest& asked, const Print& print_line) {
    const std::string& name = asked.join.host;
    const std::string address = job::address_of_this_host_alone({name, asked.join.port});
    const bool others = !asked.roles.producer_hosts.empty() || !asked.roles.consumer_hosts.empty() ||
                        !asked.roles.scheduler_host.empty();
    if (!address.empty() && (others || address == "0.0.0.0" || address == "::" ||
                             (name != address && !name.starts_with("localhost")))) {
        print_line(
            fmt::format("--join: {}{} is not an address that other hosts can come to: for them, name "
                        "one of rank 0's on the network, for all processes",
                        name, name == address ? "" : fmt::format(" is {} on this host, and that", address)));
    }
}

StartedJob lead(const config::RunRequest& asked, std::uint32_t ranks, std::string_view command,
                const Print& print_line) {
    if (ranks > ranks_max) {
        throw config::UsageError(fmt::format(
            "--join: {} ranks, and at most {} can join; start larger runs with MPI", ranks, ranks_max));
    }
    allow_connections(ranks);
    warn_of_own_address(asked, print_line);
    job::JoinOptions options;
    for (const config::GivenOption& option : asked.command_line) {
        if (!is_own(option.name)) {
            options.emplace_back(option.name, option.value);
        }
    }
    auto job = std::make_unique<job::JoinLeader>(terms_of(asked.join, command, print_line),
                                                 static_cast<int>(ranks), std::move(options));
    job->wait_for_ranks(job::Job::start_limit, print_line);
    return {.job = std::move(job), .communicator = MPI_COMM_NULL, .request = asked};
}

void enter_start_up(job::Watchdog& watchdog) {
    watchdog.enter("start-up", job::Job::start_limit + core::Duration::seconds(10),
                   "do all processes name the same --join?");
}

/// Without options of its own it takes those of rank 0.
StartedJob join(const config::RunRequest& asked, const LaunchedAs& launched, job::Watchdog& watchdog,
                std::string_view command, const Print& print_line) {
    const host::RankLocation location = host::this_location();
    const char* const again = std::getenv(job::join_again_variable);
    const int rank = again != nullptr ? files::number_in<int>(again).value_or(-1)
                     : launched.rank  ? static_cast<int>(*launched.rank)
                                      : -1;
    const Print print_alone = launched.rank ? Print{} : print_line;
    auto job = std::make_unique<job::JoinMember>(
        terms_of(asked.join, command, print_alone),
        job::Hello{.nonce = {},
                   .version = {},
                   .host = location.host,
                   .pid = getpid(),
                   .pids = location.pids(),
                   .rank = rank,
                   .ranks = launched.size ? static_cast<int>(*launched.size) : -1,
                   .returns = again != nullptr},
        again != nullptr ? return_limit : job::Job::start_limit, print_alone);
    config::RunRequest request = asked;
    std::vector<config::GivenOption> mine = asked.command_line;
    if (std::all_of(mine.begin(), mine.end(), [](const auto& option) { return is_own(option.name); })) {
        for (const auto& [name, value] : job->options()) {
            mine.push_back({name, value});
        }
        request = config::resolve(mine);
    }
    // Last: as soon as all are there, rank 0 expects signs of life, and files with options may be slow to
    // read.
    if (!job->returning_life()) {
        enter_start_up(watchdog);
        job->wait_for_ranks(job::Job::start_limit);
    }
    return {.job = std::move(job), .communicator = MPI_COMM_NULL, .request = std::move(request)};
}

}  // namespace

StartedJob start_job(const config::RunRequest& asked, job::Watchdog& watchdog, std::string_view command) {
    if (asked.join.host.empty()) {
        watchdog.enter("start-up of MPI", job::Job::start_limit,
                       command == "check" ? "UCX_LOG_LEVEL=info shows what UCX tries"
                                          : "`weir check` on the same hosts looks for the reason");
        int argument_count = 0;
        char** arguments = nullptr;
        auto job = std::make_unique<job::MpiJob>(argument_count, arguments);
        const MPI_Comm communicator = job->communicator();
        return {.job = std::move(job), .communicator = communicator, .request = asked};
    }
    const Print print_line = [command](const std::string& line) {
        fmt::print(stderr, "weir {}: {}\n", command, line);
    };
    enter_start_up(watchdog);
    const LaunchedAs launched = launched_as();
    const std::uint32_t ranks = launched.size.value_or(asked.join.ranks);
    if (std::getenv(job::join_again_variable) != nullptr ||
        launched.rank.value_or(asked.join.ranks == 0 ? 1 : 0) != 0) {
        return join(asked, launched, watchdog, command, print_line);
    }
    if (ranks == 0) {
        throw config::UsageError("--join: rank 0 must know how many ranks there are: give --ranks");
    }
    return lead(asked, ranks, command, print_line);
}

}  // namespace weir::cli
