#include "cli/launcher.hpp"

#include <map>
#include <string>

#include "catch.hpp"

using weir::cli::launched_as;
using weir::cli::LaunchedAs;
using weir::cli::report_of;
using Reach = weir::config::UsageError::Reach;

namespace {

LaunchedAs with(const std::map<std::string, std::string>& environment) {
    return launched_as([&](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

LaunchedAs by_mpirun(int rank) {
    return with({{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                 {"OMPI_COMM_WORLD_SIZE", "5"},
                 {"OMPI_APP_CTX_NUM_PROCS", "1 2 2"}});
}

LaunchedAs by_prterun(int rank) {
    return with({{"PMIX_RANK", std::to_string(rank)}, {"PRTE_LAUNCHED", "1"}});
}

}  // namespace

TEST_CASE("a process that no launcher started prints at once") {
    const LaunchedAs alone = with({});
    CHECK_FALSE(alone.rank);
    CHECK(alone.is_first());
    CHECK(report_of(alone, Reach::every_rank).print);
    CHECK(report_of(alone, Reach::every_rank).wait.count() == 0);
}

TEST_CASE("rank, size and application as mpirun passes them") {
    const LaunchedAs fourth = by_mpirun(3);
    CHECK(fourth.rank == 3);
    CHECK(fourth.size == 5);
    CHECK(fourth.applications == 3);
    CHECK(fourth.application == 2);
    CHECK(fourth.first_of_application);
    CHECK_FALSE(by_mpirun(4).first_of_application);
    CHECK_FALSE(fourth.application_unknown);
}

TEST_CASE("mpirun inside a SLURM job takes precedence over SLURM") {
    const LaunchedAs launched = with({{"OMPI_COMM_WORLD_RANK", "2"},
                                      {"OMPI_COMM_WORLD_SIZE", "8"},
                                      {"SLURM_PROCID", "0"},
                                      {"SLURM_STEP_NUM_TASKS", "1"}});
    CHECK(launched.rank == 2);
    CHECK(launched.size == 8);
}

TEST_CASE("one rank of each application prints in its turn, the others wait longer than all turns") {
    const auto first = report_of(by_mpirun(0), Reach::every_rank);
    const auto second = report_of(by_mpirun(1), Reach::every_rank);
    const auto third = report_of(by_mpirun(3), Reach::every_rank);
    const auto silent = report_of(by_mpirun(4), Reach::every_rank);
    CHECK(first.wait.count() == 0);
    CHECK((first.print && second.print && third.print));
    CHECK(first.wait + first.linger < second.wait);
    CHECK(second.wait + second.linger < third.wait);
    CHECK_FALSE(silent.print);
    CHECK(silent.wait > third.wait + third.linger);
}

TEST_CASE("where no application is known, every rank prints if those before it have not ended the job") {
    CHECK(by_prterun(4).application_unknown);
    auto earlier = report_of(by_prterun(0), Reach::every_rank);
    for (int rank = 1; rank < 5; ++rank) {
        const auto later = report_of(by_prterun(rank), Reach::every_rank);
        CHECK(later.print);
        CHECK(later.wait > earlier.wait + earlier.linger);
        earlier = later;
    }
}

TEST_CASE("an error that only one host may have met is said by every rank in its turn") {
    const auto fourth = report_of(by_mpirun(3), Reach::this_host);
    const auto fifth = report_of(by_mpirun(4), Reach::this_host);
    CHECK((fourth.print && fifth.print));
    CHECK(fifth.wait > report_of(by_mpirun(2), Reach::this_host).wait);
}
