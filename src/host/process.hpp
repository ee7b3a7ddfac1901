// What weir asks of the system about its own process: files, terminal, beginning again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::host {

/// From here on an exec closes every descriptor but the three standard ones. Until then they stay open:
/// threads of libraries, as UCX's, still wait on theirs, and end the process if one vanishes.
void close_descriptors_at_exec();

/// Becomes another program, `words` with its name first, which is looked for in the PATH unless it has a
/// slash. No open descriptor but the three standard ones goes along. Returns only if that fails, with errno.
void become(const std::string& program, const std::vector<std::string>& words);

/// Begins weir again in this process with these arguments and the environment as it is, as become() does.
void restart_weir(const std::vector<std::string>& arguments);

/// The most that the system lets this process have; 0: not known.
std::uint64_t most_open_files();

/// Raises the limit of this process to `needed`, as far as the system lets it. True: so many it may have.
bool allow_open_files(std::uint64_t needed);

/// Where others can send to this process, by whatever library: "tcp 0.0.0.0:41001", "udp [::1]:7000".
std::vector<std::string> listening_sockets();

/// Of the terminal that is written to, within what texts are made for; nothing: there is none.
std::optional<std::size_t> terminal_columns();

/// False also with NO_COLOR set (https://no-color.org) or TERM=dumb, and where it cannot be found out.
bool colours_wanted();

}  // namespace weir::host
