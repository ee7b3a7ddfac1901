// A job that MPI starts and ends, and whose exchanges it carries. Blocking collectives are not used: they
// would stop where a rank is missing.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "job/job.hpp"
#include "job/mailbox.hpp"

namespace weir::job {

class MpiJob final : public Job {
  public:
    /// Starts MPI. Throws JobError.
    MpiJob(int& argc, char**& argv);
    MpiJob(const MpiJob&) = delete;
    MpiJob& operator=(const MpiJob&) = delete;
    /// Ends MPI (unless leave() was called).
    ~MpiJob() override;

    /// Collective: a job of the ranks with the same `part`, in the order of `key`; nullptr on ranks with a
    /// negative `part`. abort() of it ends this job, too, and it calls this job's waiting hook until it has
    /// one of its own. Must not outlive this job. Throws JobError.
    std::unique_ptr<MpiJob> split(int part, int key);
    /// Collective: the largest value of all ranks. Throws JobError.
    int largest(int value, const char* what);
    /// Ranks of this job on this host. Collective. Throws JobError.
    [[nodiscard]] int ranks_on_this_host();
    /// What is called instead of ending the process when abort() is called.
    void set_before_abort(std::function<void(int status)> hold) { before_abort_ = std::move(hold); }

    [[nodiscard]] MPI_Comm communicator() const { return communicator_; }
    /// "Open MPI v4.1.4, ..."
    [[nodiscard]] static std::string library_version();

    [[nodiscard]] std::string library() const override { return library_version(); }
    std::vector<std::string> share(const std::string& text, const char* what) override;
    /// Takes no more memory with more ranks.
    std::optional<Objection> first_objection(const std::string& mine, const char* what) override;
    void gather(std::span<const std::byte> bytes, int root, const char* what,
                const std::function<void(int rank, std::span<const std::byte>)>& receive) override;
    std::string broadcast(const std::string& text, int root, const char* what) override;
    void barrier(const char* what) override;
    /// Every rank's text at `root`, nothing for ranks from which none came within `limit`; empty on other
    /// ranks, which do not wait longer, either. For finding out who cannot be reached: a missing text is no
    /// error.
    std::vector<std::optional<std::string>> collect(const std::string& text, int root, core::Duration limit,
                                                    const char* what);

    void begin_round(std::span<const std::byte> mine, const char* what) override;
    std::optional<std::span<const std::byte>> end_round(const char* what) override;
    void send_block(int to, Block kind, std::span<const std::byte> bytes, const char* what) override;
    void receive_block(int from, Block kind, std::span<std::byte> bytes, core::Duration limit,
                       const char* what) override;

    /// Waits for `request` at most `limit`. Throws JobError, ExchangeTimeout.
    void wait(MPI_Request& request, core::Duration limit, const char* what);

    void send_notice(const Notice& notice, core::Duration limit) override;
    Roll call_roll(core::Duration limit, const std::function<bool()>& stop) override;

  private:
    explicit MpiJob(MPI_Comm communicator);
    int reduce(int value, MPI_Op operation, const char* what);
    void end_others(int status) override;
    void check_notices(const char* what) override;
    void receive_notice(const char* what) const;
    [[nodiscard]] bool has_come(int source, int tag) const;
    /// One byte that may or may not arrive.
    void send_byte(int rank, int tag) const;

    MPI_Comm communicator_ = MPI_COMM_NULL;
    bool is_part_ = false;  ///< another job has started MPI, and ends it
    std::function<void(int status)> before_abort_;
    std::optional<Mailbox> mail_;  ///< for collect()
    std::uint8_t collection_ = 0;  ///< number of the last collect()
    struct Round {
        std::vector<std::byte> mine;
        std::vector<std::byte> all;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    Round* round_ = nullptr;  ///< never freed: MPI may read it as long as it is called at all
};

/// Throws JobError with MPI's error text if `status` is not MPI_SUCCESS.
void check_exchange(int status, const char* what);

}  // namespace weir::job
