#include "loop/rank_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "host/signals.hpp"
#include "job/grouped_runs.hpp"
#include "loop/rank_run_parts.hpp"
#include "participant/exit_status.hpp"

namespace weir::loop {

namespace {

/// Thrown out of a wait before or after the measurement when a signal has come.
struct Signalled {
    int number = 0;
};

}  // namespace

int RankRun::run() {
    job_.set_waiting_hook([this] {
        watchdog_.alive();
        transport_.make_progress();
        if (host::caught_signal() != 0) {
            throw Signalled{host::caught_signal()};
        }
    });
    try {
        return prepare() ? measure() : participant::exit_failed;
    } catch (const Signalled& signal) {
        ending_.end_exchange_by_signal(signal.number);
    } catch (const job::ExchangeTimeout& error) {
        ending_.end_exchange(error);
    } catch (const job::RanksSilent& error) {
        ending_.end_exchange({.kind = ending::Evidence::Kind::exchange_timeout,
                              .rank = is_leader_ ? -1 : error.ranks().front(),
                              .text = error.what(),
                              .missing = error.ranks()});
    } catch (const job::RankGone& error) {
        ending_.end_exchange({.kind = ending::Evidence::Kind::process_gone,
                              .rank = error.rank(),
                              .hint = why_gone(job_.news(), processes_, error.rank())});
    } catch (const job::RankFailed& error) {
        ending_.end_exchange(
            {.kind = ending::Evidence::Kind::cannot_continue, .rank = error.rank(), .text = error.what()});
    } catch (const transport::TransportError& error) {
        ending_.end_exchange({.kind = ending::Evidence::Kind::network_failed,
                              .rank = error.peer().value,
                              .text = error.what()});
    } catch (const std::exception& error) {
        ending_.end_exchange(
            {.kind = ending::Evidence::Kind::cannot_continue,
             .rank = job_.rank(),
             .text = fmt::format("{}: {}", rank_text(settings_, job_.rank()), error.what())});
    }
}

int RankRun::measure() {
    const host::Start start = agree_on_start();
    job::HeartbeatClock clock = make_clock(start);
    const core::Instant begin = job_.returning_life()
                                    ? std::max(clock.clock().now(), core::Instant{} - settings_.plan.warmup)
                                    : core::Instant{} - settings_.plan.warmup;
    if (!open_outputs(start, clock.clock(), begin)) {
        return transport_.end_in_order(participant::exit_failed);
    }
    if (settings_.plan.outlives_consumers) {
        std::vector<bool> outlived;
        outlived.reserve(static_cast<std::size_t>(job_.size()));
        for (int rank = 0; rank < job_.size(); ++rank) {
            outlived.push_back(outlives(rank));
        }
        job_.outlive(std::move(outlived));
    }
    if (job_.returning_life()) {
        job_.come_back(transport_.address());
    }
    RankLoop* loop_of_rows = nullptr;
    participant::RowOutput output(
        &log_, [&](const record::LiveSample& report) { loop_of_rows->send_report(report); },
        burst_log_.is_open() ? &burst_log_ : nullptr);
    node_.emplace(participant::make_node(settings_.plan, self_, begin, latencies_, output));
    RankLoop loop({.settings = settings_,
                   .rank = job_.rank(),
                   .transport = transport_.transport(),
                   .node = *node_,
                   .clock = clock,
                   .idle = idle_,
                   .processes = processes_,
                   .detector = detector_,
                   .watchdog = watchdog_,
                   .output = output,
                   .collector = collector_.get(),
                   .on_signal = [this](int number) { ending_.record_signal(number); },
                   .on_missed = [this](int rank) { ending_.prepare_for_abort(rank); },
                   .on_clock =
                       [this](const host::CommonClock& steered) {
                           if (sampler_) {
                               sampler_->follow(steered);
                           }
                       },
                   .on_look =
                       [this] {
                           if (is_leader_ && settings_.groups != nullptr) {
                               settings_.groups->look();
                           }
                       },
                   .news = job_.news(),
                   .returns = job_.returning_life().has_value(),
                   .on_loss =
                       [this](const std::string& line) {
                           if (is_leader_) {
                               print_line("weir run: " + line);
                           }
                       }});
    loop_of_rows = &loop;
    const ending::RunEnd end = run_loop(loop, clock.clock(), begin);
    if (end.kind != ending::RunEnd::Kind::complete) {
        this->end(end, loop);
    }
    job_.set_silence_limit(settings_.silence_timeout);
    if (sampler_) {
        host_counters_ = record::encode_host(sampler_->stop(clock.clock().now()));
    }
    return record_run(loop, clock);
}

bool RankRun::outlives(int rank) const {
    return settings_.plan.outlives_consumers && settings_.roles.node(rank).role == core::Role::consumer;
}

/// A consumer that the run outlives begins again, unless it was ordered to leave.
void RankRun::end(const ending::RunEnd& end, RankLoop& loop) {
    const bool leaves = end.kind == ending::RunEnd::Kind::leave ||
                        end.kind == ending::RunEnd::Kind::interrupted || end.signal != 0;
    if (outlives(job_.rank()) && !leaves) {
        static_cast<void>(log_.close());
        static_cast<void>(burst_log_.close());
        job_.begin_again();
    }
    ending_.end(end, [&loop](int status) { loop.order_all_to_leave(status); });
}

ending::RunEnd RankRun::run_loop(RankLoop& loop, const host::CommonClock& clock, core::Instant begin) {
    while (clock.now() < begin) {
        watchdog_.alive();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const core::Duration late = clock.now() - begin;
    // Less than this is the grain of sleeping, not a late rank.
    started_late_ = late > core::Duration::milliseconds(20) ? late : core::Duration{};
    job_.set_silence_limit({});  // the loop has heartbeats
    watchdog_.enter("measurement", settings_.silence_timeout + core::Duration::seconds(2));
    return loop.run();
}

int run_rank(job::Job& job, MPI_Comm comm, job::Watchdog& watchdog, const job::RunSettings& settings) {
    return RankRun(job, comm, watchdog, settings).run();
}

}  // namespace weir::loop
