// Writes how a run ended when the leader could not: a small process of its own beside the leader. It watches
// which process of this host ends first, gets signals, and when the leader has ended without a record
// it writes the cause into run.json.
//
// A process, because whoever ends a job may leave its ranks no instant: a launcher that is interrupted twice
// ends them without a signal, and a rank may be inside a call of MPI when SIGKILL follows SIGTERM. It has a
// session of its own, which launchers do not signal. It is started without fork(), which MPI libraries that
// have pinned memory forbid, and ends with the leader.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "show/run_record.hpp"

namespace weir::job {

/// The argument with which the executable becomes the process.
inline constexpr const char* keep_record_argument = "--keep-record";

/// A process whose end the keeper watches.
struct KeptProcess {
    pid_t pid = 0;
    show::Failure end = {};  ///< what its end means, in words for users
};

/// The end of the process with which it is started.
class RecordKeeper {
  public:
    /// Nothing is kept.
    RecordKeeper() = default;
    RecordKeeper(const RecordKeeper&) = delete;
    RecordKeeper& operator=(const RecordKeeper&) = delete;
    /// If run.json has no end now, the keeper takes that for the end of this process.
    ~RecordKeeper();

    /// Keeps `directory`/run.json of a run. `leader` is this process, `launcher` its parent. Without a
    /// further process (the host allows none) the run goes on without keeper.
    void keep_run(const std::string& directory, const show::Failure& leader, const KeptProcess& launcher,
                  const std::vector<KeptProcess>& ranks);
    /// Keeps `directory`/run.json of a job of groups, whose directories are relative to it.
    void keep_groups(const std::string& directory, const std::vector<std::string>& groups);

    /// Tells the keeper why this process ends, if it is about to end without a record. Any thread. Without a
    /// keeper of a run this does nothing.
    static void tell(std::string_view what);
    /// run.json has its end: the keeper of a run is not needed any more, and does not look at files.
    static void dismiss();

  private:
    void start(const nlohmann::ordered_json& duty);

    int descriptor_ = -1;
    bool keeps_run_ = false;
};

/// The keeper: until the leader has ended, and the record has an end. Returns the exit status.
int keep_record();

/// What the keeper concludes from what it has found. Pure.
class EndWitness {
  public:
    explicit EndWitness(show::Failure leader) : leader_(std::move(leader)) {}

    void process_gone(std::int64_t now_ns, const show::Failure& end) { note_gone(now_ns, end, true); }
    void launcher_gone(std::int64_t now_ns, const show::Failure& end) { note_gone(now_ns, end, false); }
    /// What ends from now on is not the cause.
    void leader_gone(std::int64_t now_ns);
    void signal(int number);
    void told(const std::string& what) { told_ = what; }

    struct End {
        show::RunStatus status = show::RunStatus::failed;
        show::Failure failure = {};
    };
    /// The leader has ended without a record.
    [[nodiscard]] End end(std::int64_t now_ns) const;

    /// If the leader goes on for so long after another process has ended, that was not what ended the run.
    static constexpr std::int64_t stale_after_ns = 10'000'000'000;
    /// A launcher that ends all ranks because of one loses its connection, long before the kernel tells
    /// of its end where much memory is to be freed: among ends so near to each other, the first need not be
    /// the cause.
    static constexpr std::int64_t at_once_ns = 50'000'000;

  private:
    void note_gone(std::int64_t now_ns, const show::Failure& end, bool is_rank);

    show::Failure leader_;
    struct Gone {
        std::int64_t at_ns = 0;
        show::Failure end;
        bool is_rank = false;
        int at_once = 0;  ///< more ranks that ended with it
    };
    static show::Failure failure_of(const Gone& gone);

    std::optional<Gone> gone_;
    std::optional<Gone> leader_gone_;
    int signal_ = 0;
    std::string told_;
};

}  // namespace weir::job
