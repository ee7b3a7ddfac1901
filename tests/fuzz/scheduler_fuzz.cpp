// The scheduler against arbitrary messages from its peers, in any order and at any time.
#include "core/policies/policy_table.hpp"
#include "core/scheduler.hpp"

#include "small_plan.hpp"
#include "steps.hpp"

using namespace weir;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::FuzzInput input(data, size);
    const core::Plan plan = fuzz::small_plan(input);
    core::Scheduler scheduler(plan, core::make_policy(plan, 1));
    core::Instant now = core::Instant{} - plan.warmup;
    core::Actions out;
    for (int step = 0; step < fuzz::steps_max && !input.empty(); ++step) {
        out.clear();
        switch (static_cast<fuzz::Step>(input.below(fuzz::step_count))) {
            case fuzz::Step::time:
                fuzz::pass_time(input, now);
                scheduler.on_time(now, out);
                break;
            case fuzz::Step::result: {
                const core::NodeId from = fuzz::take_node(input);
                const auto slot = input.take<std::uint32_t>();
                const auto event = input.take<std::uint64_t>();
                scheduler.on_result(from, {{slot}, {event}, {input.take<std::int64_t>()}}, out);
                break;
            }
            case fuzz::Step::loss:
                if (const core::ConsumerId lost{input.take<std::uint8_t>() % plan.consumers};
                    plan.outlives_consumers) {
                    scheduler.on_consumer_lost(now, lost, out);
                }
                break;
            case fuzz::Step::finish:
                scheduler.finish(out);
                break;
            default: {
                const core::NodeId from = fuzz::take_node(input);
                scheduler.on_message(now, from, fuzz::take_message(input), out);
            }
        }
        fuzz::demand(scheduler.free_slots() + scheduler.outstanding() <= plan.consumers * plan.slots,
                     "more credits and transfers than slots");
        fuzz::demand(scheduler.no_credit_time(now) >= core::Duration{}, "a negative time without credits");
        fuzz::demand(
            scheduler.done().bytes >= core::Bytes{0} && scheduler.reported().sent.bytes >= core::Bytes{0},
            "a negative number of bytes");
    }
    return 0;
}
