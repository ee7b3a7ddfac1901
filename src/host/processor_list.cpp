#include "host/processor_list.hpp"

#include <algorithm>
#include <charconv>

namespace weir::host {

std::set<int> processors_in(std::string_view list) {
    constexpr int most = 1 << 16;
    std::set<int> processors;
    while (!list.empty()) {
        const std::string_view part = list.substr(0, list.find(','));
        list.remove_prefix(std::min(part.size() + 1, list.size()));
        int first = 0;
        const char* end = part.data() + part.size();
        const auto [rest, error] = std::from_chars(part.data(), end, first);
        int last = first;
        if (error == std::errc{} && rest != end && *rest == '-') {
            std::from_chars(rest + 1, end, last);
        }
        for (int cpu = first; error == std::errc{} && cpu <= last && cpu < most; ++cpu) {
            processors.insert(cpu);
        }
    }
    return processors;
}

}  // namespace weir::host
