// A transport between real ranks: events of random sizes go through slots at every verify level
// while numbered packets go between all ranks; every injected fault must be seen, and nothing else. Run with
// 3 or more ranks and the name of the transport; the exit status is the result. With a second argument, only
// scenarios whose name contains it.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "transport_test_node.hpp"

using namespace weir;
using namespace weir::test;

namespace {

core::TransportKind tested = core::TransportKind::send;

bool lossy_tested() {
    return tested == core::TransportKind::datagram;
}

bool over_ucx() {
    return tested_options.engine.engine == core::Engine::ucx;
}

bool choose_transport(const std::string& name) {
    if (name.starts_with("ucx-")) {
        tested_options.engine.engine = core::Engine::ucx;
        tested_options.engine.queue_pairs = 3;
        return choose_transport(name.substr(4));
    }
    for (const auto& [known, value] :
         {std::pair{"send", core::TransportKind::send}, std::pair{"put", core::TransportKind::put},
          std::pair{"get", core::TransportKind::get}, std::pair{"datagram", core::TransportKind::datagram}}) {
        if (name == known) {
            tested = value;
            return true;
        }
    }
    return false;
}

core::RoleMap make_roles() {
    const int producers = (ranks - 1) / 2;
    std::vector<core::NodeId> nodes{core::scheduler_node()};
    for (int i = 0; i < producers; ++i) {
        nodes.push_back(core::node_of(core::ProducerId{static_cast<std::uint32_t>(i)}));
    }
    for (int i = 0; i < ranks - 1 - producers; ++i) {
        nodes.push_back(core::node_of(core::ConsumerId{static_cast<std::uint32_t>(i)}));
    }
    return core::RoleMap(nodes);
}

core::Plan make_plan(const core::RoleMap& roles, std::int64_t chunk_size, core::Verify verify) {
    core::Plan plan;
    plan.producers = roles.producers();
    plan.consumers = roles.consumers();
    plan.chunk_size = {chunk_size};
    plan.slot_size = {chunk_size * 6 - chunk_size / 3};
    plan.buffer = {chunk_size * 20};
    plan.window = 3;
    plan.slots = 2;
    plan.streams = 2;
    plan.verify = verify;
    plan.transport = tested;
    plan.seed = 5;
    return plan;
}

std::vector<Scenario> make_scenarios(const core::RoleMap& roles) {
    std::vector<Scenario> scenarios;
    const std::pair<core::Verify, const char*> levels[] = {
        {core::Verify::none, "none"}, {core::Verify::header, "header"}, {core::Verify::full, "full"}};
    for (const auto& [verify, level] : levels) {
        // For datagrams the same as none: their headers are always checked. With UCX each scenario makes all
        // connections anew, and inspect_chunk() checks headers for every transport.
        if ((lossy_tested() || over_ucx()) && verify == core::Verify::header) {
            continue;
        }
        // 1000 bytes go eagerly, 200000 by rendezvous. Datagrams of all slots must fit into a socket's
        // buffer.
        const std::int64_t large = lossy_tested() ? 3000 : 200000;
        for (const std::int64_t chunk_size : {std::int64_t{1000}, large}) {
            const core::Plan plan = make_plan(roles, chunk_size, verify);
            const std::string name = std::string(level) + " " + std::to_string(chunk_size);
            scenarios.push_back({name + " clean", plan, std::nullopt});
            for (const char* const kind : {"corrupt-header", "corrupt-payload", "duplicate", "lose"}) {
                const std::string spec = std::string(kind) + ":event=2,chunk=1";
                scenarios.push_back({name + " " + spec, plan, transport::parse_disturbance(spec)});
            }
        }
    }
    // More chunks under way than a one-sided transport has requests.
    core::Plan many = make_plan(roles, 500, core::Verify::full);
    many.slot_size = {60 * 500 - 100};
    many.window = 64;
    many.slots = lossy_tested() ? 2 : 4;
    many.streams = 4;
    scenarios.push_back({"many chunks clean", many, std::nullopt});
    scenarios.push_back(
        {"many chunks doubled", many, transport::ChunkDisturbance{DisturbanceKind::duplicate, 0, 2, 40}});
    return scenarios;
}

/// Slots are closed while a chunk is on its way: it is found or withdrawn from, and nothing hangs.
void close_under_way(const core::RoleMap& roles) {
    core::Plan plan = make_plan(roles, 1000, core::Verify::full);
    const auto net = transport::make_transport(MPI_COMM_WORLD, meeting, roles, plan, tested_options);
    net->expose_buffers();
    if (lossy_tested() || over_ucx()) {  // addresses are exchanged in it, or connections made
        net->begin_warmup();
        while (!net->warmup_step()) {
            usleep(nap_us);
        }
    }
    const core::NodeId self = roles.node(rank);
    transport::Polled found;
    const bool receiver = self == core::node_of(core::ConsumerId{0});
    const bool sender = self == core::node_of(core::ProducerId{0});
    if (self.role == core::Role::consumer) {
        net->open_place({0});
        net->open_place({1});
    }
    wait_for_all(*net);
    if (sender) {
        net->send_chunk({.to = {0},
                         .place = {1},
                         .stream = {0},
                         .chunk = {.event = {7},
                                   .event_bytes = {500},
                                   .offset = {},
                                   .length = {500},
                                   .sequence = 0,
                                   .generated_at = {}}});
        const auto deadline = Clock::now() + std::chrono::seconds(10);
        while (tested != core::TransportKind::get && net->chunks_under_way() > 0 && Clock::now() < deadline) {
            net->poll(found);
        }
        check(found.sent.size() == (tested == core::TransportKind::get ? 0 : 1),
              "a small chunk leaves without the receiver's help, unless that has to fetch it");
    }
    wait_for_all(*net);
    usleep(20000);
    net->close_places();
    net->poll(found);
    if (receiver) {
        check(found.chunks.size() <= 1, "at most the one chunk was found");
        for (const auto& chunk : found.chunks) {
            check(chunk.header_intact && chunk.payload_intact && chunk.place == core::PlaceId{1} &&
                      chunk.chunk.event == core::EventId{7},
                  "the chunk that had arrived is whole");
        }
        std::printf("close_places: the chunk under way was %s\n",
                    found.chunks.empty() ? "not received" : "received");
    }
    found.clear();
    net->poll(found);
    check(found.chunks.empty(), "after that no chunk is found");
    check(net->shut_down(core::Duration::seconds(10)), "shut_down after close_places");
    check(net->chunks_under_way() == 0, "nothing is under way after shut_down");
}

/// A rank that destroys its transport in the middle of everything waits for no other.
void destroy_in_the_middle(const core::RoleMap& roles) {
    const core::Plan plan = make_plan(roles, 1000, core::Verify::full);
    const auto begin = Clock::now();
    {
        const auto net = transport::make_transport(MPI_COMM_WORLD, meeting, roles, plan, tested_options);
        net->expose_buffers();
        if (roles.node(rank).role == core::Role::consumer) {
            net->open_place({0});
        }
    }
    check(Clock::now() - begin < std::chrono::seconds(5), "the destructor is quick");
}

void refused_plans(const core::RoleMap& roles) {
    const auto refused = [&roles](const core::Plan& plan) {
        try {
            const auto net = transport::make_transport(MPI_COMM_WORLD, meeting, roles, plan, tested_options);
        } catch (const transport::CapacityError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    core::Plan plan = make_plan(roles, std::int64_t{1} << 31, core::Verify::none);
    check(refused(plan).find("--chunk-size") != std::string::npos, "a chunk of 2 GiB is refused");
    plan = make_plan(roles, 1000, core::Verify::none);
    plan.slots = 4000000000;
    if (tested == core::TransportKind::send && !over_ucx()) {
        check(refused(plan).find("--slots") != std::string::npos, "more slots than tags are refused");
    }
    plan = make_plan(roles, 1000, core::Verify::none);
    plan.slot_size = {std::int64_t{1} << 60};
    plan.buffer = {std::int64_t{1} << 60};
    const core::Role role = roles.node(rank).role;
    // A consumer of datagrams has no slots in memory; but no datagram has a place for so many chunks.
    check(refused(plan).empty() == (role == core::Role::scheduler && !lossy_tested()),
          "more memory than there is is refused by whom it concerns");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 3) {
        give_up("needs 3 ranks or more");
    }
    if (argc < 2 || !choose_transport(argv[1])) {
        give_up("usage: transport_test send|put|get|datagram|ucx-send|ucx-put|ucx-get [SCENARIO]");
    }
    const std::string wanted = argc > 2 ? argv[2] : "";
    try {
        const core::RoleMap roles = make_roles();
        int scenarios = 0;
        const auto begin = Clock::now();
        for (const Scenario& scenario : make_scenarios(roles)) {
            if (scenario.name.find(wanted) != std::string::npos) {
                Node(scenario, roles).run();
                ++scenarios;
            }
        }
        check(scenarios > 0, "no scenario's name contains '" + wanted + "'");
        if (wanted.empty()) {
            close_under_way(roles);
            refused_plans(roles);
            destroy_in_the_middle(roles);
        }
        MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            std::printf("%s: %d scenarios with %d ranks in %.1f s: %d failures\n", argv[1], scenarios, ranks,
                        std::chrono::duration<double>(Clock::now() - begin).count(), failures);
        }
    } catch (const std::exception& error) {
        give_up(error.what());
    }
    MPI_Finalize();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
