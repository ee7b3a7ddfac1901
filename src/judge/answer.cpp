#include "judge/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "files/formatting.hpp"
#include "judge/cause_text.hpp"

namespace weir::judge {

namespace {

/// Where the first sentence ends, behind its full stop.
std::size_t first_sentence_end(std::string_view text) {
    for (std::size_t at = text.find(". "); at != std::string_view::npos; at = text.find(". ", at + 1)) {
        const char next = at + 2 < text.size() ? text[at + 2] : '\0';
        if ((next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9')) {
            return at + 1;
        }
    }
    return text.size();
}

std::string_view first_sentence(std::string_view text) {
    return text.substr(0, first_sentence_end(text));
}

std::string late_part(const Verdict& verdict) {
    std::string text = fmt::format("{} of {} {} late", verdict.late_sets, files::counted(verdict.sets, "set"),
                                   verdict.late_sets == 1 ? "was" : "were");
    if (verdict.least_slack && *verdict.least_slack < core::Duration{} && verdict.lost_events == 0) {
        text += fmt::format(", by up to {}", files::readable(core::Duration{} - *verdict.least_slack));
    }
    return text;
}

std::string overflow_part(const core::Plan& plan, const Verdict& verdict) {
    const std::size_t count = verdict.overflowing_producers.size();
    const std::string since =
        verdict.first_overflow_second == record::no_second || plan.duration < core::Duration::seconds(2)
            ? ""
            : fmt::format(" from second {} on", verdict.first_overflow_second);
    return fmt::format("{} of {} exceeded {}{}", count, files::counted(plan.producers, "producer"),
                       count == 1 ? "its buffer" : "their buffers", since);
}

std::string when_text(double seconds) {
    return seconds < 1 ? files::seconds_text(seconds) : files::rough_time(seconds);
}

std::string growth_part(const Verdict& verdict) {
    if (verdict.buffer_full_after_s) {
        return fmt::format("backlogs grow, and the first buffer is full after {}",
                           when_text(*verdict.buffer_full_after_s));
    }
    return fmt::format("what waits in slots of consumers grows, and they are full after {}",
                       when_text(*verdict.slots_full_after_s));
}

/// What went wrong.
std::vector<std::string> faults(const core::Plan& plan, const Verdict& verdict) {
    std::vector<std::string> parts;
    if (verdict.late_sets > 0) {
        parts.push_back(late_part(verdict));
    }
    if (!verdict.overflowing_producers.empty()) {
        parts.push_back(overflow_part(plan, verdict));
    } else if (verdict.buffer_full_after_s || verdict.slots_full_after_s) {
        parts.push_back(growth_part(verdict));
    }
    if (verdict.lost_events > 0) {
        parts.push_back(fmt::format("{} {} lost",
                                    files::counted(verdict.lost_events, plan.builds() ? "fragment" : "event"),
                                    verdict.lost_events == 1 ? "was" : "were"));
    }
    if (cause_name(verdict) == name_of(CauseKind::integrity)) {
        parts.push_back(verdict.causes.front().text.substr(0, verdict.causes.front().text.size() - 1));
    }
    return parts;
}

std::string good_sentence(const core::Plan& plan, const Verdict& verdict) {
    if (verdict.sets == 0 || !verdict.least_slack) {
        return "No producer exceeded its buffer.";
    }
    return fmt::format(
        "{}; least slack {} of {}.",
        plan.generation == core::Generation::sets
            ? verdict.sets == 1
                  ? "The set was gone in time"
                  : fmt::format("All {} sets were gone before the next one was generated", verdict.sets)
            : fmt::format("Data of {} was gone within an interval", files::counted(verdict.sets, "interval")),
        files::readable(*verdict.least_slack), files::exact(plan.interval));
}

/// Without the verdict's word.
std::string_view without_word(std::string_view findings) {
    for (const std::string_view word :
         {"Not judged: ", "NOT sustained: ", "Sustained: ", "Sustained, but not on time: "}) {
        if (findings.starts_with(word)) {
            return findings.substr(word.size());
        }
    }
    return findings;
}

/// What the rows show of a cause that was proved: nullptr if nothing that says more than what was tried, as
/// what interfaces have and what is needed do.
const NamedCause* in_rows(const NamedCause& cause, std::span<const NamedCause> observed) {
    const auto says_more = [&](const NamedCause& one) {
        return is_direct(one.what) || one.text.starts_with("interface") ||
               one.text.starts_with("the interface");
    };
    const auto found = std::find_if(observed.begin(), observed.end(), [&](const NamedCause& one) {
        return one.what == cause.what && (one.where == cause.where || !cause.where) && says_more(one);
    });
    return found == observed.end() ? nullptr : &*found;
}

/// Without what options of a simulation are called.
std::string on_hosts(std::string advice) {
    for (const std::string_view option :
         {" (--consumer-link)", " (--producer-link)", " (--scheduler-time)", " (--latency)",
          " ([topology] uplink-rate, core-rate)", " (--switch-set topology.uplink-rate)"}) {
        for (std::size_t at = 0; (at = advice.find(option)) != std::string::npos;) {
            advice.erase(at, option.size());
        }
    }
    return advice;
}

/// Where the reason can be seen; begins with a blank, or empty.
std::string_view where_to_look(const NamedCause& first) {
    if (first.evidence == CauseEvidence::proof) {
        return "";  // whoever simulates knows what faults he planted
    }
    const bool told = first.remedy.find(": look ") != std::string::npos;
    switch (first.what) {
        case CauseKind::lost_consumers:
            return told ? "" : " Look in the logs of their processes and hosts for why they ended.";
        case CauseKind::processing:
            return first.remedy.starts_with("look for what slows")
                       ? " On its host, look for other load, swap, steal and the speed of the cores."
                       : "";
        case CauseKind::consumer_links:
        case CauseKind::producer_links:
            return first.where ? " First look at the speed and the errors of its port and cable." : "";
        case CauseKind::control_latency:
            return " Measure round trips between the hosts (ping), and put the scheduler near them; where "
                   "the way stays long, try more slots and streams together (--slots, --streams).";
        case CauseKind::uplinks:
            return first.remedy.starts_with("look ")
                       ? ""
                       : " First look at the speed and the errors of these ports and cables.";
        case CauseKind::scheduler:
            return " Give it a core of its own, and look on its host for other load; larger events "
                   "(--event-size) need fewer messages.";
        default:
            return "";
    }
}

std::string in_a_sentence(std::string_view text) {
    std::string in(text);
    if (!in.empty()) {
        in.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(in.front())));
    }
    return in;
}

std::string to_do(std::span<const NamedCause> causes, const std::string& advice, bool simulated) {
    if (advice.empty()) {
        return "";
    }
    const std::string said = simulated ? advice : on_hosts(advice);
    if (causes.empty()) {
        return said + ".";
    }
    return causes.front().text.find(slower_than_interfaces) == std::string::npos
               ? fmt::format("{}.{}", said, where_to_look(causes.front()))
               : fmt::format(
                     "Read the speed and the errors of the ports on their way, which give less than "
                     "interfaces "
                     "have. Enough would be {}.",
                     in_a_sentence(said.starts_with("Use ") ? said.substr(4) : said));
}

std::string_view certainty_of(const NamedCause& cause) {
    const bool proved = cause.evidence == CauseEvidence::proof && cause.suffices;
    return cause.what == CauseKind::not_told ? "cannot tell" : proved ? "certain" : "likely";
}

}  // namespace

