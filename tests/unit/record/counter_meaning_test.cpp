// The catalogue of counters is consistent, and finds names as drivers and columns have them.
#include "record/counter_meaning.hpp"

#include <map>
#include <set>

#include "catch.hpp"

using namespace weir::record;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> found;
    std::string word;
    for (const char letter : text) {
        if (letter == ' ') {
            found.push_back(std::exchange(word, {}));
        } else {
            word += letter;
        }
    }
    found.push_back(word);
    return found;
}

std::vector<CounterDriver> all_drivers() {
    std::vector<CounterDriver> all(rdma_counters().begin(), rdma_counters().end());
    all.insert(all.end(), ethernet_counters().begin(), ethernet_counters().end());
    return all;
}

}  // namespace

TEST_CASE("The catalogue: one name counts one thing, whatever driver has it, and each count has its family") {
    std::set<std::string_view> families;
    for (const CounterFamily& family : counter_families()) {
        CHECK(families.insert(family.name).second);
        CHECK_FALSE(family.remedy.empty());
    }
    std::map<std::string, std::pair<std::string, const CounterCount*>> known;
    for (const CounterDriver& driver : all_drivers()) {
        CHECK_FALSE(driver.source.empty());
        for (const CounterNames& row : driver.rows) {
            REQUIRE(row.count != nullptr);
            const bool judged = row.count->meaning != CounterMeaning::none;
            CHECK((row.count->family.empty() || families.contains(row.count->family)));
            CHECK((judged || row.count->family.empty()));
            for (const std::string& name : words(row.names)) {
                INFO(driver.name << ": " << name);
                CHECK_FALSE(name.empty());
                const auto [found, fresh] = known.try_emplace(name, std::string(driver.name), row.count);
                INFO("also in " << found->second.first);
                CHECK((fresh || found->second.first != driver.name));
                CHECK(found->second.second == row.count);
            }
        }
    }
    CHECK(known.size() > 700);
}

TEST_CASE("The catalogue: every name is found, with a number where it has a mark") {
    for (const CounterDriver& driver : all_drivers()) {
        for (const CounterNames& row : driver.rows) {
            for (std::string name : words(row.names)) {
                const bool of_priority = name.find('#') != std::string::npos;
                const bool of_queue = name.find('%') != std::string::npos;
                for (const char mark : {'#', '%'}) {
                    if (const auto place = name.find(mark); place != std::string::npos) {
                        name.replace(place, 1, of_queue ? "13" : "3");
                    }
                }
                INFO(driver.name << ": " << name);
                const KnownCounter known = name.find('.') < 8 && is_protocol(name.substr(0, name.find('.')))
                                               ? known_column(name)
                                               : known_counter(name, driver.name);
                REQUIRE(known.count == row.count);
                CHECK(known.of_priority == of_priority);
                CHECK(known.of_queue == of_queue);
                CHECK(known.bits == row.bits);
                if (of_queue) {
                    CHECK(known_counter(without_number(name)).count == row.count);
                }
            }
        }
    }
}

TEST_CASE("Names that only look like known ones are unknown, and times are no frames") {
    for (const char* name :
         {"", "_", "rx", "rx_prio3_pause_ns", "rx_prio_pause", "rx_prio3_pausex", "rx_pause_count_us",
          "pause", "out_of_sequence_", "tcp_timeouts", "np_cnp", "rx_pripause_3_1ms_count"}) {
        INFO(name);
        CHECK(known_counter(name).count == nullptr);
        CHECK(known_column("eth0." + std::string(name)).count == nullptr);
    }
    for (const CounterDriver& driver : all_drivers()) {
        for (const CounterNames& row : driver.rows) {
            const bool time = row.names.find("_us") != std::string_view::npos ||
                              row.names.find("duration") != std::string_view::npos ||
                              row.names.find("_time") != std::string_view::npos;
            INFO(row.names);
            CHECK((!time || row.count->unit != "frames"));
        }
    }
    CHECK(known_counter("RX_PRIO3_PAUSE").meaning() == CounterMeaning::pause_received);
    CHECK(known_counter("vport_out_of_sequence").meaning() == CounterMeaning::resent);
}

TEST_CASE("The width of a counter is that of its driver") {
    CHECK(known_counter("packet_seq_err", "mlx5_core").bits == 32);
    CHECK(known_counter("packet_seq_err").bits == 64);
    CHECK(known_counter("duplicate_request", "rxe").bits == 64);
    CHECK(known_counter("np_cnp_sent", "mlx5_core").bits == 64);
    CHECK(known_counter("rx_drops_no_pbuf", "be2net").bits == 32);
    CHECK(known_counter("port_xmit_discards").bits == 16);
    CHECK(known_counter("qdisc_drops", "ice").bits == 32);
}
