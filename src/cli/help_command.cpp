// `weir help WORD`: what a word of the output means. The words are those of docs/glossary.md, which is
// compiled in: the page and the terminal cannot differ, and no file must be found at run time.
#include "cli/command_functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "config/input_file.hpp"
#include "config/usage_error.hpp"
#include "config/words.hpp"
#include "files/formatting.hpp"

namespace weir::cli {

namespace {

/// A row of the glossary's tables.
struct GlossaryEntry {
    std::string section;
    std::string title;               ///< "slack, least slack"
    std::vector<std::string> words;  ///< "slack", "least slack"
    std::string meaning;
};

/// "[how](reading-a-run.md#verdict)" as "how (docs/reading-a-run.md)", **bold** and *italic* without stars.
std::string without_markup(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const std::size_t middle = text.find("](");
        const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
        if (text.front() == '[' && end != std::string_view::npos) {
            const std::string_view target = text.substr(middle + 2, end - middle - 2);
            plain +=
                fmt::format("{} (docs/{})", text.substr(1, middle - 1), target.substr(0, target.find('#')));
            text.remove_prefix(end + 1);
            continue;
        }
        if (text.front() != '*') {
            plain += text.front();
        }
        text.remove_prefix(1);
    }
    return plain;
}

std::string lower(std::string_view text) {
    std::string made(text);
    std::transform(made.begin(), made.end(), made.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return made;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> words_of(std::string_view title) {
    std::vector<std::string> words;
    while (!title.empty()) {
        const std::size_t end = std::min(title.find(", "), title.size());
        words.push_back(lower(title.substr(0, end)));
        title.remove_prefix(std::min(title.size(), end + 2));
    }
    return words;
}

/// From rows "| word | meaning |" without the heads of the tables.
std::vector<GlossaryEntry> entries_of(std::string_view page) {
    std::vector<GlossaryEntry> entries;
    std::string section;
    while (!page.empty()) {
        const std::size_t end = std::min(page.find('\n'), page.size());
        const std::string_view line = page.substr(0, end);
        page.remove_prefix(std::min(page.size(), end + 1));
        if (line.starts_with("## ")) {
            section = line.substr(3);
        }
        const std::size_t middle = line.find(" | ");
        if (!line.starts_with("| ") || middle == std::string_view::npos || line == "| word | meaning |") {
            continue;
        }
        const std::string title = without_markup(trimmed(line.substr(2, middle - 2)));
        const std::string_view meaning = line.substr(middle + 3);
        entries.push_back({section, title, words_of(title),
                           without_markup(trimmed(meaning.substr(0, meaning.find_last_of('|'))))});
    }
    return entries;
}

/// "sets" is found as "set".
bool is_same(std::string_view word, std::string_view asked) {
    return word == asked || asked == fmt::format("{}s", word) || word == fmt::format("{}s", asked);
}

std::vector<const GlossaryEntry*> exact(const std::vector<GlossaryEntry>& entries, const std::string& asked) {
    std::vector<const GlossaryEntry*> found;
    for (const GlossaryEntry& entry : entries) {
        if (std::any_of(entry.words.begin(), entry.words.end(),
                        [&](const std::string& word) { return is_same(word, asked); })) {
            found.push_back(&entry);
        }
    }
    return found;
}

/// "stall" in "credit stall" and in "event-loop stall".
std::vector<const GlossaryEntry*> containing(const std::vector<GlossaryEntry>& entries,
                                             const std::string& asked) {
    std::vector<const GlossaryEntry*> found;
    for (const GlossaryEntry& entry : entries) {
        const std::string title = fmt::format(" {} ", lower(entry.title));
        if (title.find(fmt::format(" {}", asked)) != std::string::npos) {
            found.push_back(&entry);
        }
    }
    return found;
}

[[noreturn]] void refuse(const std::vector<GlossaryEntry>& entries, const std::string& word) {
    std::vector<std::string_view> names;
    for (const GlossaryEntry& entry : entries) {
        names.insert(names.end(), entry.words.begin(), entry.words.end());
    }
    const auto near = config::near_names(lower(word), names, 3);
    throw config::UsageError(fmt::format("'{}': the glossary does not have it; {}", word,
                                         near.empty()
                                             ? std::string("`weir help` lists its words")
                                             : fmt::format("did you mean {}?", fmt::join(near, ", "))));
}

std::string listed(const std::vector<GlossaryEntry>& entries) {
    std::string text;
    std::string words;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        words += fmt::format("{}{}", words.empty() ? "" : "; ", entries[i].title);
        if (i + 1 == entries.size() || entries[i + 1].section != entries[i].section) {
            text += files::wrapped(fmt::format("{}: {}", entries[i].section, words));
            words.clear();
        }
    }
    return text + "\nOne of them: weir help WORD. A command: weir COMMAND --help\n";
}

}  // namespace

std::string help_text(const std::string& word) {
    const std::vector<GlossaryEntry> entries = entries_of(config::embedded_pages().front().text);
    const std::string asked = lower(word);
    if (asked.empty()) {
        return listed(entries);
    }
    if (const Command* command = find_command(asked)) {
        return command_help(*command, "");
    }
    std::vector<const GlossaryEntry*> found = exact(entries, asked);
    if (found.empty()) {
        found = containing(entries, asked);
    }
    if (found.empty()) {
        refuse(entries, word);
    }
    std::string text;
    for (const GlossaryEntry* entry : found) {
        text +=
            files::wrapped(fmt::format("{} ({}): {}", entry->title, lower(entry->section), entry->meaning));
    }
    return text;
}

}  // namespace weir::cli
