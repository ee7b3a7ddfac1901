// Which rank plays which part. Built once from the user's request (config), then only read.
#pragma once

#include <cstdint>
#include <vector>

#include "core/assertion.hpp"
#include "core/units.hpp"

namespace weir::core {

class RoleMap {
  public:
    RoleMap() = default;

    /// `nodes[r]` is the part of rank r: exactly one scheduler; producers and consumers each numbered 0, 1,
    /// 2, ...
    explicit RoleMap(std::vector<NodeId> nodes) : nodes_(std::move(nodes)) {
        for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
            auto& ranks = ranks_of(nodes_[rank].role);
            if (ranks.size() <= nodes_[rank].index) {
                ranks.resize(nodes_[rank].index + 1, -1);
            }
            WEIR_ASSERT(ranks[nodes_[rank].index] == -1);
            ranks[nodes_[rank].index] = static_cast<int>(rank);
        }
        WEIR_ASSERT(schedulers_.size() == 1);
        WEIR_ASSERT(schedulers_.size() + producers_.size() + consumers_.size() == nodes_.size());
    }

    [[nodiscard]] int ranks() const { return static_cast<int>(nodes_.size()); }
    [[nodiscard]] std::uint32_t producers() const { return static_cast<std::uint32_t>(producers_.size()); }
    [[nodiscard]] std::uint32_t consumers() const { return static_cast<std::uint32_t>(consumers_.size()); }
    [[nodiscard]] NodeId node(int rank) const { return nodes_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] int rank(NodeId node) const {
        switch (node.role) {
            case Role::scheduler:
                return schedulers_.at(node.index);
            case Role::producer:
                return producers_.at(node.index);
            case Role::consumer:
                return consumers_.at(node.index);
        }
        WEIR_ASSERT(false);
        return -1;
    }
    [[nodiscard]] int scheduler_rank() const { return schedulers_.at(0); }

  private:
    std::vector<int>& ranks_of(Role role) {
        switch (role) {
            case Role::scheduler:
                return schedulers_;
            case Role::producer:
                return producers_;
            case Role::consumer:
                return consumers_;
        }
        WEIR_ASSERT(false);
        return schedulers_;
    }

    std::vector<NodeId> nodes_;
    std::vector<int> schedulers_;
    std::vector<int> producers_;
    std::vector<int> consumers_;
};

}  // namespace weir::core
