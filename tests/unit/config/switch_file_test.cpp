#include "config/switch_file.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "catch.hpp"
#include "config/switch_keys.hpp"
#include "refusal.hpp"

using namespace weir::config;

namespace {

std::string switch_refusal(const std::string& text) {
    return refusal_of([&] { parse_switch(text, "x.toml"); });
}

/// Another value than that of `shallow`.
std::string other_value(const SwitchKey& key) {
    const std::map<std::string, std::string, std::less<>> by_kind{
        {"size", "123kB"},
        {"time", "77us"},
        {"rate", "7Gb/s"},
        {"number", "0.5"},
        {"count", "17"},
        {"go-back-n|selective", "selective"},
        {"2015|hpcc", "hpcc"},
        {"star|leaf-spine|three-tier|rail-optimized", "leaf-spine"},
        {"rows|by-worker|by-rail|explicit|random|auto", "by-rail"},
        {"counts", "3,0,1"},
        {"cables and rates", "leaf-0:spine-1=50Gb/s"},
        {"drop|forward", "forward"},
        {"dcqcn|swift|credits", "swift"},
        {"ecmp|flowlets|spray|adaptive", "spray"},
        {"newreno|cubic|dctcp", "dctcp"},
        {"fifo|ingress-round-robin", "ingress-round-robin"},
        {"8 counts", "1,2,3,4,5,6,7,8"},
        {"data|own|0..7", "5"},
        {"priorities", "1,6"},
        {"0..7", "4"}};
    if (kind_of(key) == "true|false") {
        return value_text(key, load_switch("shallow").description) == "true" ? "false" : "true";
    }
    return key.name == "ack-bytes"     ? "100B"
           : key.name == "packet"      ? "200B"
           : key.name == "largest-cut" ? "0.25"
                                       : by_kind.find(kind_of(key))->second;
}

}  // namespace

TEST_CASE("every built-in switch loads, with the source of its numbers") {
    const auto names = switch_names();
    CHECK(std::is_sorted(names.begin(), names.end()));
    for (const char* expected : {"shallow", "deep", "plain", "dcqcn-tuned", "gigabit"}) {
        CHECK(std::find(names.begin(), names.end(), expected) != names.end());
    }
    for (const std::string& name : names) {
        CAPTURE(name);
        const SwitchFile file = load_switch(name);
        CHECK(file.name == name);
        CHECK_FALSE(file.title.empty());
        CHECK_FALSE(file.source.empty());
    }
}

TEST_CASE("the shallow switch names every key, with the value that it has without a file") {
    const SwitchFile shallow = load_switch("shallow");
    CHECK(shallow.description == SwitchDescription{});
    for (const SwitchKey& key : switch_keys()) {
        INFO(key.section << '.' << key.name);
        const std::size_t section = shallow.text.find("\n[" + std::string(key.section) + "]\n");
        REQUIRE(section != std::string::npos);
        const std::size_t end = std::min(shallow.text.find("\n\n", section), shallow.text.size());
        CHECK(shallow.text.substr(section, end - section).find("\n" + std::string(key.name) + " = ") !=
              std::string::npos);
    }
}

TEST_CASE("a value of every key is printed as it was read, and changes the description") {
    std::set<std::string> names;
    for (const SwitchKey& key : switch_keys()) {
        INFO(key.section << '.' << key.name);
        CHECK(names.insert(std::string(key.section) + '.' + std::string(key.name)).second);
        SwitchDescription description;
        const std::string value = other_value(key);
        set_value(key, description, value);
        CHECK(value_text(key, description) == value);
        CHECK_FALSE(description == SwitchDescription{});
        SwitchDescription again;
        set_value(key, again, value_text(key, description));
        CHECK(again == description);
    }
}

