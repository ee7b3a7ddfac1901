// Small messages over MPI that no rank waits for: a sender leaves them, a receiver looks what has come.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <vector>

namespace weir::job {

struct Mail {
    int from = 0;
    std::uint8_t kind = 0;
    std::vector<std::byte> bytes;
};

class Mailbox {
  public:
    /// Messages that MPI has not taken yet; more are refused.
    static constexpr std::size_t unsent_max = 64;

    /// `communicator` must outlive it, and has no other one. `what` is sent, for messages; a literal.
    Mailbox(MPI_Comm communicator, const char* what) : communicator_(communicator), what_(what) {}

    /// False: too many are under way, and this one was not sent. Throws JobError.
    bool send(int to, std::uint8_t kind, std::span<const std::byte> bytes);
    /// What has come whole, in the order of its sender: one that is slow holds up no other. Does not wait.
    /// Throws JobError.
    std::optional<Mail> take();
    /// Lets MPI work. True: all has been sent.
    bool progress();

  private:
    struct Transfer {
        int from = 0;
        std::vector<std::byte> bytes;  ///< the kind, and the message
        MPI_Request request = MPI_REQUEST_NULL;
    };
    using Transfers = std::list<Transfer>;
    bool is_done(Transfer& transfer);
    void begin_receiving();

    MPI_Comm communicator_;
    const char* what_;
    // Never freed: MPI may come back to them as long as it is called at all.
    Transfers& unsent_ = *new Transfers;
    Transfers& receiving_ = *new Transfers;
};

}  // namespace weir::job
