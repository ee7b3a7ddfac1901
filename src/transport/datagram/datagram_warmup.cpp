// Warm-up of the transport `datagram`: all ranks exchange their addresses over MPI, and every producer sends
// datagrams, as long as those of the run, to every consumer until that one has reported over MPI that one
// arrived. So a firewall, or a path that does not take datagrams of this length, is found before anything is
// measured, and addresses of neighbours are resolved.
#include <unistd.h>
#include <random>

#include "transport/datagram/datagram_warmup.hpp"
#include "transport/mpi/mpi_support.hpp"

namespace weir::transport {

namespace {

constexpr int confirmation_tag = 1;
constexpr std::uint32_t hellos_per_step = 32;
constexpr int rounds_of_receiving = 4;
constexpr std::size_t confirmations_at_a_time = 64;
constexpr std::int64_t first_pause_us = 2000;
constexpr std::int64_t longest_pause_us = 200000;
/// So long without any confirmation, while MPI goes on, means that there will be none.
constexpr std::chrono::seconds patience{10};

Deadline now() {
    return std::chrono::steady_clock::now();
}

class DatagramWarmup final : public Warmup {
  public:
    DatagramWarmup(const Warmup::Parts& parts, const DatagramSetup& network)
        : Warmup(parts),
          network_(network),
          cards_(static_cast<std::size_t>(parts.roles.ranks())),
          pause_us_(first_pause_us) {
        static_assert(std::is_trivially_copyable_v<Card>);
        if (parts_.self.role == core::Role::scheduler) {
            // Not for anything random in the run: only to distinguish its datagrams from another run's.
            mine_.run = std::random_device{}() | (std::uint64_t{std::random_device{}()} << 32U);
        } else {
            through_.assign(parts_.self.role == core::Role::producer ? parts_.roles.consumers()
                                                                     : parts_.roles.producers(),
                            false);
            mine_.port = network_.socket->port();
        }
        if (network_.host.empty()) {
            gethostname(mine_.host, sizeof(mine_.host) - 1);
        } else {
            network_.host.copy(mine_.host, sizeof(mine_.host) - 1);
        }
        mine_.addresses =
            static_cast<std::uint32_t>(std::min(network_.addresses.size(), Card::addresses_max));
        std::copy_n(network_.addresses.begin(), mine_.addresses, std::begin(mine_.address));
        check_mpi(MPI_Iallgather(&mine_, sizeof(Card), MPI_BYTE, cards_.data(), sizeof(Card), MPI_BYTE,
                                 network_.data, &exchange_),
                  "MPI_Iallgather of addresses");
    }

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

    void exchange(const Polled& /*found*/) override {
        if (!exchanged_) {
            int done = 0;
            check_mpi(MPI_Test(&exchange_, &done, MPI_STATUS_IGNORE), "exchange of addresses");
            if (done == 0) {
                return;
            }
            receive_cards();
            exchanged_ = true;
        }
        if (parts_.self.role == core::Role::producer) {
            receive_confirmations();
            send_hellos();
        } else if (parts_.self.role == core::Role::consumer) {
            receive_hellos();
            confirm();
        }
    }

    [[nodiscard]] std::int64_t data_done() const override {
        return (exchanged_ ? 1 : 0) + through_count_ + sends_done_;
    }

    [[nodiscard]] std::int64_t data_total() const override {
        return 1 + (parts_.self.role == core::Role::consumer ? 2 : 1) *
                       static_cast<std::int64_t>(through_.size());
    }

    void receive_cards() {
        DatagramPeers& peers = network_.peers;
        for (const Card& card : cards_) {
            const auto count = std::min<std::size_t>(card.addresses, Card::addresses_max);
            peers.hosts.push_back({std::string(card.host, strnlen(card.host, sizeof(card.host))),
                                   {std::begin(card.address), std::begin(card.address) + count}});
            peers.ports.push_back(static_cast<std::uint16_t>(card.port));
        }
        peers.run = cards_[static_cast<std::size_t>(parts_.roles.scheduler_rank())].run;
        network_.form = DatagramForm(parts_.plan, peers.run);
        if (parts_.self.role == core::Role::producer) {
            choose_endpoints();
        }
        cards_ = {};
    }

    void choose_endpoints() {
        DatagramPeers& peers = network_.peers;
        const auto ambiguous = ambiguous_addresses(peers.hosts);
        const DatagramHost& here = peers.hosts[static_cast<std::size_t>(
            parts_.roles.rank(core::node_of(core::ProducerId{parts_.self.index})))];
        for (std::uint32_t consumer = 0; consumer < parts_.roles.consumers(); ++consumer) {
            const int rank = parts_.roles.rank(core::node_of(core::ConsumerId{consumer}));
            const DatagramHost& there = peers.hosts[static_cast<std::size_t>(rank)];
            const auto address = choose_address(here, there, ambiguous, network_.by_default);
            if (!address) {
                throw TransportError("choosing addresses for datagrams", Rank{rank},
                                     there.name +
                                         " has no IPv4 address of its own on an interface that is up; "
                                         "--datagram-network names an interface or a network");
            }
            peers.consumers.push_back({address->address, peers.ports[static_cast<std::size_t>(rank)]});
            peers.mtus.push_back(address->mtu);
        }
        hello_.resize(DatagramForm::size_of({core::chunk_capacity_bytes(parts_.plan)}));
        // Producers begin at different consumers, so that these do not all get theirs at the same time.
        next_ = static_cast<std::uint32_t>(std::uint64_t{parts_.self.index} * parts_.roles.consumers() /
                                           parts_.roles.producers());
        moved_ = next_round_ = now();
    }

