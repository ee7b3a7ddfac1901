// The keeper itself. It uses nothing of MPI.
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/common_clock.hpp"
#include "runtime/process_watch.hpp"
#include "runtime/record_keeper.hpp"
#include "runtime/signals.hpp"
#include "telemetry/job_record.hpp"
#include "telemetry/json_text.hpp"

namespace weir::runtime {

namespace {

using Json = nlohmann::ordered_json;

/// How long the keeper of a job waits for the groups, whose keepers and deputies write now, too.
constexpr auto groups_wait = std::chrono::milliseconds(2000);
/// Where the kernel does not report a process that ends (before Linux 5.3).
constexpr int look_every_ms = 100;

struct Watched {
    KeptProcess process;
    bool is_launcher = false;
    int descriptor = -1;  ///< readable when the process has ended; -1: the kernel has none
    bool gone = false;
};

Watched watch(const Json& json, bool is_launcher) {
    Watched watched{.process = {json.at("pid").get<pid_t>(), telemetry::failure_from(json.at("end"))},
                    .is_launcher = is_launcher};
#ifdef SYS_pidfd_open
    watched.descriptor = static_cast<int>(syscall(SYS_pidfd_open, watched.process.pid, 0));
#endif
    return watched;
}

/// The launcher first: when it has ended, ranks end because of it.
std::vector<Watched> watched_processes(const Json& duty) {
    std::vector<Watched> all{watch(duty.at("launcher"), true)};
    for (const Json& rank : duty.at("ranks")) {
        all.push_back(watch(rank, false));
    }
    return all;
}

/// Lines that the leader sends, until it ends.
class LeaderLines {
  public:
    /// Reads what is there. False: the leader has ended.
    bool read() {
        char buffer[4096];
        const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (count > 0) {
            text_.append(buffer, static_cast<std::size_t>(count));
        }
        return count > 0 || (count < 0 && errno == EINTR);
    }
    std::optional<std::string> take() {
        const auto end = text_.find('\n');
        if (end == std::string::npos) {
            return std::nullopt;
        }
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
    }

  private:
    std::string text_;
};

void look_at(std::vector<Watched>& all, EndWitness& witness) {
    for (Watched& watched : all) {
        pollfd ended{.fd = watched.descriptor, .events = POLLIN, .revents = 0};
        const bool gone =
            watched.descriptor >= 0 ? ::poll(&ended, 1, 0) > 0 : !ProcessWatch::exists(watched.process.pid);
        if (watched.gone || !gone) {
            continue;
        }
        watched.gone = true;
        if (watched.is_launcher) {
            witness.launcher_gone(monotonic_ns(), watched.process.end);
        } else {
            witness.process_gone(monotonic_ns(), watched.process.end);
        }
    }
}

/// Until something has happened.
void wait_for_news(const std::vector<Watched>& all) {
    std::vector<pollfd> news{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
    bool looks = false;
    for (const Watched& watched : all) {
        looks = looks || (watched.descriptor < 0 && !watched.gone);
        if (watched.descriptor >= 0 && !watched.gone) {
            news.push_back({.fd = watched.descriptor, .events = POLLIN, .revents = 0});
        }
    }
    static_cast<void>(::poll(news.data(), news.size(), looks ? look_every_ms : -1));
}

bool has_news() {
    pollfd leader{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    return ::poll(&leader, 1, 0) > 0;
}

void keep_run(const Json& duty, LeaderLines& lines) {
    const std::string path = duty.at("directory").get<std::string>() + "/run.json";
    EndWitness witness(telemetry::failure_from(duty.at("leader")));
    std::vector<Watched> all = watched_processes(duty);
    bool leader_lives = true;
    while (leader_lives) {
        wait_for_news(all);
        // In this order: a signal that answers the end of a process is seen after that.
        const bool news = has_news();
        look_at(all, witness);
        leader_lives = !news || lines.read();
        while (const auto line = lines.take()) {
            if (line->starts_with("told ")) {
                witness.told(line->substr(5));
            } else if (line->starts_with("signal ")) {
                witness.signal(std::atoi(line->c_str() + 7));
            } else if (*line == "ended") {
                return;
            }
        }
    }
    const EndWitness::End end = witness.end(monotonic_ns());
    static_cast<void>(telemetry::end_unfinished(path, end.status, end.failure));
}

void keep_job(const Json& duty, LeaderLines& lines) {
    const std::string directory = duty.at("directory").get<std::string>();
    const auto groups = duty.at("groups").get<std::vector<std::string>>();
    while (lines.read()) {
    }
    const auto path_of = [&](const std::string& group) { return directory + "/" + group + "/run.json"; };
    const auto has_ended = [&](const std::string& group) {
        return telemetry::how_it_ended(path_of(group)).has_value();
    };
    const auto deadline = std::chrono::steady_clock::now() + groups_wait;
    while (!std::all_of(groups.begin(), groups.end(), has_ended) &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const std::string path = directory + "/run.json";
    std::error_code error;
    if (std::filesystem::exists(path, error) && !telemetry::how_it_ended(path)) {
        static_cast<void>(
            telemetry::write_job_json(path, telemetry::job_record_from_files(directory, groups)));
    }
}

}  // namespace

void EndWitness::note_gone(std::int64_t now_ns, const telemetry::Failure& end, bool is_rank) {
    const bool is_first = !gone_ || now_ns - gone_->at_ns > stale_after_ns;
    // After a signal, or the end of the launcher, ranks end because of that.
    if (is_first && signal_ == 0) {
        gone_ = Gone{now_ns, end, is_rank};
    }
}

void EndWitness::signal(int number) {
    if (signal_ == 0) {
        signal_ = number;
    }
}

EndWitness::End EndWitness::end(std::int64_t now_ns) const {
    using enum telemetry::RunStatus;
    if (!told_.empty()) {
        telemetry::Failure failure = leader_;
        failure.what = told_;
        return {failed, failure};
    }
    if (gone_ && now_ns - gone_->at_ns <= stale_after_ns) {
        return {gone_->is_rank ? failed : interrupted, gone_->end};
    }
    if (signal_ != 0) {
        return {interrupted,
                {.what = fmt::format("signal {} ({})", signal_, strsignal(signal_)),
                 .rank = {},
                 .role = {},
                 .host = {}}};
    }
    return {failed, leader_};
}

int keep_record() {
    prctl(PR_SET_NAME, "run-record");  // not "exe"
    for (const int number : ending_signals) {
        std::signal(number, SIG_IGN);
    }
    std::signal(SIGQUIT, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    // What the leader had open (connections of a launcher that waits for their end) is not to stay open here.
    std::vector<int> open;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        open.push_back(std::atoi(entry.path().filename().c_str()));
    }
    for (const int descriptor : open) {
        if (descriptor > STDERR_FILENO) {
            ::close(descriptor);
        }
    }
    try {
        LeaderLines lines;
        std::optional<std::string> first;
        while (!(first = lines.take())) {
            if (!lines.read()) {
                return 1;
            }
        }
        const Json duty = telemetry::parse_json(*first);
        if (duty.contains("groups")) {
            keep_job(duty, lines);
        } else {
            keep_run(duty, lines);
        }
    } catch (const std::exception&) {
        return 1;  // there is nowhere left to report it
    }
    return 0;
}

}  // namespace weir::runtime