void put_causes(std::span<const NamedCause> causes, std::span<const NamedCause> observed,
                const std::string& advice, bool simulated, ShortAnswer& answer) {
    answer.to_do = to_do(causes, advice, simulated);
    if (causes.empty() || causes.front().what == CauseKind::integrity) {
        return;
    }
    const NamedCause& first = causes.front();
    const NamedCause* const rows = in_rows(first, observed);
    const std::string_view text = first_sentence(rows == nullptr ? first.text : rows->text);
    answer.because =
        files::capitalised(first.what != CauseKind::not_told
                               ? fmt::format("{}{}{}", main_subject(causes), text.empty() ? "." : ": ", text)
                               : fmt::format("Not clear: {}", in_a_sentence(text)));
    answer.certainty = certainty_of(first);
}

ShortAnswer answer_of(const core::Plan& plan, const Verdict& verdict, bool simulated) {
    ShortAnswer answer;
    const std::vector<std::string> parts = faults(plan, verdict);
    const bool good = verdict.sustained && verdict.on_time.value_or(true);
    if (!verdict.judged || (!good && parts.empty())) {
        answer.word = verdict.judged ? "NOT SUSTAINED" : "NOT JUDGED";
        answer.sentence = files::capitalised(std::string(first_sentence(without_word(verdict.findings))));
    } else if (good) {
        answer.word = "SUSTAINED";
        answer.sentence = good_sentence(plan, verdict);
    } else {
        answer.word = verdict.sustained ? "LATE" : "NOT SUSTAINED";
        answer.sentence = files::capitalised(fmt::format("{}.", fmt::join(parts, "; ")));
    }
    put_causes(verdict.causes, verdict.observed, verdict.advice, simulated, answer);
    return answer;
}

std::string evidence_text(const Verdict& verdict) {
    std::string_view findings = without_word(verdict.findings);
    if (!verdict.judged) {
        findings.remove_prefix(std::min(findings.size(), first_sentence_end(findings) + 1));
    }
    const std::string further = further_causes_text(verdict.causes, verdict.observed);
    return files::capitalised(
        fmt::format("{}{}{}", findings, findings.empty() || further.empty() ? "" : " ", further));
}

std::string further_causes_text(std::span<const NamedCause> causes, std::span<const NamedCause> observed) {
    if (causes.empty() || causes.front().what == CauseKind::integrity) {
        return "";
    }
    const std::string& first = causes.front().text;
    const std::string rest = in_rows(causes.front(), observed) != nullptr
                                 ? files::capitalised(first)
                                 : first.substr(std::min(first.size(), first_sentence_end(first) + 1));
    const std::string others = other_causes_text(causes);
    return rest + (rest.empty() || others.empty() ? "" : " ") + others;
}

std::string answer_lines(const ShortAnswer& answer, std::size_t subject_width, bool terminal) {
    const bool good = answer.word == "SUSTAINED";
    const std::string_view colour = !terminal || answer.word == "NOT JUDGED" ? std::string_view{}
                                    : good                                   ? files::colour_green
                                                                             : files::colour_red;
    std::string text;
    const auto line = [&](std::string_view subject, const std::string& said, std::string_view own = {}) {
        if (!said.empty()) {
            text += fmt::format("{}{}{}{:{}}{}\n", own, subject, own.empty() ? "" : files::colour_none, "",
                                subject_width - subject.size(), files::indented(said, subject_width));
        }
    };
    line(answer.word, answer.sentence, colour);
    line("Why", answer.because.empty() ? "" : fmt::format("{} ({})", answer.because, answer.certainty));
    line("Do", answer.to_do);
    return text;
}

}  // namespace weir::judge
