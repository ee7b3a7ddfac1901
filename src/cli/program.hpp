// A program from command line to exit status. There are two: weir, and weir-offline, which has all commands
// but those that need MPI and loads none of it.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "config/run_request.hpp"

namespace weir::cli {

/// What MPI is needed for. Pointers, so that the linker finds MPI unused in a program that passes other ones.
struct MpiCommands {
    int (*run)(const CommandLine& line);
    int (*check)(const CommandLine& line);
    std::string (*library)();  ///< name and version of the MPI library
};

/// All of main(): the exit status.
int run_program(int argc, char** argv, const MpiCommands& mpi);

}  // namespace weir::cli
