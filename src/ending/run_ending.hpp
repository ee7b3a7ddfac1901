// Ends a run on one rank before its time, by the table of failure_rules.hpp: prints the cause, writes
// run.json, orders the other ranks to leave, waits, and ends the process.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ending/failure_detector.hpp"
#include "host/abort_message.hpp"
#include "host/process_watch.hpp"
#include "job/job.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "participant/run_record_builder.hpp"
#include "record/second_collector.hpp"
#include "show/run_record.hpp"

namespace weir::ending {

class RunEnding {
  public:
    struct Parts {
        job::Job& job;
        job::Watchdog& watchdog;
        const job::RunSettings& settings;
        const host::ProcessWatch& processes;
        FailureDetector& detector;
        const participant::RunRecordBuilder& report;
        const std::unique_ptr<record::SecondCollector>& collector;  ///< on the leader, else empty
        bool colours;
    };
    /// How long a file system may take to let a run write its record: servers of network file systems stall
    /// for a minute and more when they fail over, and fsync waits until a busy disk has written what others
    /// gave it.
    static constexpr core::Duration record_limit = core::Duration::seconds(120);

    explicit RunEnding(const Parts& parts) : parts_(parts) {}

    /// Leader: writes run.json with the end of a run whose processes end with `status`. Returns why it
    /// cannot; empty: it could.
    [[nodiscard]] std::string write_record(const show::RunRecord& record, int status) const;
    /// The same, with a record that has no end yet.
    [[nodiscard]] std::string write_unfinished(const show::RunRecord& record) const;
    void print_summary(const show::RunRecord& record) const;

    /// Sets what is printed if a library calls abort(): that this rank was ended so, and that `missed` has
    /// been silent (-1: no rank is missed). On the leader that goes into run.json, too.
    void prepare_for_abort(int missed);
    /// run.json is about to contain how the run ended: an abort() after that leaves it as it is.
    void remove_abort_message() { abort_message_.set({}); }

    /// Leader: a signal will end the run. Writes that to run.json, in case there is no time for more.
    void record_signal(int number) const;

    /// Ends the run. `order_others`: orders all ranks to leave with that status; empty if the loop was not
    /// reached.
    [[noreturn]] void end(const RunEnd& end, const std::function<void(int status)>& order_others);
    /// The same for what was found out in an exchange.
    [[noreturn]] void end_exchange(const Evidence& evidence);
    /// An exchange did not end: finds out which ranks do not answer.
    [[noreturn]] void end_exchange(const job::ExchangeTimeout& error);
    /// A signal came in an exchange.
    [[noreturn]] void end_exchange_by_signal(int number);

  private:
    [[nodiscard]] bool is_leader() const { return parts_.job.rank() == parts_.settings.leader_rank(); }
    [[nodiscard]] std::string write(const show::RunRecord& record, files::OnDisk on_disk) const;
    void announce(const RunEnd& end, const EndRule& rule);

    Parts parts_;
    host::AbortMessage abort_message_;
};

}  // namespace weir::ending
