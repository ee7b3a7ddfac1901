// Data with an address: which producer sends how much to which consumer, and when in the interval. Made by
// config from a matrix, a sequence of matrices or a trace, and the same for every interval. A producer's set
// is all that it generates in one interval.
//
// Transfers may wait for others (the steps of a collective): worker i is producer i and consumer i, and what
// producer i sends may need what consumer i receives in the same interval. Such a transfer is generated at
// its time as any other, and offered when its inputs are there (waiting_events.hpp).
//
// A pair is a producer and a consumer with at least one transfer. Pairs are numbered, those of producer 0
// first and by consumer, so that accounts of pairs need memory for the pairs that there are. Rejected: a
// dense matrix, which for 4000 x 4000 ranks that form 4000 pairs is 4000 times as large.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace weir::core {

// A collective operation that a traffic file describes, and the factor by which its size becomes a bandwidth
// of the bus. Names and formulas: draft-calabria-bmwg-ai-fabric-training-bench, editor's copy of 2026-10-01.

enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all };

inline constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> collective_kinds = {
    {{"all-reduce", CollectiveKind::all_reduce},
     {"reduce-scatter", CollectiveKind::reduce_scatter},
     {"all-gather", CollectiveKind::all_gather},
     {"all-to-all", CollectiveKind::all_to_all}}};

constexpr std::string_view collective_kind_name(CollectiveKind kind) {
    return collective_kinds[static_cast<std::size_t>(kind)].first;
}

/// Workers first_worker to first_worker + workers - 1 take part; each is a producer and a consumer.
struct Collective {
    CollectiveKind kind = CollectiveKind::all_reduce;
    std::string algorithm;  ///< "ring", "tree", ...: what the file calls it
    std::uint32_t first_worker = 0;
    std::uint32_t workers = 0;
    Bytes size;         ///< S, of each participant
    Duration compute;   ///< C, before the communication of each iteration
    BitRate line_rate;  ///< B, of a participant's NIC, for runs whose links are not known; 0: not given
    bool operator==(const Collective&) const = default;

    /// f: what each participant's NIC carries at least, in units of S.
    [[nodiscard]] double bus_factor() const {
        const double share = static_cast<double>(workers - 1) / workers;
        return kind == CollectiveKind::all_reduce ? 2 * share : share;
    }
};

/// One transfer: bytes for a consumer, generated at this time of every interval.
struct AddressedTransfer {
    Duration at;
    ConsumerId to;
    std::uint32_t phase = 0;
    Bytes bytes;
    bool operator==(const AddressedTransfer&) const = default;
};

/// A transfer waits for another one of the same interval, which the consumer of its worker receives, and then
/// for a time of computing. Numbers of entries.
struct Dependency {
    std::uint32_t transfer = 0;
    std::uint32_t input = 0;
    Duration compute;
    bool operator==(const Dependency&) const = default;
};

/// Transfers that begin together and are judged together.
struct TrafficPhase {
    std::string name;
    Duration at;
    Duration period;  ///< from its beginning to that of the next one
    bool operator==(const TrafficPhase&) const = default;
};

class TrafficPlan {
  public:
    struct Entry {
        ProducerId from;
        AddressedTransfer transfer;
    };
    /// A producer that has something for a consumer, and the number of this pair.
    struct Sender {
        ProducerId producer;
        std::uint32_t pair = 0;
        bool operator==(const Sender&) const = default;
    };

    /// A transfer at its consumer.
    struct Incoming {
        ProducerId from;
        std::uint32_t phase = 0;
        Duration at;
        Bytes bytes;
        bool operator==(const Incoming&) const = default;
    };

    /// A dependency as its worker sees it: numbers of to(consumer) and of(producer).
    struct Input {
        std::uint32_t incoming = 0;
        std::uint32_t transfer = 0;
        Duration compute;
        auto operator<=>(const Input&) const = default;
    };

