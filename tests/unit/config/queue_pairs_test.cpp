
#include "catch.hpp"
#include "config/checks.hpp"
#include "config/resolve.hpp"
#include "config/role_assignment.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::Bytes;

namespace {

RunRequest with_queue_pairs(const char* count) {
    return resolve(
        std::vector<GivenOption>{{"engine", "ucx"}, {"queue-pairs", count}, {"rate", "8Mb/s"}});  // 1 MB
}

}  // namespace

TEST_CASE("sockets carry data where there is no RDMA, or none is allowed") {
    CHECK(socket_room(nullptr, true, 1024).open_files == 0);
    CHECK(socket_room("rc,sm,self", true, 1024).open_files == 0);
    CHECK(socket_room("^dc", true, 1024).open_files == 0);
    CHECK(socket_room("rc_mlx5,self", true, 1024).open_files == 0);
    CHECK(socket_room("tcp,self", true, 1024).open_files == 1024);
    CHECK(socket_room("tcp,cuda_copy", true, 1024).open_files == 1024);
    CHECK(socket_room("^ib", true, 1024).open_files == 1024);
    CHECK(socket_room("^rc,ud,dc", true, 1024).open_files == 1024);
    CHECK_FALSE(socket_room("^ib", true, 1024).within_host);
    CHECK(socket_room("^sm", false, 1024).within_host);
    CHECK(socket_room("tcp,self", true, 1024).within_host);
    CHECK(socket_room(nullptr, false, 1024).open_files == 1024);
    CHECK_FALSE(socket_room(nullptr, false, 1024).within_host);
    CHECK_FALSE(socket_room("tcp,shm", false, 1024).within_host);
}

TEST_CASE("queue pairs without RDMA need open files") {
    const RunRequest request = with_queue_pairs("256");
    const std::vector<std::string> hosts{"a", "a", "a", "b", "b"};
    const auto roles = assign_roles(request.roles, hosts);  // S P P | C C
    CHECK(open_files_needed(request, roles, hosts, 0, true) == 256 + 10);
    CHECK(open_files_needed(request, roles, hosts, 1, false) == 256 + 10 + 512);
    CHECK(open_files_needed(request, roles, std::vector<std::string>(5, "a"), 1, false) == 256 + 10);
    CHECK(open_files_needed(request, roles, std::vector<std::string>(5, "a"), 1, true) == 256 + 10 + 512);
    const auto refused = [&](const RunRequest& run, std::uint64_t of_a, std::uint64_t of_b) {
        const std::vector<SocketRoom> rooms{{of_a}, {of_a}, {of_a}, {of_b}, {of_b}};
        return refusal_of([&] { check_open_files(run, roles, hosts, rooms); });
    };
    CHECK(refused(request, 0, 0) == "accepted");
    CHECK(refused(request, 778, 778) == "accepted");
    CHECK(refused(request, 778, 777)
              .find("--queue-pairs: 256 to each peer give rank 3 on b up to 778 open files") == 0);
    CHECK(refused(with_queue_pairs("1"), 10, 10) == "accepted");
}

TEST_CASE("queue pairs need memory") {
    RunRequest request = with_queue_pairs("256");
    const std::vector<std::string> hosts(3, "a");
    const auto roles = assign_roles(request.roles, hosts);  // S P C
    apply_layout(request, roles);
    const auto refused = [&](std::int64_t available) {
        return refusal_of([&] {
            check_memory(request, roles, hosts, std::vector<MemoryRoom>(3, {Bytes{available << 20}}));
        });
    };
    // 2 x 255 of 32 KiB are 17 MB; buffers 20 MB, and 32 MiB each for the rest.
    CHECK(refused(100) == "accepted");
    CHECK(refused(95).find("--queue-pairs: 256 to each peer of 1 producers and 1 consumers need about ") ==
          0);
}

TEST_CASE("a simulated network card holds so many queue pairs, of all ranks that use it") {
    const auto refused = [](std::vector<GivenOption> options) {
        for (const auto& [name, value] :
             {std::pair{"network", "packet"}, {"producers", "4"}, {"consumers", "4"}, {"rate", "8Mb/s"}}) {
            options.push_back({name, value});
        }
        return refusal_of([&] { resolve(options, true); });
    };
    const GivenOption eight{"queue-pairs", "8"};
    // 8 to each of 4, and one for control messages.
    CHECK(refused({eight, {"switch-set", "nic.queue-pairs=33"}}) == "accepted");
    CHECK(refused({eight, {"switch-set", "nic.queue-pairs=32"}}) ==
          "--queue-pairs: 8 for each two ranks are 33 at a NIC of producer-0, with 1 for control messages, "
          "and it holds 32 (--switch: [nic] queue-pairs); use at most 7");
    // Producer and consumer of a host: to 3 others and from 3.
    const GivenOption workers{"switch-set", "placement.kind=by-worker"};
    CHECK(refused({eight, workers, {"switch-set", "nic.queue-pairs=50"}}) == "accepted");
    CHECK(refused({eight, workers, {"switch-set", "nic.queue-pairs=49"}})
              .find("--queue-pairs: 8 for each two "
                    "ranks are 50 at a NIC of "
                    "worker-0") == 0);
    // The scheduler has one to each rank and none for data.
    const GivenOption one{"queue-pairs", "1"};
    CHECK(refused({one, {"switch-set", "nic.queue-pairs=8"}}) == "accepted");
    CHECK(refused({one, {"switch-set", "nic.queue-pairs=7"}}) ==
          "--queue-pairs: 1 for each two ranks are 8 at a NIC of scheduler, with 8 for control messages, and "
          "it holds 7 (--switch: [nic] queue-pairs); use fewer ranks");
    CHECK(refused({eight, {"framing", "tcp"}, {"switch-set", "nic.queue-pairs=1"}}) == "accepted");
}

TEST_CASE("what a scenario has of queue pairs for simulations is left out of a run, with a note") {
    CHECK(with_queue_pairs("8").engine.queue_pairs == 8);
    const RunRequest mpi = resolve(std::vector<GivenOption>{{"rate", "8Mb/s"}});
    CHECK(mpi.engine.queue_pairs == 1);
    CHECK(mpi.notes.empty());
}
