#include "cases.hpp"

namespace weir::switch_model {

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    add_dcqcn(cases);
    add_dcqcn_dynamics(cases);
    add_pauses(cases);
    add_losses(cases);
    add_loads(cases);
    add_tcp(cases);
    return cases;
}

}  // namespace weir::switch_model
