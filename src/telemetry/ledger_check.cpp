#include "telemetry/ledger_check.hpp"

#include <fmt/format.h>

#include "telemetry/text.hpp"

namespace weir::telemetry {

namespace {

using core::Role;
using core::Tally;

std::string tally_text(const Tally& tally) {
    return fmt::format("{}, {} bytes", counted(tally.events, "event"), tally.bytes.count);
}

void compare(const char* left_name, const Tally& left, const char* right_name, const Tally& right,
             std::vector<std::string>& differences) {
    if (left == right) {
        return;
    }
    if (left.events == right.events && left.bytes == right.bytes) {
        differences.push_back(
            fmt::format("{} and {} have equal totals ({}), but they are not the same events.", left_name,
                        right_name, tally_text(left)));
        return;
    }
    differences.push_back(
        fmt::format("{}: {}; {}: {}.", left_name, tally_text(left), right_name, tally_text(right)));
}

}  // namespace

LedgerSums sum_ledgers(std::span<const RankRecord> ranks) {
    LedgerSums sums;
    for (const RankRecord& rank : ranks) {
        switch (rank.summary.node.role) {
            case Role::producer:
                sums.producers += rank.summary.ledger;
                break;
            case Role::consumer:
                sums.consumers += rank.summary.ledger;
                break;
            case Role::scheduler:
                sums.scheduler += rank.summary.ledger;
                break;
        }
    }
    return sums;
}

std::vector<std::string> ledger_differences(const core::Plan& plan, std::span<const RankRecord> ranks) {
    constexpr std::size_t named_max = 8;
    std::vector<std::string> differences;
    std::size_t left_out = 0;
    const auto say = [&](std::string sentence) {
        if (differences.size() < named_max) {
            differences.push_back(std::move(sentence));
        } else {
            ++left_out;
        }
    };
    for (const RankRecord& rank : ranks) {
        const RankSummary& summary = rank.summary;
        const core::Ledger& ledger = summary.ledger;
        const std::string where = node_text(summary.node) + (rank.host.empty() ? "" : " on " + rank.host);
        if (!summary.ledger_known) {
            say(fmt::format("There is no ledger of {}.", where));
            continue;
        }
        if (summary.node.role == Role::producer && ledger.generated != ledger.sent + ledger.lost) {
            say(fmt::format("The ledger of {} does not add up: generated {}; sent and lost {}.", where,
                            tally_text(ledger.generated), tally_text(ledger.sent + ledger.lost)));
        }
        if (ledger.incomplete.events > 0) {
            say(fmt::format("{} began to receive {} that never became whole.", where,
                            counted(ledger.incomplete.events, "event")));
        }
    }
    if (left_out > 0) {
        differences.push_back(fmt::format("The like holds for {} more.", counted(left_out, "rank")));
    }
    const LedgerSums sums = sum_ledgers(ranks);
    // Corrupt events count as received: they arrived, and their number is reported beside.
    compare("sent by producers", sums.producers.sent, "received by consumers", sums.consumers.received,
            differences);
    if (plan.policy != core::PolicyKind::none) {  // where the scheduler is not told of events
        compare("received by consumers", sums.consumers.received, "done according to the scheduler",
                sums.scheduler.received, differences);
    }
    return differences;
}

}  // namespace weir::telemetry
