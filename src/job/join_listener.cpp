#include "job/join_listener.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <climits>

namespace weir::job {

namespace {

/// A newcomer sends its hello at once, and its proof when it is asked for it.
constexpr auto stranger_patience = core::Duration::seconds(10);
/// The same when others wait for their connection, before and after its hello.
constexpr auto crowded_patience = core::Duration::milliseconds(100);
constexpr auto crowded_patience_after_hello = core::Duration::seconds(1);
/// For the text of a refusal to be read: a connection that is closed before may lose it.
constexpr auto refusal_patience = core::Duration::seconds(1);
/// Most connections that are taken at one look.
constexpr int accepted_max = 64;

int descriptors_of_process() {
    rlimit limit{};
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX
               ? INT_MAX
               : static_cast<int>(limit.rlim_cur);
}

}  // namespace

JoinListener::JoinListener(const JoinAddress& address, std::string token)
    : token_(std::move(token)), socket_(listen_at(address)), descriptors_(descriptors_of_process()) {}

JoinListener::~JoinListener() {
    ::close(socket_);
}

void JoinListener::look(std::int64_t now_ns) {
    accept_strangers(now_ns);
    for (Stranger& stranger : strangers_) {
        step(stranger, now_ns);
    }
    std::erase_if(strangers_, [](const Stranger& stranger) { return stranger.connection == nullptr; });
    part_with_refused(now_ns);
}

std::optional<JoinListener::Newcomer> JoinListener::next() {
    if (newcomers_.empty()) {
        return std::nullopt;
    }
    Newcomer newcomer = std::move(newcomers_.front());
    newcomers_.pop_front();
    return newcomer;
}

void JoinListener::accept_strangers(std::int64_t now_ns) {
    for (int accepted = 0; accepted < accepted_max; ++accepted) {
        // Each may become a refused one.
        if (strangers_.size() + refused_.size() >= strangers_max) {
            const auto slow =
                std::find_if(strangers_.begin(), strangers_.end(), [now_ns](const Stranger& one) {
                    const auto patience = one.hello.empty() ? crowded_patience : crowded_patience_after_hello;
                    return now_ns - one.since_ns > patience.ns;
                });
            if (slow == strangers_.end()) {
                return;  // the next ones wait in the kernel
            }
            strangers_.erase(slow);
        }
        const int socket = accept_one(socket_);
        if (socket < 0) {
            return;
        }
        // The kernel gives the lowest number that is free: so few are left.
        if (socket >= descriptors_ - kept_descriptors) {
            ::close(socket);
            return;
        }
        take_over(socket, now_ns);
    }
}

void JoinListener::take_over(int socket, std::int64_t now_ns) {
    strangers_.push_back({std::make_unique<JoinConnection>(socket), now_ns});
}

void JoinListener::step(Stranger& stranger, std::int64_t now_ns) {
    JoinConnection& connection = *stranger.connection;
    connection.pump();
    if (auto hello = stranger.hello.empty() ? connection.take(FrameKind::hello) : std::nullopt) {
        challenge(stranger, std::move(hello->bytes), now_ns);
    } else if (const auto proof = stranger.hello.empty() ? std::nullopt : connection.take(FrameKind::proof)) {
        check(stranger, proof->bytes, now_ns);
    } else if (connection.closed() || connection.strange() ||
               now_ns - stranger.since_ns > stranger_patience.ns) {
        stranger.connection.reset();
    }
}

void JoinListener::challenge(Stranger& stranger, std::string hello, std::int64_t now_ns) {
    if (!decode_hello(hello)) {
        refuse(std::move(stranger.connection), "no greeting of weir", now_ns);
        return;
    }
    stranger.hello = std::move(hello);
    stranger.challenge = new_nonce();
    stranger.connection->send(FrameKind::challenge, stranger.challenge);
}

void JoinListener::check(Stranger& stranger, std::string_view proof, std::int64_t now_ns) {
    const auto proof_of = [&](JoinSide side) {
        return join_proof(token_, side, stranger.hello, stranger.challenge);
    };
    if (!same_proof(proof, proof_of(JoinSide::newcomer))) {
        refuse(std::move(stranger.connection),
               "the token is not that of rank 0: give both the same WEIR_JOIN_TOKEN or --join-token", now_ns);
        return;
    }
    stranger.connection->trust();
    stranger.connection->send(FrameKind::noted, proof_of(JoinSide::leader));
    newcomers_.push_back({std::move(stranger.connection), decode_hello(stranger.hello).value(), now_ns});
}

void JoinListener::refuse(std::unique_ptr<JoinConnection> connection, std::string_view why,
                          std::int64_t now_ns) {
    connection->send(FrameKind::refusal, why);
    refused_.push_back({.connection = std::move(connection), .until_ns = now_ns + refusal_patience.ns});
}

void JoinListener::part_with_refused(std::int64_t now_ns) {
    for (Refused& refused : refused_) {
        refused.connection->pump();
        if (!refused.finished && refused.connection->flushed()) {
            refused.finished = true;
            refused.connection->finish_sending();
        }
    }
    std::erase_if(refused_, [now_ns](const Refused& refused) {
        return refused.connection->closed() || now_ns > refused.until_ns;
    });
}

}  // namespace weir::job
