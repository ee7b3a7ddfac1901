// Files of switches and scenarios: arbitrary text is read or refused with one line, and a description that
// was read is printed so that it is read again as the same.
#include <string>
#include <string_view>

#include "config/resolve.hpp"
#include "config/switch_description.hpp"
#include "config/switch_file.hpp"
#include "config/switch_keys.hpp"
#include "config/usage_error.hpp"
#include "steps.hpp"

using namespace weir;

namespace {

template <typename Read>
bool is_read(const Read& read) {
    try {
        read();
        return true;
    } catch (const config::UsageError& error) {
        fuzz::demand(std::string_view(error.what()).find('\n') == std::string_view::npos,
                     "a refusal of more than one line");
        return false;
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    config::SwitchDescription description;
    if (is_read([&] { description = config::parse_switch(text, "x.toml").description; })) {
        config::SwitchDescription again;
        for (const config::SwitchKey& key : config::switch_keys()) {
            config::set_value(key, again, config::value_text(key, description));
        }
        again.classes = description.classes;
        fuzz::demand(again == description, "a description that is another when read again");
        const core::FabricPlan fabric = config::fabric_of(description, core::Bytes{100'000});
        for (config::ClassDescription& one : again.classes) {
            for (const config::ClassKey& key : config::class_keys()) {
                key.set(one, key.text(one, fabric));
            }
        }
        fuzz::demand(config::fabric_of(again, core::Bytes{100'000}).classes == fabric.classes,
                     "classes that are others when read again");
        fuzz::demand(fabric.control_priority < core::priority_count, "a priority that does not exist");
    }
    is_read([&] { config::parse_scenario(text, "x.toml"); });
    return 0;
}
