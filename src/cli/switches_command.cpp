#include "cli/switches_command.hpp"

#include <fmt/format.h>

#include "config/switch_file.hpp"

namespace weir::cli {

std::string switches_text(const std::string& name) {
    if (!name.empty()) {
        return config::load_switch(name).text;
    }
    constexpr const char* row = "{:14}{}\n";
    std::string text = fmt::format(row, "NAME", "WHAT IT IS");
    for (const std::string& known : config::switch_names()) {
        text += fmt::format(row, known, config::load_switch(known).title);
    }
    return text + "\nPrint one: weir switches NAME. Use it: weir simulate --network packet --switch NAME\n";
}

}  // namespace weir::cli