    /// Entries in any order, each pair at most once at a time; indices of ranks are below the counts, sizes
    /// above 0, phases name one of `phases`. Dependencies without cycles, each once, of entries as said
    /// there. `is_trace`: transfers are told apart in the record of a run. `collectives`: one for each phase,
    /// or none.
    TrafficPlan(std::uint32_t producers, std::uint32_t consumers, std::vector<TrafficPhase> phases,
                std::vector<Entry> entries, bool is_trace = false,
                const std::vector<Dependency>& dependencies = {}, std::vector<Collective> collectives = {});

    [[nodiscard]] std::uint32_t producers() const {
        return static_cast<std::uint32_t>(first_transfer_.size()) - 1;
    }
    [[nodiscard]] std::uint32_t consumers() const {
        return static_cast<std::uint32_t>(first_sender_.size()) - 1;
    }
    [[nodiscard]] std::size_t transfers() const { return transfers_.size(); }
    [[nodiscard]] bool is_trace() const { return is_trace_; }
    [[nodiscard]] std::span<const TrafficPhase> phases() const { return phases_; }
    /// What each phase is; empty if nothing is said about that.
    [[nodiscard]] std::span<const Collective> collectives() const { return collectives_; }
    /// By time. Of equal times in the order of the entries, beginning with the first consumer behind the
    /// producer's own number, so that not all producers begin with the same consumer.
    [[nodiscard]] std::span<const AddressedTransfer> of(ProducerId producer) const {
        return part(transfers_, first_transfer_, producer.value);
    }
    /// By producer, then time.
    [[nodiscard]] std::span<const Incoming> to(ConsumerId consumer) const {
        return part(incoming_, first_incoming_, consumer.value);
    }
    /// The number in to(consumer) of what this producer begins at that time of the interval; nothing if that
    /// is none. O(log transfers).
    [[nodiscard]] std::optional<std::uint32_t> find_incoming(ConsumerId consumer, ProducerId from,
                                                             Duration at) const;
    /// What this producer's transfers wait for, by number of the incoming transfer. Empty for most traffic.
    [[nodiscard]] std::span<const Input> inputs_of(ProducerId producer) const {
        return first_input_.empty() ? std::span<const Input>{} : part(inputs_, first_input_, producer.value);
    }
    /// Those that wait for this one.
    [[nodiscard]] std::span<const Input> waiting_for(ProducerId producer, std::uint32_t incoming) const;
    [[nodiscard]] bool has_dependencies() const { return !inputs_.empty(); }
    /// That send to this consumer, by number.
    [[nodiscard]] std::span<const Sender> senders_to(ConsumerId consumer) const {
        return part(senders_, first_sender_, consumer.value);
    }
    /// To which this producer sends, by number. The first is pair `first_pair(producer)`.
    [[nodiscard]] std::span<const ConsumerId> receivers_of(ProducerId producer) const {
        return part(receivers_, first_pair_, producer.value);
    }
    [[nodiscard]] std::uint32_t first_pair(ProducerId producer) const { return first_pair_[producer.value]; }
    [[nodiscard]] std::uint32_t pairs() const { return first_pair_.back(); }
    /// Nothing if the producer never sends to the consumer. O(log consumers); O(1) if it sends to all.
    [[nodiscard]] std::optional<std::uint32_t> pair(ProducerId producer, ConsumerId consumer) const;

    /// What a producer generates in an interval, and the first of it, at the interval's beginning.
    [[nodiscard]] Bytes set_bytes(ProducerId producer) const { return set_bytes_[producer.value]; }
    [[nodiscard]] Bytes first_bytes(ProducerId producer) const;
    [[nodiscard]] Bytes largest_set() const;
    [[nodiscard]] Bytes total() const;
    [[nodiscard]] Bytes largest_transfer() const;
    /// What a consumer receives of an interval; the most that one receives.
    [[nodiscard]] Bytes received_by(ConsumerId consumer) const { return received_[consumer.value]; }
    [[nodiscard]] Bytes most_received() const;
    /// When in the interval the last transfer of this producer (of all) begins; 0 if there is none.
    [[nodiscard]] Duration last_at(ProducerId producer) const {
        return of(producer).empty() ? Duration{} : of(producer).back().at;
    }
    [[nodiscard]] Duration last_at() const;

