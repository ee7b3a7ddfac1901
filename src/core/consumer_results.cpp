// The consumer's part about results of events, which go to the scheduler ahead of the credits.
#include "core/consumer.hpp"

#include <algorithm>

namespace weir::core {

/// Sends the result of the event that was in the slot. One that was given up has none.
void Consumer::send_result(SlotId id, Actions& out) {
    Slot& slot = slots_[id.value];
    if (!result_size_ || plan_.consumers_grant() || slot.whole.events < fragments_) {
        return;
    }
    const Bytes bytes{std::max<std::int64_t>(1, result_size_->next())};
    slot.result_bytes = static_cast<std::uint32_t>(bytes.count);
    ledger_.results.add(slot.fragment, bytes);
    out.results.push_back({id, slot.fragment, bytes});
}

}  // namespace weir::core
