#include "core/scheduler.hpp"

namespace weir::core {

namespace {

std::uint32_t most_under_way(const Plan& plan) {
    if (!plan.builds()) {
        return plan.streams;
    }
    // Without a limit it is credits that run short, and that is what is to be said then.
    return plan.assigned_events > 0 ? plan.assigned_events : std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

Scheduler::Scheduler(const Plan& plan, std::unique_ptr<Policy> policy)
    : plan_(plan),
      policy_(std::move(policy)),
      under_way_limit_(most_under_way(plan)),
      most_events_(most_events(plan)),
      most_bytes_(most_generated(plan)),
      producers_(plan.producers),
      consumers_(plan.consumers, ConsumerAccount(plan.slots)),
      drain_grace_(drain_grace(plan)),
      progress_at_(plan.give_up_at()),
      drain_until_(progress_at_ + drain_grace_),
      accounted_until_(Instant{} - plan.warmup) {
    WEIR_ASSERT((policy_ == nullptr) == plan.consumers_grant());
    WEIR_ASSERT(!plan_.builds() || !plan_.consumers_grant());
    if (plan.shaping.kind == ShapingKind::in_step) {
        next_tick_ = Instant{} - plan.warmup;  // at once, then at multiples of the time between ticks
    }
    if (plan.addressed()) {
        pairs_.resize(plan.traffic->pairs());
    }
    if (plan.builds()) {
        common_offers_.emplace(plan.producers);
    }
}

void Scheduler::on_message(Instant now, NodeId from, const ControlMessage& message, Actions& out) {
    account_time(now);
    if (plan_.outlives_consumers && is_consumer(from) && !is_from_this_life(now, from, message, out)) {
        grant_all(out);
        finish_if_complete(out);
        short_of_credits_ = producer_available() && !consumer_available();
        return;
    }
    const std::uint64_t waited_before = waiting_events_;
    // The sender's accounts are looked up with `from`, which the loop derives from the rank; what the
    // message itself contains is checked against them.
    const auto receive = [&](const auto& body) { return on(now, from, body, out); };
    if (const char* const wrong = std::visit(receive, message)) {
        violation(from, wrong, out);
    } else if (std::holds_alternative<Done>(message) || std::holds_alternative<Drained>(message)) {
        put_off_end(now);
    }
    const std::uint64_t came = waiting_events_ > waited_before ? waiting_events_ - waited_before : 0;
    grant_all(out);
    if (came > 0 && !consumer_available()) {
        events_without_credit_ += std::min(came, waiting_events_);
    }
    finish_if_complete(out);
    short_of_credits_ = producer_available() && !consumer_available();
}

const char* Scheduler::on(Instant /*now*/, NodeId from, const Ready& ready, Actions& /*out*/) {
    if (!is_consumer(from)) {
        return "ready from no consumer";
    }
    const ConsumerAccount& consumer = consumers_[from.index];
    if (ready.slot.value >= consumer.slots.size() || plan_.consumers_grant() ||
        consumer.slots[ready.slot.value].state != SlotState::held_by_consumer) {
        return "ready for a slot whose credit the scheduler already holds";
    }
    if (!claim_result({from.index}, ready.slot, ready.result_bytes)) {
        return "ready with a result that did not arrive";
    }
    add_credit({from.index}, ready.slot);
    return nullptr;
}

void Scheduler::on_result(NodeId from, const SendResult& result, Actions& out) {
    const bool expected = is_consumer(from) && !plan_.consumers_grant() &&
                          plan_.result_size.kind != DistributionKind::none &&
                          result.slot.value < plan_.slots && result.bytes > Bytes{0} &&
                          result.bytes.count <= std::numeric_limits<std::uint32_t>::max();
    Slot* const slot = expected ? &consumers_[from.index].slots[result.slot.value] : nullptr;
    if (slot == nullptr || !slot->occupied || slot->result != Bytes{0} ||
        !is_from(*slot, result.event.producer())) {
        violation(from, "a result that no event in a slot can have", out);
        return;
    }
    slot->result = result.bytes;
    results_.add(result.event, result.bytes);
}

bool Scheduler::claim_result(ConsumerId consumer, SlotId slot, std::uint32_t result_bytes) {
    const Bytes arrived = std::exchange(consumers_[consumer.value].slots[slot.value].result, Bytes{0});
    return arrived == Bytes{std::int64_t{result_bytes}};
}

void Scheduler::add_credit(ConsumerId consumer, SlotId slot) {
    ConsumerAccount& account = consumers_[consumer.value];
    account.slots[slot.value].state = SlotState::free;
    account.slots[slot.value].occupied = false;
    account.free.push(slot.value);
    ++free_slots_;
    update_policy(consumer);
}

/// Whether an offer can follow what its producer offered before. Pattern `build`: some producers make more
/// events than their own rate gives, as many as the others have; all of them together must be countable.
bool Scheduler::can_follow(const ProducerAccount& producer, const Traffic& offered) const {
    if (offered.bytes < producer.offered.bytes || offered.events < producer.offered.events ||
        offered.events > most_events_) {
        return false;
    }
    const Traffic more = offered - producer.offered;
    return is_amount(plan_, more) &&
           (plan_.builds() ? adds_up(common_offers_->bytes(), more.bytes) : offered.bytes <= most_bytes_);
}

const char* Scheduler::on(Instant /*now*/, NodeId from, const Offer& offer, Actions& out) {
    if (!is_producer(from)) {
        return "offer from no producer";
    }
    if (plan_.addressed()) {
        return on_addressed({from.index}, offer);
    }
    ProducerAccount& producer = producers_[from.index];
    if (plan_.consumers_grant() || producer.drained || !can_follow(producer, offer.offered)) {
        return "an offer that takes back what was offered before, or of more than there can be";
    }
    const Traffic more = offer.offered - producer.offered;
    producer.offered = offer.offered;
    if (!plan_.builds()) {
        waiting_events_ += more.events;
        update_policy(ProducerId{from.index});
        return nullptr;
    }
    common_offers_->add({from.index}, more, offer.offered.events);
    update_common_offers();
    if (offer.more == Offer::More::none && !producer.last_offer) {
        producer.last_offer = true;
        if (common_offers_->end_one()) {
            // With `saturate` some are ahead of others; every event that was begun gets all of its fragments.
            send_producers(Complete{common_offers_->begun_events()}, out);
        }
    }
    return nullptr;
}

/// Pattern `build`: an event is there when every producer has offered its fragment.
void Scheduler::update_common_offers() {
    const std::uint64_t common = std::max(common_offers_->events(), together_.granted.events);
    waiting_events_ = common - together_.granted.events;
    together_.offered.events = common;
    update_policy(ProducerId{0});
}

/// Whether some event can have been done so; its slot is not looked at.
bool Scheduler::is_possible(const Done& done) const {
    const bool sizes =
        is_amount(plan_, {done.fragments, done.bytes}) && (done.fragments > 0 || done.hash == 0);
    const bool hash =
        plan_.builds() || done.fragments == 0 || done.hash == ledger_mix(done.event, done.bytes);
    return done.event.producer().value < producers_.size() && done.fragments <= plan_.fragments_per_event() &&
           sizes && hash;
}

const char* Scheduler::on(Instant /*now*/, NodeId from, const Done& done, Actions& out) {
    if (!is_consumer(from)) {
        return "done from no consumer";
    }
    const ConsumerId consumer{from.index};
    const std::vector<Slot>& slots = consumers_[from.index].slots;
    if (done.slot.value >= slots.size() || slots[done.slot.value].state != SlotState::granted ||
        !is_possible(done) || !is_from(slots[done.slot.value], done.event.producer())) {
        return "done for a slot that was not granted to this event's producer";
    }
    // Without the credit: the result of this event may have come already, for a credit behind this
    // message.
    const bool credit = done.credit == Done::Credit::given;
    if (credit && !claim_result(consumer, done.slot, done.result_bytes)) {
        return "done with a result that did not arrive";
    }
    count_done(consumer, done, out);
    return_grant(consumer, done.slot, done.bytes);
    if (credit) {
        add_credit(consumer, done.slot);
    }
    return nullptr;
}

void Scheduler::return_grant(ConsumerId consumer, SlotId id, Bytes actual) {
    ConsumerAccount& account = consumers_[consumer.value];
    Slot& slot = account.slots[id.value];
    ProducerAccount& producer = source(slot.producer);
    WEIR_ASSERT(slot.state == SlotState::granted);
    WEIR_ASSERT(producer.under_way > 0 && outstanding_ > 0);
    slot.state = SlotState::held_by_consumer;
    --producer.under_way;
    --outstanding_;
    producer.granted.bytes += actual - slot.estimate;
    if (PairAccount* const pair = pair_account({{slot.producer}, consumer})) {
        pair->granted.bytes += actual - slot.estimate;
        update_policy({{slot.producer}, consumer});
    }
    account.granted_bytes += actual - slot.estimate;
    update_policy(ProducerId{slot.producer});
    update_policy(consumer);
}

const char* Scheduler::on(Instant /*now*/, NodeId from, const Decline& decline, Actions& /*out*/) {
    if (!is_producer(from)) {
        return "decline from no producer";
    }
    const auto [consumer, place, number, epoch] = decline;
    // Where consumers do not wait for the answer, a slot is one place.
    if (plan_.builds() || plan_.pulls() || consumer.value >= consumers_.size() ||
        place.value >= plan_.places()) {
        return "decline of a grant that was not made";
    }
    const ConsumerAccount& account = consumers_[consumer.value];
    if (plan_.outlives_consumers && (account.lost || epoch != account.epoch)) {
        return nullptr;  // it was revoked meanwhile
    }
    const SlotId slot = plan_.slot_of(place);
    const Slot& declined = account.slots[slot.value];
    if (declined.state != SlotState::granted || declined.producer != from.index) {
        return "decline of a grant that was not made";
    }
    return_grant(consumer, slot, Bytes{0});
    add_credit(consumer, slot);
    return nullptr;
}

void Scheduler::grant_all(Actions& out) {
    if (plan_.consumers_grant() || state_ != State::running) {
        return;
    }
    while (const auto pair = policy_->choose()) {
        grant(*pair, out);
    }
}

void Scheduler::grant(Pairing pair, Actions& out) {
    ProducerAccount& producer = source(pair.producer.value);
    ConsumerAccount& consumer = consumers_[pair.consumer.value];
    WEIR_ASSERT(producer.offered.events > producer.granted.events);
    WEIR_ASSERT(producer.under_way < under_way_limit_);
    const SlotId id{consumer.free.pop()};
    Slot& slot = consumer.slots[id.value];
    WEIR_ASSERT(slot.state == SlotState::free);
    PairAccount* const account = pair_account(pair);
    const Bytes estimate = estimate_waiting(account != nullptr ? account->offered - account->granted
                                                               : producer.offered - producer.granted);
    slot = {SlotState::granted, true, pair.producer.value, estimate, {}};
    send_grant(pair, id, producer.grants, out);
    producer.granted += {1, estimate};
    if (account != nullptr) {
        WEIR_ASSERT(account->offered.events > account->granted.events);
        account->granted += {1, estimate};
        update_policy(pair);
    }
    ++producer.grants;
    ++producer.under_way;
    consumer.granted_bytes += estimate;
    --free_slots_;
    --waiting_events_;
    ++outstanding_;
    ++granted_events_;
    update_policy(pair.producer);
    update_policy(pair.consumer);
}

/// Sizes of waiting events are known in sum only; the mean stands in until `done` tells the size. Where all
/// are equal but the last one of a set, their size does: with the mean, a little less, a producer would seem
/// fuller than its equals while it sends, and be granted more at that moment (18 % of the throughput with one
/// slot and two streams, measured).
Bytes Scheduler::estimate_waiting(const Traffic& waiting) const {
    if (plan_.builds()) {
        return common_offers_->mean_event();
    }
    if (plan_.event_size.kind == DistributionKind::fixed) {
        return std::min(Bytes{static_cast<std::int64_t>(plan_.event_size.mean)}, waiting.bytes);
    }
    return {waiting.bytes.count > 0 ? waiting.bytes.count / static_cast<std::int64_t>(waiting.events) : 0};
}

void Scheduler::send_grant(Pairing pair, SlotId slot, std::uint64_t number, Actions& out) const {
    if (plan_.pulls()) {
        out.messages.emplace_back(node_of(pair.consumer), Assign{slot, pair.producer, number});
        return;
    }
    const std::uint32_t fragments = plan_.fragments_per_event();
    for (std::uint32_t fragment = 0; fragment < fragments; ++fragment) {
        const ProducerId producer = plan_.builds() ? ProducerId{fragment} : pair.producer;
        out.messages.emplace_back(node_of(producer), Grant{pair.consumer, plan_.place_of(slot, fragment),
                                                           number, consumers_[pair.consumer.value].epoch});
    }
}

void Scheduler::update_policy(ProducerId producer) {
    const ProducerAccount& account = source(plan_.builds() ? 0 : producer.value);
    policy_->update(producer, {.eligible = account.offered.events > account.granted.events &&
                                           account.under_way < under_way_limit_,
                               .waiting = account.offered.bytes - account.granted.bytes,
                               .granted = account.granted.bytes});
}

void Scheduler::update_policy(ConsumerId consumer) {
    const ConsumerAccount& account = consumers_[consumer.value];
    const auto free = static_cast<std::uint32_t>(account.free.size());
    policy_->update(consumer, {.free_slots = free,
                               .occupied_slots = plan_.slots - free,
                               .granted = account.granted_bytes,
                               .present = !account.lost});
}

void Scheduler::on_time(Instant now, Actions& out) {
    account_time(now);
    tick(now, out);
    if ((state_ == State::completing && now >= complete_until_) ||
        (state_ == State::running && drain_is_over(now))) {
        finish(out);
    }
}

/// A late scheduler leaves out ticks rather than sending several at once.
void Scheduler::tick(Instant now, Actions& out) {
    if (now < next_tick_ || state_ == State::closing || state_ == State::closed) {
        return;
    }
    const std::int64_t number = periods_until(now, plan_.shaping.tick);
    next_tick_ = next_multiple(now, plan_.shaping.tick);
    send_producers(Tick{number}, out);
}

Instant Scheduler::next_deadline() const {
    switch (state_) {
        case State::running:
            return std::min(drain_until_, next_tick_);
        case State::completing:
            return std::min(complete_until_, next_tick_);
        default:
            return Instant::never();
    }
}

void Scheduler::account_time(Instant now) {
    if (short_of_credits_ && now > accounted_until_) {
        no_credit_ += now - accounted_until_;
    }
    if (now > accounted_until_) {
        accounted_until_ = now;
    }
}

Duration Scheduler::no_credit_time(Instant now) const {
    return short_of_credits_ && now > accounted_until_ ? no_credit_ + (now - accounted_until_) : no_credit_;
}

bool Scheduler::has_reported(NodeId node) const {
    const std::uint32_t messages = node.role == Role::producer ? producers_.at(node.index).ledger_messages
                                                               : consumers_.at(node.index).ledger_messages;
    return messages == ledger_report_messages;
}

void Scheduler::violation(NodeId from, const char* detail, Actions& out) {
    out.faults.push_back({.source = from, .destination = scheduler_node(), .detail = detail});
}

// Addressed events: what each producer has offered for each consumer

Scheduler::PairAccount* Scheduler::pair_account(Pairing pair) {
    if (!plan_.addressed()) {
        return nullptr;
    }
    const auto index = plan_.traffic->pair(pair.producer, pair.consumer);
    return index ? &pairs_[*index] : nullptr;
}

void Scheduler::update_policy(Pairing pair) {
    const PairAccount& account = *pair_account(pair);
    policy_->update(pair.producer, pair.consumer, account.offered - account.granted);
}

const char* Scheduler::on_addressed(ProducerId from, const Offer& offer) {
    ProducerAccount& producer = producers_[from.value];
    PairAccount* const pair = offer.to.value < consumers_.size() ? pair_account({from, offer.to}) : nullptr;
    if (plan_.consumers_grant() || producer.drained || pair == nullptr ||
        offer.offered.bytes < pair->offered.bytes || offer.offered.events < pair->offered.events) {
        return "an offer for a consumer that the producer does not send to, or less than it offered before";
    }
    const Traffic more = offer.offered - pair->offered;
    // As much as there is between two of them: no producer offers more than it can have generated.
    if (!is_amount(plan_, more) || !adds_up(producer.offered.bytes, more.bytes) ||
        !can_follow(producer, {producer.offered.events + more.events, producer.offered.bytes + more.bytes})) {
        return "an offer of more than there can be";
    }
    pair->offered = offer.offered;
    producer.offered += more;
    waiting_events_ += more.events;
    update_policy(from);
    update_policy({from, offer.to});
    return nullptr;
}

/// The producer has drained: what it offered and did not send is lost.
void Scheduler::forget_waiting(ProducerId producer) {
    if (!plan_.addressed() || policy_ == nullptr) {
        return;
    }
    for (const ConsumerId consumer : plan_.traffic->receivers_of(producer)) {
        PairAccount& pair = *pair_account({producer, consumer});
        pair.offered = pair.granted;
        update_policy({producer, consumer});
    }
}

}  // namespace weir::core
