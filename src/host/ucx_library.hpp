// Which UCX there is. weir does not link it: Open MPI does, or loads a component that does, or has none (and
// transport/ucx/ucx_api.hpp loads it). So the dynamic loader is asked, by the name that every UCX since 1.0
// has had; the rejected choice, linking UCX for its version alone, would make it a dependency, and could name
// another UCX than the one that MPI uses.
#pragma once

#include <optional>
#include <string>

namespace weir::host {

inline constexpr const char* ucx_library_name = "libucp.so.0";

struct UcxLibrary {
    std::string version;  ///< "1.13.1", as the library reports it
    std::string file;     ///< that it was loaded from
};

/// The UCX that is in this process because MPI, or the engine ucx, loaded it. After MPI_Init; nothing:
/// neither uses UCX.
std::optional<UcxLibrary> loaded_ucx(const char* name = ucx_library_name);

/// The UCX that a program would get, which is loaded for that. MPI can have one of its own, where only its
/// own components find it. Nothing: the loader finds none.
std::optional<UcxLibrary> loadable_ucx(const char* name = ucx_library_name);

}  // namespace weir::host