TEST_CASE("one key of a switch is set by its section and name") {
    SwitchDescription description = load_switch("shallow").description;
    set_key(description, "ecn.none-below=50kB");
    set_key(description, "switch.egress-alpha=0.25");
    CHECK(description.fabric.switches.ecn.none_below.count == 50'000);
    CHECK(description.fabric.switches.egress_alpha == 0.25);
    const auto refused = [&](const char* text) { return refusal_of([&] { set_key(description, text); }); };
    CHECK(refused("ecn.none-below") ==
          "'ecn.none-below' sets nothing; write SECTION.KEY=VALUE, for example ecn.none-below=50kB");
    CHECK(refused("ecn.none-bellow=50kB") ==
          "there is no key 'ecn.none-bellow'; did you mean ecn.none-below?");
    CHECK(refused("what=1") == "there is no key 'what'; docs/simulating-a-switch.md lists them");
    CHECK(refused("ecn.none-below=many").find("ecn.none-below: ") == 0);
    // Lists also as a file has them.
    set_key(description, "switch.strict=[6, 7]");
    set_key(description, "placement.hosts=[0]");
    set_key(description, "topology.own-rates=[\"leaf-0:spine-1=50Gb/s\", \"leaf-1:spine-0=1Gb/s\"]");
    CHECK(description.fabric.switches.strict == 0xc0);
    CHECK(description.fabric.placement.hosts == std::vector<std::uint32_t>{0});
    CHECK(description.fabric.topology.own_cables.size() == 2);
    CHECK(contains(refused("placement.hosts=[0"), "placement.hosts: '[0' is not a whole number"));
}

TEST_CASE("a file replaces values of its base") {
    const auto read =
        parse_switch(
            "base = \"dcqcn-tuned\"\n[switch]\npool = \"1MB\"\nweights = [1,2,1,1,1,1,1,9]\n"
            "strict = [6, 7]\n[classes]\ncontrol = 5\ncnp = \"data\"\n[dcqcn]\ngain = \"1/16\"\n",
            "x.toml")
            .description;
    CHECK(read.fabric.switches.pool.count == 1'000'000);
    CHECK(read.fabric.switches.weights[7] == 9);
    CHECK(read.fabric.switches.strict == 0xc0);
    CHECK(read.control == "5");
    CHECK(read.fabric.nics.dcqcn.gain == 0.0625);
    CHECK(read.fabric.nics.dcqcn.cnp_spacing == weir::core::Duration::microseconds(4));
    CHECK(read.fabric.switches.ecn.of_rate.bits_per_second == 25'000'000'000);
}

TEST_CASE("what describes no switch is refused with file, place, key and what would be right") {
    const std::map<std::string, std::string> refusals{
        {"[switch]\npool = = 1\n", "x.toml:2:8: this is not TOML: "},
        {"[switch]\npol = \"1MB\"\n", "x.toml:2:1: [switch] has no key 'pol'; did you mean pool?"},
        {"[switch]\nzzzzzz = 1\n", "[switch] has no key 'zzzzzz'; it has: drop-tail, pool, "},
        {"[swich]\npool = \"1MB\"\n", "x.toml:1:2: there is no section [swich]; did you mean [switch]?"},
        {"[qqqqqqq]\n", "there is no section [qqqqqqq]; there are: switch, pfc, watchdog, "},
        {"pool = \"1MB\"\n", "x.toml:1:1: 'pool' stands outside of a section; write it below [switch]"},
        {"colour = \"red\"\n", "there is no key 'colour' outside of a section; there are: base, name, "},
        {"base = \"shalow\"\n", "x.toml:1:8: base: there is no switch 'shalow'; did you mean shallow? "},
        {"base = \"./mine.toml\"\n", "base: there is no switch './mine.toml'; built in are: "},
        {"base = 3\n", "x.toml:1:8: 'base' is text; write it in quotes"},
        {"title = []\n", "'title' is text; write it in quotes"},
        {"[switch]\npool = 16000000\n",
         "x.toml:2:8: [switch] pool: '16000000' has no unit; write for example "},
        {"[switch]\npool = \"16Gb/s\"\n", "[switch] pool: '16Gb/s' "},
        {"[switch]\npool = \"0B\"\n", "[switch] pool: 0B is out of range; write a value from 10kB to "},
        {"[switch]\npool = true\n", "[switch] pool: "},
        {"[switch]\npool = {}\n", "x.toml:2:8: [switch] pool: this is no value; write size"},
        {"[switch]\npool = [[1]]\n", "[switch] pool: this is no value; write size"},
        {"[switch]\npool = 1979-05-27\n", "[switch] pool: this is no value; write size"},
        {"[switch]\ningress-alpha = 0\n",
         "[switch] ingress-alpha: 0 is out of range; write a number from 0.001 to 1000"},
        {"[switch]\ningress-alpha = -1\n", "[switch] ingress-alpha: '-1' is negative"},
        {"[switch]\ningress-alpha = nan\n", "[switch] ingress-alpha: "},
        {"[switch]\ningress-alpha = 1e9\n", "[switch] ingress-alpha: "},
        {"[switch]\nweights = [1, 2]\n",
         "[switch] weights: 2 numbers are given; write 8, for the priorities 0 to 7"},
        {"[switch]\nweights = [0,1,1,1,1,1,1,1]\n",
         "[switch] weights: 0 is out of range; write a number from 1 to "},
        {"[switch]\nstrict = [8]\n", "[switch] strict: 8 is out of range; write a number from 0 to 7"},
        {"[pfc]\non = \"yes\"\n", "[pfc] on: 'yes' is not one of: true, false"},
        {"[pfc]\non = 1\n", "[pfc] on: '1' is not one of: true, false"},
        {"[ecn]\nprobability = 1.5\n",
         "[ecn] probability: 1.5 is out of range; write a number from 0.0001 to 1"},
        {"[dcqcn]\nrate-period = \"0ns\"\n",
         "[dcqcn] rate-period: 0s is out of range; write a value from 1us to "},
        {"[dcqcn]\nrate-period = \"5\"\n", "[dcqcn] rate-period: '5' has no unit"},
        {"[nic]\nrecovery = \"none\"\n", "[nic] recovery: 'none' is not one of: go-back-n, selective"},
        {"[nic]\nwindow-follows-rate = true\n",
         "x.toml: [nic] window-follows-rate: there is no window; write window = \"SIZE\", "},
        {"[nic]\nselective-timeout-low = \"2ms\"\n",
         "x.toml: [nic] selective-timeout-low: 2 ms is more than selective-timeout-high, 1.35 ms"},
        {"[dcqcn]\nrules = \"2016\"\n", "[dcqcn] rules: '2016' is not one of: 2015, hpcc"},
        {"[nic]\ncontrol = \"bbr\"\n", "[nic] control: 'bbr' is not one of: dcqcn, swift, credits"},
        {"[nic]\ncontrol = \"swift\"\nwindow = \"100kB\"\nwindow-follows-rate = true\n",
         "[nic] window-follows-rate: only DCQCN has a rate that a window follows; write false, or control = "
         "\"dcqcn\""},
        {"[swift]\nrange-from = 200\n", "[swift] range-from: 200 is not below range-to, 100; make it less"},
        {"[credits]\nshare = 2\n", "[credits] share: 2 is out of range; write a number from 0.01 to 1"},
        {"[nic]\npackets-per-ack = 1.5\n", "[nic] packets-per-ack: '1.5' is not a whole number"},
        {"[classes]\ndata = 8\n", "[classes] data: 8 is out of range"},
        {"[classes]\ncontrol = \"high\"\n", "[classes] control: 'high' is not one of: data, own, 0 to 7"},
        {"[tcp]\ncontrol = \"bbr\"\n", "[tcp] control: 'bbr' is not one of: newreno, cubic, dctcp"},
        {"[topology]\nkind = \"ring\"\n",
         "[topology] kind: 'ring' is not one of: star, leaf-spine, three-tier, rail-optimized"},
        {"[switch]\npool = \"1MB\"\ningress-threshold = \"2MB\"\n",
         "x.toml: [switch] ingress-threshold: 2 MB is more than the pool of 1 MB; make it less"},
        {"[switch]\negress-threshold = \"20MB\"\n",
         "x.toml: [switch] egress-threshold: 20 MB is more than the pool"},
        {"[switch]\nheadroom = \"20MB\"\n",
         "x.toml: [switch] headroom: 20 MB is more than the pool of 16 MB"},
        {"[switch]\nheadroom-pool = \"20MB\"\n",
         "x.toml: [switch] headroom-pool: 20 MB is more than the pool of 16 MB"},
        {"[switch]\nheadroom-pool = \"50kB\"\n",
         "x.toml: [switch] headroom: 100.125 KiB of a port of 100 Gb/s is more than the headroom-pool of "
         "all, "
         "50 kB"},
        {"[switch]\ndrop-tail = true\nslices = 4\n",
         "x.toml: [switch] slices: ports share no memory of which this could be a part; leave it out, or "},
        {"[switch]\nslices = 0\n", "[switch] slices: 0 is out of range; write a number from 1 to 64"},
        {"[switch]\ningress-threshold = \"2kB\"\n", "x.toml: [switch] resume-offset: 3 kB is more than "},
        {"[ecn]\nnone-below = \"1MB\"\n", "x.toml: [ecn] none-below: 1 MB is more than all-above, 200 kB"},
        {"[classes]\ndata = 7\n", "x.toml: [classes] cnp: 'own' is above data, which has priority 7"},
        {"[switch]\ndrop-tail = true\n[pfc]\non = true\n",
         "x.toml: [pfc] on: ports that share no memory pause nobody"},
        {"[tcp]\nleast-timeout = \"50s\"\nmost-timeout = \"5s\"\n",
         "x.toml: [tcp] least-timeout: 50 s is more than most-timeout"},
        {"[host]\npause-above = 5\nresume-at = 5\n", "x.toml: [host] resume-at: 5 is not below pause-above"},
    };
    for (const auto& [text, refusal] : refusals) {
        CAPTURE(text);
        const std::string found = switch_refusal(text);
        CAPTURE(found);
        CHECK(contains(found, refusal));
        CHECK(found.find('\n') == std::string::npos);
    }
}

TEST_CASE("an unknown switch is refused with a near one, a missing file as one") {
    CHECK(
        contains(refusal_of([] { load_switch("depe"); }), "there is no switch 'depe'; did you mean deep? "));
    CHECK(contains(refusal_of([] { load_switch("./nowhere.toml"); }), "cannot be read"));
    CHECK(contains(refusal_of([] { load_switch("/"); }), "'/' is a directory, not a file"));
}
