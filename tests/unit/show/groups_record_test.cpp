#include "show/groups_record.hpp"

#include <fstream>

#include "catch.hpp"
#include "temporary_directory.hpp"

using namespace weir::show;
using Json = nlohmann::ordered_json;

namespace {

/// The run.json of a group of two consumers, as far as the record of a job reads it.
Json run(bool sustained, double occupancy, std::uint64_t late_sets = 0) {
    return {{"status", "complete"},
            {"failure", nullptr},
            {"started_at", "2026-01-01T00:00:00Z"},
            {"seconds", 10},
            {"labels", {{"site", "here"}}},
            {"verdict",
             {{"judged", true},
              {"sustained", sustained},
              {"on_time", late_sets == 0},
              {"sets", 30},
              {"late_sets", late_sets},
              {"lost_events", 0}}},
            {"totals", {{"sent_bytes", 1000}, {"control_packets", nullptr}, {"max_occupancy", occupancy}}},
            {"clock", {{"error_us", 1.5}}},
            {"plan", {{"seed", "1"}, {"resolved", {{"producers", 3}, {"consumers", 2}, {"seed", 1}}}}},
            {"environment", Json::object()},
            {"ranks",
             {{{"role", "producer"}, {"host", "a"}, {"mean_bits_per_second", 77}},
              {{"role", "consumer"}, {"host", "a"}, {"mean_bits_per_second", 100}},
              {{"role", "consumer"}, {"host", "b"}, {"mean_bits_per_second", 150}}}}};
}

GroupsRecord groups_of(const std::vector<Json>& runs) {
    std::vector<std::string> directories;
    for (std::size_t group = 0; group < runs.size(); ++group) {
        directories.push_back("group-0" + std::to_string(group));
    }
    GroupsRecord record("/tmp/groups", directories);
    record.describe(runs.front());
    for (std::uint32_t group = 0; group < runs.size(); ++group) {
        record.groups[group] = record.entry(group, runs[group], runs[group]["status"] == "complete" ? 0 : 1);
    }
    return record;
}

Json failed(const char* why) {
    Json json = run(true, 0.2);
    json["status"] = "failed";
    json["failure"] = {{"what", why}, {"rank", 3}, {"role", "consumer 1"}, {"host", "b"}};
    json["verdict"]["judged"] = false;
    json["verdict"]["sustained"] = nullptr;
    json["verdict"]["on_time"] = nullptr;
    return json;
}

}  // namespace

TEST_CASE("The record of a job has the sums of its groups, and what each of them did") {
    const Json json = to_json(groups_of({run(true, 0.5), run(true, 0.9), run(true, 0.7)}));
    CHECK(json["schema"] == "weir-groups/1");
    CHECK(json["status"] == "complete");
    CHECK(json["verdict"]["sustained"] == true);
    CHECK(json["verdict"]["on_time"] == true);
    CHECK(json["verdict"]["sets"] == 90);
    CHECK(json["verdict"]["worst_group"] == 1);
    CHECK(json["totals"]["sent_bytes"] == 3000);
    CHECK(json["totals"]["control_packets"].is_null());
    CHECK(json["totals"]["max_occupancy"] == 0.9);
    CHECK(json["goodput_bits_per_second"] == 750);
    CHECK(json["plan"]["groups"] == "3");
    CHECK(json["labels"]["site"] == "here");
    REQUIRE(json["groups"].size() == 3);
    CHECK(json["groups"][2]["directory"] == "group-02");
    CHECK(json["groups"][2]["hosts"] == Json{"a", "b"});
    CHECK(json["groups"][2]["goodput_bits_per_second"] == 250);
    CHECK(json["verdict"]["text"] ==
          "Sustained in all 3 groups. No set of 90 was late. Worst occupancy 0.9, in group 1.");
}

TEST_CASE("With one group that is not sustained the job is not") {
    const GroupsRecord record = groups_of({run(true, 0.5), run(true, 0.9), run(false, 1.4, 4)});
    const Json json = to_json(record);
    CHECK(json["verdict"]["sustained"] == false);
    CHECK(json["verdict"]["on_time"] == false);
    CHECK(json["verdict"]["unsustained_groups"] == Json{2});
    CHECK(json["verdict"]["text"] ==
          "NOT sustained in 1 of 3 groups: group 2. 4 of 90 sets were late, in group 2. Worst occupancy "
          "1.4, in group 2.");
    CHECK(worst_first(record) == std::vector<std::uint32_t>{2, 1, 0});
    CHECK(json["verdict"]["worst_first"] == Json{2, 1, 0});
    CHECK(exit_status_of(record) == 0);
}

