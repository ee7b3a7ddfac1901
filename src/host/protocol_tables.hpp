// What the kernel counts per protocol and per processor: /proc/net/snmp, /proc/net/netstat and
// /proc/net/softnet_stat. The names of its tables are abbreviations, so columns have names of their own
// (protocol_tables.cpp has both).
#pragma once

#include <string>

#include "host/counter_files.hpp"

namespace weir::host {

/// `root`: what the paths begin with, empty on a real host.
Sources protocol_tables(const std::string& root);

}  // namespace weir::host
