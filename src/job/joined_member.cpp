#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "core/assertion.hpp"
#include "core/messages.hpp"
#include "files/formatting.hpp"
#include "host/common_clock.hpp"
#include "host/process.hpp"
#include "job/join_connection.hpp"
#include "job/joined_job.hpp"

namespace weir::job {

namespace {

constexpr auto between_attempts = std::chrono::milliseconds(50);
/// A rank 0 that lives looks for newcomers ten times per second.
constexpr auto noted_limit = core::Duration::seconds(5);
/// Before a message about rank 0 not being there.
constexpr auto patience = core::Duration::seconds(3);
constexpr auto attempt_limit = core::Duration::seconds(2);
constexpr auto short_nap = std::chrono::microseconds(500);
/// Where strangers crowd, rank 0 may close a connection before it has looked at it.
constexpr int attempts_max = 20;

constexpr auto history_limit = core::Duration::seconds(30);
/// The leader waits until all ranks have the address: a few of its looks, and theirs.
constexpr auto return_limit = core::Duration::seconds(30);
constexpr int clock_questions = 25;

}  // namespace

JoinMember::JoinMember(JoinTerms terms, Hello hello, core::Duration limit,
                       const std::function<void(const std::string& line)>& report)
    : JoinedJob(std::move(terms), {}), hello_(std::move(hello)) {
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    hello_.version = terms_.version;
    int attempts = 0;
    do {
        if (++attempts > attempts_max) {
            throw_over("has closed the connection");
        }
        std::this_thread::sleep_for(attempts > 1 ? between_attempts : std::chrono::milliseconds(0));
        leader_connection_ = std::make_shared<JoinConnection>(connect(deadline_ns, report));
    } while (!greet(deadline_ns));
    receive_welcome(deadline_ns);
    if (life_) {
        receive_history(deadline_ns);
    }
}

void JoinMember::wait_for_ranks(core::Duration limit) {
    static_cast<void>(await(FrameKind::go, host::monotonic_ns() + limit.ns));
}

bool JoinMember::greet(std::int64_t deadline_ns) {
    if (hello_.returns) {
        // The kernel takes connections for a rank 0 that stands still.
        deadline_ns = std::min(deadline_ns, host::monotonic_ns() + noted_limit.ns);
    }
    hello_.nonce = new_nonce();
    const std::string hello = encode(hello_);
    leader_connection_->send(FrameKind::hello, hello);
    const auto challenge = receive(FrameKind::challenge, deadline_ns);
    if (!challenge) {
        return false;
    }
    const auto proof_of = [&](JoinSide side) {
        return join_proof(terms_.token, side, hello, challenge->bytes);
    };
    leader_connection_->send(FrameKind::proof, proof_of(JoinSide::newcomer));
    const auto noted = receive(FrameKind::noted, deadline_ns);
    if (!noted) {
        return false;
    }
    if (!same_proof(noted->bytes, proof_of(JoinSide::leader))) {
        throw JobError(fmt::format("--join: {} does not have the token: it is not rank 0 of this job",
                                   terms_.address.text()));
    }
    leader_connection_->trust();
    return true;
}

int JoinMember::connect(std::int64_t deadline_ns,
                        const std::function<void(const std::string& line)>& report) const {
    std::int64_t report_at_ns = host::monotonic_ns() + patience.ns;
    while (true) {
        std::string why;
        bool refused = false;
        const int socket = connect_to(terms_.address, attempt_limit, why, refused);
        if (socket >= 0) {
            return socket;
        }
        if (refused && hello_.returns) {
            throw JobOver(
                fmt::format("--join: nobody listens at {} any more: the run is over", terms_.address.text()));
        }
        if (report && host::monotonic_ns() > report_at_ns) {
            report_at_ns = INT64_MAX;
            report(fmt::format("waiting for rank 0 at {}: {}", terms_.address.text(), why));
        }
        if (host::monotonic_ns() > deadline_ns) {
            throw JobError(fmt::format("--join: {} cannot be reached: {}; is rank 0 there?",
                                       terms_.address.text(), why));
        }
        std::this_thread::sleep_for(between_attempts);
    }
}

std::optional<Frame> JoinMember::receive(FrameKind kind, std::int64_t deadline_ns) {
    while (true) {
        leader_connection_->pump();
        if (auto frame = leader_connection_->take(kind)) {
            return frame;
        }
        if (const auto frame = leader_connection_->take(FrameKind::refusal)) {
            throw JobError(
                fmt::format("--join: refused by {}: {}", terms_.address.text(), shown(frame->bytes)));
        }
        if (leader_connection_->closed()) {
            return std::nullopt;
        }
        if (leader_connection_->strange() || host::monotonic_ns() > deadline_ns) {
            throw_over(leader_connection_->strange() ? "does not answer like weir" : "does not answer");
        }
        call_waiting_hook();
        std::this_thread::sleep_for(short_nap);
    }
}

Frame JoinMember::await(FrameKind kind, std::int64_t deadline_ns) {
    auto frame = receive(kind, deadline_ns);
    if (!frame) {
        throw_over("has closed the connection");
    }
    return std::move(*frame);
}

void JoinMember::throw_over(const char* what) const {
    const std::string text = fmt::format("--join: {} {}", terms_.address.text(), what);
    if (hello_.returns) {
        throw JobOver(text);
    }
    throw JobError(text);
}

void JoinMember::receive_welcome(std::int64_t deadline_ns) {
    auto welcome = decode_welcome(await(FrameKind::welcome, deadline_ns).bytes);
    if (!welcome || welcome->rank < 1 || welcome->rank >= welcome->ranks) {
        throw JobError(fmt::format("--join: {} does not answer like weir", terms_.address.text()));
    }
    rank_ = welcome->rank;
    size_ = welcome->ranks;
    options_ = std::move(welcome->options);
    life_ = welcome->life;
}

void JoinMember::check_notices(const char* what) {
    leader_connection_->pump();
    if (const auto frame = leader_connection_->take(FrameKind::leave)) {
        leave(files::number_in<int>(frame->bytes).value_or(1));
    }
    if (leader_connection_->has(FrameKind::roll_call)) {
        throw ExchangeTimeout(std::string("was called to the roll: ") + what);
    }
    check_silence(what);
}

void JoinMember::check_leader(const char* what) {
    if (leader_connection_->closed()) {
        check_notices(what);
        throw RankGone(0, gone_text(0, leader_connection_->reason()));
    }
}

void JoinMember::set_silence_limit(core::Duration limit) {
    silence_limit_ = limit;
    pulse_.reset();
    if (limit > core::Duration{}) {
        if (!replays_) {  // else the leader is in the loop
            leader_connection_->expect_pulses(host::monotonic_ns());
        }
        pulse_ = std::make_unique<JoinPulse>(core::heartbeat_periods(size_, limit).others,
                                             std::vector<std::weak_ptr<JoinConnection>>{leader_connection_});
    }
}

void JoinMember::check_silence(const char* what) const {
    const std::int64_t now_ns = host::monotonic_ns();
    if (silence_limit_ > core::Duration{} &&
        now_ns - leader_connection_->silent_since_ns().value_or(now_ns) > silence_limit_.ns) {
        throw_silent({0}, silence_limit_, what);
    }
}

std::string JoinMember::receive_texts(const char* what) {
    Waiting waiting(*this, exchange_limit(), what);
    while (true) {
        leader_connection_->pump();
        if (auto text = take_numbered(*leader_connection_, 0, FrameKind::texts, what)) {
            return std::move(*text);
        }
        check_leader(what);
        waiting.nap();
    }
}

std::vector<std::string> JoinMember::share(const std::string& text, const char* what) {
    auto answer = replay(what);
    if (!answer) {
        leader_connection_->send(FrameKind::texts, text, ++exchange_);
        answer = receive_texts(what);
    }
    auto texts = unpack_texts(*answer);
    if (!texts || std::ssize(*texts) != size_) {
        throw JobError(fmt::format("rank 0 sent something else than a text of each rank: {}", what));
    }
    return std::move(*texts);
}

void JoinMember::gather(std::span<const std::byte> bytes, int root, const char* what,
                        const std::function<void(int rank, std::span<const std::byte>)>& /*receive*/) {
    WEIR_ASSERT(root == 0);
    leader_connection_->send(FrameKind::texts, bytes, ++exchange_);
    Waiting waiting(*this, exchange_limit(), what);
    while (!leader_connection_->flushed()) {
        leader_connection_->pump();
        waiting.nap();
    }
}

std::string JoinMember::broadcast(const std::string& /*text*/, int root, const char* what) {
    WEIR_ASSERT(root == 0);
    if (auto answer = replay(what)) {
        return std::move(*answer);
    }
    ++exchange_;
    return receive_texts(what);
}

void JoinMember::begin_round(std::span<const std::byte> mine, const char* /*what*/) {
    leader_connection_->send(FrameKind::round, mine, ++round_);
}

std::optional<std::span<const std::byte>> JoinMember::end_round(const char* what) {
    leader_connection_->pump();
    if (const auto all = take_numbered(*leader_connection_, 0, FrameKind::round, what)) {
        return keep_round(*all);
    }
    check_leader(what);
    return std::nullopt;
}

void JoinMember::send_block(int to, Block kind, std::span<const std::byte> bytes, const char* /*what*/) {
    WEIR_ASSERT(to == 0);
    leader_connection_->send(frame_of(kind), bytes);
}

void JoinMember::receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                               const char* what) {
    WEIR_ASSERT(from == 0);
    Waiting waiting(*this, limit, what);
    while (true) {
        if (take_block(*leader_connection_, 0, kind, bytes, what)) {
            return;
        }
        check_leader(what);
        // Clocks are compared here: the answer must not wait for a nap.
        waiting.check();
        std::this_thread::yield();
    }
}

