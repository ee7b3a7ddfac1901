#include "loop/run_transport.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "host/signals.hpp"
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

bool RunTransport::went_to_its_end(int status) {
    return status == exit_ok || status == participant::exit_requirement;
}

core::Duration RunTransport::end_limit(int status) {
    return core::Duration::seconds(went_to_its_end(status) ? 30 : 5);
}

int RunTransport::end_in_order(int status) {
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
    job_.abort(status == exit_ok ? exit_failed : status);
}

/// After a run that is complete and recorded. What ended a run early was printed before.
void RunTransport::explain_end(const std::string& error) {
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
        why += fmt::format(" within {:.0f} s", end_limit(exit_ok).in_seconds());
    }
    fmt::print(stderr, "{}: the run is complete and recorded, but {}; the job is ended\n", settings_.command,
               why);
}

}  // namespace weir::loop
