#include "config/words.hpp"

#include <algorithm>
#include <utility>

namespace weir::config {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Three rows of the usual table (optimal string alignment).
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before = std::exchange(last, row);
    }
    return last[b.size()];
}

std::vector<std::string> near_names(std::string_view text, std::span<const std::string_view> names,
                                    std::size_t most) {
    std::vector<std::pair<std::size_t, std::string_view>> found;
    for (const std::string_view name : names) {
        const std::size_t distance = edit_distance(text, name);
        const bool begins_alike = text.size() >= 3 && (name.starts_with(text) || text.starts_with(name));
        if (distance <= std::max<std::size_t>(1, text.size() / 3) || begins_alike) {
            found.emplace_back(distance, name);
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> nearest;
    for (std::size_t i = 0; i < found.size() && i < most; ++i) {
        nearest.emplace_back(found[i].second);
    }
    return nearest;
}

}  // namespace weir::config
