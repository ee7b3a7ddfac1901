#include "host/signals.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

using namespace weir::host;

TEST_CASE("Each signal that asks for the end is caught, the first one counts") {
    for (const int number : ending_signals) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            install_signal_handlers();
            raise(number);
            raise(number == SIGTERM ? SIGINT : SIGTERM);
            _exit(caught_signal());
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == number);
    }
}
