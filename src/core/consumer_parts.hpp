// What only some runs need of a consumer, each in a class of its own: turns of producers (policy `none`),
// work on events, requests (initiation `pull`), and what is done about chunks that get lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/actions.hpp"
#include "core/distribution.hpp"
#include "core/indexed_heap.hpp"
#include "core/plan.hpp"
#include "core/ring_queue.hpp"
#include "core/units.hpp"

namespace weir::core {

// What has arrived of one fragment: which chunks, how many bytes. A place holds one fragment at a time
// and keeps the number of the last one when it is free again, so that a late copy cannot pass for the
// beginning of another. Chunks come in order but for a few, so a number shows which ones have come, and marks
// only those that came ahead of others.

class FragmentPlace {
  public:
    /// `complete`: nothing more is expected, the fragment is whole or was given up.
    enum class State : std::uint8_t { closed, free, receiving, complete };

    explicit FragmentPlace(const Plan& plan) : ahead_(plan.chunks_per_fragment(), false) {}

    [[nodiscard]] State state() const { return state_; }
    [[nodiscard]] EventId event() const { return event_; }
    /// Size of the fragment; 0 while it is not known (lossy transports, until the producer has sent it).
    [[nodiscard]] Bytes bytes() const { return bytes_; }
    [[nodiscard]] Instant generated_at() const { return generated_at_; }
    [[nodiscard]] bool corrupt() const { return corrupt_; }
    /// The chunk of this event, or one of `count` in a row, has arrived here before.
    [[nodiscard]] bool has(EventId event, std::uint32_t sequence, std::uint32_t count = 1) const {
        if (event != event_ || sequence >= ahead_.size()) {
            return false;
        }
        return sequence < in_order_ || (chunks_ > in_order_ && any_ahead(sequence, count));
    }
    /// Every chunk has arrived.
    [[nodiscard]] bool whole() const { return bytes_ > Bytes{0} && chunks_ == expected_; }
    /// As many as the largest fragment has.
    [[nodiscard]] std::uint32_t most_chunks() const { return static_cast<std::uint32_t>(ahead_.size()); }
    /// The first chunk that has not arrived.
    [[nodiscard]] std::uint32_t first_missing() const { return in_order_; }

    void set_free() { state_ = State::free; }
    /// The fragment of `event` begins. `bytes` 0: its size comes later.
    void begin(EventId event, Bytes bytes, Bytes chunk_size, Instant generated_at) {
        state_ = State::receiving;
        corrupt_ = false;
        duplicated_ = false;
        if (std::exchange(scattered_, false)) {
            std::fill(ahead_.begin(), ahead_.end(), false);
        }
        chunks_ = 0;
        in_order_ = 0;
        event_ = event;
        announce(bytes, chunk_size, generated_at);
    }
    /// The size of the fragment that is arriving.
    void announce(Bytes bytes, Bytes chunk_size, Instant generated_at) {
        bytes_ = bytes;
        expected_ = static_cast<std::uint32_t>((bytes.count + chunk_size.count - 1) / chunk_size.count);
        generated_at_ = generated_at;
    }
    /// A chunk that had not arrived before, or `count` in a row.
    void add(std::uint32_t sequence, std::uint32_t count = 1) {
        chunks_ += count;
        if (sequence == in_order_) {
            in_order_ += count;
        }
        if (chunks_ > in_order_) {
            add_around_gap(sequence, count);
        }
    }
    void mark_corrupt() { corrupt_ = true; }
    /// True once per fragment.
    bool mark_duplicated() { return !std::exchange(duplicated_, true); }
    void complete() { state_ = State::complete; }

  private:
    [[nodiscard]] bool any_ahead(std::uint32_t first, std::uint32_t count) const {
        const auto last = std::min<std::size_t>(std::size_t{first} + count, ahead_.size());
        return std::find(ahead_.begin() + first, ahead_.begin() + static_cast<std::ptrdiff_t>(last), true) !=
               ahead_.begin() + static_cast<std::ptrdiff_t>(last);
    }
    /// Marks what came behind a gap, or passes over what is marked behind a gap that was closed.
    void add_around_gap(std::uint32_t sequence, std::uint32_t count) {
        if (sequence >= in_order_) {
            scattered_ = true;
            std::fill_n(ahead_.begin() + sequence, count, true);
        }
        while (in_order_ < ahead_.size() && ahead_[in_order_]) {
            ++in_order_;
        }
    }

