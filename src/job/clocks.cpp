#include "job/clocks.hpp"

#include <cstdlib>

namespace weir::job {

namespace {

using enum Job::Block;

/// In which an error that was found is corrected: longer than between heartbeats, so that a clock does not
/// swing, and shorter than the followed rates take to change.
constexpr double horizon_ns = 2e9;

/// From one instant to another by the leader's clock. A message may contain anything.
core::Duration delay_between(std::int64_t left_ns, std::int64_t read_ns, std::int64_t offset_ns) {
    constexpr double most_ns = 1e18;
    const double delay_ns =
        static_cast<double>(read_ns) - static_cast<double>(left_ns) + static_cast<double>(offset_ns);
    return {static_cast<std::int64_t>(std::clamp(delay_ns, 0.0, most_ns))};
}

/// Bounds of the past that rates are learnt from: so far apart, and so many.
constexpr std::int64_t past_spacing_ns = 2'000'000'000;
constexpr std::size_t past_most = 32;

/// Instants come from other ranks: nonsense must not overflow.
std::int64_t difference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

double seconds(std::int64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

constexpr const char* synchronisation = "clock synchronisation";
/// The more exchanges, the more likely is one that nothing delayed.
constexpr int most_exchanges = 25;
/// So many in any case, and then no more if all ranks together have had time for `time_for_all`. An exchange
/// takes microseconds where ranks spin; milliseconds where they nap or share cores, and there a hundred ranks
/// would take a quarter of a minute.
constexpr int fewest_exchanges = 5;
constexpr auto time_for_all = core::Duration::seconds(3);
/// What one exchange may take, for ranks that wait for their turn.
constexpr auto longest_exchange = core::Duration::milliseconds(200);

/// What the reference rank sends: a question (`over` is 0), or the result.
struct Question {
    std::int64_t over = 0;
    ClockOffset result;
};

template <typename T>
void send(Job& job, const T& value, int to, Job::Block kind) {
    job.send_block(to, kind, std::as_bytes(std::span(&value, 1)), synchronisation);
}

template <typename T>
T receive(Job& job, int from, Job::Block kind, core::Duration limit) {
    T value{};
    job.receive_block(from, kind, std::as_writable_bytes(std::span(&value, 1)), limit, synchronisation);
    return value;
}

ClockOffset probe(Job& job, int rank) {
    ClockOffset best{0, INT64_MAX};
    const std::int64_t time_is_up_ns = host::monotonic_ns() + time_for_all.ns / job.size();
    for (int exchange = 0; exchange < most_exchanges; ++exchange) {
        const std::int64_t sent_ns = host::monotonic_ns();
        if (exchange >= fewest_exchanges && sent_ns > time_is_up_ns) {
            break;
        }
        send(job, Question{}, rank, clock_question);
        const auto remote_ns = receive<std::int64_t>(job, rank, clock_reading, job.exchange_limit());
        const std::int64_t received_ns = host::monotonic_ns();
        const std::int64_t error_ns = (received_ns - sent_ns + 1) / 2;
        if (error_ns < best.error_ns) {
            best = {remote_ns - (sent_ns + error_ns), error_ns};
        }
    }
    return best;
}

ClockOffset answer(Job& job, int reference_rank) {
    core::Duration limit =
        job.exchange_limit() + longest_exchange * (std::int64_t{fewest_exchanges} * job.size());
    while (true) {
        const auto question = receive<Question>(job, reference_rank, clock_question, limit);
        if (question.over != 0) {
            return question.result;
        }
        send(job, host::monotonic_ns(), reference_rank, clock_reading);
        limit = job.exchange_limit();
    }
}

}  // namespace

HeartbeatClock::HeartbeatClock(const host::CommonClock& clock, const ClockOffset& at_start,
                               std::int64_t measured_ns, bool same_clock)
    : clock_(clock),
      offset_at_start_ns_(at_start.offset_ns),
      steered_ns_(measured_ns),
      worst_error_ns_(at_start.error_ns),
      follower_(std::in_place, measured_ns, at_start, same_clock) {}

HeartbeatClock::HeartbeatClock(const host::CommonClock& clock, int ranks)
    : clock_(clock), heard_(static_cast<std::size_t>(ranks)) {}

void HeartbeatClock::stamp(core::Heartbeat& heartbeat, int rank, std::int64_t local_ns) const {
    heartbeat.left_ns = local_ns;
    if (!follows()) {
        const Heard& heard = heard_[static_cast<std::size_t>(rank)];
        heartbeat.other_left_ns = heard.left_ns;
        heartbeat.other_arrived_ns = heard.received_ns;
    }
}

record::HeartbeatDelays HeartbeatClock::receive(const core::Heartbeat& heartbeat, int rank,
                                                std::int64_t local_ns) {
    if (heartbeat.left_ns == 0) {
        return {};
    }
    if (!follows()) {
        heard_[static_cast<std::size_t>(rank)] = {heartbeat.left_ns, local_ns};
        return {};
    }
    follower_->add_received(local_ns, heartbeat.left_ns);
    if (heartbeat.other_left_ns != 0) {
        follower_->add_sent(local_ns, heartbeat.other_left_ns, heartbeat.other_arrived_ns);
    }
    steer(local_ns);
    const std::int64_t offset_ns = follower_->at(local_ns).offset_ns;
    record::HeartbeatDelays delays;
    delays.from_leader.add(delay_between(heartbeat.left_ns, local_ns, -offset_ns));
    // The leader reports the same one until the next has arrived.
    if (heartbeat.other_left_ns != 0 &&
        std::exchange(answered_ns_, heartbeat.other_left_ns) != heartbeat.other_left_ns) {
        delays.to_leader.add(delay_between(heartbeat.other_left_ns, heartbeat.other_arrived_ns, offset_ns));
    }
    return delays;
}

std::int64_t HeartbeatClock::error_bound_ns(std::int64_t local_ns, const ClockOffset& at_end) const {
    const auto offset_ns = static_cast<double>(at_end.offset_ns - offset_at_start_ns_);
    const double wrong_ns = std::abs(clock_.correction_ns(local_ns) - offset_ns);
    return std::max<std::int64_t>(worst_error_ns_, at_end.error_ns + std::llround(wrong_ns));
}

void HeartbeatClock::steer(std::int64_t local_ns) {
    const ClockOffset offset = follower_->at(local_ns);
    const auto wanted_ns = static_cast<double>(offset.offset_ns - offset_at_start_ns_);
    const double wrong_ns = std::abs(clock_.correction_ns(local_ns) - wanted_ns);
    // Between this heartbeat and the one before, it may have been off by what was not known of the rate.
    const double between_ns = follower_->rate_error() * static_cast<double>(local_ns - steered_ns_);
    constexpr double most_ns = 1e18;
    worst_error_ns_ = std::max<std::int64_t>(
        worst_error_ns_, offset.error_ns + std::llround(std::min(wrong_ns + between_ns, most_ns)));
    steered_ns_ = local_ns;
    clock_.steer(local_ns, wanted_ns, follower_->rate(), horizon_ns);
}

ClockFollower::ClockFollower(std::int64_t at_ns, const ClockOffset& measured, bool same_clock)
    : base_ns_(measured.offset_ns),
      now_{at_ns, -static_cast<double>(measured.error_ns), static_cast<double>(measured.error_ns)},
      rate_low_(same_clock ? 0 : -rate_limit),
      rate_high_(-rate_low_),
      rate_limit_(rate_high_),
      last_low_{at_ns, now_.low_ns},
      last_high_{at_ns, now_.high_ns},
      past_{now_} {}

void ClockFollower::advance(std::int64_t now_ns) {
    const std::int64_t passed_ns = now_ns - now_.at_ns;
    if (passed_ns <= 0) {
        return;
    }
    const double wander = rate_limit_ == 0 ? 0 : wander_per_s * seconds(passed_ns);
    rate_low_ = std::max(rate_low_ - wander, -rate_limit_);
    rate_high_ = std::min(rate_high_ + wander, rate_limit_);
    now_.at_ns = now_ns;
    now_.low_ns += rate_low_ * static_cast<double>(passed_ns);
    now_.high_ns += rate_high_ * static_cast<double>(passed_ns);
}

void ClockFollower::add_sent(std::int64_t now_ns, std::int64_t sent_ns, std::int64_t received_there_ns) {
    advance(now_ns);
    last_low_ = {sent_ns, static_cast<double>(difference(difference(sent_ns, received_there_ns), base_ns_))};
    now_.low_ns = std::max(now_.low_ns, last_low_.ns + rate_low_ * since(last_low_));
    check();
}

void ClockFollower::add_received(std::int64_t now_ns, std::int64_t sent_there_ns) {
    advance(now_ns);
    last_high_ = {now_ns, static_cast<double>(difference(difference(now_ns, sent_there_ns), base_ns_))};
    now_.high_ns = std::min(now_.high_ns, last_high_.ns);
    check();
}

double ClockFollower::since(const Bound& bound) const {
    return static_cast<double>(std::max<std::int64_t>(0, difference(now_.at_ns, bound.at_ns)));
}

void ClockFollower::check() {
    if (now_.low_ns <= now_.high_ns) {
        learn_rate();
        return;
    }
    // What was received is certain, what followed from it rests on the rates.
    forget_rate();
    now_.low_ns = last_low_.ns + rate_low_ * since(last_low_);
    now_.high_ns = last_high_.ns + rate_high_ * since(last_high_);
    if (now_.low_ns > now_.high_ns) {  // a clock has jumped, as that of a virtual machine may
        std::swap(now_.low_ns, now_.high_ns);
    }
    past_.assign(1, now_);
}

void ClockFollower::forget_rate() {
    rate_limit_ = steered_rate_limit;
    rate_low_ = -rate_limit_;
    rate_high_ = rate_limit_;
    past_.clear();
}

void ClockFollower::learn_rate() {
    if (rate_limit_ == 0) {
        return;
    }
    double low = rate_low_;
    double high = rate_high_;
    for (const Bounds& then : past_) {
        const auto apart_ns = static_cast<double>(now_.at_ns - then.at_ns);
        if (apart_ns < static_cast<double>(past_spacing_ns) / 2) {
            continue;
        }
        // The mean rate since then; the rate of now is as far from it as it can have wandered.
        const double wander = wander_per_s * apart_ns * 1e-9;
        low = std::max(low, (now_.low_ns - then.high_ns) / apart_ns - wander);
        high = std::min(high, (now_.high_ns - then.low_ns) / apart_ns + wander);
    }
    if (low <= high) {
        rate_low_ = low;
        rate_high_ = high;
    } else {
        forget_rate();
    }
    if (past_.empty() || now_.at_ns - past_.back().at_ns >= past_spacing_ns) {
        past_.push_back(now_);
        if (past_.size() > past_most) {
            past_.pop_front();
        }
    }
}

ClockOffset ClockFollower::at(std::int64_t now_ns) const {
    const auto passed_ns = static_cast<double>(std::max<std::int64_t>(0, now_ns - now_.at_ns));
    const double low_ns = now_.low_ns + rate_low_ * passed_ns;
    const double high_ns = now_.high_ns + rate_high_ * passed_ns;
    constexpr double most_ns = 1e18;
    return {base_ns_ + std::llround(std::clamp((low_ns + high_ns) / 2, -most_ns, most_ns)),
            std::llround(std::min(std::ceil((high_ns - low_ns) / 2), most_ns))};
}

ClockOffset measure_clock_offset(Job& job, int reference_rank) {
    if (job.rank() != reference_rank) {
        return answer(job, reference_rank);
    }
    for (int rank = 0; rank < job.size(); ++rank) {
        if (rank == reference_rank || !job.is_present(rank)) {
            continue;
        }
        try {
            send(job, Question{.over = 1, .result = probe(job, rank)}, rank, clock_question);
        } catch (const RankGone& gone) {
            if (gone.rank() != rank || job.is_present(rank)) {
                throw;
            }  // else the run goes on without it
        }
    }
    return {};
}

}  // namespace weir::job
