// The setters of the option table that are more than an expression, and their getters. All setters throw
// UsageError without the option's name.
#pragma once

#include <string>
#include <string_view>

#include "config/run_request.hpp"

namespace weir::config {

void set_event_size(RunRequest& request, std::string_view text);
void set_busy(RunRequest& request, std::string_view text);
void set_result_size(RunRequest& request, std::string_view text);
void set_scheduler_rank(RunRequest& request, std::string_view text);
void set_scheduler_host(RunRequest& request, std::string_view text);
void set_require(RunRequest& request, std::string_view text);
std::string require_text(const RunRequest& request);
void set_label(RunRequest& request, std::string_view text);
void set_tag(RunRequest& request, std::string_view text);
std::string tags_text(const RunRequest& request);
void set_out(RunRequest& request, std::string_view text);

}  // namespace weir::config
