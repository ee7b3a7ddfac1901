// The settings of a host as named values, for people and for comparison: the same facts in the same order on
// every host, so that differences are found without interpreting them.
#pragma once

#include <string>
#include <vector>

#include "host/finding.hpp"
#include "host/host_view.hpp"

namespace weir::host {

/// Among which hosts a fact should be the same.
enum class Alike : std::uint8_t {
    everywhere,
    within_role,  ///< among hosts of producers, and among hosts of consumers; the scheduler's may differ
    not_needed,
};

struct Fact {
    std::string name;   ///< "MTU"
    std::string value;  ///< "9000 B"; empty: not known
    std::string topic;  ///< of the finding if it differs
    Alike alike = Alike::not_needed;
    Severity if_different = Severity::warning;
    std::string advice = {};
};

std::vector<Fact> facts_of(const HostView& host);

/// "0, 3" or "none"
std::string priorities_text(Priorities priorities);

/// A fact over all hosts.
struct ComparedFact {
    std::string name;
    struct Value {
        std::string value;
        std::vector<std::string> hosts;
    };
    std::vector<Value> values;  ///< the most common first
};

struct HostComparison {
    std::vector<ComparedFact> facts;
    std::vector<Finding> findings;
};

/// What is the same on all hosts, and what is not.
HostComparison compare(const std::vector<HostView>& hosts);

}  // namespace weir::host
