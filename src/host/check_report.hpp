// The report of a check: for people, and as JSON ("weir-check/1").
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "host/check.hpp"

namespace weir::host {

/// "eb[01-14],fn03" for a list of hosts; the caller has the syntax.
using HostListText = std::function<std::string(std::span<const std::string>)>;

/// Table of facts, the probe, and the findings, worst first. `colours`: for a terminal.
std::string check_text(const CheckResult& result, const HostListText& host_list, bool colours);

nlohmann::ordered_json check_json(const CheckResult& result);

}  // namespace weir::host
