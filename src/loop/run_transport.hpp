// The transport of a run, made and ended together by all ranks, and what the loop adds: injected faults,
// and the rank that a call of MPI is waiting for, for the watchdog's message.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>

#include "host/idle.hpp"
#include "job/job.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "transport/disturbing_transport.hpp"
#include "transport/transport_base.hpp"

namespace weir::loop {

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
    bool make(const Agree& agree);

    /// Collective, after make(). Throws as warm_up_together() does.
    void warm_up(host::IdleStrategy& idle, const std::function<void(const std::string& line)>& report);

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
    [[nodiscard]] static core::Duration end_limit(int status);

    /// Collective, when no rank sends anything any more. Returns `status`, the exit status of the process;
    /// ends the job if it cannot end in order, and then one rank prints why.
    int end_in_order(int status);

  private:
    void expose_buffers(const Agree& agree);
    [[nodiscard]] std::string what_it_waits_for() const;
    [[nodiscard]] static bool went_to_its_end(int status);
    void explain_end(const std::string& error);

    job::Job& job_;
    MPI_Comm comm_;
    job::Watchdog& watchdog_;
    const job::RunSettings& settings_;
    std::unique_ptr<transport::TransportBase> base_;
    std::unique_ptr<transport::DisturbingTransport> injection_;
    transport::Transport* transport_ = nullptr;
};

}  // namespace weir::loop
