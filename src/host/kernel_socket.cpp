#include "host/kernel_socket.hpp"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

namespace weir::host {

bool ask_driver(const Socket& socket, const std::string& interface, void* request) {
    ifreq about{};
    if (interface.size() >= sizeof about.ifr_name) {
        return false;
    }
    std::memcpy(about.ifr_name, interface.c_str(), interface.size() + 1);
    about.ifr_data = static_cast<char*>(request);
    return ::ioctl(socket.get(), SIOCETHTOOL, &about) == 0;
}

}  // namespace weir::host
