#include "config/traffic_file.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "config/resolve.hpp"
#include "refusal.hpp"
#include "temporary_directory.hpp"

using namespace weir::config;
using weir::core::Bytes;
using weir::core::Duration;

namespace {

std::string complaint(const std::string& pattern) {
    return refusal_of([&] { read_traffic(pattern); });
}

}  // namespace

TEST_CASE("A matrix is a line for each pair") {
    const TemporaryDirectory files;
    const auto traffic = read_traffic(
        "matrix:" +
        files.write("m.csv", "# all\nproducer,consumer,bytes\n0,2,100\n\n 3 , 1 , 7 \r\n").string());
    CHECK(traffic.producers == 4);
    CHECK(traffic.consumers == 3);
    REQUIRE(traffic.entries.size() == 2);
    CHECK(traffic.entries[1].transfer.bytes == Bytes{7});
    REQUIRE(traffic.phases.size() == 1);
    CHECK(traffic.phases[0].name == "all");
    CHECK(traffic_text(traffic).starts_with("matrix:/"));
}

TEST_CASE("A trace has a time for each transfer, and equal lines are added up") {
    const TemporaryDirectory files;
    const auto traffic = read_traffic(
        "trace:" +
        files.write("t.csv", "time_us,producer,consumer,bytes\n0,0,0,10\n2.5,0,1,20\n2.5,0,1,5\n2.5,1,1,1\n")
            .string());
    REQUIRE(traffic.entries.size() == 3);
    CHECK(traffic.entries[1].transfer.at == Duration{2500});
    CHECK(traffic.entries[1].transfer.bytes == Bytes{25});
    CHECK(traffic.length == Duration{2500});
    const auto in_ms = read_traffic(
        "trace:" + files.write("t.csv", "time_ms,producer,consumer,bytes\n0.25,0,0,10\n").string());
    CHECK(in_ms.length == Duration{250000});
}

TEST_CASE("Steps of a pair that are 1 ns apart still are when times are scaled") {
    const TemporaryDirectory files;
    auto traffic = read_traffic("trace:" + files
                                               .write("s.csv",
                                                      "time_ns,producer,consumer,bytes,after\n"
                                                      "300,0,1,10,\n300,1,0,10,\n301,0,1,10,1\n302,0,1,10,1\n"
                                                      "302,1,0,10,0\n900,0,1,10,1\n")
                                               .string());
    scale_traffic(traffic, {}, {1, 3});
    std::vector<std::int64_t> times_ns;
    for (const auto& entry : traffic.entries) {
        times_ns.push_back(entry.transfer.at.ns);
    }
    CHECK(times_ns == std::vector<std::int64_t>{100, 100, 101, 102, 101, 300});
    CHECK(traffic.length == Duration{300});
}

TEST_CASE("A last transfer that rounding puts at the end of the interval is refused") {
    const TemporaryDirectory files;
    const std::string trace =
        "trace:" +
        files.write("e.csv", "time_ns,producer,consumer,bytes\n0,0,0,10\n999999,0,0,10\n").string();
    const auto resolved = [&](const std::string& factor) {
        return refusal_of([&] {
            resolve(std::vector<GivenOption>{
                {"pattern", trace}, {"interval", "1ms"}, {"duration", "1ms"}, {"time-scale", factor}});
        });
    };
    CHECK(resolved("1/2") == "accepted");
    CHECK(
        contains(resolved("1/3"), "--time-scale: rounded to 1ns: --interval: 333.333 us is too short for "));
}

