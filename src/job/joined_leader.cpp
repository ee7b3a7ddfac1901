#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "core/assertion.hpp"
#include "core/messages.hpp"
#include "files/formatting.hpp"
#include "host/common_clock.hpp"
#include "job/joined_job.hpp"

namespace weir::job {

namespace {

/// Between two looks for processes that want to join: they must not take time from the run.
constexpr auto greeting_period = core::Duration::milliseconds(5);
/// How long a newcomer waits for the loss of the process whose place it is to take.
constexpr auto place_patience = core::Duration::seconds(20);
/// How long another rank's loss is looked for when a library has ended a process: UCX does that where a peer
/// is lost.
constexpr auto cause_patience = core::Duration::milliseconds(300);
constexpr auto flush_limit = core::Duration::milliseconds(500);
constexpr auto between_pumps = std::chrono::microseconds(500);

}  // namespace

std::string gone_text(int rank, const std::string& reason) {
    return fmt::format("rank {} has closed its connection{}", rank, reason.empty() ? "" : ": " + reason);
}

std::optional<std::string> JoinedJob::take_numbered(JoinConnection& from, int rank, FrameKind kind,
                                                    const char* what) const {
    auto frame = from.take(kind);
    if (!frame) {
        return std::nullopt;
    }
    const bool of_exchange = kind == FrameKind::texts;
    if (frame->number != (of_exchange ? exchange_ : round_)) {
        throw JobError(
            fmt::format("rank {} is in another {}: {}", rank, of_exchange ? "exchange" : "round", what));
    }
    return std::move(frame->bytes);
}

bool JoinedJob::take_block(JoinConnection& from, int rank, Block kind, std::span<std::byte> bytes,
                           const char* what) {
    from.pump();
    const auto frame = from.take(frame_of(kind));
    if (!frame) {
        return false;
    }
    if (frame->bytes.size() != bytes.size()) {
        throw JobError(fmt::format("rank {} sent {} bytes: {}", rank, frame->bytes.size(), what));
    }
    std::memcpy(bytes.data(), frame->bytes.data(), bytes.size());
    return true;
}

std::span<const std::byte> JoinedJob::keep_round(std::string_view all) {
    const auto bytes = std::as_bytes(std::span(all));
    round_all_.assign(bytes.begin(), bytes.end());
    return round_all_;
}

JoinLeader::JoinLeader(JoinTerms terms, int ranks, JoinOptions options)
    : JoinedJob(std::move(terms), std::move(options)),
      listener_(terms_.address, terms_.token),
      connections_(static_cast<std::size_t>(ranks)),
      hosts_(static_cast<std::size_t>(ranks)),
      gone_(static_cast<std::size_t>(ranks)),
      aborted_ns_(static_cast<std::size_t>(ranks)),
      lives_(static_cast<std::size_t>(ranks)) {
    rank_ = 0;
    size_ = ranks;
}

JoinLeader::~JoinLeader() {
    const std::int64_t deadline_ns = host::monotonic_ns() + flush_limit.ns;
    const auto flushed = [this] {
        return std::all_of(connections_.begin(), connections_.end(),
                           [](const auto& one) { return one == nullptr || one->flushed(); });
    };
    while (!flushed() && host::monotonic_ns() < deadline_ns) {
        pump();
        std::this_thread::sleep_for(between_pumps);
    }
}

void JoinLeader::wait_for_ranks(core::Duration limit,
                                const std::function<void(const std::string& line)>& report) {
    constexpr auto first_line = core::Duration::seconds(3);
    constexpr auto next_lines = core::Duration::seconds(10);
    const std::int64_t began_ns = host::monotonic_ns();
    std::int64_t next_ns = began_ns + first_line.ns;
    while (missing() > 0) {
        call_waiting_hook();
        next_greeting_ns_ = 0;
        greet_newcomers();
        const std::int64_t now_ns = host::monotonic_ns();
        if (now_ns - began_ns > limit.ns) {
            throw JobError(fmt::format("--join: {} of {} ranks have not come to {} within {}", missing(),
                                       size_, terms_.address.text(), files::readable(limit)));
        }
        if (now_ns >= next_ns) {
            next_ns = now_ns + next_lines.ns;
            report(fmt::format("waiting at {} for {} of {} ranks", terms_.address.text(), missing(), size_));
        }
        std::this_thread::sleep_for(between_pumps);
    }
    listener_.close_strangers();
    send_to_all(FrameKind::go, {}, 0);
}

int JoinLeader::missing() const {
    return static_cast<int>(std::count(connections_.begin() + 1, connections_.end(), nullptr));
}

void JoinLeader::greet_newcomers() {
    const std::int64_t now_ns = host::monotonic_ns();
    if (now_ns < next_greeting_ns_) {
        return;
    }
    next_greeting_ns_ = now_ns + greeting_period.ns;
    listener_.look(now_ns);
    while (auto newcomer = listener_.next()) {
        if (const std::string refusal = refusal_of(newcomer->hello); !refusal.empty()) {
            listener_.refuse(std::move(newcomer->connection), refusal, now_ns);
        } else {
            newcomers_.push_back(std::move(*newcomer));
        }
    }
    for (Newcomer& newcomer : newcomers_) {
        newcomer.connection->pump();
        if (newcomer.connection->closed()) {
            newcomer.connection.reset();
            continue;
        }
        // During the run, the loss of a rank may be found in a moment.
        const bool waits = !outlived_.empty() && now_ns - newcomer.since_ns <= place_patience.ns;
        if (place_newcomer(newcomer) || waits) {
            continue;
        }
        const int rank = newcomer.hello.rank;
        listener_.refuse(std::move(newcomer.connection),
                         rank >= 0 ? fmt::format("there is a rank {} already, or none is expected", rank)
                                   : fmt::format("all {} ranks are there", size_),
                         now_ns);
    }
    std::erase_if(newcomers_, [](const Newcomer& newcomer) { return newcomer.connection == nullptr; });
}

std::string JoinLeader::refusal_of(const Hello& hello) const {
    if (hello.version != terms_.version) {
        return fmt::format(
            "rank 0 runs weir {}, and this one is weir {}: start the same command of the same build on all "
            "hosts",
            terms_.version, shown(hello.version));
    }
    if (hello.ranks >= 0 && hello.ranks != size_) {
        return fmt::format("its launcher has started {} ranks, and rank 0 waits for {}", hello.ranks, size_);
    }
    return {};
}

int JoinLeader::lost_place(const Hello& hello) const {
    const auto is_free = [this](int rank) {
        return rank > 0 && rank < size_ && outlived_[static_cast<std::size_t>(rank)] &&
               connections_[static_cast<std::size_t>(rank)] == nullptr &&
               std::none_of(
                   returning_.begin(), returning_.end(),
                   [rank](const Returning& one) { return one.rank == rank; });
    };
    if (hello.rank >= 0) {
        return is_free(hello.rank) ? hello.rank : -1;
    }
    int free = -1;
    for (int rank = size_ - 1; rank > 0; --rank) {
        const bool was_here = hosts_[static_cast<std::size_t>(rank)] == hello.host;
        if (is_free(rank) && (free < 0 || was_here || hosts_[static_cast<std::size_t>(free)] != hello.host)) {
            free = rank;
        }
    }
    return free;
}

bool JoinLeader::place_newcomer(Newcomer& newcomer) {
    const Hello& hello = newcomer.hello;
    int rank = -1;
    Welcome welcome{.ranks = size_, .options = options_};
    if (!outlived_.empty()) {
        rank = lost_place(hello);
        welcome.life = rank >= 0 ? std::optional(lives_[static_cast<std::size_t>(rank)]) : std::nullopt;
    } else if (hello.rank >= 0) {
        rank = hello.rank < size_ && !is_present(hello.rank) ? hello.rank : -1;
    } else if (missing() > 0) {
        rank = static_cast<int>(std::find(connections_.begin() + 1, connections_.end(), nullptr) -
                                connections_.begin());
    }
    if (rank < 0) {
        return false;
    }
    welcome.rank = rank;
    newcomer.connection->send(FrameKind::welcome, encode(welcome));
    hosts_[static_cast<std::size_t>(rank)] = hello.host;
    if (!welcome.life) {
        connections_[static_cast<std::size_t>(rank)] = std::move(newcomer.connection);
        return true;
    }
    std::vector<std::string> history;
    for (const Exchanged& exchanged : history_) {
        history.push_back(exchanged.what);
        history.push_back(exchanged.text);
    }
    newcomer.connection->send(FrameKind::history, pack_texts(history));
    returning_.push_back({.connection = std::move(newcomer.connection), .rank = rank});
    return true;
}

void JoinLeader::pump() {
    polled_.clear();
    for (const std::shared_ptr<JoinConnection>& connection : connections_) {
        if (connection != nullptr && !connection->closed()) {
            const short events = connection->flushed() ? POLLIN : POLLIN | POLLOUT;
            polled_.push_back({.fd = connection->descriptor(), .events = events, .revents = 0});
        }
    }
    if (polled_.empty() || poll(polled_.data(), polled_.size(), 0) <= 0) {
        return;
    }
    auto next = polled_.begin();
    for (const std::shared_ptr<JoinConnection>& connection : connections_) {
        if (connection != nullptr && !connection->closed() && (next++)->revents != 0) {
            connection->pump();
        }
    }
}

void JoinLeader::check_notices(const char* what) {
    pump();
    for (int rank = 1; rank < size_; ++rank) {
        if (!is_present(rank)) {
            continue;
        }
        JoinConnection& member = connection(rank);
        if (const auto frame = member.take(FrameKind::notice)) {
            Notice notice;
            if (frame->bytes.size() != sizeof notice) {
                throw ExchangeTimeout("received a notice of " + std::to_string(frame->bytes.size()) +
                                      " bytes");
            }
            std::memcpy(&notice, frame->bytes.data(), sizeof notice);
            throw_notice(notice, rank, what);
        }
        static_cast<void>(has_ended(rank));
    }
    check_silence(what);
}

void JoinLeader::set_silence_limit(core::Duration limit) {
    silence_limit_ = limit;
    pulse_.reset();
    if (limit <= core::Duration{}) {
        return;
    }
    std::vector<std::weak_ptr<JoinConnection>> members;
    for (const std::shared_ptr<JoinConnection>& member : connections_) {
        if (member != nullptr) {
            member->expect_pulses(host::monotonic_ns());
            members.push_back(member);
        }
    }
    pulse_ = std::make_unique<JoinPulse>(core::heartbeat_periods(size_, limit).leader, std::move(members));
}

void JoinLeader::check_silence(const char* what) {
    if (silence_limit_ <= core::Duration{}) {
        return;
    }
    const std::int64_t now_ns = host::monotonic_ns();
    const auto is_silent = [&](int rank, std::int64_t limit_ns) {
        return is_present(rank) && now_ns - connection(rank).silent_since_ns().value_or(now_ns) > limit_ns;
    };
    bool ends = false;
    for (int rank = 1; rank < size_; ++rank) {
        if (!is_silent(rank, silence_limit_.ns)) {
            continue;
        }
        if (!outlived_.empty() && outlived_[static_cast<std::size_t>(rank)]) {
            connections_[static_cast<std::size_t>(rank)].reset();
        } else {
            ends = true;
        }
    }
    if (!ends) {
        return;
    }
    // Where a link or a switch has failed, others fall silent at almost the same time.
    std::vector<int> silent;
    for (int rank = 1; rank < size_; ++rank) {
        if (is_silent(rank, silence_limit_.ns / 2)) {
            silent.push_back(rank);
        }
    }
    std::stable_partition(silent.begin(), silent.end(),
                          [&](int rank) { return is_silent(rank, silence_limit_.ns); });
    throw_silent(std::move(silent), silence_limit_, what);
}

bool JoinLeader::may_have_a_cause(int rank) {
    std::int64_t& aborted_ns = aborted_ns_[static_cast<std::size_t>(rank)];
    const std::int64_t now_ns = host::monotonic_ns();
    if (connection(rank).take(FrameKind::aborting)) {
        aborted_ns = now_ns;
    }
    return aborted_ns != 0 && now_ns - aborted_ns < cause_patience.ns;
}

bool JoinLeader::has_ended(int rank) {
    std::shared_ptr<JoinConnection>& member = connections_[static_cast<std::size_t>(rank)];
    if (!member->closed() || may_have_a_cause(rank)) {
        return false;
    }
    if (outlived_.empty() || !outlived_[static_cast<std::size_t>(rank)]) {
        const std::string last_words = last_words_of(rank);
        throw RankGone(rank, gone_text(rank, last_words.empty() ? member->reason() : last_words));
    }
    member.reset();
    return true;
}

void JoinLeader::send_to_all(FrameKind kind, std::string_view bytes, std::uint32_t number) {
    for (int rank = 1; rank < size_; ++rank) {
        if (is_present(rank)) {
            connection(rank).send(kind, bytes, number);
        }
    }
}

std::optional<std::string> JoinLeader::receive_texts(int rank, const char* what, Waiting& waiting) {
    while (is_present(rank)) {
        JoinConnection& member = connection(rank);
        member.pump();
        if (auto text = take_numbered(member, rank, FrameKind::texts, what)) {
            return text;
        }
        if (has_ended(rank)) {
            break;
        }
        pump();
        waiting.nap();
    }
    return std::nullopt;
}

std::vector<std::string> JoinLeader::share(const std::string& text, const char* what) {
    ++exchange_;
    Waiting waiting(*this, exchange_limit(), what);
    std::vector<std::string> texts(static_cast<std::size_t>(size_));
    texts[0] = text;
    for (int rank = 1; rank < size_; ++rank) {
        texts[static_cast<std::size_t>(rank)] = receive_texts(rank, what, waiting).value_or("");
    }
    const std::string packed = pack_texts(texts);
    send_to_all(FrameKind::texts, packed, exchange_);
    if (outlived_.empty()) {
        history_.push_back({what, packed});
    }
    return texts;
}

void JoinLeader::gather(std::span<const std::byte> bytes, int root, const char* what,
                        const std::function<void(int rank, std::span<const std::byte>)>& receive) {
    WEIR_ASSERT(root == 0);
    ++exchange_;
    Waiting waiting(*this, exchange_limit(), what);
    receive(0, bytes);
    for (int rank = 1; rank < size_; ++rank) {
        if (const auto block = receive_texts(rank, what, waiting)) {
            receive(rank, std::as_bytes(std::span(*block)));
        }
    }
}

std::string JoinLeader::broadcast(const std::string& text, int root, const char* what) {
    WEIR_ASSERT(root == 0);
    ++exchange_;
    send_to_all(FrameKind::texts, text, exchange_);
    if (outlived_.empty()) {
        history_.push_back({what, text});
    }
    return text;
}

void JoinLeader::begin_round(std::span<const std::byte> mine, const char* /*what*/) {
    ++round_;
    round_parts_.assign(static_cast<std::size_t>(size_), std::nullopt);
    round_parts_[0].emplace(reinterpret_cast<const char*>(mine.data()), mine.size());
}

std::optional<std::span<const std::byte>> JoinLeader::end_round(const char* what) {
    std::string all;
    for (int rank = 0; rank < size_; ++rank) {
        std::optional<std::string>& part = round_parts_[static_cast<std::size_t>(rank)];
        if (!part && !is_present(rank)) {
            part = std::string(round_parts_[0]->size(), '\0');
        }
        if (!part) {
            JoinConnection& member = connection(rank);
            member.pump();
            part = take_numbered(member, rank, FrameKind::round, what);
            if (!part) {
                static_cast<void>(has_ended(rank));
                return std::nullopt;
            }
            if (part->size() != round_parts_[0]->size()) {
                throw JobError(fmt::format("rank {} is in another round: {}", rank, what));
            }
        }
        all += *part;
    }
    send_to_all(FrameKind::round, all, round_);
    return keep_round(all);
}

void JoinLeader::send_block(int to, Block kind, std::span<const std::byte> bytes, const char* /*what*/) {
    if (!is_present(to)) {
        throw RankGone(to, gone_text(to, {}));
    }
    connection(to).send(frame_of(kind), bytes);
}

void JoinLeader::receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                               const char* what) {
    Waiting waiting(*this, limit, what);
    while (true) {
        if (!is_present(from)) {
            throw RankGone(from, gone_text(from, {}));
        }
        if (take_block(connection(from), from, kind, bytes, what)) {
            return;
        }
        static_cast<void>(has_ended(from));
        waiting.check();
        std::this_thread::yield();
    }
}

