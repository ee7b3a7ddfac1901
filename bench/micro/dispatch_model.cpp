// Why a dispatcher that queues events and tokens can slow down with the
// number of events, and why weir's does not. What is measured is computing alone, no network: the time of
// every further block of events that a source hands to 20 nodes by tokens, while it gets slightly more events
// than the nodes take, so that the queue of events grows.
//
//   list   a model: an unbounded linked list whose end is found by walking there, as in the simplest program
//   deque  a model: an unbounded queue with constant-time ends (std::deque)
//   weir   weir's own producer and scheduler with policy token, joined by their messages
//
// How the paper's program kept its queues is not known; the note mentions that its behaviour is under
// investigation. The list shows that a cost which grows with the length of a queue has the shape of the
// note's table. Output: CSV.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include "core/distribution.hpp"
#include "core/event_generator.hpp"
#include "core/policies/policy_table.hpp"
#include "core/producer.hpp"
#include "core/scheduler.hpp"

namespace {

using namespace weir::core;

constexpr std::uint32_t nodes = 20;
constexpr Bytes event_bytes{32000};

/// So many more events come than the nodes take.
struct Excess {
    std::uint64_t per_thousand = 0;
    [[nodiscard]] std::uint64_t came_when(std::uint64_t taken) const {
        return taken + taken * per_thousand / 1000;
    }
};

/// A queue as a linked list without a pointer to its end.
class WalkedList {
  public:
    WalkedList() = default;
    WalkedList(const WalkedList&) = delete;
    WalkedList& operator=(const WalkedList&) = delete;
    ~WalkedList() {
        while (first_) {
            pop();
        }
    }
    void push(std::uint64_t value) {
        std::unique_ptr<Element>* end = &first_;
        while (*end) {
            end = &(*end)->next;
        }
        *end = std::make_unique<Element>(Element{value, nullptr});
    }
    std::uint64_t pop() {
        const std::unique_ptr<Element> old = std::move(first_);
        first_ = std::move(old->next);
        return old->value;
    }

  private:
    struct Element {
        std::uint64_t value = 0;
        std::unique_ptr<Element> next;
    };
    std::unique_ptr<Element> first_;
};

class Deque {
  public:
    void push(std::uint64_t value) { values_.push_back(value); }
    std::uint64_t pop() {
        const std::uint64_t value = values_.front();
        values_.pop_front();
        return value;
    }

  private:
    std::deque<std::uint64_t> values_;
};

/// Queues of a dispatcher: every token of a node takes the oldest event and comes back at once.
template <typename Queue>
class Model {
  public:
    explicit Model(Excess excess) : excess_(excess) {
        for (std::uint64_t token = 0; token < 2 * nodes; ++token) {
            tokens_.push(token % nodes);
        }
    }
    void take(std::uint64_t event) {
        for (; came_ <= excess_.came_when(event); ++came_) {
            events_.push(came_);
        }
        const std::uint64_t token = tokens_.pop();
        sum_ += events_.pop();
        tokens_.push(token);
    }
    [[nodiscard]] std::uint64_t waiting(std::uint64_t taken) const { return came_ - taken; }

  private:
    Excess excess_;
    Queue events_;
    Queue tokens_;
    std::uint64_t came_ = 0;
    std::uint64_t sum_ = 0;
};

/// weir's producer and scheduler, with consumers that are done at once.
class Weir {
  public:
    explicit Weir(Excess excess)
        : excess_(excess),
          plan_(plan()),
          scheduler_(plan_, make_policy(plan_, 1)),
          producer_(plan_, {0},
                    EventGenerator(plan_, Sampler(plan_.event_size, Random(1, 1)), Instant{},
                                   {plan_.duration.ns})) {
        for (std::uint32_t slot = 0; slot < plan_.slots; ++slot) {
            for (std::uint32_t node = 0; node < nodes; ++node) {
                scheduler_.on_message(now_, {Role::consumer, node}, Ready{{slot}}, out_);
            }
        }
        carry_out();
    }
    void take(std::uint64_t event) {
        now_ = {static_cast<std::int64_t>(excess_.came_when(event) + 1) * nanoseconds_per_event};
        producer_.on_time(now_, out_);
        deliver();
    }
    [[nodiscard]] std::uint64_t waiting(std::uint64_t /*taken*/) const { return scheduler_.waiting_events(); }

