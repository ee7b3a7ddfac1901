#include "transport/ucx/ucx_words.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace weir::transport {

namespace {

std::vector<std::string> names_in(const std::string& list) {
    std::vector<std::string> names;
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');) {
        if (!word.empty()) {
            names.push_back(word);
        }
    }
    return names;
}

bool has_queues(std::string_view name) {
    constexpr std::array names{"sm", "shm", "mm", "posix", "sysv", "xpmem"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Takes messages to any process.
bool carries_messages(std::string_view name) {
    constexpr std::array others{"self", "cma", "knem"};
    return !has_queues(name) && std::find(others.begin(), others.end(), name) == others.end();
}

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

using Variables = std::vector<std::pair<const char*, const char*>>;

}  // namespace

bool may_use_shared_memory(const char* transports) {
    const std::string_view names = transports == nullptr ? "all" : transports;
    constexpr std::array shared_memory{"all", "sm", "shm", "mm", "posix", "sysv", "xpmem", "^"};
    return std::any_of(shared_memory.begin(), shared_memory.end(),
                       [names](std::string_view name) { return names.find(name) != std::string_view::npos; });
}

std::optional<std::string> without_queues_in_shared_memory(const char* transports) {
    const std::string given = transports == nullptr ? "" : transports;
    if (given.empty() || given == "all") {
        return "^mm";
    }
    if (given.front() == '^') {
        return given + ",mm";
    }
    const std::vector<std::string> names = names_in(given);
    if (std::none_of(names.begin(), names.end(), has_queues) ||
        std::none_of(names.begin(), names.end(), carries_messages)) {
        return std::nullopt;
    }
    std::string kept;
    for (const std::string& name : names) {
        if (!has_queues(name)) {
            kept += (kept.empty() ? "" : ",") + name;
        }
    }
    return kept;
}

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

std::vector<std::pair<const char*, const char*>> ucx_variables(
    const std::function<const char*(const char* name)>& value_of) {
    const Variables groups[] = {
        // Lets endpoints that report failures use a single copy in shared memory instead of two. A receiver
        // may then still read from a buffer whose sender has given up, and such a buffer is not used again.
        {{"UCX_CMA_MEMORY_INVALIDATE", "y"}},
        // Over TCP such endpoints send data in segments, with a call of the kernel for each: UCX's own have
        // 8 KiB.
        {{"UCX_TCP_TX_SEG_SIZE", "256k"}, {"UCX_TCP_RX_SEG_SIZE", "256k"}}};
    Variables chosen;
    for (const Variables& group : groups) {
        if (std::all_of(group.begin(), group.end(),
                        [&](const auto& one) { return value_of(one.first) == nullptr; })) {
            chosen.insert(chosen.end(), group.begin(), group.end());
        }
    }
    return chosen;
}

}  // namespace weir::transport
