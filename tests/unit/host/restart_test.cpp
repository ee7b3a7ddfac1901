#include "host/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "catch.hpp"

using weir::host::close_descriptors_at_exec;

TEST_CASE("Descriptors stay open until exec closes them, but for the standard ones") {
    const pid_t child = fork();  // the marks are of the process
    if (child == 0) {
        std::array<int, 2> ends{};
        if (pipe(ends.data()) != 0) {
            _exit(1);
        }
        close_descriptors_at_exec();
        const bool marked =
            (fcntl(ends[0], F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(ends[1], F_GETFD) & FD_CLOEXEC) != 0;
        const bool open = write(ends[1], "x", 1) == 1;
        const bool kept = (fcntl(STDERR_FILENO, F_GETFD) & FD_CLOEXEC) == 0;
        _exit(marked && open && kept ? 0 : 2);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