TEST_CASE("A group that failed does not hide the others") {
    const GroupsRecord record = groups_of({run(true, 0.5), failed("rank 3 is gone"), run(true, 0.7)});
    const Json json = to_json(record);
    CHECK(json["status"] == "failed");
    CHECK(json["failure"] == Json{{"what", "group 1: rank 3 is gone"}, {"group", 1}});
    CHECK(json["verdict"]["judged"] == false);
    CHECK(json["verdict"]["sustained"].is_null());
    CHECK(json["groups"][0]["verdict"]["sustained"] == true);
    CHECK(worst_first(record).front() == 1);
    CHECK(exit_status_of(record) == 1);
    const std::string text = groups_summary_text(record, false);
    CHECK(
        text.find("FAILED: group 1: rank 3 is gone\n1 of 3 groups failed: group 1. Sustained in the 2 groups "
                  "that were judged.") == 0);
    CHECK(text.find("         2  sustained") != std::string::npos);
}

TEST_CASE("A group from which nothing came has failed") {
    GroupsRecord record("/tmp/groups", {"group-00", "group-01"});
    record.groups[0] = record.entry(0, run(true, 0.5), 0);
    const Json json = to_json(record);
    CHECK(json["status"] == "failed");
    CHECK(json["failure"]["what"] == "group 1: nothing came from this group");
    CHECK(json["totals"]["sent_bytes"] == 1000);
    CHECK(groups_summary_text(record, false).find("         1  failed") != std::string::npos);
}

TEST_CASE("The worst exit status of the groups is that of the job") {
    const auto status = [](int first, int second) {
        GroupsRecord record = groups_of({run(true, 0.5), run(true, 0.5)});
        record.groups[0]["exit_status"] = first;
        record.groups[1]["exit_status"] = second;
        return exit_status_of(record);
    };
    CHECK(status(0, 0) == 0);
    CHECK(status(0, 3) == 3);
    CHECK(status(143, 3) == 143);
    CHECK(status(143, 1) == 1);
}

TEST_CASE("Groups' files can stand in for reports of their leaders") {
    const TemporaryDirectory directory;
    GroupsRecord record(directory.path(), {"group-00", "group-01"});
    const auto write = [&](const std::string& group, const Json& json) {
        directory.write(group + "/run.json", json.dump());
    };
    write("group-00", run(true, 0.5));
    CHECK_FALSE(record.groups_have_ended());
    CHECK_FALSE(record.entry_from_file(1));
    write("group-01", failed("the run has not ended"));
    CHECK_FALSE(record.entry_from_file(1));
    directory.write("group-01/run.json", "not JSON");
    CHECK_FALSE(record.groups_have_ended());
    write("group-01", failed("rank 0 has not responded"));
    CHECK(record.groups_have_ended());
    record.read_groups();
    CHECK(record.labels["site"] == "here");
    CHECK(record.groups[1]["failure"]["what"] == "rank 0 has not responded");
    CHECK(record.groups[1]["exit_status"] == 1);
}

TEST_CASE("A record of the job can stand without an end, or without one of its groups") {
    const TemporaryDirectory directory;
    GroupsRecord record(directory.path(), {"group-00"});
    CHECK_FALSE(record.is_written(false));
    record.ended = false;
    CHECK_FALSE(record.write());
    CHECK_FALSE(record.is_written(false));
    record.ended = true;
    CHECK_FALSE(record.write());
    CHECK(record.is_written(false));
    CHECK_FALSE(record.is_written());
    record.groups[0] = record.entry(0, failed("rank 3 is gone"), 1);
    CHECK_FALSE(record.write());
    CHECK(record.is_written());
}

TEST_CASE("The cause of a job is that of the worst group, and says nothing else of that group") {
    const auto with_cause = [](Json run, const char* cause, const char* text) {
        run["verdict"]["cause"] = cause;
        run["verdict"]["causes"] = {{{"what", cause},
                                     {"where", {{"role", "consumer"}, {"name", "consumer 1"}, {"host", "b"}}},
                                     {"evidence", "observed"},
                                     {"together_with", nullptr},
                                     {"text", text}}};
        run["verdict"]["text"] =
            std::string("NOT sustained: ... Main cause: ... 150 datagrams came from elsewhere.");
        run["verdict"]["advice"] = "Do something";
        return run;
    };
    const Json late = with_cause(run(true, 0.9, 2), "consumer-links", "its link was full.");
    const Json corrupt = with_cause(run(false, 1.4, 4), "integrity", "7 events arrived corrupt.");
    Json json = to_json(groups_of({late, corrupt}));
    CHECK(json["verdict"]["cause"] == "integrity");
    CHECK(json["verdict"]["cause_group"] == 1);
    const std::string text = json["verdict"]["text"];
    CHECK(text.ends_with("Group 1, main cause: integrity, at consumer 1 on b. 7 events arrived corrupt."));
    json = to_json(groups_of({late, run(true, 0.5)}));
    CHECK(std::string(json["verdict"]["text"])
              .ends_with("Group 0, main cause: the link of consumer 1 on b. Its link was full."));
    // Sets can be late in a group that was not judged.
    Json unjudged = late;
    unjudged["verdict"]["judged"] = false;
    unjudged["verdict"]["sustained"] = nullptr;
    const std::string summary = groups_summary_text(groups_of({unjudged, unjudged}), false);
    CHECK(summary.find("No group was judged. 4 of 60 sets were late") != std::string::npos);
    CHECK(summary.find("main\ncause") != std::string::npos);
}
