// Speeds of the links of one role's hosts: '100Gb/s', or '100Gb/s,0-3=25Gb/s,7=400Gb/s' where some hosts have
// another one than the rest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/run_request.hpp"

namespace weir::config {

/// Sets both; `own` in ascending order. Throws UsageError.
void parse_link_speeds(std::string_view text, core::BitRate& usual, std::vector<core::OwnLinks>& own);
std::string link_speeds_text(core::BitRate usual, const std::vector<core::OwnLinks>& own);

}  // namespace weir::config