    void send_hellos() {
        const std::uint32_t consumers = parts_.roles.consumers();
        if (through_count_ == consumers || now() < next_round_) {
            return;
        }
        if (now() - moved_ > patience) {
            give_up();
        }
        for (std::uint32_t sent = 0; in_round_ < consumers && sent < hellos_per_step; ++in_round_) {
            const std::uint32_t consumer = (next_ + in_round_) % consumers;
            if (through_[consumer]) {
                continue;
            }
            network_.form.write_hello(hello_, core::ProducerId{parts_.self.index},
                                      core::ConsumerId{consumer});
            const DatagramSocket::Outgoing hello{network_.peers.consumers[consumer], hello_};
            // One that meets an error is sent again in the next round, like one that is lost.
            static_cast<void>(network_.socket->send(std::span(&hello, 1)));
            ++sent;
        }
        if (in_round_ == consumers) {
            in_round_ = 0;
            next_round_ = now() + std::chrono::microseconds(pause_us_);
            pause_us_ = std::min(2 * pause_us_, longest_pause_us);
        }
    }

    void receive_confirmations() {
        while (through_count_ < static_cast<std::int64_t>(through_.size())) {
            int there = 0;
            MPI_Status status{};
            check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, confirmation_tag, network_.data, &there, &status),
                      "looking for a confirmation");
            if (there == 0) {
                return;
            }
            // It is here, and empty: this does not wait.
            check_mpi(MPI_Recv(&nothing_, 0, MPI_BYTE, status.MPI_SOURCE, confirmation_tag, network_.data,
                               MPI_STATUS_IGNORE),
                      "receiving a confirmation", status.MPI_SOURCE);
            const core::NodeId from = parts_.roles.node(status.MPI_SOURCE);
            if (from.role != core::Role::consumer || through_[from.index]) {
                throw TransportError("warm-up", Rank{status.MPI_SOURCE}, "it confirmed what it did not get");
            }
            through_[from.index] = true;
            ++through_count_;
            moved_ = now();
        }
    }

    void receive_hellos() {
        for (int round = 0; round < rounds_of_receiving; ++round) {
            const auto arrived = network_.socket->receive();
            for (const DatagramSocket::Incoming& datagram : arrived) {
                const auto producer =
                    network_.form.read_hello(datagram.bytes, core::ConsumerId{parts_.self.index});
                if (producer && !through_[producer->value] &&
                    datagram.bytes.size() ==
                        DatagramForm::size_of({core::chunk_capacity_bytes(parts_.plan)})) {
                    through_[producer->value] = true;
                    ++through_count_;
                    to_confirm_.push_back(parts_.roles.rank(core::node_of(*producer)));
                }
            }
            if (arrived.empty()) {
                return;
            }
        }
    }

    void confirm() {
        for (std::size_t i = 0; i < sends_.size();) {
            int done = 0;
            check_mpi(MPI_Test(&sends_[i], &done, MPI_STATUS_IGNORE), "sending a confirmation");
            if (done == 0) {
                ++i;
                continue;
            }
            ++sends_done_;
            sends_[i] = sends_.back();
            sends_.pop_back();
        }
        for (; confirmed_ < to_confirm_.size() && sends_.size() < confirmations_at_a_time; ++confirmed_) {
            sends_.push_back(MPI_REQUEST_NULL);
            check_mpi(MPI_Isend(&nothing_, 0, MPI_BYTE, to_confirm_[confirmed_], confirmation_tag,
                                network_.data, &sends_.back()),
                      "MPI_Isend of a confirmation", to_confirm_[confirmed_]);
        }
    }

    [[noreturn]] void give_up() {
        const auto silent =
            static_cast<std::uint32_t>(std::find(through_.begin(), through_.end(), false) - through_.begin());
        const int rank = parts_.roles.rank(core::node_of(core::ConsumerId{silent}));
        const auto missing = static_cast<std::int64_t>(through_.size()) - through_count_;
        throw TransportError(
            "warm-up", Rank{rank},
            "no datagram of " + std::to_string(hello_.size()) + " bytes from " + mine_.host +
                " has been received by " + network_.peers.hosts[static_cast<std::size_t>(rank)].name +
                " at " + to_text(network_.peers.consumers[silent]) + " within " +
                std::to_string(patience.count()) + " s, though MPI reaches it" +
                (missing > 1 ? " (and so with " + std::to_string(missing - 1) + " more consumers)" : "") +
                ": look for a firewall, for MTUs that differ, or choose another network with "
                "--datagram-network");
    }

    DatagramSetup network_;
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

}  // namespace

std::unique_ptr<Warmup> make_datagram_warmup(const Warmup::Parts& parts, const DatagramSetup& network) {
    return std::make_unique<DatagramWarmup>(parts, network);
}

}  // namespace weir::transport