    bool operator==(const TrafficPlan&) const = default;

  private:
    template <typename Element>
    static std::span<const Element> part(const std::vector<Element>& all,
                                         const std::vector<std::uint32_t>& first, std::uint32_t index) {
        return std::span(all).subspan(first[index], first[index + 1] - first[index]);
    }
    void number_pairs(const std::vector<Entry>& entries);
    void order_by_consumer(std::vector<Entry>& entries);
    /// `of_entries`: for each dependency the entry that waits and the one that it waits for.
    void order_inputs(const std::vector<std::pair<Entry, Entry>>& of_entries,
                      const std::vector<Dependency>& dependencies);

    bool is_trace_;
    std::vector<TrafficPhase> phases_;
    std::vector<Collective> collectives_;
    std::vector<AddressedTransfer> transfers_;
    std::vector<std::uint32_t> first_transfer_;  ///< by producer, and one more
    std::vector<Incoming> incoming_;
    std::vector<std::uint32_t> first_incoming_;  ///< by consumer, and one more
    std::vector<Input> inputs_;                  ///< by producer, then by number of the incoming transfer
    std::vector<std::uint32_t> first_input_;     ///< by producer, and one more; empty: there are none
    std::vector<ConsumerId> receivers_;          ///< by pair
    std::vector<std::uint32_t> first_pair_;      ///< by producer, and one more
    std::vector<Sender> senders_;
    std::vector<std::uint32_t> first_sender_;  ///< by consumer, and one more
    std::vector<Bytes> set_bytes_;             ///< by producer
    std::vector<Bytes> received_;              ///< by consumer
};

// Addressed events: which transfer is complete with an event that has arrived. For a consumer, whose worker
// waits for some of them, and for its recorder (record/phase_times.hpp).
//
// Chosen: transfers are found by producer and instant of generation, which every event carries, so nothing
// travels for this and events may have any size. Memory: one entry for each transfer of which a part is here.

class TransferArrivals {
  public:
    /// One of traffic.to(consumer), in one interval (below 0 in the warm-up).
    struct CompleteTransfer {
        std::uint32_t incoming = 0;
        std::int64_t interval = 0;
    };

    TransferArrivals(std::shared_ptr<const TrafficPlan> traffic, Duration interval, ConsumerId consumer)
        : traffic_(std::move(traffic)), interval_(interval), consumer_(consumer) {}

    /// An event has arrived whole, once. Nothing if more of its transfer is to come, or if the plan has no
    /// such transfer.
    std::optional<CompleteTransfer> received(ProducerId from, Bytes bytes, Instant generated_at) {
        const std::int64_t interval = periods_until(generated_at, interval_);
        const auto incoming =
            traffic_->find_incoming(consumer_, from, generated_at - Instant{} - interval_ * interval);
        if (!incoming) {
            return std::nullopt;
        }
        const std::uint64_t key = (static_cast<std::uint64_t>(interval) << 32U) | *incoming;
        const auto open = missing_.try_emplace(key, traffic_->to(consumer_)[*incoming].bytes).first;
        open->second -= bytes;
        if (open->second > Bytes{}) {
            return std::nullopt;
        }
        missing_.erase(open);
        return CompleteTransfer{*incoming, interval};
    }

  private:
    std::shared_ptr<const TrafficPlan> traffic_;
    Duration interval_;
    ConsumerId consumer_;
    std::unordered_map<std::uint64_t, Bytes> missing_;  ///< by interval and incoming transfer
};

}  // namespace weir::core
