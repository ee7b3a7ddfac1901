// The executable.
#include <string_view>

#include "cli/command_functions.hpp"
#include "cli/program.hpp"
#include "job/record_keeper.hpp"

int main(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == weir::job::keep_record_argument) {
        return weir::job::keep_record();
    }
    return weir::cli::run_program(argc, argv,
                                  {weir::cli::run_command, weir::cli::check_command, weir::cli::mpi_library});
}
