#include "config/option_setters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/distributions.hpp"
#include "config/host_list.hpp"
#include "config/limits.hpp"
#include "config/quantities.hpp"
#include "config/usage_error.hpp"

namespace weir::config {

void set_event_size(RunRequest& request, std::string_view text) {
    NamedDistribution parsed = parse_event_size(text);
    request.plan.event_size = std::move(parsed.distribution);
    request.event_size_trace = std::move(parsed.trace_file);
}

void set_busy(RunRequest& request, std::string_view text) {
    NamedDistribution parsed = parse_busy(text);
    request.plan.busy = std::move(parsed.distribution);
    request.busy_trace = std::move(parsed.trace_file);
}

void set_result_size(RunRequest& request, std::string_view text) {
    NamedDistribution parsed = parse_result_size(text);
    request.plan.result_size = std::move(parsed.distribution);
    request.result_size_trace = std::move(parsed.trace_file);
}

void set_scheduler_rank(RunRequest& request, std::string_view text) {
    if (text != "first" && text != "last") {
        try {
            parse_count(text, 0, 3 * nodes_limit);
        } catch (const UsageError&) {
            throw UsageError(
                fmt::format("'{}' is not a rank; write first, last or a number from 0 on", text));
        }
    }
    request.roles.scheduler_rank = std::string(text);
}

void set_scheduler_host(RunRequest& request, std::string_view text) {
    const auto hosts = expand_hosts(text);
    if (hosts.size() != 1) {
        throw UsageError(fmt::format("'{}' are {} hosts; write one", text, hosts.size()));
    }
    request.roles.scheduler_host = hosts.front();
}

void set_require(RunRequest& request, std::string_view text) {
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        if (word == "sustained") {
            request.require.sustained = true;
        } else if (word == "on-time") {
            request.require.on_time = true;
        } else if (word == "lossless") {
            request.require.lossless = true;
        } else if (word == "none") {
            request.require = {};
        } else {
            throw UsageError(fmt::format("'{}' is not one of: sustained, on-time, lossless, none", word));
        }
        if (comma == std::string_view::npos) {
            return;
        }
        rest = rest.substr(comma + 1);
    }
}

std::string require_text(const RunRequest& request) {
    std::string text;
    const auto add = [&text](bool required, const char* word) {
        if (required) {
            text += text.empty() ? "" : ",";
            text += word;
        }
    };
    add(request.require.sustained, "sustained");
    add(request.require.on_time, "on-time");
    add(request.require.lossless, "lossless");
    return text.empty() ? "none" : text;
}

namespace {

void check_printable(std::string_view text, std::size_t most) {
    if (text.size() > most) {
        throw UsageError(fmt::format("the text has {} characters; write at most {}", text.size(), most));
    }
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
            throw UsageError("the text contains a control character; write plain text");
        }
    }
}

}  // namespace

void set_label(RunRequest& request, std::string_view text) {
    check_printable(text, 200);
    request.label = std::string(text);
}

void set_tag(RunRequest& request, std::string_view text) {
    check_printable(text, 500);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw UsageError(
            fmt::format("'{}' has no key and value; write KEY=VALUE, such as switch=shallow", text));
    }
    const std::string key(text.substr(0, equals));
    std::string value(text.substr(equals + 1));
    const auto found = std::find_if(request.tags.begin(), request.tags.end(),
                                    [&](const auto& tag) { return tag.first == key; });
    if (found != request.tags.end() &&
        static_cast<std::size_t>(found - request.tags.begin()) < request.scenario_tags) {
        request.tags.erase(found);
        --request.scenario_tags;
    } else if (found != request.tags.end()) {
        throw UsageError(fmt::format("'{}' is given twice, as '{}' and as '{}'; write each key once", key,
                                     found->second, value));
    }
    request.tags.emplace_back(key, std::move(value));
}

std::string tags_text(const RunRequest& request) {
    std::string text;
    for (const auto& [key, value] : request.tags) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
    }
    return text;
}

void set_out(RunRequest& request, std::string_view text) {
    check_printable(text, 4000);
    if (text.empty()) {
        throw UsageError("nothing is given; write the name of a directory that does not exist yet");
    }
    request.out = std::string(text);
}

}  // namespace weir::config
