// The messages of one kind among what a core has to send.
#pragma once

#include <variant>
#include <vector>

#include "core/actions.hpp"

namespace weir::core {

template <typename Body>
struct Addressed {
    NodeId to;
    Body message;
};

template <typename Body>
std::vector<Addressed<Body>> of_kind(const Actions& out) {
    std::vector<Addressed<Body>> found;
    for (const SendMessage& sent : out.messages) {
        if (const auto* const body = std::get_if<Body>(&sent.message)) {
            found.push_back({sent.to, *body});
        }
    }
    return found;
}

}  // namespace weir::core
