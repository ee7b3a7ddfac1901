#include "core/grant_queue.hpp"

#include "core/assertion.hpp"
#include "core/bits.hpp"

namespace weir::core {

GrantQueue::GrantQueue(const Plan& plan, ProducerId producer)
    : consumers_(plan.consumers), turn_(producer.value % plan.consumers) {
    if (plan.order == SendOrder::barrel || (plan.addressed() && plan.consumers_grant())) {
        queues_.assign(plan.consumers, RingQueue<WaitingGrant>(plan.slots));
        waiting_.assign(words_for(plan.consumers), 0);
    } else {
        queues_.assign(1, RingQueue<WaitingGrant>(std::size_t{plan.consumers} * plan.slots));
    }
}

bool GrantQueue::full(ConsumerId consumer) const {
    return queues_[waiting_.empty() ? 0 : consumer.value].full();
}

void GrantQueue::push(const WaitingGrant& waiting) {
    const ConsumerId consumer = waiting.grant.consumer;
    WEIR_ASSERT(consumer.value < consumers_);
    ++size_;
    if (waiting_.empty()) {
        queues_.front().push(waiting);
        return;
    }
    queues_[consumer.value].push(waiting);
    set_bit(waiting_, consumer.value);
}

WaitingGrant GrantQueue::pop() {
    WEIR_ASSERT(size_ > 0);
    if (waiting_.empty()) {
        --size_;
        return queues_.front().pop();
    }
    const auto consumer = next_in_both(waiting_, waiting_, turn_);
    WEIR_ASSERT(consumer.has_value());
    return pop_from(*consumer);
}

std::optional<WaitingGrant> GrantQueue::pop_for(std::span<const std::uint64_t> consumers) {
    WEIR_ASSERT(consumers.size() == waiting_.size());
    const auto consumer = next_in_both(waiting_, consumers, turn_);
    return consumer ? std::optional(pop_from(*consumer)) : std::nullopt;
}

WaitingGrant GrantQueue::pop_from(std::uint32_t consumer) {
    RingQueue<WaitingGrant>& queue = queues_[consumer];
    const WaitingGrant oldest = queue.pop();
    --size_;
    if (queue.empty()) {
        clear_bit(waiting_, consumer);
    }
    turn_ = (consumer + 1) % consumers_;
    return oldest;
}

void GrantQueue::erase(ConsumerId consumer) {
    RingQueue<WaitingGrant>& queue = queues_[waiting_.empty() ? 0 : consumer.value];
    for (std::size_t left = queue.size(); left > 0; --left) {
        const WaitingGrant waiting = queue.pop();
        if (waiting.grant.consumer == consumer) {
            --size_;
        } else {
            queue.push(waiting);
        }
    }
    if (!waiting_.empty()) {
        clear_bit(waiting_, consumer.value);
    }
}

}  // namespace weir::core
