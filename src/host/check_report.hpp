// The report of a check: for people, and as JSON ("weir-check/1").
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/facts.hpp"
#include "host/probe_result.hpp"

namespace weir::host {

struct CheckResult {
    std::vector<HostView> hosts;
    std::vector<std::string> told_apart;  ///< a line for each name that several hosts have
    std::optional<ProbeResult> probe;     ///< nothing: there was none

    HostComparison comparison;      ///< by judge_hosts()
    std::vector<Finding> findings;  ///< by judge_hosts(), in order
};

/// Compares hosts, applies all rules, and fills in the rest of the result.
void judge_hosts(CheckResult& result);

/// "eb[01-14],fn03" for a list of hosts; the caller has the syntax.
using HostListText = std::function<std::string(std::span<const std::string>)>;

/// Table of facts, the probe, and the findings, worst first. `colours`: for a terminal.
std::string check_text(const CheckResult& result, const HostListText& host_list, bool colours);

nlohmann::ordered_json check_json(const CheckResult& result);

}  // namespace weir::host
