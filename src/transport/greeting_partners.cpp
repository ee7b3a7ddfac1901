#include "transport/greeting_partners.hpp"

namespace weir::transport {

GreetingPartners greeting_partners(core::NodeId self, const core::RoleMap& roles) {
    GreetingPartners partners;
    switch (self.role) {
        case core::Role::scheduler:
            for (int other = 0; other < roles.ranks(); ++other) {
                if (other != roles.scheduler_rank()) {
                    partners.to.push_back(other);
                }
            }
            partners.expected = roles.ranks() - 1;
            break;
        case core::Role::producer:
            partners.to.push_back(roles.scheduler_rank());
            partners.expected = 1 + std::int64_t{roles.consumers()};
            break;
        case core::Role::consumer:
            partners.to.push_back(roles.scheduler_rank());
            for (std::uint32_t i = 0; i < roles.producers(); ++i) {
                const core::ProducerId producer{(self.index + i) % roles.producers()};
                partners.to.push_back(roles.rank(core::node_of(producer)));
            }
            partners.expected = 1;
            break;
    }
    return partners;
}

}  // namespace weir::transport
