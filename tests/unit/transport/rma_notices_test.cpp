// Notices over real MPI, from the only rank to itself: all arrive, in order, and what is none is refused.
#include "transport/mpi/rma_window.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>

#include "catch.hpp"
#include "transport/transport.hpp"

using namespace weir::transport;

namespace {

/// MPI for the whole process: it can be started only once.
void need_mpi() {
    struct Mpi {
        Mpi() { MPI_Init(nullptr, nullptr); }
        Mpi(const Mpi&) = delete;
        Mpi& operator=(const Mpi&) = delete;
        ~Mpi() { MPI_Finalize(); }
    };
    static const Mpi mpi;
}

constexpr auto patience = std::chrono::seconds(20);

/// Polls until `count` notices are here.
std::vector<RmaNotices::Received> await(RmaNotices& notices, std::size_t count) {
    std::vector<RmaNotices::Received> all;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (all.size() < count && std::chrono::steady_clock::now() < deadline) {
        const auto& some = notices.poll();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace

TEST_CASE("notices arrive whole and in order, however many are gathered") {
    need_mpi();
    RmaNotices notices(MPI_COMM_SELF, 4, 16, 1);
    constexpr std::uint32_t count = 500;  // several packets
    for (std::uint32_t i = 0; i < count; ++i) {
        notices.add(
            0, {.kind = RmaNotice::Kind::offered, .place = {i}, .stream = 7, .event = ~std::uint64_t{i}});
    }
    CHECK(notices.under_way() > 0);
    notices.send();
    const auto all = await(notices, count);
    REQUIRE(all.size() == count);
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(all[i].from == 0);
        CHECK(all[i].notice ==
              RmaNotice{
                  .kind = RmaNotice::Kind::offered, .place = {i}, .stream = 7, .event = ~std::uint64_t{i}});
    }
    notices.send();  // nothing
    CHECK(notices.poll().empty());
    CHECK(notices.under_way() == 0);
    CHECK(notices.close(std::chrono::steady_clock::now() + patience));
}

TEST_CASE("a packet that is no multiple of a notice is refused") {
    need_mpi();
    RmaNotices notices(MPI_COMM_SELF, 4, 16, 1);
    const char bytes[sizeof(RmaNotice) + 1] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(bytes, sizeof bytes, MPI_BYTE, 0, MpiControl::packet_tag, MPI_COMM_SELF, &request);
    const auto poll_all = [&notices] { static_cast<void>(await(notices, 1)); };
    CHECK_THROWS_AS(poll_all(), TransportError);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(notices.close(std::chrono::steady_clock::now() + patience));
}

TEST_CASE("a refusal of a notice names the rank and what it said") {
    try {
        refuse_notice({3, {.kind = RmaNotice::Kind::taken, .sequence = 12, .stream = 9}});
        FAIL("it returned");
    } catch (const TransportError& error) {
        CHECK(error.peer() == Rank{3});
        const std::string what = error.what();
        CHECK(what.find("sequence 12") != std::string::npos);
        CHECK(what.find("stream 9") != std::string::npos);
    }
}
