// `weir help WORD`: what a word of the output means. The words are those of docs/glossary.md, which is
// compiled in: the page and the terminal cannot differ, and no file must be found at run time.
#pragma once

#include <string>

namespace weir::cli {

/// What the glossary has on `word` (several words: with one blank between them; a plural, capitals and a part
/// of a longer term are found too), or the help of the command of that name. Empty: all words by section.
/// Throws config::UsageError, with the nearest words.
std::string help_text(const std::string& word);

}  // namespace weir::cli
