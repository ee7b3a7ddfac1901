// The node of one rank: as a Node for what all roles do, and by its role for the rest.
#pragma once

#include <memory>
#include <utility>

#include "participant/consumer_node.hpp"
#include "participant/producer_node.hpp"
#include "participant/scheduler_node.hpp"

namespace weir::participant {

class RankNode {
  public:
    explicit RankNode(std::unique_ptr<ProducerNode> node) : producer_(node.get()), node_(std::move(node)) {}
    explicit RankNode(std::unique_ptr<ConsumerNode> node) : consumer_(node.get()), node_(std::move(node)) {}
    explicit RankNode(std::unique_ptr<SchedulerNode> node) : scheduler_(node.get()), node_(std::move(node)) {}

    [[nodiscard]] Node* operator->() const { return node_.get(); }
    /// One of these is there; the others are nullptr.
    [[nodiscard]] ProducerNode* producer() const { return producer_; }
    [[nodiscard]] ConsumerNode* consumer() const { return consumer_; }
    [[nodiscard]] SchedulerNode* scheduler() const { return scheduler_; }

  private:
    ProducerNode* producer_ = nullptr;
    ConsumerNode* consumer_ = nullptr;
    SchedulerNode* scheduler_ = nullptr;
    std::unique_ptr<Node> node_;
};

/// The node that `id` names. `latencies` and `output` must outlive it.
RankNode make_node(const core::Plan& plan, core::NodeId id, core::Instant start, record::Latencies& latencies,
                   RowOutput& output);

}  // namespace weir::participant
