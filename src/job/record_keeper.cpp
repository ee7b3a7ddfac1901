// The leader's side of the keeper.
#include "job/record_keeper.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "files/json_text.hpp"
#include "host/signals.hpp"

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

}  // namespace weir::job