void JoinMember::send_notice(const Notice& notice, core::Duration limit) {
    leader_connection_->send(FrameKind::notice, std::as_bytes(std::span(&notice, 1)));
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    while (!leader_connection_->closed() && host::monotonic_ns() < deadline_ns) {
        leader_connection_->pump();
        if (leader_connection_->has(FrameKind::leave)) {
            check_notices("notice");
        }
        std::this_thread::sleep_for(short_nap);
    }
}

Job::Roll JoinMember::call_roll(core::Duration limit, const std::function<bool()>& stop) {
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    const Notice notice = make_notice(Notice::Kind::exchange_timeout, rank_, 0, {});
    leader_connection_->send(FrameKind::notice, std::as_bytes(std::span(&notice, 1)));
    Roll roll{.leader_answers = false, .missing = {}};
    while (!roll.leader_answers && !leader_connection_->closed() && host::monotonic_ns() < deadline_ns &&
           !stop()) {
        leader_connection_->pump();
        roll.leader_answers = leader_connection_->take(FrameKind::roll_call).has_value();
        std::this_thread::sleep_for(short_nap);
    }
    leader_connection_->send(FrameKind::roll_answer, std::string_view{});
    return roll;
}

// What a member of a job without MPI does while the loop runs, and how it comes back into one that goes on.

