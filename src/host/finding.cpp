#include "host/finding.hpp"

#include <algorithm>

namespace weir::host {

const char* severity_name(Severity severity) {
    switch (severity) {
        case Severity::serious:
            return "serious";
        case Severity::warning:
            return "warning";
        case Severity::note:
            return "note";
    }
    return "";
}

std::vector<Finding> in_order(std::vector<Finding> findings) {
    std::vector<Finding> merged;
    for (Finding& finding : findings) {
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const Finding& other) {
            return other.severity == finding.severity && other.topic == finding.topic &&
                   other.what == finding.what && other.advice == finding.advice;
        });
        if (same == merged.end()) {
            merged.push_back(std::move(finding));
            continue;
        }
        for (std::string& host : finding.hosts) {
            if (std::find(same->hosts.begin(), same->hosts.end(), host) == same->hosts.end()) {
                same->hosts.push_back(std::move(host));
            }
        }
    }
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return merged;
}

bool any_serious(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& finding) { return finding.severity == Severity::serious; });
}

}  // namespace weir::host
