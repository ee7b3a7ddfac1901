// A TCP connection between two processes of a job that starts without MPI: frames with a kind and a number in
// both directions. Nothing blocks. For one thread; only pulse() may be called by another one.
//
// Until trust() is called, a stranger may be at the other side: then no more than stranger_limit bytes are
// read in all, and no frame before the one in front of it was taken.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "transport/transport.hpp"

namespace weir::job {

// How a process joins a job that starts without MPI: how it describes itself, how both sides prove that they
// have the token, and what it receives.
//
//     newcomer  --hello(nonce)-->       rank 0
//     newcomer  <--challenge--          rank 0   a nonce
//     newcomer  --proof-->              rank 0   HMAC over hello and challenge with the token
//     newcomer  <--noted(proof)--       rank 0   the other side's
//     newcomer  <--welcome, ...--       rank 0
//
// The token is never sent. The newcomer proves first, so that a stranger gets nothing from rank 0 with which
// it could try tokens. What follows is neither encrypted nor signed: whoever can change packets on the way is
// not kept out.

/// Environment: the token; and, of a process that was given up, its rank.
inline constexpr const char* join_token_variable = "WEIR_JOIN_TOKEN";
inline constexpr const char* join_again_variable = "WEIR_JOIN_AGAIN";

/// Where the first rank listens.
struct JoinAddress {
    std::string host;
    std::string port;

    [[nodiscard]] std::string text() const { return host + ":" + port; }
};

/// What all processes of a job without MPI must have in common.
struct JoinTerms {
    JoinAddress address;
    std::string token;    ///< who cannot prove to have it is refused
    std::string version;  ///< of weir, with its commit, and the command
};

/// Options as on a command line: name and value.
using JoinOptions = std::vector<std::pair<std::string, std::string>>;

/// From a newcomer.
struct Hello {
    std::string nonce;  ///< bytes that were never used before
    std::string version = {};
    std::string host = {};
    std::int64_t pid = 0;
    std::string pids = {};  ///< RankLocation::pids()
    int rank = -1;          ///< as its launcher has numbered it; -1: any
    int ranks = -1;         ///< of its launcher; -1: there is none
    bool returns = false;   ///< was part of the run before
};

/// To a newcomer.
struct Welcome {
    int rank = 0;
    int ranks = 0;
    JoinOptions options;  ///< of the first rank
    /// The run goes on already: this process takes the place of one that was lost so often.
    std::optional<std::uint32_t> life = {};
};

/// A process that has come back.
struct ReturnedPeer {
    int rank = -1;
    std::string host = {};
    std::int64_t pid = 0;
    std::string pids = {};  ///< RankLocation::pids()
    transport::PeerAddress address = {};
};

std::string encode(const Hello& hello);
std::string encode(const Welcome& welcome);
// Nothing: what came is none.
std::optional<Hello> decode_hello(std::string_view text);
std::optional<Welcome> decode_welcome(std::string_view text);
std::string encode(const ReturnedPeer& peer);
std::optional<ReturnedPeer> decode_returned_peer(std::string_view text);

constexpr std::size_t nonce_bytes = 32;
/// Bytes that cannot be guessed, from the kernel. Throws std::system_error.
std::string new_nonce();

enum class JoinSide : std::uint8_t { newcomer, leader };
/// What only a process that has the token can compute from the two texts as they were sent.
std::string join_proof(std::string_view token, JoinSide side, std::string_view hello,
                       std::string_view challenge);
/// In a time that depends on their lengths only.
bool same_proof(std::string_view a, std::string_view b);

/// A text of the other side as it may be shown: cut, and without control characters for a terminal.
std::string shown(std::string_view text);

enum class FrameKind : std::uint16_t {
    hello = 1,  ///< newcomer to leader: who it is
    challenge,  ///< leader to newcomer: a nonce
    proof,      ///< newcomer to leader: it has the token
    noted,      ///< leader to newcomer: it has the token, too, and there may be a place soon
    welcome,    ///< leader to newcomer: its rank and the options
    refusal,    ///< leader to newcomer: a text
    texts,      ///< of an exchange; numbered
    round,      ///< of a round; numbered
    clock_question,
    clock_reading,
    notice,     ///< to the leader
    roll_call,  ///< leader to all
    roll_answer,
    history,    ///< leader to a returning process: what was exchanged before the loop
    address,    ///< returning process to leader, and leader to all: how it is reached
    known,      ///< to the leader: the address is known here; numbered by rank
    go,         ///< leader to all: all ranks are there; to a returning process: they have its address
    taken_out,  ///< leader to a rank that it has given up
    leave,      ///< leader to all: with the exit status
    aborting,   ///< to the leader: a library ends this process, maybe because it has lost another one
    pulse,      ///< a sign of life, outside the loop
};

struct Frame {
    FrameKind kind = FrameKind::hello;
    std::uint32_t number = 0;
    std::string bytes;
};

class JoinConnection {
  public:
    static constexpr std::size_t stranger_limit = std::size_t{4} << 10U;
    static constexpr std::size_t frame_limit = std::size_t{1} << 30U;

