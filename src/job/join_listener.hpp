// Where rank 0 of a job that starts without MPI is reached, by any process: it takes connections, and hands
// over those whose other side has proven that it has the token. Before that a connection costs one frame at a
// time, 4 KiB and some seconds; the number of such connections is bounded, and so is the work of one look.
// Nothing is kept of one that is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.hpp"
#include "job/join_connection.hpp"

namespace weir::job {

class JoinListener {
  public:
    /// Connections of strangers at a time.
    static constexpr std::size_t strangers_max = 128;
    /// Descriptors that are left to the rest of the process: its files, and connections of UCX.
    static constexpr int kept_descriptors = 128;

    /// Listens at the address. Throws JobError.
    JoinListener(const JoinAddress& address, std::string token);
    JoinListener(const JoinListener&) = delete;
    JoinListener& operator=(const JoinListener&) = delete;
    ~JoinListener();

    /// Who has the token.
    struct Newcomer {
        std::unique_ptr<JoinConnection> connection;
        Hello hello;
        std::int64_t since_ns = 0;
    };
    /// Takes a step with all that have come.
    void look(std::int64_t now_ns);
    /// A connection of a stranger that was taken from the kernel.
    void take_over(int socket, std::int64_t now_ns);
    /// The next one, if there is one.
    std::optional<Newcomer> next();
    /// Tells why, and closes the connection when that was sent, or soon.
    void refuse(std::unique_ptr<JoinConnection> connection, std::string_view why, std::int64_t now_ns);
    /// No process is expected any more for a while: closes the connections of strangers.
    void close_strangers() { strangers_.clear(); }

  private:
    struct Stranger {
        std::unique_ptr<JoinConnection> connection;
        std::int64_t since_ns = 0;
        std::string hello = {};      ///< as it was sent; empty: not yet
        std::string challenge = {};  ///< to it
    };
    struct Refused {
        std::unique_ptr<JoinConnection> connection;
        std::int64_t until_ns = 0;
        bool finished = false;  ///< sending
    };

    void accept_strangers(std::int64_t now_ns);
    /// `connection` of it is gone afterwards if this was its last step.
    void step(Stranger& stranger, std::int64_t now_ns);
    void challenge(Stranger& stranger, std::string hello, std::int64_t now_ns);
    void check(Stranger& stranger, std::string_view proof, std::int64_t now_ns);
    void part_with_refused(std::int64_t now_ns);

    std::string token_;
    int socket_;
    int descriptors_;                  ///< that the process may have
    std::vector<Stranger> strangers_;  ///< oldest first
    std::deque<Newcomer> newcomers_;
    std::vector<Refused> refused_;
};

}  // namespace weir::job
