#include "host/signals.hpp"

#include "catch.hpp"
#include "in_child.hpp"

using namespace weir::host;

TEST_CASE("Each signal that asks for the end is caught, the first one counts") {
    for (const int number : ending_signals) {
        const ChildEnd end = in_child([number] {
            install_signal_handlers();
            raise(number);
            raise(number == SIGTERM ? SIGINT : SIGTERM);
            return caught_signal();
        });
        CHECK(end.status == number);
    }
}
