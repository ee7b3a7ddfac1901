// Files that a user names: regular ones only, read without ever waiting, up to a size. A FIFO, a terminal or
// /dev/zero under the name of a scenario is refused with what it is: reading it could wait for ever, or never
// come to an end. What is read is bounded by what was read and not by the size that the file states, because
// files of /proc state none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::config {

/// The whole content, without the byte order mark that some editors put before it. `expected` is what would
/// be right, and ends the message: "write the name of a file with ...". Throws UsageError that reaches this
/// host only.
std::string read_input_file(const std::string& name, std::size_t most_bytes, std::string_view expected);

}  // namespace weir::config