void JoinMember::receive_history(std::int64_t deadline_ns) {
    const auto limit_ns = std::min(deadline_ns, host::monotonic_ns() + history_limit.ns);
    auto texts = unpack_texts(await(FrameKind::history, limit_ns).bytes);
    if (!texts || texts->size() % 2 != 0) {
        throw JobError(fmt::format("--join: {} does not answer like weir", terms_.address.text()));
    }
    history_.assign(texts->begin(), texts->end());
    replays_ = true;
}

std::optional<std::string> JoinMember::replay(const char* what) {
    if (!replays_) {
        return std::nullopt;
    }
    if (history_.empty() || history_.front() != what) {
        throw JobError(fmt::format("--join: the others did something else here: {}", what));
    }
    history_.pop_front();
    std::string text = std::move(history_.front());
    history_.pop_front();
    return text;
}

std::optional<Objection> JoinMember::first_objection(const std::string& mine, const char* what) {
    if (replays_ && !mine.empty()) {
        throw JobError(mine);
    }
    return Job::first_objection(mine, what);
}

std::int64_t JoinMember::compare_clocks(std::int64_t& error_ns) {
    const std::int64_t deadline_ns = host::monotonic_ns() + return_limit.ns;
    std::int64_t offset_ns = 0;
    error_ns = INT64_MAX;
    for (int question = 0; question < clock_questions; ++question) {
        const std::int64_t sent_ns = host::monotonic_ns();
        leader_connection_->send(FrameKind::clock_question, std::string_view{});
        const Frame frame = await(FrameKind::clock_reading, deadline_ns);
        const std::int64_t half_ns = (host::monotonic_ns() - sent_ns + 1) / 2;
        std::int64_t leader_ns = 0;
        if (frame.bytes.size() != sizeof leader_ns) {
            throw JobError("--join: a clock that cannot be read");
        }
        std::memcpy(&leader_ns, frame.bytes.data(), sizeof leader_ns);
        if (half_ns < error_ns) {
            error_ns = half_ns;
            offset_ns = sent_ns + half_ns - leader_ns;
        }
    }
    return offset_ns;
}

