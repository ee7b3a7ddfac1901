// The leader's side of the keeper.

#include "job/record_keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "files/json.hpp"
#include "host/common_clock.hpp"
#include "host/process_watch.hpp"
#include "host/signals.hpp"
#include "show/groups_record.hpp"

namespace weir::job {

namespace {

using Json = nlohmann::ordered_json;

/// Where the keeper of the run listens; -1: there is none.
std::atomic<int> keeper_of_the_run = -1;

Json json_of(const KeptProcess& process) {
    return {{"pid", process.pid}, {"end", show::json_of(process.end)}};
}

void write_to_keeper(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            return;
        }
    }
}

/// Whether the process could be started. It reads from `descriptor`.
bool spawn_keeper(int descriptor) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, descriptor, STDIN_FILENO);
    // The launcher waits until no process holds a rank's output any more.
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::string name = "run-record";
    std::string argument = keep_record_argument;
    char* arguments[] = {name.data(), argument.data(), nullptr};
    pid_t pid = 0;
    const int status = posix_spawn(&pid, "/proc/self/exe", &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return status == 0;
}

/// How long the keeper of a job waits for the groups, whose keepers and deputies write now, too.
constexpr auto groups_wait = std::chrono::milliseconds(2000);
/// Where the kernel does not report a process that ends (before Linux 5.3).
constexpr int look_every_ms = 100;

enum class Who { launcher, leader, rank };

struct Watched {
    KeptProcess process;
    Who who = Who::rank;
    int descriptor = -1;  ///< readable when the process has ended; -1: the kernel has none
    bool gone = false;
};

Watched watch(KeptProcess process, Who who) {
    Watched watched{.process = std::move(process), .who = who};
#ifdef SYS_pidfd_open
    watched.descriptor = static_cast<int>(syscall(SYS_pidfd_open, watched.process.pid, 0));
#endif
    return watched;
}

Watched watch(const Json& json, Who who) {
    return watch(KeptProcess{json.at("pid").get<pid_t>(), show::failure_from(json.at("end"))}, who);
}

/// Which processes have ended, in the order in which they did: a launcher that ends all ranks because of one
/// leaves no time to look in between.
class ProcessEnds {
  public:
    explicit ProcessEnds(const Json& duty) : queue_(epoll_create1(EPOLL_CLOEXEC)) {
        all_.push_back(watch(duty.at("launcher"), Who::launcher));
        all_.push_back(watch(KeptProcess{.pid = getppid(), .end = {}}, Who::leader));
        for (const Json& rank : duty.at("ranks")) {
            all_.push_back(watch(rank, Who::rank));
        }
        for (std::size_t i = 0; i < all_.size(); ++i) {
            // What was reported once is not put into the queue again: that would change its order.
            epoll_event wanted{.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = i}};
            if (epoll_ctl(queue_, EPOLL_CTL_ADD, all_[i].descriptor, &wanted) != 0) {
                all_[i].descriptor = -1;
                looks_ = true;
            }
        }
    }

    /// Until something has happened, or the leader has sent something.
    void wait() const {
        pollfd news[2] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                          {.fd = queue_, .events = POLLIN, .revents = 0}};
        static_cast<void>(::poll(news, 2, looks_ ? look_every_ms : -1));
    }

    /// Tells `witness` what is new.
    void look(EndWitness& witness) {
        std::vector<epoll_event> ended(all_.size());
        const int count = ::epoll_wait(queue_, ended.data(), static_cast<int>(ended.size()), 0);
        for (int i = 0; i < count; ++i) {
            note(all_[ended[static_cast<std::size_t>(i)].data.u64], witness);
        }
        for (Watched& watched : all_) {
            // In this order: when the launcher has ended, ranks end because of it.
            if (watched.descriptor < 0 && watched.who != Who::leader && !watched.gone &&
                !host::ProcessWatch::exists(watched.process.pid)) {
                note(watched, witness);
            }
        }
    }

  private:
    void note(Watched& watched, EndWitness& witness) {
        watched.gone = true;
        switch (watched.who) {
            case Who::launcher:
                witness.launcher_gone(host::monotonic_ns(), watched.process.end);
                break;
            case Who::leader:
                witness.leader_gone(host::monotonic_ns());
                break;
            case Who::rank:
                witness.process_gone(host::monotonic_ns(), watched.process.end);
                break;
        }
    }

    int queue_;
    std::vector<Watched> all_;
    bool looks_ = false;  ///< the kernel does not report all
};

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

