#include "transport/ucx/ucx_words.hpp"

#include <optional>
#include <string>

#include "catch.hpp"

using weir::transport::may_use_shared_memory;
using weir::transport::without_queues_in_shared_memory;

TEST_CASE("a receiver cannot be stuck in shared memory that is taken out of the transports") {
    struct Case {
        const char* given;
        std::optional<std::string> expected;
    };
    const Case cases[] = {{nullptr, "^mm"},     {"", "^mm"},
                          {"all", "^mm"},       {"rc,sm,self", "rc,self"},
                          {"posix,tcp", "tcp"}, {"sysv,xpmem,cma,dc_x", "cma,dc_x"},
                          {"^rc", "^rc,mm"}};
    for (const Case& one : cases) {
        CAPTURE(one.given == nullptr ? "(not set)" : one.given);
        CHECK(without_queues_in_shared_memory(one.given) == one.expected);
    }
}

TEST_CASE("transports without shared memory, or with nothing else, stay as they are") {
    for (const char* given : {"tcp", "rc,self", "tcp,cma,self", "sm,self", "shm", "posix,cma"}) {
        CAPTURE(given);
        CHECK_FALSE(without_queues_in_shared_memory(given));
    }
}

TEST_CASE("transports that may use shared memory") {
    for (const char* given : {static_cast<const char*>(nullptr), "all", "rc,sm", "posix", "^tcp"}) {
        CAPTURE(given == nullptr ? "(not set)" : given);
        CHECK(may_use_shared_memory(given));
    }
    for (const char* given : {"tcp", "rc,self", "cma,tcp"}) {
        CAPTURE(given);
        CHECK_FALSE(may_use_shared_memory(given));
    }
}
