// A random switch of random scenarios.
#include "explorer/random_draw.hpp"

namespace weir::explorer {

namespace {

/// Datagrams have no other model, so what is drawn is the switch. Through ports of the plain one control
/// messages must fit.
void draw_for_datagrams(RandomDraw& draw, bool plain_holds_messages) {
    if (draw.one_in(3)) {
        return;
    }
    if (draw.one_in(2)) {
        draw.add("network", "packet");
    }
    const bool plain = draw.one_in(2);
    if (!plain) {
        draw.add("switch", "{}", draw.one_of({"shallow", "deep"}));
        draw.add("pfc", "{}", draw.one_of({"on", "off"}));
    }
    if (plain && !plain_holds_messages) {
        draw.add("control-network", "separate");
    } else if (draw.one_in(2)) {
        draw.add("control-network", "{}", draw.one_of({"shared", "separate"}));
    }
}

}  // namespace

void draw_packets(RandomDraw& draw, bool datagrams, bool plain_holds_messages) {
    if (datagrams) {
        draw_for_datagrams(draw, plain_holds_messages);
        return;
    }
    if (draw.one_in(2)) {
        return;
    }
    if (draw.one_in(4)) {
        draw.add("network", "fluid");
        return;
    }
    draw.add("network", "packet");
    const std::string_view pfc = draw.one_of({"on", "off"});
    draw.add("pfc", "{}", pfc);
    draw.add("ecn", "{}", draw.one_of({"on", "off"}));
    if (draw.one_in(2)) {
        const std::string_view name = draw.one_of({"shallow", "deep", "plain"});
        if (name != "plain" || pfc == "off") {
            draw.add("switch", "{}", name);
        }
        if (name == "plain") {
            draw.add("port-buffer", "{}B", draw.number(20000, 200000));
        }
    }
    if (draw.one_in(2)) {
        draw.add("loss-recovery", "{}", draw.one_of({"go-back-n", "selective"}));
    }
    if (draw.one_in(2)) {
        draw.add("control-priority", "{}", draw.one_of({"data", "own", "0", "3", "5", "7"}));
    }
    if (draw.one_in(4)) {
        draw.add("switch-rows", "{}ms", draw.number(20, 1000));
    }
}

}  // namespace weir::explorer
