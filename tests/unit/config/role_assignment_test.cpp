#include "config/role_assignment.hpp"

#include "catch.hpp"
#include "refusal.hpp"

using namespace weir::config;
using weir::core::Role;
using weir::core::RoleMap;
using Hosts = std::vector<std::string>;
using Told = std::vector<std::optional<Role>>;

namespace {

/// "SPPC": the roles by rank.
std::string letters(const RoleMap& roles) {
    std::string text;
    for (int rank = 0; rank < roles.ranks(); ++rank) {
        text += roles.node(rank).role == Role::scheduler  ? 'S'
                : roles.node(rank).role == Role::producer ? 'P'
                                                          : 'C';
    }
    return text;
}

std::string assigned(const RoleRequest& request, const Hosts& hosts, const Told& told = {}) {
    return letters(assign_roles(request, hosts, told));
}
std::string refused(const RoleRequest& request, const Hosts& hosts, const Told& told = {}) {
    return refusal_of([&] { assign_roles(request, hosts, told); });
}

RoleRequest counts(std::uint32_t producers, std::uint32_t consumers) {
    RoleRequest request;
    request.producers = producers;
    request.consumers = consumers;
    return request;
}
RoleRequest lists(Hosts producers, Hosts consumers) {
    RoleRequest request;
    request.producer_hosts = std::move(producers);
    request.consumer_hosts = std::move(consumers);
    return request;
}

const Hosts eight(8, "here");

}  // namespace

TEST_CASE("without a word ranks are split in two") {
    CHECK(assigned({}, eight) == "SPPPCCCC");
    CHECK(assigned({}, Hosts(3, "h")) == "SPC");
    CHECK(assigned({}, Hosts(4, "h")) == "SPCC");
    CHECK(contains(refused({}, Hosts(2, "h")), "need at least 3 ranks, but 2 ranks were started"));
    CHECK(contains(refused({}, Hosts(1, "h")), "but 1 rank was started"));
}

TEST_CASE("counts by rank order") {
    CHECK(assigned(counts(3, 4), eight) == "SPPPCCCC");
    CHECK(assigned(counts(6, 0), eight) == "SPPPPPPC");
    CHECK(assigned(counts(0, 1), eight) == "SPPPPPPC");
    CHECK(contains(refused(counts(3, 4), Hosts(7, "h")),
                   "--producers 3 + --consumers 4 + 1 scheduler need 8 ranks, but 7 ranks were started"));
    CHECK(contains(refused(counts(3, 4), Hosts(9, "h")), "need 8 ranks, but 9 ranks were started"));
    CHECK(contains(refused(counts(7, 0), eight),
                   "--producers 7 + 1 consumer + 1 scheduler need at least 9 ranks"));
}

TEST_CASE("the scheduler's rank can be chosen") {
    RoleRequest request = counts(1, 2);
    request.scheduler_rank = "last";
    CHECK(assigned(request, Hosts(4, "h")) == "PCCS");
    request.scheduler_rank = "2";
    CHECK(assigned(request, Hosts(4, "h")) == "PCSC");
    request.scheduler_rank = "4";
    CHECK(contains(refused(request, Hosts(4, "h")), "--scheduler-rank: there is no rank 4"));
    request.scheduler_rank.clear();
    request.scheduler_host = "b";
    CHECK(assigned(request, {"a", "b.site", "b.site", "c"}) == "PSCC");
    request.scheduler_rank = "last";
    CHECK(assigned(request, {"a", "b.site", "b.site", "c"}) == "PCSC");
    request.scheduler_host = "x";
    CHECK(contains(refused(request, {"a1", "a2", "a3", "a3"}), "no rank runs on x; ranks run on a[1-3]"));
}

TEST_CASE("roles by host lists") {
    CHECK(assigned(lists({"p1", "p2"}, {"c1"}), {"s", "c1", "p1", "p2", "c1"}) == "SCPPC");
    CHECK(assigned(lists({"p1"}, {"c1"}), {"p1", "p1", "c1", "c1.x"}) == "SPCC");
    CHECK(assigned(lists({"p1"}, {}), {"a", "p1", "b"}) == "SPC");
    CHECK(assigned(lists({}, {"c1"}), {"a", "c1", "b"}) == "SCP");
    RoleRequest request = lists({"p1"}, {"c1"});
    request.scheduler_host = "c1";
    CHECK(assigned(request, {"p1", "c1", "c1"}) == "PSC");
}

TEST_CASE("the scheduler goes to a host of its own") {
    CHECK(assigned(lists({"p1"}, {"c1"}), {"p1", "c1", "s"}) == "PCS");
}

