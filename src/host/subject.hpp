// What the rows of the tables of facts and rules are about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "host/check.hpp"

namespace weir::host {

/// A host, or a path of it with what it goes through. nullptr: there is no such part.
struct Subject {
    explicit Subject(const HostView& of) : view(of), host(of.settings) {}
    Subject(const HostView& of, const NetworkPath& over)
        : view(of), host(of.settings), path(&over), interface(find_interface(of.settings, over.interface)) {
        if (over.rdma_port) {
            port = &host.rdma_ports[*over.rdma_port];
            gid = over.gid_index ? find_gid(*port, *over.gid_index) : nullptr;
        }
        const Interface* const of_gid = gid != nullptr ? find_interface(host, gid->interface) : nullptr;
        sender = of_gid != nullptr ? of_gid : interface;
    }

    const HostView& view;
    const HostSettings& host;
    const NetworkPath* path = nullptr;
    const RdmaPort* port = nullptr;
    const Interface* interface = nullptr;
    const Interface* sender = nullptr;  ///< the VLAN of it that the GID belongs to, or itself
    const Gid* gid = nullptr;
};

/// On what of a host a row is looked at: on the host itself, or on each path that has what is named.
enum class Per : std::uint8_t {
    host,
    path,
    port,
    gid_index,
    traffic_class,
    no_port,
    interface,
    rdma_interface
};

inline bool has(const Subject& subject, Per per) {
    const bool port = subject.port != nullptr;
    switch (per) {
        case Per::host:
        case Per::path:
            return true;
        case Per::port:
            return port;
        case Per::gid_index:
            return port && subject.path->gid_index;
        case Per::traffic_class:
            return port && subject.path->traffic_class;
        case Per::no_port:
            return !port;
        case Per::interface:
            return subject.interface != nullptr;
        case Per::rdma_interface:
            return port && subject.interface != nullptr;
    }
    return false;
}

/// Goes through a table of rows with a `per`; all rows about paths that follow each other, path by path.
template <typename Rows, typename Use>
void for_each_row(const Rows& rows, const HostView& host, const Use& use) {
    for (auto row = std::begin(rows); row != std::end(rows);) {
        const bool of_host = row->per == Per::host;
        const auto end = std::find_if(row, std::end(rows),
                                      [&](const auto& other) { return (other.per == Per::host) != of_host; });
        const auto use_on = [&](const Subject& subject) {
            std::for_each(row, end, [&](const auto& each) {
                if (has(subject, each.per)) {
                    use(each, subject);
                }
            });
        };
        if (of_host) {
            use_on(Subject(host));
        } else {
            for (const NetworkPath& path : host.choice.paths) {
                use_on(Subject(host, path));
            }
        }
        row = end;
    }
}

}  // namespace weir::host
