#include "packet/buffer_cycle.hpp"

#include <algorithm>
#include <cstddef>

namespace weir::packet {

namespace {

/// For each link between switches, those that its packets take next.
class BufferWaits {
  public:
    explicit BufferWaits(const Topology& topology) : topology_(topology), next_(topology.links().size()) {}

    /// Follows packets from all other hosts to this one.
    void add(NodeIndex host, const std::vector<bool>& unused) {
        const std::vector<std::vector<LinkIndex>> ways = topology_.ways_to(host, unused);
        std::vector<bool> reached(topology_.nodes());
        std::vector<NodeIndex> open;
        const auto reach = [&](NodeIndex node) {
            if (topology_.is_switch(node) && !reached[node.value]) {
                reached[node.value] = true;
                open.push_back(node);
            }
        };
        for (std::uint32_t from = 0; from < topology_.nodes(); ++from) {
            if (!topology_.is_switch({from}) && from != host.value) {
                for (const LinkIndex up : ways[from]) {
                    reach(topology_.links()[up].to);
                }
            }
        }
        while (!open.empty()) {
            const NodeIndex at = open.back();
            open.pop_back();
            for (const LinkIndex link : ways[at.value]) {
                const NodeIndex to = topology_.links()[link].to;
                reach(to);
                if (topology_.is_switch(to)) {
                    add_all(next_[link], ways[to.value]);
                }
            }
        }
    }

    /// A circle, by depth-first search.
    std::vector<LinkIndex> cycle() {
        state_.assign(next_.size(), State::unseen);
        for (LinkIndex link = 0; link < next_.size(); ++link) {
            if (state_[link] == State::unseen && visit(link)) {
                return path_;
            }
        }
        return {};
    }

  private:
    enum class State : std::uint8_t { unseen, on_path, done };

    void add_all(std::vector<LinkIndex>& next, const std::vector<LinkIndex>& links) const {
        for (const LinkIndex link : links) {
            if (topology_.is_switch(topology_.links()[link].to) &&
                std::find(next.begin(), next.end(), link) == next.end()) {
                next.push_back(link);
            }
        }
    }

    /// Whether a circle was found; path_ is that circle then.
    bool visit(LinkIndex first) {
        path_.assign(1, first);
        std::vector<std::size_t> taken{0};
        state_[first] = State::on_path;
        while (!path_.empty()) {
            const LinkIndex link = path_.back();
            if (taken.back() == next_[link].size()) {
                state_[link] = State::done;
                path_.pop_back();
                taken.pop_back();
                continue;
            }
            const LinkIndex next = next_[link][taken.back()++];
            if (state_[next] == State::on_path) {
                path_.erase(path_.begin(), std::find(path_.begin(), path_.end(), next));
                return true;
            }
            if (state_[next] == State::unseen) {
                state_[next] = State::on_path;
                path_.push_back(next);
                taken.push_back(0);
            }
        }
        return false;
    }

    const Topology& topology_;
    std::vector<std::vector<LinkIndex>> next_;  ///< by link
    std::vector<State> state_;
    std::vector<LinkIndex> path_;
};

}  // namespace

std::vector<LinkIndex> buffer_cycle(const Topology& topology, const std::vector<bool>& unused) {
    BufferWaits waiting(topology);
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        if (!topology.is_switch({node})) {
            waiting.add({node}, unused);
        }
    }
    return waiting.cycle();
}

}  // namespace weir::packet
