// What MPI chose by itself: Open MPI's message layer, and UCX's transports. Neither is in MPI's interface:
// the first is a symbol of Open MPI's library, the second stands in UCX's log.
#pragma once

#include <string>

#include "host/host_settings.hpp"

namespace weir::job {

/// "ucx", "ob1", ...; empty: another MPI library, or one that hides it.
std::string message_layer();

/// Whether each call of MPI that finds nothing gives up the core, as Open MPI's do if its launcher has
/// started more ranks on this host than there are cores.
bool calls_yield();

/// UCX's own log at level `info`, kept in memory.
///
/// UCX reads its variables when its library is loaded, which can be before main(): the process is
/// started anew with them.
namespace ucx_log {

/// Starts the process anew with UCX's log switched on, unless that has been done, or the user has chosen
/// another log. Returns if there is nothing to do or it cannot be done. To be called before MPI is started
/// and before anything else that must not happen twice.
void begin_anew_with_log();

/// What UCX has written so far; empty: nothing, or no log.
std::string text();

/// Whether `variable` was set for the log and not by the user.
bool is_ours(const std::string& variable);

}  // namespace ucx_log

/// `root`: what the paths of the kernel's files begin with; empty on a real host. Takes some milliseconds.
host::HostSettings host_snapshot(const std::string& root = {});

}  // namespace weir::job