    /// Takes over the socket.
    explicit JoinConnection(int socket);
    JoinConnection(const JoinConnection&) = delete;
    JoinConnection& operator=(const JoinConnection&) = delete;
    ~JoinConnection();

    /// The other side has proven that it belongs to this job.
    void trust() { trusted_ = true; }
    /// The other side is not trusted, and has sent a frame that was not taken, or all that a stranger may.
    [[nodiscard]] bool strange() const {
        return !trusted_ && (!frames_.empty() || received_ >= stranger_limit);
    }

    /// What does not leave at once leaves with later calls of pump().
    void send(FrameKind kind, std::string_view bytes, std::uint32_t number = 0);
    void send(FrameKind kind, std::span<const std::byte> bytes, std::uint32_t number = 0) {
        send(kind, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), number);
    }
    /// A frame without content, as bytes for a signal handler.
    [[nodiscard]] static std::string bytes_of(FrameKind kind);
    /// A sign of life, for any thread: no more than one waits to leave.
    void pulse();
    /// The other side is to give signs of life from now on.
    void expect_pulses(std::int64_t now_ns) { heard_ns_ = now_ns; }
    /// Since when nothing has come; nothing: no signs of life were ever expected.
    [[nodiscard]] std::optional<std::int64_t> silent_since_ns() const { return heard_ns_; }
    /// Moves what can be moved in both directions now; of what has come no more than some mebibytes.
    void pump();
    /// Nothing more will be sent: the other side gets the end after all that was sent. When flushed().
    void finish_sending() const;
    /// Nothing more comes, and nothing can be sent.
    [[nodiscard]] bool closed() const { return closed_; }
    /// Why; empty: the other side has ended.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    /// All that was sent has left this process.
    [[nodiscard]] bool flushed() const;

    [[nodiscard]] bool has(FrameKind kind) const;
    /// The oldest frame of this kind that came, if there is one.
    std::optional<Frame> take(FrameKind kind);

    [[nodiscard]] int descriptor() const { return socket_; }

  private:
    void close(std::string reason);
    void read();
    /// With mutex_ held.
    void write();
    /// Makes frames of what has come. Closes if it is none.
    void split();

    int socket_;
    bool trusted_ = false;
    std::size_t received_ = 0;  ///< until trusted
    std::atomic<bool> closed_ = false;
    std::optional<std::int64_t> heard_ns_;  ///< since expect_pulses()
    std::string reason_;
    std::string incoming_;
    mutable std::mutex mutex_;  ///< of outgoing_, and of sending
    std::string outgoing_;
    std::deque<Frame> frames_;
};

/// Several texts as one, and back; nothing: it is not such a text.
std::string pack_texts(std::span<const std::string> texts);
std::optional<std::vector<std::string>> unpack_texts(std::string_view packed);

/// Signs of life while ranks wait for each other outside the loop: a thread sends them, so that a rank that
/// allocates memory or waits for a file system is told from one that stands still.
class JoinPulse {
  public:
    /// One to each connection in every `period`, until this object is destroyed.
    JoinPulse(core::Duration period, std::vector<std::weak_ptr<JoinConnection>> connections)
        : period_(period), connections_(std::move(connections)), thread_([this] { beat(); }) {}
    JoinPulse(const JoinPulse&) = delete;
    JoinPulse& operator=(const JoinPulse&) = delete;
    ~JoinPulse() {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        ended_.notify_one();
        thread_.join();
    }

  private:
    void beat() {
        std::unique_lock lock(mutex_);
        do {
            for (const std::weak_ptr<JoinConnection>& one : connections_) {
                if (const auto connection = one.lock()) {
                    connection->pulse();
                }
            }
        } while (!ended_.wait_for(lock, std::chrono::nanoseconds(period_.ns), [this] { return ending_; }));
    }

    core::Duration period_;
    std::vector<std::weak_ptr<JoinConnection>> connections_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ending_ = false;
    std::thread thread_;
};

// TCP sockets that do not block.

/// A socket that listens at the port of the address, on all interfaces if the host is this one's name. Throws
/// JobError.
int listen_at(const JoinAddress& address);
/// "127.0.1.1" where the name stands for nothing that other hosts could come to: an address of the loopback,
/// or 0.0.0.0. Empty: it stands for something else, too, or for nothing.
std::string address_of_this_host_alone(const JoinAddress& address);
/// The next connection; -1: there is none now.
int accept_one(int listening);
/// A connection. Throws JobError if there is no such host; -1: it cannot be had now, and `why` explains;
/// `refused`: no process listens there.
int connect_to(const JoinAddress& address, core::Duration limit, std::string& why, bool& refused);

}  // namespace weir::job
