// The packet model beside reference values: published (P), from a published formula (F), computed by another
// program (M), or measured on hardware (H). Where bands come from: results/switch-model.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace weir::switch_model {

struct Value {
    std::string what;  ///< with its unit
    std::string reference;
    char source = 'F';  ///< P, F, M, H, or C: a choice of ours
    double low = 0;     ///< the band: passes within it
    double high = 0;
    double found = 0;
    [[nodiscard]] bool passes() const { return low <= found && found <= high; }
};

struct Case {
    std::string name;
    std::string section;  ///< of the page
    std::string inputs;   ///< what was chosen, in one sentence
    std::function<std::vector<Value>()> run;
};

/// All of them, in the order of the page.
std::vector<Case> all_cases();

// Each adds the cases of one file.
void add_dcqcn(std::vector<Case>& cases);
void add_dcqcn_dynamics(std::vector<Case>& cases);
void add_pauses(std::vector<Case>& cases);
void add_losses(std::vector<Case>& cases);
void add_loads(std::vector<Case>& cases);
void add_tcp(std::vector<Case>& cases);

}  // namespace weir::switch_model
