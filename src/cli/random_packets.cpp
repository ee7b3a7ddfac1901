// A random switch for --explore.
#include "cli/random_draw.hpp"

namespace weir::cli {

void draw_packets(RandomDraw& draw) {
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
}

}  // namespace weir::cli
