// What a transport needs of the job outside its own network: all ranks exchange texts and wait for each
// other.
#pragma once

#include <string>
#include <vector>

namespace weir::transport {

/// The exchanges in which every rank gets the addresses of the others, by rank.
inline constexpr const char* exchange_of_control_addresses = "exchange of addresses for control";
inline constexpr const char* exchange_of_data_addresses = "exchange of addresses for data";

class Meeting {
  public:
    Meeting() = default;
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;
    virtual ~Meeting() = default;

    [[nodiscard]] virtual int rank() const = 0;
    /// Collective: every rank's text, by rank, on every rank. `what` names the step in messages.
    virtual std::vector<std::string> share(const std::string& mine, const char* what) = 0;
    /// Collective: begin to wait for all ranks.
    virtual void begin_barrier() = 0;
    /// Whether all have begun. Until then it is called again and again.
    [[nodiscard]] virtual bool barrier_done() = 0;
};

}  // namespace weir::transport
