// How many files, sockets among them, a process may have open at a time.
#pragma once

#include <cstdint>

namespace weir::host {

/// The most that the system lets this process have; 0: not known.
std::uint64_t most_open_files();

/// Raises the limit of this process to `needed`, as far as the system lets it. True: so many it may have.
bool allow_open_files(std::uint64_t needed);

}  // namespace weir::host
