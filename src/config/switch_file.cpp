#include "config/switch_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/input_file.hpp"
#include "config/switch_keys.hpp"
#include "config/toml_file.hpp"
#include "config/usage_error.hpp"
#include "config/words.hpp"

namespace weir::config {

namespace {

/// Built-in files that stand on each other.
constexpr int most_bases = 4;

const EmbeddedFile& built_in(std::string_view name) {
    std::vector<std::string_view> names;
    for (const EmbeddedFile& file : embedded_switches()) {
        if (file.name == name) {
            return file;
        }
        names.push_back(file.name);
    }
    const auto near = near_names(name, names, 1);
    throw UsageError("there is no switch '{}'; {}built in are: {}", name,
                     near.empty() ? "" : fmt::format("did you mean {}? ", near.front()),
                     fmt::join(names, ", "));
}

class SwitchReader {
  public:
    SwitchReader(std::string_view text, const std::string& file, int depth)
        : file_(text, file), depth_(depth) {
        read_.text = std::string(text);
    }

    SwitchFile read() {
        if (const toml::node* base = file_.table().get("base")) {
            read_base(*base);
        }
        for (const auto& [key, node] : file_.table()) {
            const std::string name(key.str());
            if (const auto* section = node.as_table(); section != nullptr && name == "class") {
                read_classes(*section);
            } else if (section != nullptr) {
                read_section(name, key.source().begin, *section);
            } else {
                read_text(name, key.source().begin, node);
            }
        }
        return std::move(read_);
    }

  private:
    void read_base(const toml::node& node) {
        const std::string base = file_.text("base", node);
        file_.within(node.source().begin, "base", [&] {
            if (depth_ == most_bases) {
                throw UsageError("too many files stand on each other");
            }
            SwitchReader reader(built_in(base).text, fmt::format("{}.toml", base), depth_ + 1);
            read_.description = reader.read().description;
        });
    }

    void read_text(const std::string& name, const toml::source_position& at, const toml::node& node) {
        for (const auto& [key, field] : {std::pair{"name", &SwitchFile::name},
                                         {"title", &SwitchFile::title},
                                         {"description", &SwitchFile::about},
                                         {"source", &SwitchFile::source}}) {
            if (key == name) {
                read_.*field = file_.text(name, node);
                return;
            }
        }
        if (name != "base") {
            file_.refuse(at, unknown_key(name));
        }
    }

    /// A key outside of a section that only sections have, or none at all.
    static std::string unknown_key(const std::string& name) {
        for (const SwitchKey& key : switch_keys()) {
            if (key.name == name) {
                return fmt::format("'{}' stands outside of a section; write it below [{}]", name,
                                   key.section);
            }
        }
        return fmt::format(
            "there is no key '{}' outside of a section; there are: base, name, title, description, source",
            name);
    }

    void read_section(const std::string& section, const toml::source_position& at, const toml::table& table) {
        std::vector<std::string_view> sections;
        for (const SwitchKey& key : switch_keys()) {
            if (sections.empty() || sections.back() != key.section) {
                sections.push_back(key.section);
            }
        }
        if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
            sections.emplace_back("class.NAME");
            const auto near = near_names(section, sections, 1);
            file_.refuse(at, near.empty() ? fmt::format("there is no section [{}]; there are: {}", section,
                                                        fmt::join(sections, ", "))
                                          : fmt::format("there is no section [{}]; did you mean [{}]?",
                                                        section, near.front()));
        }
        for (const auto& [name, node] : table) {
            read_key(section, std::string(name.str()), name.source().begin, node);
        }
    }

    void read_classes(const toml::table& classes) {
        for (const auto& [name, node] : classes) {
            const auto* section = node.as_table();
            if (section == nullptr) {
                file_.refuse(name.source().begin,
                             "[class] has no name; write [class.NAME], as [class.storage]");
            }
            const std::string title = fmt::format("class.{}", name.str());
            try {
                class_of_section(title);
            } catch (const UsageError& error) {
                file_.refuse(name.source().begin, error.what());
            }
            read_class(title, class_named(read_.description, name.str()), *section);
        }
    }

    void read_class(const std::string& title, ClassDescription& one, const toml::table& section) {
        for (const auto& [key, node] : section) {
            const std::string text =
                text_of(fmt::format("[{}] {}", title, key.str()), "text or a number", node);
            try {
                set_class_key(one, key.str(), text);
            } catch (const UsageError& error) {
                file_.refuse(key.source().begin, "[{}] {}", title, error.what());
            }
        }
    }

    void read_key(const std::string& section, const std::string& name, const toml::source_position& at,
                  const toml::node& node) {
        std::vector<std::string_view> names;
        for (const SwitchKey& key : switch_keys()) {
            if (key.section != section) {
                continue;
            }
            if (key.name == name) {
                set(key, node);
                return;
            }
            names.push_back(key.name);
        }
        const auto near = near_names(name, names, 1);
        file_.refuse(
            at, near.empty()
                    ? fmt::format("[{}] has no key '{}'; it has: {}", section, name, fmt::join(names, ", "))
                    : fmt::format("[{}] has no key '{}'; did you mean {}?", section, name, near.front()));
    }

    void set(const SwitchKey& key, const toml::node& node) {
        const std::string text = text_of(fmt::format("[{}] {}", key.section, key.name), kind_of(key), node);
        try {
            set_value(key, read_.description, text);
        } catch (const UsageError& error) {
            file_.refuse(node.source().begin, "[{}] {}: {}", key.section, key.name, error.what());
        }
    }

    /// `key`: with its section, for messages.
    [[nodiscard]] std::string text_of(const std::string& key, std::string_view kind,
                                      const toml::node& node) const {
        if (const auto* flag = node.as_boolean()) {
            return flag->get() ? "true" : "false";
        }
        if (const auto* list = node.as_array()) {
            std::string text;
            for (const toml::node& element : *list) {
                text += fmt::format("{}{}", text.empty() ? "" : ",", single_value(key, kind, element));
            }
            return text;
        }
        return single_value(key, kind, node);
    }

    [[nodiscard]] std::string single_value(const std::string& key, std::string_view kind,
                                           const toml::node& node) const {
        if (node.as_table() != nullptr || node.as_array() != nullptr || node.is_date() || node.is_time() ||
            node.is_date_time() || node.is_boolean()) {
            file_.refuse(node.source().begin, "{}: this is no value; write {}", key, kind);
        }
        return file_.value(key.substr(key.find("] ") + 2), node);
    }

    TomlFile file_;
    SwitchFile read_;
    int depth_;
};

SwitchFile read_and_check(std::string_view text, const std::string& file) {
    SwitchFile read = SwitchReader(text, file, 0).read();
    at_place(file, [&] { check_description(read.description); });
    return read;
}

}  // namespace

SwitchFile parse_switch(std::string_view text, const std::string& file) {
    return read_and_check(text, file);
}

SwitchFile load_switch(const std::string& name_or_file) {
    if (!is_file_name(name_or_file)) {
        const EmbeddedFile& file = built_in(name_or_file);
        return parse_switch(file.text, fmt::format("{}.toml", file.name));
    }
    constexpr auto here = UsageError::Reach::this_host;
    const std::string text =
        read_input_file(name_or_file, most_toml_bytes, "a built-in name or the name of a switch file");
    try {
        return parse_switch(text, name_or_file);
    } catch (const UsageError& error) {
        throw UsageError(error.what(), here);
    }
}

std::vector<std::string> switch_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_switches()) {
        names.emplace_back(file.name);
    }
    return names;
}

}  // namespace weir::config
