#include "host/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace weir::host {

std::uint64_t most_open_files() {
    rlimit limit{};
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
}

bool allow_open_files(std::uint64_t needed) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) {
        return true;
    }
    limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= needed;
}

}  // namespace weir::host
