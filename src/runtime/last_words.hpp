// What is printed, and maybe written to a file, if a library ends the process with abort(), as UCX does when
// it loses a peer, or a caller that was told to leave says so. What was found out until then must not be lost
// with it.
#pragma once

#include <unistd.h>

#include <string>

namespace weir::runtime {

class LastWords {
  public:
    struct Words {
        std::string text = {};  ///< empty: nothing is printed
        int descriptor = STDOUT_FILENO;
        std::string path = {};  ///< of a file that gets `content` as a whole; empty: none
        std::string content = {};
    };

    /// One at a time.
    LastWords();
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;
    /// Nothing is said after this.
    ~LastWords();

    /// What is to be said from now on.
    void prepare(Words next);
    /// Says it now, and not again.
    static void say();

  private:
    struct Prepared : Words {
        std::string temporary;  ///< gets the content first
    };
    Prepared prepared_;
};

}  // namespace weir::runtime