void JoinMember::come_back(const transport::PeerAddress& address) {
    transport::PeerAddress mine = address;
    mine.life = life_.value();
    leader_connection_->send(
        FrameKind::address,
        encode(ReturnedPeer{
            .rank = rank_, .host = hello_.host, .pid = hello_.pid, .pids = hello_.pids, .address = mine}));
    const auto numbers = unpack_texts(await(FrameKind::go, host::monotonic_ns() + return_limit.ns).bytes);
    const auto exchange =
        numbers && numbers->size() == 2 ? files::number_in<std::uint32_t>((*numbers)[0]) : std::nullopt;
    const auto round = exchange ? files::number_in<std::uint32_t>((*numbers)[1]) : std::nullopt;
    if (!round) {
        throw JobError(fmt::format("--join: {} does not answer like weir", terms_.address.text()));
    }
    exchange_ = *exchange;
    round_ = *round;
    history_.clear();
    replays_ = false;
}

void JoinMember::begin_again() {
    setenv(join_token_variable, terms_.token.c_str(), 1);
    setenv(join_again_variable, std::to_string(rank_).c_str(), 1);
    host::restart_weir({"run", "--join", terms_.address.text()});
}

std::vector<JobEvent> JoinMember::look() {
    std::vector<JobEvent> events;
    leader_connection_->pump();
    while (const auto frame = leader_connection_->take(FrameKind::address)) {
        if (const auto peer = decode_returned_peer(frame->bytes);
            peer && peer->rank > 0 && peer->rank < size_) {
            events.push_back(return_of(*peer));
        }
    }
    if (leader_connection_->take(FrameKind::taken_out)) {
        events.push_back({.kind = JobEvent::Kind::taken_out, .rank = rank_});
    }
    check_notices("measurement");
    if (leader_connection_->closed()) {
        events.push_back({.kind = JobEvent::Kind::gone, .rank = 0, .why = leader_connection_->reason()});
    }
    return events;
}

void JoinMember::know(int rank) {
    leader_connection_->send(FrameKind::known, std::string_view{}, static_cast<std::uint32_t>(rank));
}

}  // namespace weir::job
