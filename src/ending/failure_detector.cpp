#include "ending/failure_detector.hpp"

#include <fmt/format.h>

#include <iterator>

#include "participant/exit_status.hpp"

namespace weir::ending {

namespace {

/// What a busy host adds to the time between heartbeats.
constexpr auto heartbeat_delay = core::Duration::milliseconds(200);

}  // namespace

int deputy_rank(const job::RunSettings& settings) {
    const int leader = settings.leader_rank();
    const std::string& host = settings.host_of(leader);
    for (int rank = 0; rank < settings.roles.ranks(); ++rank) {
        if (settings.host_of(rank) != host) {
            return rank;
        }
    }
    return leader == 0 ? 1 : 0;
}

Part part_of(const job::RunSettings& settings, int rank) {
    return rank == settings.leader_rank()  ? Part::leader
           : rank == deputy_rank(settings) ? Part::deputy
                                           : Part::others;
}

show::Failure failure_of(const job::RunSettings& settings, int rank, const std::string& what) {
    return {.what = what,
            .rank = rank,
            .role = files::node_text(settings.roles.node(rank)),
            .host = settings.host_of(rank)};
}

FailureDetector::FailureDetector(const job::RunSettings& settings, int self, std::vector<int> watched)
    : settings_(settings),
      self_(self),
      leader_(settings.leader_rank()),
      watched_(settings.locations.size(), false),
      heartbeats_(core::heartbeat_periods(settings.roles.ranks(), settings.silence_timeout)),
      given_up_(settings.locations.size(), false),
      reported_lost_(settings.locations.size(), false),
      lives_(settings.locations.size(), 0),
      heard_(settings.locations.size()) {
    for (const int rank : watched) {
        watched_[static_cast<std::size_t>(rank)] = true;
    }
    if (settings.plan.transport == core::TransportKind::put) {
        // A producer waits for a consumer inside MPI_Win_flush.
        for (std::uint32_t index = 0; index < settings.roles.consumers(); ++index) {
            suspects_.push_back(settings.roles.rank(core::node_of(core::ConsumerId{index})));
        }
    }
}

void FailureDetector::begin_loop(core::Instant now) {
    stage_ = Stage::loop;
    now_ = now;
    heard_.assign(heard_.size(), now);
}

void FailureDetector::begin_turn(core::Instant now) {
    if (is_stall(now - now_)) {
        stale_until_ = now + stale_after_stall;
    }
    if (now - now_ > core::Duration::seconds(1)) {
        heard_.assign(heard_.size(), now);  // this rank did not receive
    }
    now_ = now;
}

bool FailureDetector::is_stall(core::Duration gap) const {
    return gap.ns > settings_.silence_timeout.ns / 2;
}

bool FailureDetector::is_stale(core::Instant at) const {
    return stage_ == Stage::loop && ((stale_until_ && at < *stale_until_) || is_stall(at - now_));
}

core::Duration FailureDetector::missed_limit() const {
    // With many ranks, each sends less often.
    return std::min(std::max(missed_after, heartbeats_.others * 2),
                    core::Duration{settings_.silence_timeout.ns / 2});
}

std::vector<int> FailureDetector::silent_for(core::Duration limit) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < std::ssize(heard_); ++rank) {
        if (rank != self_ && !is_given_up(rank) && silence_of(rank) > limit) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

int FailureDetector::longest_of(const std::vector<int>& ranks) const {
    return *std::max_element(ranks.begin(), ranks.end(),
                             [this](int a, int b) { return silence_of(a) < silence_of(b); });
}

std::optional<int> FailureDetector::silent_rank(core::Duration limit) const {
    const std::vector<int> silent = silent_for(limit);
    if (silent.empty()) {
        return std::nullopt;
    }
    const int longest = longest_of(silent);
    // A rank that waits for a suspect inside MPI may have sent its last heartbeat a little earlier.
    const core::Duration together = silence_of(longest) - (heartbeats_.others * 2 + heartbeat_delay);
    std::vector<int> suspects;
    std::copy_if(suspects_.begin(), suspects_.end(), std::back_inserter(suspects),
                 [&](int rank) { return rank != self_ && silence_of(rank) >= together; });
    if (suspects.empty()) {
        return longest;
    }
    const int suspect = longest_of(suspects);
    return silence_of(suspect) > limit ? std::optional(suspect) : std::nullopt;
}

Decision FailureDetector::end(RunEnd::Kind kind, show::Failure failure) const {
    const int status = kind == RunEnd::Kind::interrupted ? participant::exit_signal_base + signal_
                                                         : participant::exit_failed;
    return {.end = RunEnd{.kind = kind, .status = status, .signal = signal_, .failure = std::move(failure)}};
}

bool FailureDetector::note_signal(int number) {
    if (signal_ != 0) {
        return false;
    }
    signal_ = number;
    signalled_at_ = now_;
    return true;
}

Decision FailureDetector::report(const Evidence& evidence) {
    if (evidence.kind == Evidence::Kind::signal) {
        if (!note_signal(evidence.signal)) {
            return {};
        }
        answer_until_ = std::min(answer_until_, now_ + answer_wait_after_signal);
        return {.report = job::make_notice(job::Notice::Kind::signal, self_, signal_, {})};
    }
    if (reported_) {
        return {};
    }
    reported_ = cause_of(evidence);
    answer_until_ = std::min(answer_until_, now_ + answer_wait);
    return {.report = job::make_notice(job::Notice::Kind::failure, *reported_->rank, 0, reported_->what)};
}

void FailureDetector::given_up(int rank) {
    given_up_[static_cast<std::size_t>(rank)] = true;
    ++lives_[static_cast<std::size_t>(rank)];
}

void FailureDetector::returned(int rank, std::uint32_t life) {
    const auto index = static_cast<std::size_t>(rank);
    given_up_[index] = reported_lost_[index] = false;
    lives_[index] = life;
    heard_[index] = now_;
}

bool FailureDetector::outlives(const Evidence& evidence) const {
    if (stage_ != Stage::loop || !settings_.plan.outlives_consumers || evidence.rank < 0 ||
        evidence.rank == self_ || settings_.roles.node(evidence.rank).role != core::Role::consumer) {
        return false;
    }
    // If all other hosts are silent, it is this one that is cut off.
    return evidence.kind != Evidence::Kind::silence ||
           !hears_no_other_host(silent_for({settings_.silence_timeout.ns / 2}));
}

Decision FailureDetector::judge_outlived(const Evidence& evidence) {
    const auto index = static_cast<std::size_t>(evidence.rank);
    if (given_up_[index] || evidence.kind == Evidence::Kind::cannot_continue) {
        return {};
    }
    const show::Failure cause = cause_of(evidence);
    if (leads()) {
        return {.lost = cause};
    }
    if (reported_lost_[index]) {
        return {};
    }
    reported_lost_[index] = true;
    return {.report = job::make_notice(job::Notice::Kind::failure, evidence.rank,
                                       static_cast<int>(lives_[index]), cause.what)};
}

Decision FailureDetector::judge(const Evidence& evidence, core::Instant at) {
    const FailureRule& rule = failure_rule(evidence.kind, stage_);
    if (is_stale(at) && rule.after_stall == AfterStall::ignored) {
        return {};
    }
    if (is_stale(at) && rule.after_stall == AfterStall::leaves) {
        return end(RunEnd::Kind::leave);
    }
    if (outlives(evidence)) {
        return judge_outlived(evidence);
    }
    switch (leads() ? rule.leader : evidence.rank == leader_ ? rule.about_leader : rule.about_other) {
        case Step::ignore:
            return {};
        case Step::wait_for_cause:
            note_signal(evidence.signal);
            return {};
        case Step::interrupt:
            note_signal(evidence.signal);
            return end(RunEnd::Kind::interrupted);
        case Step::fail:
            return end(RunEnd::Kind::failed, cause_of(evidence));
        case Step::lose_leader:
            return end(RunEnd::Kind::leader_lost, cause_of(evidence));
        case Step::report_in_vain:
            return end(RunEnd::Kind::report_in_vain, cause_of(evidence));
        case Step::report:
            return report(evidence);
        case Step::report_and_lose: {
            Decision decision = report(evidence);
            decision.end = end(RunEnd::Kind::leader_lost, *reported_).end;
            return decision;
        }
    }
    return {};
}

Decision FailureDetector::judge(const job::Notice& notice, int from, core::Instant at) {
    const auto makes_no_sense = [&](const char* what) {
        return judge({.kind = Evidence::Kind::cannot_continue,
                      .rank = self_,
                      .text = fmt::format("{}: {}", name_of(self_), what)},
                     at);
    };
    if (notice.rank < 0 || notice.rank >= settings_.roles.ranks()) {
        return makes_no_sense("a notice about a rank that does not exist");
    }
    switch (notice.kind) {
        case job::Notice::Kind::complete:
            return leads() ? Decision{} : Decision{.end = RunEnd{}};
        case job::Notice::Kind::leave:
            return leads() ? Decision{}
                           : Decision{.end = RunEnd{.kind = RunEnd::Kind::leave, .status = notice.detail}};
        case job::Notice::Kind::signal:
            return judge({.kind = Evidence::Kind::signal_reported, .signal = notice.detail}, at);
        case job::Notice::Kind::failure:
            // What a consumer reports of itself (its disk is full) ends the run; what others report need not.
            if (const Evidence about{.kind = Evidence::Kind::failure_reported,
                                     .rank = notice.rank,
                                     .text = job::text_of(notice)};
                from == notice.rank && outlives(about)) {
                return end(RunEnd::Kind::failed, cause_of(about));
            } else if (outlives(about) &&
                       notice.detail != static_cast<int>(lives_[static_cast<std::size_t>(notice.rank)])) {
                return {};  // about an earlier life
            }
            return judge(
                {.kind = Evidence::Kind::failure_reported, .rank = notice.rank, .text = job::text_of(notice)},
                at);
        case job::Notice::Kind::exchange_timeout:
            break;
    }
    return makes_no_sense("a notice of unknown kind");
}

Decision FailureDetector::decide_on_signal() {
    const core::Duration passed = now_ - signalled_at_;
    if (passed < signal_wait) {
        return {};
    }
    const auto cause = cause_of_signal();
    if (!cause) {
        return end(RunEnd::Kind::interrupted);
    }
    const core::Duration for_heartbeats = std::max(signal_silence_wait, heartbeats_.others * 2);
    if (cause->rank == self_ || passed >= signal_wait + for_heartbeats) {
        return end(RunEnd::Kind::failed, *cause);
    }
    return {.signal_ends_run = !std::exchange(signal_noted_, true)};
}

Decision FailureDetector::look(core::Instant at) {
    Decision decision;
    if (leads() && signal_ != 0) {
        decision = decide_on_signal();
    }
    if (decision.end || is_stale(at)) {
        return decision;
    }
    Decision next;
    if (leads()) {
        if (const auto silent = silent_rank(settings_.silence_timeout)) {
            next = judge({.kind = Evidence::Kind::silence, .rank = *silent}, at);
        }
        const int missed = silent_rank(missed_limit()).value_or(-1);
        if (std::exchange(missed_, missed) != missed) {
            next.missed = missed;
        }
    } else if (silence_of(leader_) > settings_.silence_timeout) {
        next = judge({.kind = Evidence::Kind::silence, .rank = leader_}, at);
    } else if (now_ >= answer_until_) {
        next = judge({.kind = Evidence::Kind::no_answer, .rank = leader_}, at);
    }
    next.signal_ends_run = decision.signal_ends_run;
    return next;
}

}  // namespace weir::ending
