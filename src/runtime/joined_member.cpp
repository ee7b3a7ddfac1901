#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "core/assertion.hpp"
#include "runtime/common_clock.hpp"
#include "runtime/join_socket.hpp"
#include "runtime/joined_job.hpp"
#include "runtime/signals.hpp"

namespace weir::runtime {

namespace {

constexpr auto between_attempts = std::chrono::milliseconds(50);
constexpr auto attempt_limit = core::Duration::seconds(2);
constexpr auto short_nap = std::chrono::microseconds(500);

[[noreturn]] void throw_leader_gone(const JoinConnection& connection) {
    throw RankGone(0, fmt::format("rank 0 has closed its connection{}",
                                  connection.reason().empty() ? "" : ": " + connection.reason()));
}

}  // namespace

JoinMember::JoinMember(const JoinTerms& terms, Hello hello, core::Duration limit) {
    const std::int64_t deadline_ns = monotonic_ns() + limit.ns;
    std::string why;
    int socket = -1;
    while ((socket = connect_to(terms.address, attempt_limit, why)) < 0) {
        if (monotonic_ns() > deadline_ns) {
            throw JobError(
                fmt::format("--join: {} cannot be reached: {}; is rank 0 there?", terms.address.text(), why));
        }
        std::this_thread::sleep_for(between_attempts);
    }
    leader_connection_ = std::make_unique<JoinConnection>(socket);
    leader_connection_->trust();
    hello.token = terms.token;
    hello.version = terms.version;
    leader_connection_->send(FrameKind::hello, encode(hello));
    receive_welcome(terms, deadline_ns);
}

void JoinMember::receive_welcome(const JoinTerms& terms, std::int64_t deadline_ns) {
    while (true) {
        leader_connection_->pump();
        if (const auto frame = leader_connection_->take(FrameKind::welcome)) {
            auto welcome = decode_welcome(frame->bytes);
            if (!welcome || welcome->rank < 1 || welcome->rank >= welcome->ranks) {
                throw JobError(fmt::format("--join: {} does not answer like weir", terms.address.text()));
            }
            rank_ = welcome->rank;
            size_ = welcome->ranks;
            options_ = std::move(welcome->options);
            return;
        }
        if (const auto frame = leader_connection_->take(FrameKind::refusal)) {
            throw JobError(fmt::format("--join: refused by {}: {}", terms.address.text(), frame->bytes));
        }
        if (leader_connection_->closed() || monotonic_ns() > deadline_ns) {
            throw JobError(
                fmt::format("--join: {} {}", terms.address.text(),
                            leader_connection_->closed() ? "has closed the connection" : "does not answer"));
        }
        std::this_thread::sleep_for(short_nap);
    }
}

void JoinMember::check_notices(const char* what) {
    leader_connection_->pump();
    if (const auto frame = leader_connection_->take(FrameKind::leave)) {
        int status = 1;
        std::from_chars(frame->bytes.data(), frame->bytes.data() + frame->bytes.size(), status);
        leave(status);
    }
    if (leader_connection_->has(FrameKind::roll_call)) {
        throw ExchangeTimeout(std::string("was called to the roll: ") + what);
    }
}

std::string JoinMember::receive_texts(const char* what) {
    Waiting waiting(*this, exchange_limit(), what);
    while (true) {
        leader_connection_->pump();
        if (auto frame = leader_connection_->take(FrameKind::texts)) {
            if (frame->number != exchange_) {
                throw JobError(fmt::format("rank 0 is in another exchange: {}", what));
            }
            return std::move(frame->bytes);
        }
        if (leader_connection_->closed()) {
            check_notices(what);
            throw_leader_gone(*leader_connection_);
        }
        waiting.nap();
    }
}

std::vector<std::string> JoinMember::share(const std::string& text, const char* what) {
    leader_connection_->send(FrameKind::texts, text, ++exchange_);
    auto texts = unpack_texts(receive_texts(what));
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
    ++exchange_;
    return receive_texts(what);
}

void JoinMember::barrier(const char* what) {
    static_cast<void>(share({}, what));
}

void JoinMember::begin_round(std::span<const std::byte> mine, const char* /*what*/) {
    leader_connection_->send(FrameKind::round, mine, ++round_);
}

std::optional<std::span<const std::byte>> JoinMember::end_round(const char* what) {
    leader_connection_->pump();
    const auto frame = leader_connection_->take(FrameKind::round);
    if (!frame) {
        if (leader_connection_->closed()) {
            check_notices(what);
            throw_leader_gone(*leader_connection_);
        }
        return std::nullopt;
    }
    if (frame->number != round_) {
        throw JobError(fmt::format("rank 0 is in another round: {}", what));
    }
    const auto bytes = std::as_bytes(std::span(frame->bytes));
    round_all_.assign(bytes.begin(), bytes.end());
    return round_all_;
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
        leader_connection_->pump();
        if (const auto frame = leader_connection_->take(frame_of(kind))) {
            if (frame->bytes.size() != bytes.size()) {
                throw JobError(fmt::format("rank 0 sent {} bytes: {}", frame->bytes.size(), what));
            }
            std::memcpy(bytes.data(), frame->bytes.data(), bytes.size());
            return;
        }
        if (leader_connection_->closed()) {
            check_notices(what);
            throw_leader_gone(*leader_connection_);
        }
        // Clocks are compared here: the answer must not wait for a nap.
        waiting.check();
        std::this_thread::yield();
    }
}

void JoinMember::send_notice(const Notice& notice, core::Duration limit) {
    leader_connection_->send(FrameKind::notice, std::as_bytes(std::span(&notice, 1)));
    const std::int64_t deadline_ns = monotonic_ns() + limit.ns;
    while (!leader_connection_->closed() && monotonic_ns() < deadline_ns) {
        leader_connection_->pump();
        if (leader_connection_->has(FrameKind::leave)) {
            check_notices("notice");
        }
        std::this_thread::sleep_for(short_nap);
    }
}

Job::Roll JoinMember::call_roll(core::Duration limit, const std::function<bool()>& stop) {
    const std::int64_t deadline_ns = monotonic_ns() + limit.ns;
    const Notice notice = make_notice(Notice::Kind::exchange_timeout, rank_, 0, {});
    leader_connection_->send(FrameKind::notice, std::as_bytes(std::span(&notice, 1)));
    Roll roll{.leader_answers = false, .missing = {}};
    while (!roll.leader_answers && !leader_connection_->closed() && monotonic_ns() < deadline_ns && !stop()) {
        leader_connection_->pump();
        roll.leader_answers = leader_connection_->take(FrameKind::roll_call).has_value();
        std::this_thread::sleep_for(short_nap);
    }
    leader_connection_->send(FrameKind::roll_answer, std::string_view{});
    return roll;
}

}  // namespace weir::runtime
