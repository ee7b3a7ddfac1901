#include "packet/sender_control.hpp"

#include "packet/credits.hpp"
#include "packet/dcqcn.hpp"
#include "packet/swift.hpp"

namespace weir::packet {

std::unique_ptr<SenderControl> make_sender_control(const core::NicPlan& plan, core::BitRate line_rate,
                                                   std::uint32_t window) {
    switch (plan.control) {
        case core::PairControl::dcqcn:
            return std::make_unique<ReactionPoint>(plan.dcqcn, line_rate, window, plan.window_follows_rate);
        case core::PairControl::swift:
            return std::make_unique<SwiftWindow>(plan, line_rate, window);
        case core::PairControl::credits:
            return std::make_unique<CreditedSender>(plan.credits, line_rate, window);
    }
    WEIR_UNREACHABLE("a control that is not in the list");
}

}  // namespace weir::packet