void JoinLeader::send_notice(const Notice& /*notice*/, core::Duration /*limit*/) {}  // it would get it itself

Job::Roll JoinLeader::call_roll(core::Duration limit, const std::function<bool()>& stop) {
    const std::int64_t deadline_ns = host::monotonic_ns() + limit.ns;
    Roll roll;
    send_to_all(FrameKind::roll_call, {}, 0);
    for (int rank = 1; rank < size_; ++rank) {
        if (is_present(rank)) {
            roll.missing.push_back(rank);
        }
    }
    while (!roll.missing.empty() && host::monotonic_ns() < deadline_ns && !stop()) {
        pump();
        std::erase_if(roll.missing,
                      [this](int rank) { return connection(rank).take(FrameKind::roll_answer).has_value(); });
        std::this_thread::sleep_for(between_pumps);
    }
    return roll;
}

void JoinLeader::end_others(int status) {
    for (const std::shared_ptr<JoinConnection>& connection : connections_) {
        if (connection != nullptr) {
            connection->send(FrameKind::leave, std::to_string(status));
        }
    }
    const std::int64_t deadline_ns = host::monotonic_ns() + flush_limit.ns;
    while (host::monotonic_ns() < deadline_ns &&
           std::any_of(connections_.begin(), connections_.end(),
                       [](const auto& one) { return one != nullptr && !one->flushed(); })) {
        pump();
        std::this_thread::sleep_for(between_pumps);
    }
}

}  // namespace weir::job
