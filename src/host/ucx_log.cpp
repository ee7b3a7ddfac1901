#include "host/ucx_log.hpp"

#include <algorithm>
#include <array>

namespace weir::host {

namespace {

constexpr std::array<std::string_view, 6> memory_transports{"posix", "sysv", "cma", "knem", "xpmem", "self"};

bool begins_with_any(std::string_view lane, auto& transports) {
    return std::any_of(transports.begin(), transports.end(), [&](std::string_view transport) {
        return lane.starts_with(transport) && lane.size() > transport.size() &&
               (lane[transport.size()] == '/' || lane[transport.size()] == '_');
    });
}

void enter(std::vector<std::string>& lanes, std::string_view lane) {
    if (!lane.empty() && std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) {
        lanes.emplace_back(lane);
    }
}

/// Takes the lanes out of "tag(rc_verbs/rxe0:1 cma/memory) am(...)".
void take_lanes(std::string_view text, UcxLanes& lanes) {
    for (std::size_t open = text.find('('); open != std::string_view::npos; open = text.find('(')) {
        const std::size_t close = std::min(text.find(')', open), text.size());
        std::string_view inside = text.substr(open + 1, close - open - 1);
        while (!inside.empty()) {
            const std::string_view lane = inside.substr(0, inside.find(' '));
            inside.remove_prefix(std::min(lane.size() + 1, inside.size()));
            const bool memory = begins_with_any(lane, memory_transports);
            if (lane.find('/') != std::string_view::npos && !lane.starts_with("self/")) {
                enter(memory ? lanes.within : lanes.between, lane);
            }
        }
        text.remove_prefix(std::min(close + 1, text.size()));
    }
}

}  // namespace

UcxLanes lanes_in(std::string_view log) {
    UcxLanes lanes;
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(line.size() + 1, log.size()));
        const std::size_t older = line.find("ep_cfg[");
        const std::size_t newer = line.find("cfg#");
        const std::size_t begin = older != std::string_view::npos ? older : newer;
        if (begin != std::string_view::npos) {
            take_lanes(line.substr(begin), lanes);
        }
    }
    return lanes;
}

bool is_rdma_lane(std::string_view lane) {
    constexpr std::array<std::string_view, 3> transports{"rc", "ud", "dc"};
    return begins_with_any(lane, transports);
}

}  // namespace weir::host
