#include "cli/execute_groups.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/explanation.hpp"
#include "cli/prepare_run.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "config/usage_error.hpp"
#include "files/formatting.hpp"
#include "host/common_clock.hpp"
#include "host/host_facts.hpp"
#include "job/grouped_runs.hpp"
#include "loop/rank_run.hpp"
#include "participant/run_record_builder.hpp"
#include "show/plan_text.hpp"

namespace weir::cli {

namespace {

using config::RunRequest;
using job::MpiJob;

/// What all ranks of the job do together before their groups run. Unlike within a group, no rank has
/// data of all others: the memory that it needs does not grow with the number of ranks.
class Preparation {
  public:
    Preparation(MpiJob& world, const RunRequest& asked)
        : world_(world),
          asked_(asked),
          group_directories_(config::group_directories(config::number_of_groups(asked))) {}

    /// Throws config::UsageError, the same on all ranks, and job::JobError.
    void run() {
        check_same("weir", this_build(), "install the same build on all hosts");
        check_same("options:", config::encode_options(asked_), "give all ranks the same options");
        group_ = own_group();
        ranks_of_group_ = world_.split(static_cast<int>(group_), world_.rank());
        request_ = config::request_of_group(asked_, group_);
        settings_ = settings_of_group();
        const bool leads = ranks_of_group_->rank() == settings_.leader_rank();
        leaders_ = world_.split(leads ? 0 : -1, static_cast<int>(group_));
        job_leader_ = world_.largest(leads && group_ == 0 ? world_.rank() : -1, "introduction");
        directory_ = make_run_directory(world_, asked_, job_leader_, group_directories_);
        settings_.directory = directory_ + "/" + group_directories_[group_];
    }

    MpiJob& ranks_of_group() { return *ranks_of_group_; }
    job::RunSettings& settings() { return settings_; }
    [[nodiscard]] bool leads_job() const { return world_.rank() == job_leader_; }
    [[nodiscard]] std::size_t groups() const { return group_directories_.size(); }
    [[nodiscard]] const std::string& directory() const { return directory_; }

    [[nodiscard]] job::GroupedRuns::Parts parts(job::Watchdog& watchdog) const {
        return {.world = world_,
                .leaders = leaders_.get(),
                .job_leader = job_leader_,
                .group = group_,
                .record = {directory_, group_directories_},
                .plan = settings_.plan,
                .output = live_form(asked_.output),
                .watchdog = watchdog};
    }

  private:
    void refuse_together(const std::string& mine) {
        if (const auto objection = world_.first_objection(mine, "introduction")) {
            throw config::UsageError(objection->text);
        }
    }

    void check_same(const char* what, const std::string& mine, const char* remedy) {
        const std::string first = world_.broadcast(mine, 0, "introduction");
        refuse_together(mine == first ? ""
                                      : fmt::format("rank 0 has {} {}, but rank {} has {}; {}", what, first,
                                                    world_.rank(), mine, remedy));
    }

    std::uint32_t own_group() {
        std::uint32_t group = 0;
        std::string refusal;
        try {
            group = asked_.groups.hosts.empty()
                        ? static_cast<std::uint32_t>(world_.rank()) /
                              config::ranks_per_group(asked_, static_cast<std::uint32_t>(world_.size()))
                        : config::group_of_host(asked_, host::this_location().host);
        } catch (const config::UsageError& error) {
            refusal = error.what();
        }
        refuse_together(refusal);
        return group;
    }

    job::RunSettings settings_of_group() {
        job::RunSettings settings;
        std::string refusal;
        try {
            settings = prepare_run(*ranks_of_group_, request_);
        } catch (const config::UsageError& error) {
            refusal = fmt::format("group {}: {}", group_, error.what());
        }
        refuse_together(refusal);
        settings.output = show::LiveForm::quiet;  // the leader of the job prints for all
        settings.command = fmt::format("weir run: group {}", group_);
        settings.job_ranks_here = world_.ranks_on_this_host();
        return settings;
    }

    MpiJob& world_;
    const RunRequest& asked_;
    std::vector<std::string> group_directories_;
    std::uint32_t group_ = 0;
    RunRequest request_;
    std::unique_ptr<MpiJob> ranks_of_group_;
    std::unique_ptr<MpiJob> leaders_;  ///< on the groups' leaders
    job::RunSettings settings_;
    int job_leader_ = 0;
    std::string directory_;
};

void print_beginning(const RunRequest& asked, const Preparation& prepared, const core::Plan& plan) {
    if (asked.output != config::OutputForm::text) {
        return;
    }
    fmt::print("weir run: {} groups, each: {} for {}\nweir run: run directory {}\n", prepared.groups(),
               show::load_text(plan), files::exact(plan.duration), prepared.directory());
    std::fflush(stdout);
}

}  // namespace

int execute_groups(MpiJob& world, const RunRequest& asked, simulation::Explain explain,
                   job::Watchdog& watchdog) {
    Preparation prepared(world, asked);
    prepared.run();
    prepared.settings().causes = explain_measured(explain, prepared.settings().directory);
    job::GroupedRuns groups(prepared.parts(watchdog));
    std::string refusal;
    if (prepared.leads_job()) {
        const participant::RunRecordBuilder builder(prepared.settings(),
                                                    files::utc_text(host::wall_clock_ns()));
        refusal = groups.begin_record(builder.at_start());
        print_beginning(asked, prepared, prepared.settings().plan);
    }
    if (const auto objection = world.first_objection(refusal, "record of the job")) {
        throw config::UsageError(objection->text);
    }
    prepared.settings().groups = &groups;
    MpiJob& job = prepared.ranks_of_group();
    job.set_before_abort([&groups](int status) { groups.hold(status); });
    return groups.end(loop::run_rank(job, job.communicator(), watchdog, prepared.settings()));
}

}  // namespace weir::cli
