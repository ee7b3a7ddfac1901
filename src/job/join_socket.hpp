// TCP sockets that do not block.
#pragma once

#include <string>

#include "core/units.hpp"
#include "job/join_protocol.hpp"

namespace weir::job {

/// A socket that listens at the port of the address, on all interfaces if the host is this one's name. Throws
/// JobError.
int listen_at(const JoinAddress& address);
/// The next connection; -1: there is none now.
int accept_one(int listening);
/// A connection. Throws JobError if there is no such host; -1: it cannot be had now, and `why` explains;
/// `refused`: no process listens there.
int connect_to(const JoinAddress& address, core::Duration limit, std::string& why, bool& refused);

}  // namespace weir::job
