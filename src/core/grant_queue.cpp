#include "core/grant_queue.hpp"

#include <bit>

#include "core/assertion.hpp"

namespace weir::core {

namespace {

constexpr std::uint32_t word_bits = 64;

}  // namespace

GrantQueue::GrantQueue(const Plan& plan, ProducerId producer)
    : consumers_(plan.consumers), turn_(producer.value % plan.consumers) {
    if (plan.order == SendOrder::barrel) {
        queues_.assign(plan.consumers, RingQueue<WaitingGrant>(plan.slots));
        waiting_.assign((plan.consumers + word_bits - 1) / word_bits, 0);
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
    waiting_[consumer.value / word_bits] |= std::uint64_t{1} << (consumer.value % word_bits);
}

WaitingGrant GrantQueue::pop() {
    WEIR_ASSERT(size_ > 0);
    --size_;
    if (waiting_.empty()) {
        return queues_.front().pop();
    }
    const std::uint32_t consumer = next_consumer();
    RingQueue<WaitingGrant>& queue = queues_[consumer];
    const WaitingGrant oldest = queue.pop();
    if (queue.empty()) {
        waiting_[consumer / word_bits] &= ~(std::uint64_t{1} << (consumer % word_bits));
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
        waiting_[consumer.value / word_bits] &= ~(std::uint64_t{1} << (consumer.value % word_bits));
    }
}

std::uint32_t GrantQueue::next_consumer() const {
    const auto words = static_cast<std::uint32_t>(waiting_.size());
    const std::uint32_t first = turn_ / word_bits;
    // The word of the turn is looked at twice: from the turn on, and at the end what lies before it.
    for (std::uint32_t step = 0; step <= words; ++step) {
        const std::uint32_t word = (first + step) % words;
        std::uint64_t bits = waiting_[word];
        if (step == 0) {
            bits &= ~std::uint64_t{0} << (turn_ % word_bits);
        }
        if (bits != 0) {
            return word * word_bits + static_cast<std::uint32_t>(std::countr_zero(bits));
        }
    }
    WEIR_UNREACHABLE("a grant waits and no consumer has one");
}

}  // namespace weir::core
