// The transport of a run, made and ended together by all ranks, and what the runtime puts around it: injected
// faults, and word to the watchdog about whom a call of MPI is waiting for.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/idle.hpp"
#include "runtime/job.hpp"
#include "runtime/run_settings.hpp"
#include "runtime/watchdog.hpp"
#include "transport/fault_injection.hpp"
#include "transport/mpi_transport.hpp"

namespace weir::runtime {

class RunTransport {
  public:
    /// Tells all ranks this one's objection (empty: none) and answers whether none has any; if one has, it
    /// has been said. `what` names the step in messages.
    using Agree = std::function<bool(const std::string& objection, const char* what)>;

    /// All arguments outlive this object.
    RunTransport(Job& job, Watchdog& watchdog, const RunSettings& settings)
        : job_(job), watchdog_(watchdog), settings_(settings) {}
    RunTransport(const RunTransport&) = delete;
    RunTransport& operator=(const RunTransport&) = delete;
    ~RunTransport() { watchdog_.set_explanation({}); }

    /// Collective. False: some rank cannot, and it has been said. Ends the job if MPI refuses what only all
    /// ranks together can do. Throws JobError.
    bool make(const Agree& agree);

    /// Collective, after make(). Throws as warm_up_together() does.
    void warm_up(IdleStrategy& idle);

    [[nodiscard]] transport::Transport& transport() { return *transport_; }

    /// Collective: all ranks are here and have nothing more to say to each other. The exit status of the
    /// process, `status` if all goes well; ends the job if it cannot end in order.
    int end_in_order(int status);

  private:
    void expose_buffers(const Agree& agree);
    [[nodiscard]] std::string what_it_waits_for() const;

    Job& job_;
    Watchdog& watchdog_;
    const RunSettings& settings_;
    std::unique_ptr<transport::MpiTransport> mpi_;
    std::unique_ptr<transport::FaultInjection> injection_;
    transport::Transport* transport_ = nullptr;
};

}  // namespace weir::runtime
