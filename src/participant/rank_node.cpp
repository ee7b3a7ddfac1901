#include "participant/rank_node.hpp"

#include "core/assertion.hpp"

namespace weir::participant {

RankNode make_node(const core::Plan& plan, core::NodeId id, core::Instant start, record::Latencies& latencies,
                   RowOutput& output) {
    switch (id.role) {
        case core::Role::scheduler:
            return RankNode(std::make_unique<SchedulerNode>(plan, start, output));
        case core::Role::producer:
            return RankNode(
                std::make_unique<ProducerNode>(plan, core::ProducerId{id.index}, start, latencies, output));
        case core::Role::consumer:
            return RankNode(
                std::make_unique<ConsumerNode>(plan, core::ConsumerId{id.index}, start, latencies, output));
    }
    WEIR_UNREACHABLE("a role that does not exist");
}

}  // namespace weir::participant
