// One group of a job over MPI, and its way to the others: the leaders of all groups form a communicator of
// their own, and the leader of group 0 leads the job. It agrees on second 0, shows the seconds of all groups,
// and writes the record of the job.
//
// A process that ends takes the job with it, so that a group which has ended waits for the others, and the
// leader of the job ends them all. What it cannot learn from a group's leader it reads from the group's
// run.json, which the group's deputy may have written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "runtime/clock_follower.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/mpi_job.hpp"
#include "runtime/record_keeper.hpp"
#include "runtime/watchdog.hpp"
#include "telemetry/job_live_view.hpp"
#include "telemetry/job_record.hpp"
#include "telemetry/run_record.hpp"
#include "telemetry/second_collector.hpp"

namespace weir::runtime {

class GroupJob {
  public:
    struct Parts {
        MpiJob& world;    ///< all ranks of the job
        MpiJob* leaders;  ///< the groups' leaders, by group; nullptr on other ranks
        int job_leader;   ///< rank in `world`
        std::uint32_t group;
        std::string directory;                       ///< of the job
        std::vector<std::string> group_directories;  ///< relative to it
        core::Plan plan;
        telemetry::LiveForm output;
        bool colours;
        Watchdog& watchdog;
    };
    /// Collective over the leaders: measures their clocks. Throws JobError.
    explicit GroupJob(Parts parts);

    /// On the leader of the job, before the start: what group 0 is, for the record of the job, which is
    /// written as that of a job which has not ended. Returns why it cannot be; empty: it could.
    std::string begin_record(const telemetry::RunRecord& run_of_group_0);

    // For the run of the group, on its leader. Groups share nothing while they measure: only the beginning,
    // what is shown, and the end are common.

    /// The group is ready, and needs `ahead` until second 0. Returns the instant that is common to all groups
    /// that got ready. `waiting`: called again and again meanwhile. Throws JobError if the others have
    /// started without this group.
    Start agree_on_start(core::Duration ahead, const std::function<void()>& waiting);
    /// Longest that agree_on_start() takes; for ranks that wait for their leader meanwhile.
    [[nodiscard]] core::Duration start_limit() const;
    void show(const telemetry::ClusterSecond& second);
    /// Several times a second while it measures.
    void look();
    /// How the group's run has ended; the last one counts.
    void take_record(const telemetry::RunRecord& record, int exit_status);

    /// On any rank: the group's run has ended before its time, and this process would end. Waits until the
    /// other groups have ended, because a process that ends takes the whole job with it.
    [[noreturn]] void hold(int exit_status);

    /// On all ranks, when the group's run has ended in order: waits for the others. Returns the exit status
    /// of the job. Does not return (ends the job) if a group has not ended in order.
    int end(int exit_status);

  private:
    [[nodiscard]] bool leads_group() const { return parts_.leaders != nullptr; }
    [[nodiscard]] bool leads_job() const { return leads_group() && parts_.leaders->rank() == 0; }
    [[nodiscard]] std::uint32_t groups() const {
        return static_cast<std::uint32_t>(parts_.group_directories.size());
    }
    [[nodiscard]] core::Duration rest_of_the_run() const;
    Start start_all(core::Duration ahead, const std::function<void()>& waiting);
    void send_result(bool in_order);
    void receive(const Mail& mail);
    void take_result(std::uint32_t group, const nlohmann::ordered_json& message);
    /// Leader of the job: until all groups have ended, or cannot be expected to.
    void collect_results();
    void read_results_of_silent_groups();
    void add_result(telemetry::GroupEntry entry, bool in_order);
    void measure_clocks_again();
    int finish_job(int exit_status);
    /// The leader of group 1 stands in for that of the job.
    [[nodiscard]] bool is_deputy() const { return leads_group() && parts_.leaders->rank() == 1; }
    /// As far as the files say, all groups have ended, and the job has no record of it.
    [[nodiscard]] bool record_is_missing() const;
    /// Deputy: takes over if the record of the job was missing at the last look, too, or a signal has come.
    void look_for_record(int exit_status);
    [[noreturn]] void take_over(int exit_status);
    void wait_for_others(int exit_status);
    [[noreturn]] void end_job(int exit_status);

    Parts parts_;
    std::optional<Mailbox> mailbox_;  ///< leaders'
    ClockOffset clock_;               ///< of this leader against that of the job
    std::int64_t ends_by_ns_ = 0;     ///< monotonic; the planned end of the run
    std::int64_t next_look_ns_ = 0;   ///< deputy: monotonic
    bool record_was_missing_ = false;
    bool started_ = false;        ///< leader of the job: it has sent the groups their start
    telemetry::GroupEntry mine_;  ///< leaders: what take_record() was given
    bool has_record_ = false;     ///< take_record() was called

    // Leader of the job.
    struct Group {
        bool answered = false;  ///< at the start: it is ready, or has failed before
        bool ready = false;
        core::Duration ahead;
        std::optional<telemetry::GroupEntry> entry;
        bool ended_in_order = false;
        std::int64_t heard_ns = 0;
        std::optional<double> clock_error_us;  ///< at the end
    };
    std::vector<Group> groups_;
    std::optional<telemetry::JobLiveView> live_;
    telemetry::JobRecord record_;
    RecordKeeper keeper_;
};

}  // namespace weir::runtime
