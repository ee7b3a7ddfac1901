#include "core/consumer.hpp"

namespace weir::core {

namespace {

bool is_busy(const Plan& plan, ConsumerId id) {
    return plan.busy.kind != DistributionKind::none &&
           (plan.busy_consumers.empty() ||
            std::binary_search(plan.busy_consumers.begin(), plan.busy_consumers.end(), id.value));
}

}  // namespace

Consumer::Consumer(const Plan& plan, ConsumerId id, Sampler processing_time,
                   std::optional<Sampler> result_size)
    : plan_(plan),
      id_(id),
      fragments_(plan.fragments_per_event()),
      slots_(plan.slots),
      places_(plan.places(), FragmentPlace(plan)),
      withheld_(plan.slots),
      result_size_(std::move(result_size)) {
    WEIR_ASSERT(plan.slots > 0);
    WEIR_ASSERT(plan.high_water == 0 || plan.low_water < plan.high_water);
    if (is_busy(plan, id)) {
        processing_.emplace(std::move(processing_time), plan.slots);
    }
    if (plan.consumers_grant()) {
        turns_.emplace(plan, id);
    }
    if (plan.pulls()) {
        requests_.emplace(plan, id);
    }
    if (plan.lossy()) {
        losses_.emplace(plan);
    }
    if (plan.addressed() && id.value < plan.producers && !plan.traffic->inputs_of({id.value}).empty()) {
        arrivals_.emplace(plan.traffic, plan.interval, id);
    }
}

void Consumer::on_start(Instant /*now*/, Actions& out) {
    open_slots(out);
}

void Consumer::open_slots(Actions& out) {
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
        WEIR_ASSERT(slots_[slot].state == SlotState::closed);
        slots_[slot].state = SlotState::free;
        ++use_.free;
        open_places({slot}, out);
        give_credit({slot}, out);
    }
}

// Slots and credits

void Consumer::open_places(SlotId slot, Actions& out) {
    for (std::uint32_t fragment = 0; fragment < fragments_; ++fragment) {
        const PlaceId place = plan_.place_of(slot, fragment);
        places_[place.value].set_free();
        out.open_places.push_back(place);
    }
}

void Consumer::give_credit(SlotId id, Actions& out) {
    Slot& slot = slots_[id.value];
    if (!turns_) {
        out.messages.emplace_back(scheduler_node(), Ready{id, std::exchange(slot.result_bytes, 0), epoch_});
        return;
    }
    slot.source = turns_->next(slot.source);
    if (slot.source) {
        out.messages.emplace_back(node_of(*slot.source), Grant{id_, plan_.place_of(id, 0)});
    }
}

/// Whether the consumer holds too many events to give credits; between the two marks as before.
bool Consumer::withholds() {
    const std::uint32_t held = use_.receiving + use_.queued;
    if (plan_.high_water > 0 && held >= plan_.high_water) {
        withholding_ = true;
    } else if (held <= plan_.low_water) {
        withholding_ = false;
    }
    return withholding_;
}

/// The slot has nothing in it any more. Returns whether it is free: its credit is to be given, and then those
/// that were withheld.
bool Consumer::empty_slot(SlotId id, Actions& out) {
    Slot& slot = slots_[id.value];
    WEIR_ASSERT(slot.state == SlotState::queued);
    --use_.queued;
    slot.assigned = false;
    send_result(id, out);
    if (withholds()) {
        slot.state = SlotState::withheld;
        ++use_.withheld;
        withheld_.push(id.value);
        return false;
    }
    slot.state = SlotState::free;
    ++use_.free;
    open_places(id, out);
    return true;
}

void Consumer::give_withheld(Actions& out) {
    while (!withheld_.empty()) {
        const SlotId slot{withheld_.pop()};
        slots_[slot.value].state = SlotState::free;
        --use_.withheld;
        ++use_.free;
        open_places(slot, out);
        give_credit(slot, out);
    }
}

void Consumer::begin_event(SlotId id, std::uint64_t number) {
    Slot& slot = slots_[id.value];
    WEIR_ASSERT(slot.state == SlotState::free);
    slot.state = SlotState::receiving;
    slot.number = number;
    slot.complete_places = 0;
    slot.whole = {};
    slot.generated_at = Instant::never();
    --use_.free;
    ++use_.receiving;
}

/// Sends the result of the event that was in the slot. One that was given up has none.
void Consumer::send_result(SlotId id, Actions& out) {
    Slot& slot = slots_[id.value];
    if (!result_size_ || turns_ || slot.whole.events < fragments_) {
        return;
    }
    const Bytes bytes{std::max<std::int64_t>(1, result_size_->next())};
    slot.result_bytes = static_cast<std::uint32_t>(bytes.count);
    ledger_.results.add(slot.fragment, bytes);
    out.results.push_back({id, slot.fragment, bytes});
}