bool has_news() {
    pollfd leader{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    return ::poll(&leader, 1, 0) > 0;
}

void keep_run(const Json& duty, LeaderLines& lines) {
    const std::string directory = duty.at("directory").get<std::string>();
    const std::string path = directory + "/run.json";
    EndWitness witness(show::failure_from(duty.at("leader")));
    ProcessEnds ends(duty);
    bool leader_lives = true;
    while (leader_lives) {
        ends.wait();
        // In this order: a signal that answers the end of a process is seen after that.
        const bool news = has_news();
        ends.look(witness);
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
    ends.look(witness);
    witness.leader_gone(host::monotonic_ns());
    const EndWitness::End end = witness.end(host::monotonic_ns());
    static_cast<void>(show::end_unfinished(path, end.status, end.failure));
    files::remove_left_over(directory, host::ProcessWatch::exists);
}

void keep_groups(const Json& duty, LeaderLines& lines) {
    show::GroupsRecord record(duty.at("directory").get<std::string>(),
                              duty.at("groups").get<std::vector<std::string>>());
    while (lines.read()) {
    }
    const auto deadline = std::chrono::steady_clock::now() + groups_wait;
    while (!record.groups_have_ended() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::error_code error;
    if (std::filesystem::exists(record.directory + "/run.json", error) && !record.is_written(false)) {
        record.read_groups();
        static_cast<void>(record.write());
    }
    files::remove_left_over(record.directory, host::ProcessWatch::exists);
}

}  // namespace

RecordKeeper::~RecordKeeper() {
    if (keeps_run_) {
        host::tell_of_signals(-1);
        keeper_of_the_run = -1;
    }
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void RecordKeeper::start(const Json& duty) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    const bool started = spawn_keeper(ends[0]);
    ::close(ends[0]);
    if (!started) {
        ::close(ends[1]);
        return;
    }
    write_to_keeper(ends[1], files::json_text(duty) + "\n");
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);  // nothing that follows may wait
    descriptor_ = ends[1];
}

void RecordKeeper::keep_run(const std::string& directory, const show::Failure& leader,
                            const KeptProcess& launcher, const std::vector<KeptProcess>& ranks) {
    Json duty{{"directory", directory}, {"leader", show::json_of(leader)}, {"launcher", json_of(launcher)}};
    duty["ranks"] = Json::array();
    for (const KeptProcess& rank : ranks) {
        duty["ranks"].push_back(json_of(rank));
    }
    start(duty);
    if (descriptor_ >= 0) {
        keeps_run_ = true;
        keeper_of_the_run = descriptor_;
        host::tell_of_signals(descriptor_);
    }
}

void RecordKeeper::keep_groups(const std::string& directory, const std::vector<std::string>& groups) {
    start({{"directory", directory}, {"groups", groups}});
}

void RecordKeeper::tell(std::string_view what) {
    if (const int descriptor = keeper_of_the_run; descriptor >= 0) {
        write_to_keeper(descriptor, "told " + std::string(what.substr(0, what.find('\n'))) + "\n");
    }
}

void RecordKeeper::dismiss() {
    if (const int descriptor = keeper_of_the_run; descriptor >= 0) {
        write_to_keeper(descriptor, "ended\n");
    }
}

// The keeper itself. It uses nothing of MPI.

void EndWitness::leader_gone(std::int64_t now_ns) {
    if (leader_gone_) {
        return;
    }
    leader_gone_ = Gone{.at_ns = now_ns, .end = leader_, .is_rank = true};
    if (gone_ && gone_->is_rank && now_ns - gone_->at_ns <= at_once_ns) {
        ++gone_->at_once;
    }
}

void EndWitness::note_gone(std::int64_t now_ns, const show::Failure& end, bool is_rank) {
    for (std::optional<Gone>* const first : {&gone_, &leader_gone_}) {
        if (is_rank && *first && (*first)->is_rank && now_ns - (*first)->at_ns <= at_once_ns) {
            ++(*first)->at_once;
        }
    }
    const bool is_first = !leader_gone_ && (!gone_ || now_ns - gone_->at_ns > stale_after_ns);
    // After a signal, or the end of the launcher, ranks end because of that.
    if (is_first && signal_ == 0) {
        gone_ = Gone{.at_ns = now_ns, .end = end, .is_rank = is_rank};
    }
}

void EndWitness::signal(int number) {
    if (signal_ == 0) {
        signal_ = number;
    }
}

show::Failure EndWitness::failure_of(const Gone& gone) {
    show::Failure failure = gone.end;
    if (gone.at_once > 0) {
        failure.what += fmt::format(" ({} more ended within {} ms of it: it may have been one of these)",
                                    gone.at_once, at_once_ns / 1'000'000);
    }
    return failure;
}

EndWitness::End EndWitness::end(std::int64_t now_ns) const {
    using enum show::RunStatus;
    if (!told_.empty()) {
        show::Failure failure = leader_;
        failure.what = told_;
        return {failed, failure};
    }
    if (gone_ && now_ns - gone_->at_ns <= stale_after_ns) {
        return {gone_->is_rank ? failed : interrupted, failure_of(*gone_)};
    }
    if (signal_ != 0) {
        return {interrupted, {.what = fmt::format("signal {} ({})", signal_, strsignal(signal_))}};
    }
    return {failed, leader_gone_ ? failure_of(*leader_gone_) : leader_};
}

int keep_record() {
    prctl(PR_SET_NAME, "run-record");  // not "exe"
    for (const int number : host::ending_signals) {
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
        const Json duty = files::parse_json(*first);
        if (duty.contains("groups")) {
            keep_groups(duty, lines);
        } else {
            keep_run(duty, lines);
        }
    } catch (const std::exception&) {
        return 1;  // there is nowhere left to report it
    }
    return 0;
}

}  // namespace weir::job