TEST_CASE("The phases of a sequence follow each other") {
    const TemporaryDirectory files;
    files.write("a.csv", "producer,consumer,bytes\n0,0,10\n").string();
    files.write("b.csv", "producer,consumer,bytes\n1,1,20\n").string();
    const auto traffic =
        read_traffic("sequence:" + files
                                       .write("s.toml",
                                              "[[phase]]\nname='a'\nmatrix='a.csv'\nperiod='2ms'\nrepeat=2\n"
                                              "[[phase]]\nname='b'\nmatrix='b.csv'\nperiod='1ms'\n")
                                       .string());
    REQUIRE(traffic.phases.size() == 3);
    CHECK(traffic.phases[1].name == "a");
    CHECK(traffic.phases[1].at == Duration::milliseconds(2));
    CHECK(traffic.phases[2].period == Duration::milliseconds(1));
    CHECK(traffic.length == Duration::milliseconds(5));
    CHECK(traffic.entries[2].transfer.at == Duration::milliseconds(4));
    CHECK(traffic.entries[2].transfer.phase == 2);
}

TEST_CASE("A file of traffic that is wrong is refused with its line") {
    const TemporaryDirectory files;
    const std::string head = "producer,consumer,bytes\n";
    const auto matrix = [&](const std::string& text) {
        return complaint("matrix:" + files.write("wrong.csv", text).string());
    };
    CHECK(contains(matrix(""), "is not the header of a matrix; write producer,consumer,bytes"));
    CHECK(contains(matrix("a,b\n"), "wrong.csv:1: 'a,b' is not the header"));
    CHECK(contains(matrix(head), "has no line behind its header"));
    CHECK(contains(matrix(head + "0,0\n"), ":2: '0,0' has 2 fields; write 3"));
    CHECK(contains(matrix(head + "0,0,1,2\n"), "has 4 fields"));
    CHECK(contains(matrix(head + "0,0,0\n"), "'0' is no number of bytes; write a number from 1"));
    CHECK(contains(matrix(head + "0,0,1MiB\n"), "'1MiB' is no number of bytes"));
    CHECK(contains(matrix(head + "-1,0,1\n"), "'-1' is no index of a producer"));
    CHECK(contains(matrix(head + "0,1048576,1\n"), "is no index of a consumer"));
    CHECK(contains(matrix(head + "0,0,1\n0,0,2\n"), ":3: producer 0 has consumer 0 twice"));
    CHECK(contains(matrix(head + "\x01,0,1\n"), "'?' is no index"));
    CHECK(contains(complaint("matrix:/nowhere.csv"), "/nowhere.csv"));

    const auto trace = [&](const std::string& text) {
        return complaint("trace:" + files.write("wrong.csv", text).string());
    };
    CHECK(contains(trace("time,producer,consumer,bytes\n"), "write time_us,producer,consumer,bytes"));
    CHECK(contains(trace("time_s,producer,consumer,bytes\n2,0,0,1\n1,0,0,1\n"), "sort the trace by time"));
    CHECK(contains(trace("time_s,producer,consumer,bytes\nnan,0,0,1\n"), "'nan' is no time"));
    CHECK(contains(trace("time_s,producer,consumer,bytes\n1e9,0,0,1\n"), "is no time"));

    const auto sequence = [&](const std::string& text) {
        return complaint("sequence:" + files.write("wrong.toml", text).string());
    };
    files.write("m.csv", head + "0,0,1\n").string();
    CHECK(contains(sequence(""), "a sequence is a list of [[phase]]"));
    CHECK(contains(sequence("[[phase]]\nname='a'\n"), "a phase needs a name"));
    CHECK(contains(sequence("[[phase]]\nnome='a'\n"), "'nome' is no key of a phase"));
    const std::string phase = "[[phase]]\nname='a'\nmatrix='m.csv'\n";
    CHECK(contains(sequence(phase + "period='5'\n"), "period: "));
    CHECK(contains(sequence(phase + "period='0s'\n"), "too short"));
    CHECK(contains(sequence(phase + "period='1ms'\nrepeat=0\n"), "repeat: write a number from 1"));
    CHECK(contains(sequence(phase + "period='1ms'\nrepeat=5000\n"), "repeat: "));
    CHECK(contains(sequence(phase + "period='40min'\nrepeat=2\n"), "the phases take "));
}
