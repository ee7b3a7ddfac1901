// Ends a run on one rank before its time, by the table of failure_rules.hpp: prints the cause, writes
// run.json, orders the other ranks to leave, waits, and ends the process.
#pragma once

#include <fmt/format.h>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "ending/failure_detector.hpp"
#include "host/abort_message.hpp"
#include "host/common_clock.hpp"
#include "host/process_watch.hpp"
#include "host/signals.hpp"
#include "job/grouped_runs.hpp"
#include "job/job.hpp"
#include "job/record_keeper.hpp"
#include "job/run_settings.hpp"
#include "job/watchdog.hpp"
#include "participant/exit_status.hpp"
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
    [[nodiscard]] std::string write_record(const show::RunRecord& record, int status) const {
        // The others get the failure after this, or the leader is still in its loop: a busy disk must not
        // let it look lost.
        const std::string cannot_write =
            write(record,
                  record.status == show::RunStatus::complete ? files::OnDisk::synced : files::OnDisk::later);
        if (cannot_write.empty()) {
            job::RecordKeeper::dismiss();
        }
        if (parts_.settings.groups != nullptr && is_leader()) {
            parts_.settings.groups->take_record(record,
                                                cannot_write.empty() ? status : participant::exit_failed);
        }
        return cannot_write;
    }

    /// The same, and tells nobody that the run has ended: of one that has not.
    [[nodiscard]] std::string write_only(const show::RunRecord& record) const {
        return write(record, files::OnDisk::synced);
    }

    void print_summary(const show::RunRecord& record) const {
        switch (parts_.settings.output) {
            case show::LiveForm::text:
                fmt::print("\n{}", show::final_summary_text(record, parts_.colours));
                break;
            case show::LiveForm::json:
                fmt::print("{}\n", show::final_summary_json(record));
                break;
            case show::LiveForm::quiet:
                break;
        }
        std::fflush(stdout);
    }

    /// Sets what is printed if a library calls abort(): that this rank was ended so, and that `missed` has
    /// been silent (-1: no rank is missed). On the leader that goes into run.json, too.
    void prepare_for_abort(int missed) {
        const int self = parts_.job.rank();
        std::string what = fmt::format("{} was ended by abort(), as MPI libraries do that lose a peer",
                                       rank_text(parts_.settings, self));
        if (missed >= 0) {
            what += fmt::format("; {} was not heard any more", rank_text(parts_.settings, missed));
        }
        const job::Job::LastWords last_words = parts_.job.last_words();
        host::AbortMessage::Content message{.text = fmt::format("{}: {}\n", parts_.settings.command, what),
                                            .descriptor = STDERR_FILENO,
                                            .connection = last_words.descriptor,
                                            .last_words = last_words.bytes};
        if (is_leader()) {
            message.path = parts_.settings.directory + "/run.json";
            message.file = show::run_json_text(parts_.report.failed(
                parts_.collector.get(), failure_of(parts_.settings, missed >= 0 ? missed : self, what)));
        }
        abort_message_.set(std::move(message));
    }

    /// run.json is about to contain how the run ended: an abort() after that leaves it as it is.
    void remove_abort_message() { abort_message_.set({}); }

    /// Leader: a signal will end the run. Writes that to run.json, in case there is no time for more.
    void record_signal(int number) const {
        static_cast<void>(write_record(parts_.report.interrupted(parts_.collector.get(), number),
                                       participant::exit_signal_base + number));
    }

    /// Ends the run. `order_others`: orders all ranks to leave with that status; empty if the loop was not
    /// reached.
    [[noreturn]] void end(const RunEnd& end, const std::function<void(int)>& order_others) {
        parts_.watchdog.enter("end", order_others ? core::Duration::seconds(10) : end_limit);
        const EndRule& rule = end_rule(end.kind, part_of(parts_.settings, parts_.job.rank()));
        announce(end, rule);
        if (rule.orders_others && order_others) {
            order_others(end.status);
        }
        if (parts_.settings.groups != nullptr) {
            parts_.settings.groups->hold(end.status);
        }
        std::this_thread::sleep_for(std::chrono::nanoseconds(rule.waits.ns));
        if (rule.aborts) {
            parts_.job.abort(end.status);
        }
        job::Job::leave(end.status);
    }

    /// The same for what was found out in an exchange.
    [[noreturn]] void end_exchange(const Evidence& evidence) {
        parts_.watchdog.enter("end", end_limit);
        parts_.detector.end_loop();  // the loop may have thrown what was found out
        Decision decision = parts_.detector.judge(evidence);
        if (decision.report) {
            // If the leader gets it, it ends the run, and this rank with it.
            parts_.job.send_notice(*decision.report, answer_limit);
            decision = parts_.detector.judge({.kind = Evidence::Kind::no_answer});
        }
        end(decision.end.value(), {});
    }

    /// An exchange did not end: finds out which ranks do not answer.
    [[noreturn]] void end_exchange(const job::ExchangeTimeout& error) {
        parts_.watchdog.enter("end", end_limit);
        const job::Job::Roll roll =
            parts_.job.call_roll(answer_limit, [] { return host::caught_signal() != 0; });
        Evidence evidence{
            .kind = Evidence::Kind::exchange_timeout, .text = error.what(), .missing = roll.missing};
        if (!roll.leader_answers) {
            evidence.rank = parts_.settings.leader_rank();
            evidence.missing = {evidence.rank};
        }
        end_exchange(evidence);
    }

    /// A signal came in an exchange.
    [[noreturn]] void end_exchange_by_signal(int number) {
        // mpirun answers the death of a rank with SIGTERM to the others: look whether that is what happened.
        if (const auto gone = parts_.processes.gone()) {
            end_exchange({.kind = Evidence::Kind::process_gone,
                          .rank = *gone,
                          .hint = parts_.processes.why_gone(*gone)});
        }
        end_exchange({.kind = Evidence::Kind::signal, .signal = number});
    }

  private:
    /// How long the deputy looks whether the leader, which it cannot reach, has written run.json. As long as
    /// the news of a file takes over NFS, if that goes well; and mpirun kills a second after its SIGTERM.
    static constexpr auto deputy_wait = core::Duration::milliseconds(700);
    /// What else a rank does at its end, if the loop was not reached.
    static constexpr auto end_limit = core::Duration::seconds(20);
    /// What answers to the roll call, and to a report in an exchange, may take.
    static constexpr auto answer_limit = core::Duration::seconds(3);
    static constexpr auto own_silence =
        "this rank stood still, or nothing of it reached the others; how they ended the run stands in "
        "run.json";

    [[nodiscard]] bool is_leader() const { return parts_.job.rank() == parts_.settings.leader_rank(); }
    [[nodiscard]] std::string write(const show::RunRecord& record, files::OnDisk on_disk) const {
        const auto error = show::write_run_json(parts_.settings.directory + "/run.json", record, on_disk);
        return error ? error->message() : std::string{};
    }

    void announce(const RunEnd& end, const EndRule& rule) {
        show::Failure cause = end.failure;
        bool writes = rule.record == EndRule::Record::yes;
        bool prints = rule.prints_cause;
        const std::string path = parts_.settings.directory + "/run.json";
        if (writes && end.kind == RunEnd::Kind::failed) {
            // Who wrote first has seen it happen: this rank may have stood still meanwhile, and blames then
            // who left because of that.
            const auto written = show::how_it_ended(path);
            if (written && !written->what.empty()) {
                if (written->rank == cause.rank) {
                    prints = false;
                } else if (written->rank == parts_.job.rank()) {
                    fmt::print(stderr, "{}: {}\n", parts_.settings.command, own_silence);
                }
                cause = *written;
            }
        }
        if (rule.record == EndRule::Record::if_leader_did_not) {
            // The leader may be there and this rank cut off, unless its process is gone or the job is being
            // killed.
            const std::int64_t deadline_ns = host::monotonic_ns() + deputy_wait.ns;
            while (parts_.processes.gone() != parts_.settings.leader_rank() && host::caught_signal() == 0 &&
                   host::monotonic_ns() < deadline_ns) {
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
            // What the leader wrote stays, and is printed again: what a host prints that is cut off reaches
            // no user.
            const auto written = show::how_it_ended(path);
            cause = written && !written->what.empty() ? *written : cause;
            writes = !written;
        }
        // Print first: whoever sent a signal may not leave the time to write.
        if (prints) {
            fmt::print(stderr, "{}: {}\n", parts_.settings.command, cause.what);
        }
        if (!writes) {
            return;
        }
        remove_abort_message();
        const show::RunRecord record = end.kind == RunEnd::Kind::interrupted
                                           ? parts_.report.interrupted(parts_.collector.get(), end.signal)
                                           : parts_.report.failed(parts_.collector.get(), cause);
        parts_.watchdog.enter("writing of run.json", record_limit);
        const std::string cannot_write = write_record(record, end.status);
        parts_.watchdog.enter("end", end_limit);
        if (!cannot_write.empty()) {
            fmt::print(stderr, "{}: {}\n", parts_.settings.command, cannot_write);
        }
        if (rule.record == EndRule::Record::yes) {
            print_summary(record);
        }
    }

    Parts parts_;
    host::AbortMessage abort_message_;
};

}  // namespace weir::ending
