#include "cli/slow_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "files/formatting.hpp"

namespace weir::cli {

namespace {

using judge::CauseKind;
using judge::NamedCause;

// Chosen on fitting seeds of bench/study causes.
constexpr double largest_misfit = 1;
constexpr double decisive = 3;  ///< times as far from the run are links of the other role

double misfit(const WeighedTwin& weighed) {
    return weighed.twin.comparison.misfit();
}

/// The nearest twin in which the links of this role alone are slow, and are enough.
std::optional<SlowRole> with_slow_links(std::span<const WeighedTwin> twins, CauseKind links) {
    std::optional<SlowRole> nearest;
    for (std::size_t i = 0; i < twins.size(); ++i) {
        const twin::Limits& limits = twins[i].twin.assumptions.limits;
        const bool only_these = limits.producer_links != limits.consumer_links && !limits.change &&
                                limits.producer_links == (links == CauseKind::producer_links);
        const auto cause =
            std::find_if(twins[i].causes.begin(), twins[i].causes.end(),
                         [&](const NamedCause& one) { return one.what == links && !one.where; });
        if (only_these && cause != twins[i].causes.end() &&
            (!nearest || misfit(twins[i]) < misfit(twins[nearest->twin]))) {
            nearest = {i, &*cause};
        }
    }
    return nearest;
}

}  // namespace

std::optional<SlowRole> slow_role(std::span<const WeighedTwin> twins) {
    std::optional<SlowRole> nearer = with_slow_links(twins, CauseKind::producer_links);
    std::optional<SlowRole> other = with_slow_links(twins, CauseKind::consumer_links);
    if (!nearer || (other && misfit(twins[other->twin]) < misfit(twins[nearer->twin]))) {
        std::swap(nearer, other);
    }
    if (!nearer || misfit(twins[nearer->twin]) > largest_misfit) {
        return std::nullopt;
    }
    // Equal runs differ by as much as the better one of the two is off.
    const double off = twin::like_equal_runs + misfit(twins[nearer->twin]);
    const bool stands_out = !other || twin::like_equal_runs + misfit(twins[other->twin]) >= decisive * off;
    return stands_out ? nearer : std::nullopt;
}

void blame_others(const twin::Assumptions& assumptions, std::vector<NamedCause>& causes) {
    for (NamedCause& cause : causes) {
        const double foreign = cause.where ? assumptions.foreign_of(*cause.where) : 0;
        if (foreign <= 0 || !cause.remedy.starts_with("repair ")) {
            continue;
        }
        const auto faster = std::find_if(causes.begin(), causes.end(), [&](const NamedCause& other) {
            return &other != &cause && other.what == cause.what && other.where == cause.where &&
                   other.together_with == cause.together_with;
        });
        const std::size_t what_then = std::min(cause.text.find(','), cause.text.size());
        cause.text = fmt::format("without the {} that others moved over its interface{}",
                                 files::rate_text(foreign), cause.text.substr(what_then));
        cause.remedy = "move that traffic away";
        if (faster != causes.end()) {
            cause.remedy += ", or " + faster->remedy;
            faster->suffices = false;
        }
        cause.what = CauseKind::other_traffic;
    }
    std::erase_if(causes, [](const NamedCause& cause) { return !cause.suffices; });
}

}  // namespace weir::cli
