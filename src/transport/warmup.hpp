// The exchange before second 0: every pair that will communicate has done so, and every chunk buffer has
// been sent from or received into, so that connections, memory pages and RDMA registrations (which may be per
// buffer) exist before anything is measured. It goes through the contract of transports, so there is one for
// all that have places. Both sides compute the same numbers of messages from the plan; there is nothing to
// agree on.
//
//   all        fill their own buffers, so that pages lie near their owner
//   scheduler  <-- greeting, a control packet --> every other rank
//   consumer   opens its places, and greets every producer: leave to send so many chunks; and again as they
//   come producer   chunks on all streams, to all consumers that have greeted it in turn
//
// (Rejected: real events, of which the policy chooses the pairs. And chunks without leave: small
// ones go without their receiver, and a network library would have to keep all that a slow one has not looked
// at.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/plan.hpp"
#include "core/role_map.hpp"
#include "transport/buffers.hpp"
#include "transport/transport.hpp"

namespace weir::transport {

/// What all have in common: memory that is filled, and greetings.
class Warmup {
  public:
    struct Parts {
        Transport& transport;
        core::NodeId self;
        const core::RoleMap& roles;
        const core::Plan& plan;
        const ChunkBuffers& buffers;    ///< this rank's (none for the scheduler), all free
        std::uint32_t connections = 1;  ///< that the chunks of a pair take in turn
    };
    Warmup(const Warmup&) = delete;
    Warmup& operator=(const Warmup&) = delete;
    virtual ~Warmup() = default;

    /// Does what can be done now, without waiting, and at most some milliseconds of it; true when this rank
    /// has done and got all. Packets that are no greetings, of ranks that are further, are added to `early`.
    /// Throws TransportError.
    bool step(Polled& early);

    /// Buffers that are filled, greetings and messages of data, and how many there will be.
    [[nodiscard]] std::int64_t messages_done() const {
        return filled_ + greeted_ + greetings_came_ + data_done();
    }
    [[nodiscard]] std::int64_t messages_total() const {
        return static_cast<std::int64_t>(parts_.buffers.count()) + greetings_to_send_ + greetings_expected_ +
               data_total();
    }

    /// Withdraws what is not the transport's; false when something is under way that cannot be.
    virtual bool cancel(Deadline /*deadline*/) { return true; }

  protected:
    /// What `parts` refers to outlives this object.
    explicit Warmup(const Parts& parts);

    /// The data, with what the transport has found.
    virtual void exchange(const Polled& found) = 0;
    /// Messages of data that are through, and how many there will be.
    [[nodiscard]] virtual std::int64_t data_done() const = 0;
    [[nodiscard]] virtual std::int64_t data_total() const = 0;
    virtual void greeted_by(core::NodeId /*from*/) {}

    [[nodiscard]] bool filled() const { return filled_ == static_cast<std::int64_t>(parts_.buffers.count()); }
    /// A greeting more than the one between any two ranks.
    void greet_again(int rank) { to_greet_.push_back(rank); }
    /// So many greetings more.
    void expect_more_greetings(std::int64_t to_send, std::int64_t to_come);
    /// For how this step goes on: a message of so many bytes was handled.
    void count_work(std::size_t bytes);
    [[nodiscard]] bool may_work() const;

    Parts parts_;

  private:
    void fill();
    void take_greetings(Polled& early);
    void greet();

    Polled found_;
    std::size_t work_bytes_ = 0;  ///< of this step
    std::int64_t filled_ = 0;
    std::uint64_t fill_seed_;
    std::vector<int> to_greet_;  ///< ranks
    std::int64_t greeted_ = 0;   ///< the first so many of them
    std::int64_t greetings_to_send_ = 0;
    std::int64_t greetings_expected_ = 0;
    std::int64_t greetings_came_ = 0;
};

/// For transports whose chunks go into places.
std::unique_ptr<Warmup> make_chunk_warmup(const Warmup::Parts& parts);

}  // namespace weir::transport