    State state_ = State::closed;
    bool corrupt_ = false;
    bool duplicated_ = false;
    bool scattered_ = false;            ///< there are marks
    std::uint32_t chunks_ = 0;          ///< that have arrived
    std::uint32_t in_order_ = 0;        ///< of them, those before the first that has not arrived
    std::uint32_t expected_ = 0;        ///< of the whole fragment
    EventId event_{~std::uint64_t{0}};  ///< at first none that there is
    Bytes bytes_;
    Instant generated_at_;
    std::vector<bool> ahead_;  ///< by chunk sequence: arrived when one before it had not
};

/// Policy `none`: to which producer a consumer hands its next free slot. To each in turn, consumer c
/// beginning with producer c, but not to those that have nothing left. Addressed events: only to producers
/// that send to the consumer, and a slot stays with its producer, or one that has nothing at the moment could
/// hold all slots.
class ProducerTurns {
  public:
    ProducerTurns(const Plan& plan, ConsumerId self)
        : next_(self.value % plan.producers), keeps_producer_(plan.addressed()) {
        if (plan.addressed()) {
            for (const TrafficPlan::Sender& sender : plan.traffic->senders_to(self)) {
                left_.push_back(sender.producer);
            }
        } else {
            for (std::uint32_t producer = 0; producer < plan.producers; ++producer) {
                left_.push_back({producer});
            }
        }
    }
    /// Nothing if no producer is left. `last`: that the slot was handed to before.
    std::optional<ProducerId> next(std::optional<ProducerId> last) {
        if (keeps_producer_ && last && std::binary_search(left_.begin(), left_.end(), *last)) {
            return last;
        }
        if (left_.empty()) {
            return std::nullopt;
        }
        const auto following = std::lower_bound(left_.begin(), left_.end(), ProducerId{next_});
        const ProducerId producer = following == left_.end() ? left_.front() : *following;
        next_ = producer.value + 1;
        return producer;
    }
    void leave_out(ProducerId producer) { std::erase(left_, producer); }

  private:
    std::vector<ProducerId> left_;  ///< sorted
    std::uint32_t next_;
    bool keeps_producer_;
};

/// A consumer's work on whole events: one after the other in the order in which they arrived, each for a time
/// that is drawn when it begins. Times are back to back: a rank that finds late that one is over does not
/// make the next one longer.
class EventProcessing {
  public:
    EventProcessing(Sampler time, std::uint32_t slots) : time_(std::move(time)), queue_(slots) {}

    /// From now on each event takes `factor` times as long.
    void slow_down(double factor) { factor_ = factor; }
    /// The event in this slot is the next after those that wait; begins at once if there are none.
    void add(Instant now, SlotId slot) {
        queue_.push(slot);
        if (queue_.size() == 1) {
            begin(now);
        }
    }
    /// Drops what is in work and what waits.
    void clear() {
        while (!queue_.empty()) {
            queue_.pop();
        }
        until_ = Instant::never();
    }
    [[nodiscard]] bool busy() const { return !queue_.empty(); }
    /// When the event in work is processed; never() if there is none.
    [[nodiscard]] Instant until() const { return until_; }
    struct Processed {
        SlotId slot;
        Duration time;
    };
    /// The event that is processed by now; begins the next one.
    std::optional<Processed> next_processed(Instant now) {
        if (until_ > now) {
            return std::nullopt;
        }
        const Processed processed{queue_.pop(), current_};
        if (queue_.empty()) {
            until_ = Instant::never();
        } else {
            begin(until_);
        }
        return processed;
    }

  private:
    void begin(Instant from) {
        current_ = {time_.next()};
        if (factor_ != 1) {
            const double longest = 4e18;  // ns; far beyond any run, and still an integer
            current_ = {
                static_cast<std::int64_t>(std::min(static_cast<double>(current_.ns) * factor_, longest))};
        }
        until_ = from + current_;
    }

    Sampler time_;
    double factor_ = 1;
    RingQueue<SlotId> queue_;  ///< the one in work first
    Instant until_ = Instant::never();
    Duration current_;
};

/// Initiation `pull`: what a consumer requests. A slot that it was assigned an event for needs all
/// of the event's fragments, and no more than `requests` are asked for and not there at a time.
class FragmentRequests {
  public:
    FragmentRequests(const Plan& plan, ConsumerId self)
        : self_(self), limit_(plan.requests), queue_(plan.places()), waiting_(plan.places(), false) {
        WEIR_ASSERT(limit_ > 0);
    }
    /// Asks for the fragments of the event that a slot is for, as far as the limit lets it.
    void add(const Plan& plan, const Assign& assign, Actions& out) {
        const std::uint32_t fragments = plan.fragments_per_event();
        const std::uint32_t first = plan.order == SendOrder::barrel ? self_.value % fragments : 0;
        for (std::uint32_t step = 0; step < fragments; ++step) {
            const std::uint32_t fragment = (first + step) % fragments;
            queue_.push(
                {plan.builds() ? ProducerId{fragment} : assign.producer,
                 Grant{self_, plan.place_of(assign.slot, fragment), plan.builds() ? assign.number : 0}});
        }
        send(out);
    }
    /// Whether what belongs into this place was asked for and is not complete.
    [[nodiscard]] bool is_waiting(PlaceId place) const { return waiting_[place.value]; }
    /// Nothing more will come into this place; requests the next fragments.
    void complete(PlaceId place, Actions& out) {
        WEIR_ASSERT(sent_ > 0 && is_waiting(place));
        waiting_[place.value] = false;
        --sent_;
        send(out);
    }

