#include "judge/ledger_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "files/formatting.hpp"

namespace weir::judge {

namespace {

using core::Role;
using core::Tally;

std::string amount_text(std::uint64_t events, core::Bytes bytes) {
    return fmt::format("{}, {} bytes", files::counted(events, "event"), bytes.count);
}
std::string tally_text(const Tally& tally) {
    return amount_text(tally.events, tally.bytes);
}
std::string traffic_text(const core::Traffic& traffic) {
    return amount_text(traffic.events, traffic.bytes);
}

void compare(const char* left_name, const Tally& left, const char* right_name, const Tally& right,
             std::vector<std::string>& differences) {
    if (left == right) {
        return;
    }
    if (left.events == right.events && left.bytes == right.bytes) {
        differences.push_back(fmt::format("{} and {} have equal totals ({}), but not the same events.",
                                          left_name, right_name, tally_text(left)));
        return;
    }
    differences.push_back(
        fmt::format("{}: {}; {}: {}.", left_name, tally_text(left), right_name, tally_text(right)));
}

/// Sentences about ranks: the first few are kept, the others counted.
class ListedSentences {
  public:
    void add(std::string sentence) {
        if (listed_.size() < listed_max) {
            listed_.push_back(std::move(sentence));
        } else {
            ++left_out_;
        }
    }
    /// With a last sentence for those that were left out.
    std::vector<std::string> all() && {
        if (left_out_ > 0) {
            listed_.push_back(fmt::format("{} more {} the same problem.", files::counted(left_out_, "rank"),
                                          left_out_ == 1 ? "has" : "have"));
        }
        return std::move(listed_);
    }

  private:
    static constexpr std::size_t listed_max = 8;
    std::vector<std::string> listed_;
    std::size_t left_out_ = 0;
};

core::Traffic without_hash(const Tally& tally) {
    return {tally.events, tally.bytes};
}

}  // namespace

namespace {

/// An event is sent when the scheduler has accepted that it is done. What consumers received in lives of
/// which there is no ledger, or when the run was closed already, the scheduler has counted apart.
void compare_recovered(const LedgerSums& sums, const record::Recovery& recovery,
                       std::vector<std::string>& differences) {
    compare("sent by producers", sums.producers.sent, "done according to the scheduler",
            sums.scheduler.received, differences);
    compare("received by consumers, or done by those that were lost",
            sums.consumers.received + recovery.done_by_lost, "done according to the scheduler, or too late",
            sums.scheduler.received + recovery.done_too_late, differences);
}

}  // namespace

LedgerSums sum_ledgers(std::span<const record::RankRecord> ranks) {
    LedgerSums sums;
    for (const record::RankRecord& rank : ranks) {
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

std::vector<std::string> ledger_differences(const core::Plan& plan, std::span<const record::RankRecord> ranks,
                                            const record::Recovery* recovery) {
    ListedSentences sentences;
    for (const record::RankRecord& rank : ranks) {
        const record::RankSummary& summary = rank.summary;
        const core::Ledger& ledger = summary.ledger;
        const std::string where = files::node_text(summary.node, rank.host);
        if (recovery != nullptr && recovery->is_without_ledger(summary.node)) {
            continue;
        }
        if (!summary.ledger_known) {
            sentences.add(fmt::format("{} handed in no ledger.", where));
            continue;
        }
        if (summary.node.role == Role::producer && ledger.generated != ledger.sent + ledger.lost) {
            sentences.add(fmt::format("{} generated {}, but sent and lost {}.", where,
                                      tally_text(ledger.generated), tally_text(ledger.sent + ledger.lost)));
        }
        if (ledger.incomplete.events > 0 && !plan.lossy()) {
            sentences.add(fmt::format("{} began to receive {} that never became complete.", where,
                                      files::counted(ledger.incomplete.events, "event")));
        }
    }
    std::vector<std::string> differences = std::move(sentences).all();
    const LedgerSums sums = sum_ledgers(ranks);
    if (recovery != nullptr) {
        compare_recovered(sums, *recovery, differences);
        return differences;
    }
    // Corrupt events count as received: they arrived, and their number is reported beside.
    if (plan.lossy()) {
        compare("sent by producers", sums.producers.sent, "received or given up by consumers",
                sums.consumers.received + sums.consumers.incomplete, differences);
    } else {
        compare("sent by producers", sums.producers.sent, "received by consumers", sums.consumers.received,
                differences);
    }
    if (!plan.consumers_grant()) {  // where the scheduler gets no offers
        compare("received by consumers", sums.consumers.received, "done according to the scheduler",
                sums.scheduler.received, differences);
        compare("results sent by consumers", sums.consumers.results, "results that the scheduler received",
                sums.scheduler.results, differences);
    }
    return differences;
}

std::vector<std::string> traffic_differences(const core::Plan& plan, const record::TrafficMatrix& matrix,
                                             std::span<const record::RankRecord> ranks,
                                             const record::Recovery* recovery) {
    const bool all_known =
        recovery == nullptr ||
        (recovery->loss_count == 0 && recovery->without_ledger.empty() && recovery->done_too_late == Tally{});
    const auto producers = static_cast<std::size_t>(std::count_if(
        ranks.begin(), ranks.end(),
        [](const record::RankRecord& rank) { return rank.summary.node.role == Role::producer; }));
    std::vector<core::Traffic> by_producer(producers);
    ListedSentences sentences;
    for (const record::RankRecord& rank : ranks) {
        const record::RankSummary& summary = rank.summary;
        if (summary.node.role != Role::consumer) {
            continue;
        }
        core::Traffic sum;
        for (const record::ProducerTraffic& entry : matrix.of(core::ConsumerId{summary.node.index})) {
            sum += entry.traffic;
            if (entry.producer < producers) {
                by_producer[entry.producer] += entry.traffic;
            }
        }
        if (summary.ledger_known && sum != without_hash(summary.ledger.received)) {
            sentences.add(fmt::format("{} received {}; added up by producer it counted {}.",
                                      files::node_text(summary.node, rank.host),
                                      tally_text(summary.ledger.received), traffic_text(sum)));
        }
    }
    for (const record::RankRecord& rank : ranks) {
        const record::RankSummary& summary = rank.summary;
        if (summary.node.role != Role::producer || !summary.ledger_known || !all_known) {
            continue;
        }
        const core::Traffic& received = by_producer.at(summary.node.index);
        // What was lost on the way is checked in sum, by ledger_differences.
        const core::Traffic sent = without_hash(summary.ledger.sent);
        const bool agree =
            plan.lossy() ? received.events <= sent.events && received.bytes <= sent.bytes : received == sent;
        if (!agree) {
            sentences.add(fmt::format("{} sent {}; consumers received {} from it.",
                                      files::node_text(summary.node, rank.host),
                                      tally_text(summary.ledger.sent), traffic_text(received)));
        }
    }
    return std::move(sentences).all();
}

}  // namespace weir::judge
