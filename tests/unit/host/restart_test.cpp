#include "host/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "catch.hpp"
#include "in_child.hpp"

using weir::host::close_descriptors_at_exec;

TEST_CASE("Descriptors stay open until exec closes them, but for the standard ones") {
    const ChildEnd end = in_child([] {
        std::array<int, 2> ends{};
        if (pipe(ends.data()) != 0) {
            return 1;
        }
        close_descriptors_at_exec();
        const bool marked =
            (fcntl(ends[0], F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(ends[1], F_GETFD) & FD_CLOEXEC) != 0;
        const bool open = write(ends[1], "x", 1) == 1;
        const bool kept = (fcntl(STDERR_FILENO, F_GETFD) & FD_CLOEXEC) == 0;
        return marked && open && kept ? 0 : 2;
    });
    CHECK(end.status == 0);
}
