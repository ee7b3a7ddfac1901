// What ranks send each other about the end of a run: in the loop as a packet (packet.hpp), in the exchanges
// before and after it as a message of its own (Job::send_notice).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace weir::job {

struct Notice {
    enum class Kind : std::uint8_t {
        complete,          ///< leader to all: the protocol is complete
        leave,             ///< leader to all: leave with exit status `detail`
        signal,            ///< to the leader: `rank` received signal `detail`
        failure,           ///< to the leader: the run cannot go on because of `rank`; `text` is why
        exchange_timeout,  ///< to the leader, outside the loop: an exchange did not end
    };
    Kind kind = Kind::complete;
    std::int32_t rank = -1;
    std::int32_t detail = 0;
    char text[480] = {};  ///< zero-terminated
};
static_assert(std::is_trivially_copyable_v<Notice>);

/// A notice with as much of the text as fits.
inline Notice make_notice(Notice::Kind kind, int rank, int detail, std::string_view text) {
    Notice notice{kind, rank, detail, {}};
    const std::size_t length = std::min(text.size(), sizeof notice.text - 1);
    if (length > 0) {
        std::memcpy(notice.text, text.data(), length);
    }
    return notice;
}

/// The text of a notice that came from outside.
inline std::string text_of(const Notice& notice) {
    return {notice.text, strnlen(notice.text, sizeof notice.text)};
}

}  // namespace weir::job