  private:
    struct Request {
        ProducerId producer;
        Grant grant;
    };
    void send(Actions& out) {
        while (!queue_.empty() && sent_ < limit_) {
            const Request request = queue_.pop();
            ++sent_;
            waiting_[request.grant.place.value] = true;
            out.messages.emplace_back(node_of(request.producer), request.grant);
        }
    }

    ConsumerId self_;
    std::uint32_t limit_;
    RingQueue<Request> queue_;   ///< to be sent
    std::uint32_t sent_ = 0;     ///< and not complete
    std::vector<bool> waiting_;  ///< by place: one of these
};

/// What a consumer does about chunks that get lost on the way: a fragment that is not whole within the
/// time-out after its last chunk was sent is asked for again, a number of times, and then given up.
class FragmentLosses {
  public:
    /// Fragments given up that are kept by name; further ones are counted only.
    static constexpr std::size_t given_up_limit = 256;

    explicit FragmentLosses(const Plan& plan)
        : builds_(plan.builds()),
          producers_(plan.producers),
          timeout_(plan.fragment_timeout),
          most_asked_(plan.reasks),
          overdue_(plan.places()),
          asked_(plan.places(), 0),
          over_(std::size_t{plan.slots} * plan.producers, 0) {}

    /// A fragment begins in this place.
    void begin(PlaceId place) { asked_[place.value] = 0; }
    /// All of the fragment was sent: what is missing has until the time-out to come.
    void expect(Instant now, PlaceId place) { overdue_.update(place.value, (now + timeout_).ns); }
    /// When the next fragment is overdue.
    [[nodiscard]] Instant next_deadline() const {
        return overdue_.empty() ? Instant::never() : Instant{overdue_.key(overdue_.top())};
    }
    /// Asks again for fragments that are overdue. Returns the first that was asked for as often as allowed,
    /// which must be given up before the next call; nothing if no more are overdue.
    std::optional<PlaceId> ask_again(Instant now, std::span<const FragmentPlace> places, Actions& out) {
        while (next_deadline() <= now) {
            const PlaceId place{overdue_.top()};
            if (asked_[place.value] == most_asked_) {
                return place;
            }
            // Until the producer has sent it again there is nothing to wait for.
            overdue_.erase(place.value);
            ++asked_[place.value];
            const FragmentPlace& fragment = places[place.value];
            const NodeId producer = node_of(fragment.event().producer());
            out.messages.emplace_back(producer, SendAgain{fragment.event(), place});
            out.observe(Observation::Kind::asked_again, producer, fragment.event(), fragment.bytes());
        }
        return std::nullopt;
    }
    /// Counts a fragment as given up. Its place is not complete yet.
    void give_up(const FragmentPlace& fragment, Actions& out) {
        const EventId event = fragment.event();
        if (given_up_.size() < given_up_limit) {
            given_up_.push_back(event);
        }
        out.observe(Observation::Kind::given_up, node_of(event.producer()), event, fragment.bytes());
    }
    /// The fragment of `event` in this place is whole or given up.
    void complete(PlaceId place, EventId event, Actions& out) {
        overdue_.erase(place.value);
        std::uint64_t& over = over_[over_index(place, event)];
        over = std::max(over, event.sequence() + 1);
        if (most_asked_ > 0) {
            out.messages.emplace_back(node_of(event.producer()), Taken{event, place});
        }
    }
    /// Nothing more can come of it in this place: it was whole there, or was given up, or is older than one
    /// that was.
    [[nodiscard]] bool is_over(PlaceId place, EventId event) const {
        return event.sequence() < over_[over_index(place, event)];
    }
    /// In order; the first of them.
    [[nodiscard]] std::span<const EventId> given_up() const { return given_up_; }

  private:
    /// Each slot has a number for each producer; with pattern `build` these are its places.
    [[nodiscard]] std::size_t over_index(PlaceId place, EventId event) const {
        return builds_ ? place.value : std::size_t{place.value} * producers_ + event.producer().value;
    }

    bool builds_;
    std::uint32_t producers_;
    Duration timeout_;
    std::uint32_t most_asked_;
    IndexedHeap<std::int64_t> overdue_;  ///< places by the instant at which their fragment is, in ns
    std::vector<std::uint32_t> asked_;   ///< by place: how often its fragment was asked for again
    /// By slot and producer: the sequence number after that of the last fragment that is over. A producer is
    /// granted a place again only when that is so, and its events in ascending order, so all before this
    /// number are over as well, however late their chunks and messages come.
    std::vector<std::uint64_t> over_;
    std::vector<EventId> given_up_;
};

}  // namespace weir::core