TEST_CASE("a host may be both when it is said how") {
    RoleRequest request = lists({"a", "b"}, {"a", "b"});
    const Hosts hosts{"s", "a", "a", "a", "b", "b", "b"};
    CHECK(contains(refused(request, hosts), "a is in --consumer-hosts too; say with --producers-per-host"));
    request.producers_per_host = 1;
    CHECK(assigned(request, hosts) == "SPCCPCC");
    request.producers_per_host = 0;
    request.consumers_per_host = 1;
    CHECK(assigned(request, hosts) == "SPPCPPC");
    request.producers_per_host = 2;
    CHECK(assigned(request, hosts) == "SPPCPPC");
    request.producers_per_host = 1;
    CHECK(contains(refused(request, hosts), "a needs 2 ranks, but 3 were started there"));
    request.consumers_per_host = 0;
    request.producers_per_host = 3;
    CHECK(contains(refused(request, hosts), "a needs 4 ranks, but 3 were started there"));
}

TEST_CASE("ranks per host are checked") {
    RoleRequest request = lists({"p1", "p2"}, {"c1"});
    request.producers_per_host = 2;
    CHECK(assigned(request, {"s", "p1", "p1", "p2", "p2", "c1"}) == "SPPPPC");
    CHECK(contains(refused(request, {"s", "p1", "p1", "p2", "c1"}),
                   "--producers-per-host: p2 needs 2 ranks, but 1 were started there"));
    request = lists({"p1"}, {"c1"});
    request.consumers_per_host = 1;
    CHECK(contains(refused(request, {"c1", "p1", "p1"}), "--consumers-per-host: c1 needs 1 ranks, but 0"));
}

TEST_CASE("host lists that do not fit are refused") {
    CHECK(contains(refused(lists({"x[1-2]"}, {"c1"}), {"a", "c1", "c1"}),
                   "--producer-hosts: no rank runs on x[1-2]"));
    CHECK(contains(refused(lists({"p1", "p2", "p3"}, {"c1"}), {"s", "p1", "c1"}),
                   "no rank runs on p[2-3]; ranks run on"));
    CHECK(contains(refused(lists({"p1"}, {"c1"}), {"s", "p1", "c1", "z"}),
                   "z runs 1 of the ranks and is neither"));
    CHECK(contains(refused(lists({"p1"}, {}), {"p1", "p1", "p1"}),
                   "--consumers: the host lists leave no rank"));
    RoleRequest request = lists({"p1"}, {"c1"});
    request.producers = 14;
    CHECK(contains(refused(request, {"s", "p1", "c1"}),
                   "--producers: 14 asked for, but the host lists give 1 of the 3"));
}

TEST_CASE("roles by each rank's --role") {
    const Told told{Role::consumer, Role::scheduler, Role::producer, Role::consumer};
    CHECK(assigned({}, Hosts(4, "h"), told) == "CSPC");
    CHECK(
        contains(refused({}, Hosts(4, "h"), {Role::scheduler, Role::producer, std::nullopt, Role::consumer}),
                 "--role: rank 2 was given none"));
    CHECK(contains(refused({}, Hosts(3, "h"), {Role::scheduler, Role::scheduler, Role::consumer}),
                   "--role: 2 of 3 ranks are schedulers"));
    CHECK(contains(refused({}, Hosts(3, "h"), {Role::producer, Role::producer, Role::consumer}), "0 of 3"));
    CHECK(contains(refused({}, Hosts(3, "h"), {Role::scheduler, Role::producer, Role::producer}),
                   "--consumers: the --role options leave no rank"));
    CHECK(contains(refused(counts(2, 0), Hosts(3, "h"), {Role::scheduler, Role::producer, Role::consumer}),
                   "--producers: 2 asked for, but the --role options give 1"));
}

TEST_CASE("indices count within a role, in rank order") {
    const RoleMap roles = assign_roles(lists({"p1"}, {"c1"}), Hosts{"c1", "p1", "s", "c1", "p1"});
    CHECK(roles.node(3).index == 1);
    CHECK(roles.rank(weir::core::node_of(weir::core::ProducerId{1})) == 4);
    CHECK(roles.scheduler_rank() == 2);
}

TEST_CASE("thousands of hosts are no trouble") {
    Hosts hosts{"s"};
    RoleRequest request;
    for (int i = 0; i < 4500; ++i) {
        const std::string name = "node" + std::to_string(i);
        hosts.push_back(name + ".site");
        (i < 500 ? request.producer_hosts : request.consumer_hosts).push_back(name);
    }
    const RoleMap roles = assign_roles(request, hosts);
    CHECK(roles.producers() == 500);
    CHECK(roles.consumers() == 4000);
}
