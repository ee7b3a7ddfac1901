// One group of a job over MPI, and its way to the others: the leaders of all groups form a communicator of
// their own, and the leader of group 0 leads the job. It agrees on second 0, shows the seconds of all groups,
// and writes the record of the job.
//
// A process that ends takes the job with it, so that a group which has ended waits for the others, and the
// leader of the job ends them all. What a group's leader does not send it reads from the group's
// run.json, which the group's deputy may have written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "host/common_clock.hpp"
#include "job/clocks.hpp"
#include "job/mailbox.hpp"
#include "job/mpi_job.hpp"
#include "job/record_keeper.hpp"
#include "job/watchdog.hpp"
#include "record/second_collector.hpp"
#include "show/groups_record.hpp"
#include "show/live_view.hpp"
#include "show/run_record.hpp"

namespace weir::job {

class GroupedRuns {
  public:
    struct Parts {
        MpiJob& world;    ///< all ranks of the job
        MpiJob* leaders;  ///< the groups' leaders, by group; nullptr on other ranks
        int job_leader;   ///< rank in `world`
        std::uint32_t group;
        show::GroupsRecord record;  ///< nothing has come from any group
        core::Plan plan;
        show::LiveForm output;
        Watchdog& watchdog;
    };
    /// Collective over the leaders: measures their clocks. Throws JobError.
    explicit GroupedRuns(Parts parts);

    /// On the leader of the job, before the start: what group 0 is, for the record of the job, which is
    /// written as that of a job which has not ended. Returns why it cannot be; empty: it could.
    std::string begin_record(const show::RunRecord& run_of_group_0);

    // For the run of the group, on its leader. Groups share nothing while they measure: only the beginning,
    // what is shown, and the end are common.

    /// The group is ready, and needs `ahead` until second 0. Returns the instant that is common to all groups
    /// that got ready. `waiting`: called again and again meanwhile. Throws JobError if the others have
    /// started without this group.
    host::Start agree_on_start(core::Duration ahead, const std::function<void()>& waiting);
    /// Longest that agree_on_start() takes; for ranks that wait for their leader meanwhile.
    static constexpr core::Duration start_limit = core::Duration::seconds(70);
    void show(const record::ClusterSecond& second);
    /// Several times a second while it measures.
    void look();
    /// How the group's run has ended; the last one counts.
    void take_record(const show::RunRecord& record, int exit_status);

    /// On any rank: the group's run has ended before its time, and this process would end. Waits until the
    /// other groups have ended, because a process that ends takes the whole job with it.
    [[noreturn]] void hold(int exit_status);

    /// On all ranks, when the group's run has ended in order: waits for the others. Returns the exit status
    /// of the job. Does not return (ends the job) if a group has not ended in order.
    int end(int exit_status);

  private:
    [[nodiscard]] bool leads_group() const { return parts_.leaders != nullptr; }
    [[nodiscard]] bool leads_job() const { return leads_group() && parts_.leaders->rank() == 0; }
    [[nodiscard]] std::uint32_t groups() const { return static_cast<std::uint32_t>(record_.groups.size()); }
    host::Start start_all(core::Duration ahead, const std::function<void()>& waiting);
    void receive(const Mail& mail);
    int end_with_the_others(int exit_status, bool in_order);
    void begin_to_wait(bool in_order);
    void send_result(bool in_order);
    void add_result(std::uint32_t number, nlohmann::ordered_json entry, bool in_order);
    void collect_results();
    void read_results_of_silent_groups(core::Duration for_so_long);
    void measure_clocks_again();
    int end_job_as_its_leader(int exit_status);
    int finish_job(int exit_status) const;
    /// The leader of group 1 stands in for that of the job.
    [[nodiscard]] bool is_deputy() const { return leads_group() && parts_.leaders->rank() == 1; }
    void look_for_record(int exit_status);
    void wait_for_others(int exit_status);
    [[noreturn]] void give_up(int exit_status);

    Parts parts_;
    show::GroupsRecord& record_ = parts_.record;
    std::optional<Mailbox> mailbox_;  ///< leaders'
    ClockOffset clock_;               ///< of this leader against that of the job
    std::int64_t ends_by_ns_ = 0;     ///< monotonic; the planned end of the run
    std::int64_t next_look_ns_ = 0;   ///< deputy: monotonic
    bool record_was_missing_ = false;
    nlohmann::ordered_json mine_;  ///< leaders: the entry of what take_record() was given

    // Leader of the job.
    struct Group {
        std::optional<core::Duration> ahead;  ///< of a group that is ready to start
        bool ended = false;
        bool ended_in_order = false;
        std::int64_t heard_ns = 0;
    };
    std::vector<Group> groups_;
    bool started_ = false;  ///< it has sent the groups their start
    std::optional<show::GroupsLiveView> live_;
    RecordKeeper keeper_;
};

/// Writes and prints the record of a job that has ended; `command` begins messages. Returns the exit status.
int publish(const show::GroupsRecord& record, show::LiveForm output, const char* command);

}  // namespace weir::job
