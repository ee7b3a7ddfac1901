// What a process prints, and maybe writes to a file, if a library ends it with abort(), as UCX does when it
// loses a peer. Without it, what was found out until then would be lost.
#pragma once

#include <unistd.h>

#include <string>

namespace weir::host {

class AbortMessage {
  public:
    struct Content {
        std::string text = {};  ///< empty: nothing is printed
        int descriptor = STDOUT_FILENO;
        std::string path = {};  ///< of a file that is replaced by one with `file`; empty: none
        std::string file = {};
        int connection = -1;  ///< for `last_words`
        std::string last_words = {};
    };

    /// Catches SIGABRT. One object at a time.
    AbortMessage();
    AbortMessage(const AbortMessage&) = delete;
    AbortMessage& operator=(const AbortMessage&) = delete;
    ~AbortMessage();

    /// Replaces the message; `{}` removes it.
    void set(Content content);
    /// Prints and writes the message now, and not again.
    static void write_now();

  private:
    Content content_;
    std::string temporary_path_;
};

}  // namespace weir::host
