// weir-offline: the same commands, but for those that need MPI.
#include "cli/program.hpp"
#include "config/usage_error.hpp"

namespace {

[[noreturn]] int refuse(const char* command) {
    throw weir::config::UsageError("this is weir-offline, which has no MPI; `" + std::string(command) +
                                   "` needs the weir of an installation with MPI");
}

}  // namespace

int main(int argc, char** argv) {
    return weir::cli::run_program(
        argc, argv,
        {[](const auto&) { return refuse("run"); }, [](const auto&) { return refuse("check"); },
         [] { return std::string("none (weir-offline)"); }});
}
