#include "loop/run_transport.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "loop/make_transport.hpp"
#include "loop/warmup_together.hpp"
#include "participant/exit_status.hpp"

namespace weir::loop {

using participant::exit_failed;
using participant::exit_ok;

bool RunTransport::make(const Agree& agree) {
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

void RunTransport::expose_buffers(const Agree& agree) {
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
    job_.abort(exit_failed);
}

/// Another thread calls it.
std::string RunTransport::what_it_waits_for() const {
    const int rank = base_->waits_for();
    return rank < 0
               ? std::string{}
               : fmt::format("waiting for {} to let a one-sided transfer end", rank_text(settings_, rank));
}

void RunTransport::warm_up(host::IdleStrategy& idle,
                           const std::function<void(const std::string& line)>& report) {
    base_->begin_warmup();
    warm_up_together(
        job_, settings_, idle, [this] { return base_->warmup_step(); },
        [this] { return base_->warmup_progress(); }, report);
}

core::Duration RunTransport::end_limit(int status) {
    const bool complete = status == exit_ok || status == participant::exit_requirement;
    return core::Duration::seconds(complete ? 30 : 5);
}

int RunTransport::end_in_order(int status) {
    if (!base_->shut_down(end_limit(status))) {
        job_.abort(status == exit_ok ? exit_failed : status);
    }
    return status;
}

}  // namespace weir::loop
