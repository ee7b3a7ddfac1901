// A consumer against arbitrary messages and chunks. Its transport gives it chunks only in places that it has,
// and gives the producer from which they came.
#include "core/consumer.hpp"

#include <optional>

#include "small_plan.hpp"
#include "steps.hpp"

using namespace weir;

namespace {

core::ArrivedChunk take_chunk(fuzz::FuzzInput& input) {
    core::ArrivedChunk arrived;
    arrived.source = fuzz::take_node(input);
    const auto flags = input.take<std::uint8_t>();
    arrived.header_intact = (flags & 1U) == 0;
    arrived.payload_intact = (flags & 2U) == 0;
    arrived.chunk.event = {input.take<std::uint64_t>()};
    arrived.chunk.event_bytes = {input.take<std::int64_t>()};
    arrived.chunk.offset = {input.take<std::int64_t>()};
    arrived.chunk.length = {input.take<std::int64_t>()};
    arrived.chunk.sequence = input.take<std::uint32_t>();
    arrived.chunk.generated_at = {input.take<std::int64_t>()};
    arrived.chunk.begun_at = {input.take<std::int64_t>()};
    arrived.chunk.epoch = input.take<std::uint16_t>();
    return arrived;
}

class Harness {
  public:
    explicit Harness(const core::Plan& plan)
        : plan_(plan),
          now_(core::Instant{} - plan.warmup),
          consumer_(plan, {0}, core::Sampler(plan.busy, core::Random(1, 1)), result_sizes(plan)) {
        core::Actions out;
        consumer_.on_start(now_, out);
    }

    void step(fuzz::FuzzInput& input) {
        core::Actions out;
        switch (static_cast<fuzz::Step>(input.below(fuzz::step_count))) {
            case fuzz::Step::time:
                fuzz::pass_time(input, now_);
                consumer_.on_time(now_, out);
                break;
            case fuzz::Step::chunk: {
                const core::PlaceId place{input.take<std::uint8_t>() % plan_.places()};
                consumer_.on_chunk(now_, place, take_chunk(input), out);
                break;
            }
            case fuzz::Step::loss:
                if (plan_.outlives_consumers) {
                    consumer_.die();
                    consumer_.begin_again(out);
                    waits_ = true;
                }
                break;
            default: {
                const core::NodeId from = fuzz::take_node(input);
                consumer_.on_message(now_, from, fuzz::take_message(input), out);
            }
        }
        check();
    }

  private:
    static std::optional<core::Sampler> result_sizes(const core::Plan& plan) {
        return plan.result_size.kind == core::DistributionKind::none
                   ? std::nullopt
                   : std::optional(core::Sampler(plan.result_size, core::Random(1, 2)));
    }

    void check() {
        const core::SlotUse use = consumer_.slot_use();
        const std::uint32_t slots = use.free + use.receiving + use.queued + use.withheld;
        // A process that came back has none until it is taken in.
        fuzz::demand(slots == plan_.slots || (waits_ && slots == 0), "slots that do not add up");
        waits_ = waits_ && slots == 0;
        const core::Ledger& ledger = consumer_.ledger();
        fuzz::demand(ledger.received.bytes >= core::Bytes{0} && ledger.incomplete.bytes >= core::Bytes{0},
                     "a negative number of bytes");
        std::uint64_t events = 0;
        for (const core::Traffic& traffic : consumer_.received_from()) {
            events += traffic.events;
        }
        fuzz::demand(events == ledger.received.events, "traffic that is not what was received");
    }

    core::Plan plan_;
    core::Instant now_;
    core::Consumer consumer_;
    bool waits_ = false;  ///< to be taken in
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::FuzzInput input(data, size);
    Harness harness(fuzz::small_plan(input));
    for (int step = 0; step < fuzz::steps_max && !input.empty(); ++step) {
        harness.step(input);
    }
    return 0;
}
