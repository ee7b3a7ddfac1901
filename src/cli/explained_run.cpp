#include "cli/explained_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/fabric.hpp"
#include "config/input_file.hpp"
#include "files/json.hpp"
#include "show/run_record.hpp"

namespace weir::cli {

using judge::CauseEvidence;
using judge::NamedCause;

namespace {

/// A simulated interface has the speed that was given for it, whatever a disturbance makes of its link.
void read_simulated_interfaces(twin::ShownRun& run) {
    for (const auto& [option, value] : run.plan) {
        if (option != "producer-link" && option != "consumer-link") {
            continue;
        }
        const bool sends = option == "producer-link";
        const core::Role role = sends ? core::Role::producer : core::Role::consumer;
        core::BitRate usual;
        std::vector<core::OwnLinks> own;
        config::parse_link_speeds(value, usual, own);
        const auto rates = core::link_rates(sends ? run.producers : run.consumers, usual, own);
        for (twin::ShownRank& rank : run.ranks) {
            if (rank.node.role == role) {
                rank.interface_bits_per_second =
                    static_cast<double>(rates.at(rank.node.index).bits_per_second);
            }
        }
    }
}

}  // namespace

twin::ShownRun shown_run(const nlohmann::ordered_json& record, const std::string& directory) {
    constexpr std::size_t most_rows_bytes = std::size_t{64} << 20U;
    twin::ShownRun run = twin::read_record(record);
    if (run.simulated) {
        read_simulated_interfaces(run);
    }
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
        const std::filesystem::path file = run.ranks[rank].file;
        if (file.is_absolute() || file.string().find("..") != std::string::npos) {
            throw twin::Unreadable(
                fmt::format("run.json: the rows are in '{}', outside of the directory", file.string()));
        }
        twin::read_rows(
            run, rank,
            config::read_input_file(directory + "/" + file.string(), most_rows_bytes, "rows of a rank"));
    }
    return run;
}

std::vector<NamedCause> observed_in(const nlohmann::ordered_json& record) {
    const auto& verdict = files::field(record, "verdict");
    std::vector<NamedCause> observed = show::causes_from(verdict, "observed");
    if (observed.empty()) {
        observed = show::causes_from(verdict);
        std::erase_if(observed,
                      [](const NamedCause& cause) { return cause.evidence != CauseEvidence::observed; });
    }
    return observed;
}

}  // namespace weir::cli