/// All places of the slot are complete. An event that lacks a fragment holds nothing to process.
void Consumer::end_event(Instant now, SlotId id, Actions& out) {
    Slot& slot = slots_[id.value];
    const bool whole = slot.whole.events == fragments_;
    const bool works = processing_ && whole;
    --use_.receiving;
    ++use_.queued;
    slot.state = SlotState::queued;
    ++(whole ? finished_events_ : given_up_events_);
    if (plan_.builds()) {
        out.observe(whole ? Observation::Kind::event_finished : Observation::Kind::event_given_up,
                    node_of(id_), slot.fragment, slot.whole.bytes,
                    slot.generated_at == Instant::never() ? Duration{} : now - slot.generated_at);
    }
    if (reports_progress_) {
        report_progress(out);
    }
    const bool free = !works && empty_slot(id, out);
    if (turns_) {
        if (free) {
            give_credit(id, out);
        }
    } else {
        Done message = done(id);
        if (free) {
            message.credit = Done::Credit::given;
            message.result_bytes = std::exchange(slot.result_bytes, 0);
        }
        out.messages.emplace_back(scheduler_node(), message);
    }
    if (free) {
        give_withheld(out);
    }
    if (works) {
        const bool idle = !processing_->busy();
        processing_->add(now, id);
        if (idle) {
            on_time(now, out);
        }
    }
}

/// Without the slot's credit.
Done Consumer::done(SlotId id) const {
    const Slot& slot = slots_[id.value];
    return {.slot = id,
            .fragments = static_cast<std::uint32_t>(slot.whole.events),
            .bytes = slot.whole.bytes,
            .hash = slot.whole.hash,
            .event = slot.fragment,
            .epoch = epoch_};
}

void Consumer::on_time(Instant now, Actions& out) {
    if (finished_) {
        return;
    }
    while (const auto processed = processing_ ? processing_->next_processed(now) : std::nullopt) {
        const Slot& slot = slots_[processed->slot.value];
        out.observe(Observation::Kind::processed, node_of(slot.fragment.producer()), slot.fragment,
                    slot.whole.bytes, processed->time);
        if (empty_slot(processed->slot, out)) {
            give_credit(processed->slot, out);
            give_withheld(out);
        }
    }
    if (losses_) {
        give_up_overdue(now, out);
    }
}

Instant Consumer::next_deadline() const {
    if (finished_) {
        return Instant::never();
    }
    const Instant processed = processing_ ? processing_->until() : Instant::never();
    return losses_ ? std::min(processed, losses_->next_deadline()) : processed;
}

std::vector<Traffic> Consumer::received_from() const {
    std::vector<Traffic> by_producer(plan_.producers);
    for (const Received& received : received_from_) {
        by_producer[received.producer] = received.traffic;
    }
    return by_producer;
}

// Fragments

/// The fragment is whole.
void Consumer::end_fragment(Instant now, PlaceId place, Actions& out) {
    FragmentPlace& fragment = places_[place.value];
    Slot& slot = slots_[plan_.slot_of(place).value];
    const EventId event = fragment.event();
    const Bytes bytes = fragment.bytes();
    ledger_.received.add(event, bytes);
    slot.whole.add(event, bytes);
    slot.generated_at = std::min(slot.generated_at, fragment.generated_at());
    const auto from = std::lower_bound(
        received_from_.begin(), received_from_.end(), event.producer().value,
        [](const Received& received, std::uint32_t producer) { return received.producer < producer; });
    if (from != received_from_.end() && from->producer == event.producer().value) {
        from->traffic += {1, bytes};
    } else {
        received_from_.insert(from, {event.producer().value, {1, bytes}});
    }
    if (fragment.corrupt()) {
        ledger_.corrupt.add(event, bytes);
    }
    out.observe(Observation::Kind::received, node_of(event.producer()), event, bytes,
                now - fragment.generated_at());
    slot.fragment = event;
    if (arrivals_) {
        announce_input(fragment, out);
    }
    complete_place(now, place, out);
}

/// To the producer of this worker, when what has arrived is all of a transfer that it waits for.
void Consumer::announce_input(const FragmentPlace& fragment, Actions& out) {
    const auto complete =
        arrivals_->received(fragment.event().producer(), fragment.bytes(), fragment.generated_at());
    const ProducerId producer{id_.value};
    if (complete && !plan_.traffic->waiting_for(producer, complete->incoming).empty()) {
        out.messages.emplace_back(node_of(producer), InputArrived{complete->incoming, complete->interval});
    }
}

/// Nothing more is expected in this place: its fragment is whole, or was declined or given up.
void Consumer::complete_place(Instant now, PlaceId place, Actions& out) {
    FragmentPlace& fragment = places_[place.value];
    if (losses_ && fragment.state() == FragmentPlace::State::receiving) {
        losses_->complete(place, fragment.event(), out);
    }
    fragment.complete();
    if (requests_) {
        requests_->complete(place, out);
    }
    const SlotId slot = plan_.slot_of(place);
    if (++slots_[slot.value].complete_places == fragments_) {
        end_event(now, slot, out);
    }
}

