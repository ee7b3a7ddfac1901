#include "core/retained_fragments.hpp"

#include "core/assertion.hpp"

namespace weir::core {

RetainedFragments::RetainedFragments(const Plan& plan)
    : slots_(plan.slots),
      fragments_(plan.fragments_per_event()),
      kept_(plan.asks_again() ? std::size_t{plan.consumers} * plan.slots : 0),
      asked_(2 * kept_.size()) {}

std::size_t RetainedFragments::index(Destination to) const {
    const std::size_t slot = std::size_t{to.consumer.value} * slots_ + to.place.value / fragments_;
    WEIR_ASSERT(slot < kept_.size());
    return slot;
}

void RetainedFragments::keep(Destination to, const WaitingEvent& event) {
    Kept& kept = kept_[index(to)];
    WEIR_ASSERT(!kept.active);
    kept.active = true;
    kept.asked = false;
    kept.event = event;
    ++count_;
}

bool RetainedFragments::keeps(Destination to, std::uint64_t sequence) const {
    const Kept& kept = kept_[index(to)];
    return kept.active && kept.event.sequence == sequence;
}

std::optional<WaitingEvent> RetainedFragments::release(Destination to, std::uint64_t sequence) {
    return keeps(to, sequence) ? release(to) : std::nullopt;
}

std::optional<WaitingEvent> RetainedFragments::release(Destination to) {
    Kept& kept = kept_[index(to)];
    if (!kept.active) {
        return std::nullopt;
    }
    kept.active = false;
    --count_;
    return kept.event;
}

bool RetainedFragments::ask_again(Destination to, std::uint64_t sequence) {
    if (!keeps(to, sequence) || kept_[index(to)].asked) {
        return false;
    }
    kept_[index(to)].asked = true;
    asked_.push({to, kept_[index(to)].event});
    return true;
}

std::optional<RetainedFragments::Asked> RetainedFragments::pop_asked() {
    while (!asked_.empty()) {
        const Asked asked = asked_.pop();
        if (keeps(asked.to, asked.event.sequence)) {
            kept_[index(asked.to)].asked = false;
            return asked;
        }
    }
    return std::nullopt;
}

}  // namespace weir::core
