#include "config/input_file.hpp"
#include "config/toml_file.hpp"

namespace weir::config {

std::vector<AnsweredQuestion> answered_questions() {
    const TomlFile file(embedded_capabilities().front().text, "docs/capabilities.toml");
    std::vector<AnsweredQuestion> found;
    for (const toml::node& capability : *file.table()["capability"].as_array()) {
        const toml::table& row = *capability.as_table();
        if (const auto command = row["commands"][0].value<std::string>()) {
            found.push_back({row["question"].value_or(""), *command});
        }
    }
    return found;
}

}  // namespace weir::config
