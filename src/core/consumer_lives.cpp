// The consumer's part of --on-failure continue: its lives.
#include "core/consumer.hpp"

namespace weir::core {

void Consumer::die() {
    empty_all();
    admitted_ = false;
}

void Consumer::begin_again(Actions& out) {
    WEIR_ASSERT(!admitted_);
    epoch_ = 0;
    finished_ = false;
    out.messages.emplace_back(scheduler_node(), Join{});
}

bool Consumer::on(Instant /*now*/, NodeId from, const Admit& admit, Actions& out) {
    if (from != scheduler_node() || !plan_.outlives_consumers || admit.epoch == 0) {
        return false;
    }
    if (admitted_ && admit.epoch <= epoch_) {
        return true;  // overtaken by a later one
    }
    empty_all();
    epoch_ = admit.epoch;
    admitted_ = true;
    open_slots(out);
    return true;
}

void Consumer::empty_all() {
    slots_.assign(plan_.slots, {});
    places_.assign(plan_.places(), FragmentPlace(plan_));
    use_ = {};
    withheld_ = RingQueue<std::uint32_t>(plan_.slots);
    withholding_ = false;
    if (processing_) {
        processing_->clear();
    }
    ledger_ = {};
    received_from_.assign(plan_.producers, {});
}

bool Consumer::refuse_stale(const ArrivedChunk& arrived, Actions& out) {
    if (!plan_.outlives_consumers) {
        return false;  // a header that is wrong: checked with the others
    }
    if (!is_possible(arrived)) {
        out.faults.push_back({.kind = Fault::Kind::unexpected_chunk,
                              .source = arrived.source,
                              .destination = node_of(id_),
                              .event = arrived.chunk.event,
                              .offset = arrived.chunk.offset,
                              .sequence = arrived.chunk.sequence,
                              .detail = "no event of an earlier life has such a chunk"});
        return true;
    }
    stale_ += {arrived.count, arrived.chunk.length};
    out.observe({.kind = Observation::Kind::chunk_stale,
                 .peer = arrived.source,
                 .event = arrived.chunk.event,
                 .bytes = arrived.chunk.length,
                 .elapsed = {}});
    return true;
}

}  // namespace weir::core
