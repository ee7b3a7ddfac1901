// The transport of a run, made and ended together by all ranks, and what the loop adds: injected faults,
// and the rank that a call of MPI is waiting for, for the watchdog's message.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "files/formatting.hpp"
#include "host/idle.hpp"
#include "host/signals.hpp"
#include "job/job.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "loop/make_transport.hpp"
#include "participant/exit_status.hpp"
#include "transport/disturbing_transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::loop {

// The transport's warm-up on all ranks, until it is complete on all. It may take minutes, so it has no limit
// as a whole. Instead ranks exchange their progress again and again: a rank that does not take part, and a
// time without any progress, have limits. Rejected: a barrier at the end. With a limit it would give up slow
// networks; without one it would hang if a host is lost.

/// Collective. `step` does a piece of this rank's part without waiting and returns whether that is complete;
/// `progress` returns how far it is. `report` gets a line on the progress of all ranks, from 3 s on, every 10
/// s. Throws ExchangeTimeout if ranks do not take part any more, and RankFailed if no rank makes progress.
void warm_up_together(job::Job& job, const job::RunSettings& settings, host::IdleStrategy& idle,
                      const std::function<bool()>& step,
                      const std::function<transport::WarmupProgress()>& progress,
                      const std::function<void(const std::string& line)>& report);

class RunTransport {
  public:
    /// Collective: whether no rank has an objection (empty: none). If one has, the leader prints it. `what`
    /// names the step in messages.
    using Agree = std::function<bool(const std::string& objection, const char* what)>;

    /// All arguments outlive this object. `comm`: of the job; MPI_COMM_NULL without MPI.
    RunTransport(job::Job& job, MPI_Comm comm, job::Watchdog& watchdog, const job::RunSettings& settings)
        : job_(job), comm_(comm), watchdog_(watchdog), settings_(settings) {}
    RunTransport(const RunTransport&) = delete;
    RunTransport& operator=(const RunTransport&) = delete;
    ~RunTransport() { watchdog_.set_explanation({}); }

    /// Collective. False: some rank cannot, and the leader has printed why. Ends the job if MPI refuses what
    /// only all ranks together can do. Throws JobError.
    bool make(const Agree& agree) {
        std::string objection;
        try {
            base_ = transport::make_transport(comm_, job_, settings_.roles, settings_.plan,
                                              {settings_.datagrams, settings_.engine});
        } catch (const std::runtime_error& error) {
            objection = error.what();
        }
        if (!agree(objection, "allocation of buffers")) {
            return false;
        }
        watchdog_.set_explanation([this] { return what_it_waits_for(); });
        expose_buffers(agree);
        transport_ = base_.get();
        if (!settings_.faults.empty()) {
            injection_ = std::make_unique<transport::DisturbingTransport>(*base_, settings_.faults);
            transport_ = injection_.get();
        }
        return true;
    }

    /// Collective, after make(). Throws as warm_up_together() does.
    void warm_up(host::IdleStrategy& idle, const std::function<void(const std::string& line)>& report) {
        base_->begin_warmup();
        warm_up_together(
            job_, settings_, idle, [this] { return base_->warmup_step(); },
            [this] { return base_->warmup_progress(); }, report);
    }

    /// After make(), of a process that takes the place of one that was lost: instead of warm_up().
    void returns(std::uint32_t life) { base_->returns(life); }
    [[nodiscard]] transport::PeerAddress address() const { return base_->address(); }

    [[nodiscard]] transport::Transport& transport() { return *transport_; }
    [[nodiscard]] std::vector<transport::UsedPath> paths() const { return base_->paths(); }

    /// While ranks wait for each other outside the loop: what the transport has under way goes on.
    void make_progress() {
        if (base_) {
            base_->make_progress();
        }
    }

    /// How long end_in_order waits for the other ranks: after a failure one may be gone; after a complete run
    /// all come, but on a busy machine not soon.
    [[nodiscard]] static core::Duration end_limit(int status) {
        return core::Duration::seconds(went_to_its_end(status) ? 30 : 5);
    }

    /// Collective, when no rank sends anything any more. Returns `status`, the exit status of the process;
    /// ends the job if it cannot end in order, and then one rank prints why.
    int end_in_order(int status) {
        std::string error;
        try {
            if (base_->shut_down(end_limit(status))) {
                return status;
            }
        } catch (const transport::TransportError& failed) {
            error = failed.what();
        }
        if (went_to_its_end(status)) {
            explain_end(error);
        }
        job_.abort(status == participant::exit_ok ? participant::exit_failed : status);
    }

  private:
    void expose_buffers(const Agree& agree) {
        std::string objection;
        try {
            base_->expose_buffers();
        } catch (const job::JobError&) {
            throw;  // of an exchange in it: that was another rank
        } catch (const std::runtime_error& error) {
            objection = error.what();
            // The others may be waiting inside MPI for this rank, and then they do not come.
            job_.set_exchange_limit(core::Duration::seconds(3));
        }
        try {
            if (agree(objection, "exposure of buffers")) {
                return;
            }
        } catch (const job::JobError&) {
            if (objection.empty()) {
                throw;
            }
            throw job::JobError(objection);
        }
        if (job_.rank() != settings_.leader_rank()) {
            std::this_thread::sleep_for(
                std::chrono::milliseconds(1500));  // the leader prints and writes meanwhile
        }
        job_.abort(participant::exit_failed);
    }

    /// Another thread calls it.
    [[nodiscard]] std::string what_it_waits_for() const {
        const int rank = base_->waits_for();
        return rank < 0 ? std::string{}
                        : fmt::format("waiting for {} to let a one-sided transfer end",
                                      rank_text(settings_, rank));
    }

    [[nodiscard]] static bool went_to_its_end(int status) {
        return status == participant::exit_ok || status == participant::exit_requirement;
    }

    /// After a run that is complete and recorded. What ended a run early was printed before.
    void explain_end(const std::string& error) {
        constexpr auto answer_limit = core::Duration::seconds(3);
        // The leader waits so long for the missing ones, and then prints and ends the job.
        constexpr auto leader_limit = answer_limit + core::Duration::seconds(3);
        watchdog_.enter("end", answer_limit + leader_limit + core::Duration::seconds(6));
        const job::Job::Roll roll = job_.call_roll(answer_limit, [] { return host::caught_signal() != 0; });
        const bool is_leader = job_.rank() == settings_.leader_rank();
        if (!is_leader && roll.leader_answers) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(leader_limit.ns));
            return;
        }
        std::string why = fmt::format("{}: {}", rank_text(settings_, job_.rank()), error);
        if (error.empty()) {
            const std::vector<int> missing = is_leader ? roll.missing : std::vector{settings_.leader_rank()};
            why = missing.empty() ? "connections could not be closed"
                                  : ranks_text(settings_, missing) + " did not come to the end";
            why += " within " + files::readable(end_limit(participant::exit_ok));
        }
        fmt::print(stderr, "{}: the run is complete and recorded, but {}; the job is ended\n",
                   settings_.command, why);
    }

    job::Job& job_;
    MPI_Comm comm_;
    job::Watchdog& watchdog_;
    const job::RunSettings& settings_;
    std::unique_ptr<transport::TransportBase> base_;
    std::unique_ptr<transport::DisturbingTransport> injection_;
    transport::Transport* transport_ = nullptr;
};

}  // namespace weir::loop
