#include "judge/cause_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "files/formatting.hpp"

namespace weir::judge {

namespace {

/// How a cause is called, and what stands around the name of the rank that it concerns.
struct CauseWords {
    std::string_view general;
    std::string_view before;
    std::string_view after = {};
};

constexpr std::array<CauseWords, cause_kind_names.size()> cause_words{{
    {"links of consumers", "the link of "},
    {"links of producers", "the link of "},
    {"packets that the switch dropped", "packets for ", " that the switch dropped"},
    {"pauses (PFC)", "pauses of ", " (PFC)"},
    {"senders that slowed down (ECN)", "", ", which slowed down (ECN)"},
    {"cables between switches", "cables between switches of "},
    {"traffic of others", "traffic of others at "},
    {"too few slots", "too few slots of "},
    {"processing on consumers", "processing on "},
    {"too few streams", "too few streams of "},
    {"too small a window", "too small a window of "},
    {"the scheduler", ""},
    {"latency of messages", "latency of messages of "},
    {"shaping", "shaping by "},
    {"--outstanding", "--outstanding, for "},
    {"--requests", "--requests of "},
    {"--high-water", "--high-water of "},
    {"ranks that stood still", "", ", which stood still"},
    {"packets that hosts dropped", "packets that the host of ", " dropped"},
    {"consumers that were lost", "", ", which was lost"},
    {"a failure of the network", "a failure of the network at "},
    {"the buffer", "the buffer of "},
    {"the event size", "the event size of "},
    {"integrity", "integrity, at "},
    {"not told", "not told, at "},
}};

/// How the remedy begins where more than one was lost; `where` is the first.
constexpr std::string_view keep_consumers = "keep consumers ";

/// More than these are in run.json only.
constexpr std::size_t said_max = 3;

bool is_partner(const NamedCause& of, const NamedCause& cause) {
    return of.together_with != CauseKind::not_told && cause.what == of.together_with &&
           cause.together_with == of.what;
}

}  // namespace

std::string subject_of(const NamedCause& cause) {
    const CauseWords& words = cause_words.at(static_cast<std::size_t>(cause.what));
    if (cause.what == CauseKind::control_latency && cause.evidence != CauseEvidence::observed) {
        return "latency of the network";  // it was relaxed for data, too
    }
    const bool several = cause.remedy.starts_with(keep_consumers);
    if (!cause.where || several) {
        return std::string(words.general);
    }
    const bool the_only_one = cause.where->role == core::Role::scheduler;
    return fmt::format("{}{}{}{}", words.before, the_only_one ? "the " : "",
                       files::node_text(*cause.where, cause.host), words.after);
}

std::string main_subject(std::span<const NamedCause> causes) {
    const bool two = causes.size() > 1 && is_partner(causes[0], causes[1]);
    return subject_of(causes.front()) + (two ? ", together with " + subject_of(causes[1]) : "");
}

std::string other_causes_text(std::span<const NamedCause> causes) {
    std::string text;
    const auto partners = [&](std::size_t i) {
        return i + 1 < causes.size() && is_partner(causes[i], causes[i + 1]) ? std::size_t{2}
                                                                             : std::size_t{1};
    };
    for (std::size_t i = partners(0); i < std::min(causes.size(), said_max); i += partners(i)) {
        const NamedCause& other = causes[i];
        text += fmt::format("{}{} {}: {}", text.empty() ? "" : " ",
                            other.not_told_apart                        ? "The run does not tell it from"
                            : other.evidence == CauseEvidence::observed ? "Also"
                                                                        : "Or",
                            main_subject(causes.subspan(i)), other.text);
    }
    return text;
}

std::string causes_text(std::span<const NamedCause> causes) {
    if (causes.empty()) {
        return "";
    }
    const std::string& first = causes.front().text;
    const std::string others = other_causes_text(causes);
    return fmt::format("Main cause: {}.{}{}{}{}", main_subject(causes), first.empty() ? "" : " ",
                       files::capitalised(first), others.empty() ? "" : " ", others);
}

std::string advice_text(std::span<const NamedCause> causes) {
    const bool any_suffices = std::any_of(causes.begin(), causes.end(), [](const NamedCause& cause) {
        return cause.suffices && !cause.remedy.empty();
    });
    std::vector<std::string> remedies;
    for (const NamedCause& cause : causes) {
        const std::string remedy = cause.remedy + (cause.suffices ? "" : " (not enough by itself)");
        const bool known = std::find(remedies.begin(), remedies.end(), remedy) != remedies.end();
        // Nobody has another network to choose where something else would do.
        const bool last_resort = cause.what == CauseKind::control_latency && !remedies.empty();
        if (!cause.remedy.empty() && cause.suffices == any_suffices && !known && !last_resort &&
            remedies.size() < said_max) {
            remedies.push_back(remedy);
        }
    }
    return files::capitalised(fmt::format("{}", fmt::join(remedies, "; or ")));
}

void say_where_to_look(std::span<NamedCause> causes) {
    for (NamedCause& cause : causes) {
        const bool stopped = cause.what == CauseKind::stalled_rank;
        const bool lost = cause.what == CauseKind::lost_consumers;
        if ((stopped || lost) && cause.together_with == CauseKind::not_told &&
            cause.remedy.starts_with("keep ")) {
            const bool several = cause.remedy.starts_with(keep_consumers);
            cause.remedy += stopped ? ": look on its host for other load, swap, steal and limits of cgroups"
                            : several
                                ? ": look in their logs, and in those of their hosts, for why they ended"
                                : ": look in its log, and in that of its host, for why it ended";
        }
    }
}

}  // namespace weir::judge
