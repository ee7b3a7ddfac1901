#include "transport/ucx/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <vector>

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

}  // namespace weir::transport
