// Watches the memory that MPI has been handed: it must live until its request is complete. For test programs
// under mpirun, which link it. It stands between the program and MPI (the standard's profiling interface),
// and between the program and the heap, so what is wrong is found every time, whether or not a late message
// comes.
#pragma once

#include <string>

namespace weir::test {

/// What has been found so far: memory on the heap that was freed while MPI could still use it. And, of
/// what MPI can still use, what lies on the stack below the function that calls this: of functions that have
/// returned. Empty: nothing.
std::string found_wrong_with_mpi_memory();

/// The receive after so many more fails.
void fail_receive_after(int receives);

}  // namespace weir::test
