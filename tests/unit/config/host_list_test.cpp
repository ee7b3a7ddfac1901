#include "config/host_list.hpp"

#include "catch.hpp"
#include "refusal.hpp"

using namespace weir::config;
using Hosts = std::vector<std::string>;

TEST_CASE("host lists expand as SLURM's do") {
    CHECK(expand_hosts("eb01") == Hosts{"eb01"});
    CHECK(expand_hosts("eb[01-03],fn[1-2,7]") == Hosts{"eb01", "eb02", "eb03", "fn1", "fn2", "fn7"});
    CHECK(expand_hosts("n[8-11]") == Hosts{"n8", "n9", "n10", "n11"});
    CHECK(expand_hosts("n[08-10].site") == Hosts{"n08.site", "n09.site", "n10.site"});
    CHECK(expand_hosts("r[1-2]n[01-02]") == Hosts{"r1n01", "r1n02", "r2n01", "r2n02"});
    CHECK(expand_hosts("a,b-1,a") == Hosts{"a", "b-1"});
    CHECK(expand_hosts("n[098-101]") == Hosts{"n098", "n099", "n100", "n101"});
}

TEST_CASE("wrong host lists are refused with the position") {
    const auto refusal = [](const char* list) { return refusal_of([=] { expand_hosts(list); }); };
    CHECK(contains(refusal("eb[01-14"), "position 3: the bracket is not closed"));
    CHECK(contains(refusal("eb["), "position 3: the bracket is not closed"));
    CHECK(contains(refusal("eb[]"), "position 4: a number is missing"));
    CHECK(contains(refusal("eb[a]"), "position 4: a number is missing"));
    CHECK(contains(refusal("eb[3-1]"), "position 5: the range 3-1 counts downwards"));
    CHECK(contains(refusal("eb[1;2]"), "position 5: ';'"));
    CHECK(contains(refusal("a,,b"), "position 3: a host name is missing"));
    CHECK(contains(refusal("a,"), "position 3: a host name is missing"));
    CHECK(contains(refusal("a b"), "position 2: ' ' cannot be part"));
    CHECK(contains(refusal("eb1]"), "position 4: ']'"));
    CHECK(contains(refusal(""), "nothing is given"));
    CHECK(contains(refusal("n[1-9999999999999999]"), "too many digits"));
}

TEST_CASE("expansion is bounded") {
    CHECK(expand_hosts("n[1-65536]").size() == host_limit);
    CHECK(contains(refusal_of([] { expand_hosts("n[1-65537]"); }), "more than 65536 hosts"));
    CHECK(contains(refusal_of([] { expand_hosts("n[1-999]m[1-999]"); }), "more than 65536 hosts"));
    CHECK(contains(refusal_of([] { expand_hosts("n[0-999999999999999]"); }), "more than 65536 hosts"));
}

TEST_CASE("hosts compress to what expands to the same") {
    const auto list =
        GENERATE("eb[01-14],fn[1-3,7]", "n[8-11]", "a,b,c", "n[08-10].site", "r1n[01-04],r2n[01-04]",
                 "n1,m1,n2", "n[098-101]", "x1y", "n[1,3,5]", "node", "n[9-10,009]");
    const Hosts hosts = expand_hosts(list);
    CAPTURE(compress_hosts(hosts));
    CHECK(expand_hosts(compress_hosts(hosts)) == hosts);
    CHECK(compress_hosts(hosts) == list);
}

TEST_CASE("nothing compresses to nothing") {
    CHECK(compress_hosts({}).empty());
}

TEST_CASE("short and full names are the same host") {
    CHECK(same_host("eb01", "eb01"));
    CHECK(same_host("eb01", "eb01.cern.ch"));
    CHECK(same_host("EB01.cern.ch", "eb01"));
    CHECK_FALSE(same_host("eb01", "eb012"));
    CHECK_FALSE(same_host("eb01.a", "eb01.b"));
    CHECK_FALSE(same_host("", "eb01"));
}