// Messages and the end

/// What was granted to a producer is not there.
bool Consumer::on(Instant now, NodeId from, const Decline& decline, Actions& out) {
    const auto [consumer, place, number, epoch] = decline;
    if (from.role != Role::producer || from.index >= plan_.producers || consumer != id_ || epoch != epoch_ ||
        place.value >= places_.size() || places_[place.value].state() != FragmentPlace::State::free) {
        return false;
    }
    const SlotId slot = plan_.slot_of(place);
    if (turns_) {
        if (slots_[slot.value].source != ProducerId{from.index}) {
            return false;
        }
        turns_->leave_out({from.index});
        give_credit(slot, out);
        return true;
    }
    const EventId event = EventId::of({from.index}, plan_.builds() ? number : 0);
    if ((!plan_.builds() && !plan_.pulls()) || number >= EventId::sequence_limit || !belongs(place, event)) {
        return false;
    }
    if (slots_[slot.value].state == SlotState::free) {
        begin_event(slot, event.sequence());
    }
    slots_[slot.value].fragment = event;
    complete_place(now, place, out);
    return true;
}

/// Initiation pull.
bool Consumer::on(Instant /*now*/, NodeId from, const Assign& assign, Actions& out) {
    if (!requests_ || from != scheduler_node() || assign.slot.value >= slots_.size() ||
        (plan_.builds() ? assign.number >= EventId::sequence_limit
                        : assign.producer.value >= plan_.producers)) {
        return false;
    }
    Slot& slot = slots_[assign.slot.value];
    if (slot.state != SlotState::free || slot.assigned) {
        return false;
    }
    slot.assigned = true;
    slot.number = assign.number;
    if (!plan_.builds()) {
        slot.source = assign.producer;
    }
    requests_->add(plan_, assign, out);
    return true;
}

bool Consumer::on(Instant /*now*/, NodeId from, const ReportProgress& /*request*/, Actions& out) {
    if (!turns_ || from != scheduler_node()) {
        return false;
    }
    reports_progress_ = true;
    report_progress(out);
    return true;
}

bool Consumer::on(Instant /*now*/, NodeId from, const Finish& finish, Actions& out) {
    if (from != scheduler_node() || (finish.epoch != epoch_ && !plan_.outlives_consumers)) {
        return false;
    }
    if (!admitted_ || finish.epoch != epoch_) {
        return true;  // it was for an earlier life
    }
    close(out);
    return true;
}

void Consumer::report_progress(Actions& out) const {
    const Tally& received = ledger_.received;
    const Tally& lost = ledger_.incomplete;
    out.messages.emplace_back(scheduler_node(),
                              Progress{{received.events + lost.events, received.bytes + lost.bytes}});
}

void Consumer::on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    if (finished_) {
        return;
    }
    const auto receive = [&](const auto& body) { return on(now, from, body, out); };
    if (!std::visit(receive, message)) {
        out.faults.push_back(
            {.source = from,
             .destination = node_of(id_),
             .event = event_of(message),
             .detail = "a message that a consumer does not take, or of what it does not wait for"});
    }
}

void Consumer::close(Actions& out) {
    for (const FragmentPlace& fragment : places_) {
        if (fragment.state() != FragmentPlace::State::receiving || fragment.bytes() == Bytes{0}) {
            continue;
        }
        if (losses_) {
            give_up(fragment, out);
            continue;
        }
        ledger_.incomplete.add(fragment.event(), fragment.bytes());
        const std::uint32_t sequence = fragment.first_missing();
        out.faults.push_back({.kind = Fault::Kind::incomplete_event,
                              .source = node_of(fragment.event().producer()),
                              .destination = node_of(id_),
                              .event = fragment.event(),
                              .offset = plan_.chunk_size * sequence,
                              .sequence = sequence,
                              .detail = "this chunk never arrived"});
    }
    // Fragments of events that were never finished are received all the same.
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot].state == SlotState::receiving && slots_[slot].whole.events > 0) {
            ++given_up_events_;
            out.messages.emplace_back(scheduler_node(), done({slot}));
        }
    }
    out.close_places = true;
    finished_ = true;
    append_ledger_report(ledger_, out);
}

// --on-failure continue: lives

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
    received_from_.clear();
}

bool Consumer::refuse_stale(const ArrivedChunk& arrived, Actions& out) {
    if (!plan_.outlives_consumers) {
        return false;  // a header that is wrong: checked with the others
    }
    if (!is_possible(arrived)) {
        add_fault(Fault::Kind::unexpected_chunk, arrived, "no event of an earlier life has such a chunk",
                  out);
        return true;
    }
    stale_ += {arrived.count, arrived.chunk.length};
    out.observe(Observation::Kind::chunk_stale, arrived.source, arrived.chunk.event, arrived.chunk.length);
    return true;
}

}  // namespace weir::core
