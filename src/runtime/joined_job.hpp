// A job that starts without MPI (--join): rank 0 listens at an address, the other processes connect to it,
// and all exchanges go through rank 0, which is the leader. TCP carries nothing that is measured.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/job.hpp"
#include "runtime/join_connection.hpp"
#include "runtime/join_protocol.hpp"

namespace weir::runtime {

[[nodiscard]] inline FrameKind frame_of(Job::Block kind) {
    return kind == Job::Block::clock_question ? FrameKind::clock_question : FrameKind::clock_reading;
}

/// Rank 0.
class JoinLeader final : public Job {
  public:
    /// Listens. `ranks` with this one. Throws JobError.
    JoinLeader(JoinTerms terms, int ranks, JoinOptions options);
    JoinLeader(const JoinLeader&) = delete;
    JoinLeader& operator=(const JoinLeader&) = delete;
    ~JoinLeader() override;

    /// Until all ranks are there. `report` gets a line now and then. Throws JobError.
    void wait_for_ranks(core::Duration limit, const std::function<void(const std::string& line)>& report);

    [[nodiscard]] std::string library() const override { return "none: --join"; }
    std::vector<std::string> share(const std::string& text, const char* what) override;
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& receive) override;
    std::string broadcast(const std::string& text, int root, const char* what) override;
    void barrier(const char* what) override;
    void begin_round(std::span<const std::byte> mine, const char* what) override;
    std::optional<std::span<const std::byte>> end_round(const char* what) override;
    void send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) override;
    void receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                       const char* what) override;
    void send_notice(const Notice& notice, core::Duration limit) override;
    Roll call_roll(core::Duration limit, const std::function<bool()>& stop) override;

  private:
    struct Newcomer {
        std::unique_ptr<JoinConnection> connection;
        std::int64_t since_ns = 0;
    };

    void end_others(int status) override;
    void check_notices(const char* what) override;
    /// Everything that can be moved now.
    void pump();
    void accept_newcomers();
    void greet_newcomers();
    /// Why not; empty: it has its place.
    std::string place_newcomer(Newcomer& newcomer, const Hello& hello);
    [[nodiscard]] int missing() const;
    [[nodiscard]] JoinConnection& connection(int rank) {
        return *connections_[static_cast<std::size_t>(rank)];
    }
    void send_to_all(FrameKind kind, std::string_view bytes, std::uint32_t number);
    /// Waits for the frame of this exchange from a rank.
    std::string receive_texts(int rank, const char* what, Waiting& waiting);

    JoinTerms terms_;
    JoinOptions options_;
    int socket_ = -1;
    std::vector<Newcomer> newcomers_;
    std::vector<std::unique_ptr<JoinConnection>> connections_;  ///< by rank; nullptr: not there, or rank 0
    std::uint32_t exchange_ = 0;
    std::uint32_t round_ = 0;
    std::vector<std::optional<std::string>> round_parts_;
    std::vector<std::byte> round_all_;
};

/// Any other rank.
class JoinMember final : public Job {
  public:
    /// Connects, and tries again until rank 0 listens. Throws JobError: why it was refused, or that `limit`
    /// has passed.
    JoinMember(const JoinTerms& terms, Hello hello, core::Duration limit);

    /// Of the first rank.
    [[nodiscard]] const JoinOptions& options() const { return options_; }

    [[nodiscard]] std::string library() const override { return "none: --join"; }
    std::vector<std::string> share(const std::string& text, const char* what) override;
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& receive) override;
    std::string broadcast(const std::string& text, int root, const char* what) override;
    void barrier(const char* what) override;
    void begin_round(std::span<const std::byte> mine, const char* what) override;
    std::optional<std::span<const std::byte>> end_round(const char* what) override;
    void send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) override;
    void receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                       const char* what) override;
    void send_notice(const Notice& notice, core::Duration limit) override;
    Roll call_roll(core::Duration limit, const std::function<bool()>& stop) override;

  private:
    void end_others(int /*status*/) override {}
    void check_notices(const char* what) override;
    void receive_welcome(const JoinTerms& terms, std::int64_t deadline_ns);
    std::string receive_texts(const char* what);

    std::unique_ptr<JoinConnection> leader_connection_;
    JoinOptions options_;
    std::uint32_t exchange_ = 0;
    std::uint32_t round_ = 0;
    std::vector<std::byte> round_all_;
};

}  // namespace weir::runtime