  private:
    static constexpr std::int64_t nanoseconds_per_event = 256000;  // 32 kB at 1 Gb/s

    static Plan plan() {
        Plan plan;
        plan.producers = 1;
        plan.consumers = nodes;
        plan.rate = {1000000000};
        plan.interval = Duration::seconds(1);
        plan.generation = Generation::steady;
        plan.event_size = {.kind = DistributionKind::fixed, .mean = static_cast<double>(event_bytes.count)};
        plan.buffer = {1 << 24};
        plan.policy = PolicyKind::token;
        plan.chunk_size = plan.slot_size = event_bytes;
        plan.window = 4;
        plan.slots = 2;
        plan.streams = 2 * nodes;
        plan.duration = Duration::seconds(std::int64_t{1} << 30);
        return plan;
    }

    /// All that is under way, and then the end of the oldest transfer.
    void deliver() {
        carry_out();
        if (chunks_.empty()) {
            return;
        }
        const SendChunk chunk = chunks_.front();
        chunks_.pop_front();
        producer_.on_chunk_sent(now_, chunk.stream, 0, out_);
        scheduler_.on_message(now_, {Role::consumer, chunk.to.value},
                              Done{.slot = {chunk.place.value},
                                   .fragments = 1,
                                   .bytes = event_bytes,
                                   .hash = ledger_mix(chunk.chunk.event, event_bytes),
                                   .event = chunk.chunk.event,
                                   .credit = Done::Credit::given},
                              out_);
        carry_out();
    }

    void carry_out() {
        while (!out_.messages.empty() || !out_.chunks.empty() || !out_.faults.empty()) {
            asked_.clear();
            std::swap(out_, asked_);
            if (!asked_.faults.empty()) {
                fmt::print(stderr, "dispatch_model: a fault: {}\n", asked_.faults.front().detail);
                std::exit(1);
            }
            chunks_.insert(chunks_.end(), asked_.chunks.begin(), asked_.chunks.end());
            for (const SendMessage& sent : asked_.messages) {
                if (sent.to.role == Role::producer) {
                    producer_.on_message(now_, scheduler_node(), sent.message, out_);
                } else {
                    scheduler_.on_message(now_, {Role::producer, 0}, sent.message, out_);
                }
            }
        }
        out_.clear();
    }

    Excess excess_;
    Plan plan_;
    Instant now_;
    Scheduler scheduler_;
    Producer producer_;
    Actions out_;
    Actions asked_;
    std::deque<SendChunk> chunks_;
};

template <typename Dispatcher>
void measure(std::string_view name, std::uint64_t events, std::uint64_t block, Excess excess) {
    Dispatcher dispatcher(excess);
    auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t event = 0; event < events; ++event) {
        dispatcher.take(event);
        if ((event + 1) % block == 0) {
            const auto end = std::chrono::steady_clock::now();
            fmt::print("{},{},{:.6f},{}\n", name, event + 1,
                       std::chrono::duration<double>(end - begin).count(), dispatcher.waiting(event + 1));
            begin = std::chrono::steady_clock::now();
        }
    }
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t events = argc > 1 ? number(argv[1]) : 2000000;
    const std::uint64_t block = argc > 2 ? number(argv[2]) : 100000;
    if (events == 0 || block == 0 || argc > 3) {
        fmt::print(stderr, "dispatch_model: write dispatch_model [EVENTS [BLOCK]], such as 2000000 100000\n");
        return 2;
    }
    constexpr Excess excess{5};
    fmt::print("dispatcher,events,seconds,waiting_events\n");
    measure<Model<WalkedList>>("list", events, block, excess);
    measure<Model<Deque>>("deque", events, block, excess);
    measure<Weir>("weir", events, block, excess);
    return 0;
}
