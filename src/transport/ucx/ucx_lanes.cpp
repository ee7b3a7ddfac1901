#include "transport/ucx/ucx_lanes.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace weir::transport {

namespace {

/// "#  lane[0]:  5:tcp/eth0.0 md[2]  -> md[2]/tcp/sysdev[255] am am_bw#0 wireup"
std::string lane_of(const std::string& line) {
    const auto lane = line.find("lane[");
    const auto arrow = line.find("->");
    if (lane == std::string::npos || arrow == std::string::npos) {
        return {};
    }
    std::istringstream words(line.substr(lane));
    std::string name;
    words >> name >> name;  // without "lane[0]:"
    name.erase(0, name.find(':') + 1);
    name.erase(std::min(name.rfind('.'), name.size()));
    std::istringstream uses(line.substr(arrow + 2));
    std::string use;
    uses >> use;  // the memory of the other side
    std::string all;
    while (uses >> use) {
        use.erase(std::min(use.find('#'), use.size()));
        if (use != "wireup" && use != "keepalive") {
            all += " " + use;
        }
    }
    return name.empty() || all.empty() ? std::string{} : name + " for" + all;
}

}  // namespace

std::vector<std::string> ucx_lanes(std::string_view printed) {
    std::vector<std::string> lanes;
    std::istringstream lines{std::string(printed)};
    for (std::string line; std::getline(lines, line);) {
        if (std::string lane = lane_of(line); !lane.empty()) {
            lanes.push_back(std::move(lane));
        }
    }
    return lanes;
}

}  // namespace weir::transport
