// Warm-up of the transport `datagram`: all ranks exchange their addresses over MPI, and every producer sends
// datagrams, as long as those of the run, to every consumer until that one has reported over MPI that one
// arrived. So a firewall, or a path that does not take datagrams of this length, is found before anything is
// measured, and addresses of neighbours are resolved.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/datagram/datagram_addresses.hpp"
#include "transport/datagram/datagram_header.hpp"
#include "transport/datagram/datagram_socket.hpp"
#include "transport/mpi/mpi_support.hpp"
#include "transport/warmup.hpp"

namespace weir::transport {

/// What every rank has of all others after it.
struct DatagramPeers {
    std::uint64_t run = 0;             ///< number of this run
    std::vector<DatagramHost> hosts;   ///< by rank
    std::vector<std::uint16_t> ports;  ///< by rank
    std::vector<Endpoint> consumers;   ///< producer: where each one is reached
    std::vector<std::int64_t> mtus;    ///< producer: of each consumer's interface, in bytes
};

class DatagramWarmup final : public Warmup {
  public:
    struct Setup {
        MPI_Comm data;                              ///< not used for anything else before the end
        DatagramSocket* socket;                     ///< none on the scheduler's rank
        const std::vector<HostAddress>& addresses;  ///< of this rank
        bool by_default;                            ///< no network was asked for
        const std::string& host;                    ///< DatagramOptions::host
        DatagramPeers& peers;                       ///< filled in
        DatagramForm& form;                         ///< filled in
    };
    DatagramWarmup(const Warmup::Parts& parts, const Setup& network);

    /// A collective operation cannot be called back.
    bool cancel(Deadline /*deadline*/) override { return exchanged_ && sends_.empty(); }

  private:
    /// What a rank sends about itself. Trivially copyable.
    struct Card {
        static constexpr std::size_t addresses_max = 8;
        std::uint64_t run = 0;
        char host[96] = {};
        std::uint32_t addresses = 0;
        std::uint32_t port = 0;
        HostAddress address[addresses_max];
    };

    void exchange(const Polled& found) override;
    [[nodiscard]] std::int64_t data_done() const override;
    [[nodiscard]] std::int64_t data_total() const override;
    void receive_cards();
    void choose_endpoints();
    void send_hellos();
    void receive_confirmations();
    void receive_hellos();
    void confirm();
    [[noreturn]] void give_up();

    Setup network_;
    Card mine_;
    std::vector<Card> cards_;
    MPI_Request exchange_ = MPI_REQUEST_NULL;
    bool exchanged_ = false;

    std::vector<bool> through_;  ///< producer: consumers that have confirmed; consumer: producers that came
    std::int64_t through_count_ = 0;

    // Producer.
    std::vector<std::byte> hello_;
    std::uint32_t next_ = 0;      ///< consumer
    std::uint32_t in_round_ = 0;  ///< consumers that had their turn in this round
    Deadline next_round_;
    Deadline moved_;  ///< when something was last confirmed
    std::int64_t pause_us_;

    // Consumer.
    std::vector<int> to_confirm_;  ///< ranks
    std::size_t confirmed_ = 0;    ///< of them, handed to MPI
    std::vector<MPI_Request> sends_;
    std::int64_t sends_done_ = 0;
    char nothing_ = 0;
};

}  // namespace weir::transport
