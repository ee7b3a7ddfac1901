// What a member of a job without MPI does while the loop runs, and how it comes back into one that goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "host/common_clock.hpp"
#include "host/process.hpp"
#include "job/joined_job.hpp"

namespace weir::job {

namespace {

constexpr auto history_limit = core::Duration::seconds(30);
/// The leader waits until all ranks have the address: a few of its looks, and theirs.
constexpr auto return_limit = core::Duration::seconds(30);
constexpr int clock_questions = 25;

}  // namespace

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
        numbers && numbers->size() == 2 ? number_in<std::uint32_t>((*numbers)[0]) : std::nullopt;
    const auto round = exchange ? number_in<std::uint32_t>((*numbers)[1]) : std::nullopt;
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
