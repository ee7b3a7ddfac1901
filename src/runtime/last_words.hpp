// A text that is printed if a library ends the process with abort(), as UCX does when it loses a peer, or a
// caller that was told to leave says so. What was found out until then must not be lost with it.
#pragma once

#include <string>

namespace weir::runtime {

class LastWords {
  public:
    /// One at a time.
    LastWords();
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;
    /// Nothing is printed after this.
    ~LastWords();

    /// What is to be printed from now on; empty: nothing.
    void prepare(std::string text);
    /// Prints it now, and not again.
    static void say();

  private:
    std::string text_;
};

}  // namespace weir::runtime
