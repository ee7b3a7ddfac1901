// A producer against arbitrary messages. What its transport reports is right: chunks leave once each, in any
// order.
#include "core/producer.hpp"

#include <vector>

#include "core/distribution.hpp"
#include "core/plan.hpp"
#include "small_plan.hpp"
#include "steps.hpp"

using namespace weir;

namespace {

class Harness {
  public:
    explicit Harness(const core::Plan& plan)
        : plan_(plan),
          now_(core::Instant{} - plan.warmup),
          producer_(plan, {0},
                    core::EventGenerator(plan, core::Sampler(plan.event_size, core::Random(1, 1)), now_,
                                         core::Instant{} + plan.duration, core::set_phase(plan, {0}), {0})) {}

    void step(fuzz::FuzzInput& input) {
        core::Actions out;
        switch (static_cast<fuzz::Step>(input.below(fuzz::step_count))) {
            case fuzz::Step::time:
                fuzz::pass_time(input, now_);
                producer_.on_time(now_, out);
                break;
            case fuzz::Step::chunk:
            case fuzz::Step::chunks_left:
                let_one_leave(input, out);
                break;
            default: {
                const core::NodeId from = fuzz::take_node(input);
                producer_.on_message(now_, from, fuzz::take_message(input), out);
            }
        }
        for (const core::SendChunk& chunk : out.chunks) {
            check(chunk);
            under_way_.push_back(chunk);
        }
        check_account();
    }

  private:
    void let_one_leave(fuzz::FuzzInput& input, core::Actions& out) {
        const std::uint32_t which = input.take<std::uint8_t>();
        if (under_way_.empty()) {
            return;
        }
        const auto left = under_way_.begin() + which % static_cast<std::uint32_t>(under_way_.size());
        const core::SendChunk chunk = *left;
        under_way_.erase(left);
        producer_.on_chunk_sent(now_, chunk.stream, chunk.chunk.sequence, out);
    }

    void check(const core::SendChunk& chunk) const {
        fuzz::demand(chunk.to.value < plan_.consumers && chunk.place.value < plan_.places() &&
                         chunk.stream.value < plan_.streams,
                     "a chunk for no consumer, place or stream");
        fuzz::demand(chunk.chunk.length > core::Bytes{0} && chunk.chunk.length <= plan_.chunk_size &&
                         chunk.chunk.offset + chunk.chunk.length <= chunk.chunk.event_bytes,
                     "a chunk beyond its event");
    }

    void check_account() const {
        const core::Ledger& ledger = producer_.ledger();
        fuzz::demand(producer_.backlog() >= core::Bytes{0}, "a negative backlog");
        fuzz::demand(ledger.sent.events + ledger.lost.events <= ledger.generated.events,
                     "more sent and lost than generated");
        if (producer_.finished()) {
            fuzz::demand(ledger.generated == ledger.sent + ledger.lost, "an account that does not add up");
        }
        const core::StreamUse use = producer_.stream_use();
        fuzz::demand(use.transferring + use.waiting_for_grant + use.waiting_for_data == plan_.streams,
                     "streams that do not add up");
    }

    core::Plan plan_;
    core::Instant now_;
    core::Producer producer_;
    std::vector<core::SendChunk> under_way_;
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
