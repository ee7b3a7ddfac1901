// A random switch file of random scenarios.
#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "explorer/random_draw.hpp"

namespace weir::explorer {

namespace {

/// The largest packet of random scenarios must fit below every threshold.
constexpr std::int64_t least_shared_bytes = 48000;

class SwitchDraw {
  public:
    /// `least_link`: the slowest link of a rank, in b/s; 0: not known.
    SwitchDraw(RandomDraw& draw, std::int64_t hosts, std::int64_t least_link)
        : draw_(draw), hosts_(hosts), least_link_(least_link) {}

    std::string text() {
        line("base = \"{}\"", draw_.one_of({"shallow", "deep", "dcqcn-tuned"}));
        topology();
        memory();
        marks();
        nics();
        connections();
        failures();
        controls();
        classes();
        return std::move(text_);
    }

  private:
    template <typename... Values>
    void line(fmt::format_string<const Values&...> form, const Values&... values) {
        text_ += fmt::format(form, values...) + '\n';
    }

    void topology() {
        if (draw_.one_in(4)) {
            line("[topology]\nkind = \"leaf-spine\"\nleaves = {}\nspines = {}\nuplinks = {}",
                 draw_.number(1, 3), draw_.number(1, 2), draw_.number(1, 2));
            line("uplink-rate = \"{}Mb/s\"", draw_.number(10, 20000));
        }
    }

    void memory() {
        // A quarter is kept for a slow port. A switch has at most six uplinks.
        const std::int64_t headroom = draw_.one_in(3) ? 0 : draw_.number(1000, 100000);
        has_headroom_ = headroom > 0;
        const std::int64_t kept = (hosts_ + 6) * (headroom / 4 + 1);
        line("[switch]\nheadroom = \"{}B\"", headroom);
        line("pool = \"{}B\"", kept + draw_.number(least_shared_bytes, draw_.one_in(2) ? 100000 : 1000000));
        if (draw_.one_in(3)) {
            line("ingress-threshold = \"{}B\"", draw_.number(12000, least_shared_bytes));
        } else {
            line("ingress-alpha = {}", draw_.one_of({"0.25", "0.5", "1", "8"}));
        }
        line("egress-threshold = \"{}B\"",
             draw_.one_in(3) ? draw_.number(12000, least_shared_bytes) : std::int64_t{0});
        line("egress-alpha = {}", draw_.one_of({"0.25", "0.5", "1", "8"}));
        line("resume-offset = \"{}B\"", draw_.number(0, 12000));
        line("strict = [{}]\narbitration = \"{}\"", draw_.one_of({"", "3", "0, 6"}),
             draw_.one_of({"fifo", "ingress-round-robin"}));
        line("weights = [1, 2, 1, {}, 1, 1, {}, 1]", draw_.number(1, 9), draw_.number(1, 9));
        whole_links_ = draw_.one_in(6);
        line("[pfc]\nwhole-links = {}", whole_links_);
    }

    void marks() {
        const std::int64_t none_below = draw_.number(0, 20000);
        line("[ecn]\nnone-below = \"{}B\"\nall-above = \"{}B\"\nof-rate = \"0b/s\"", none_below,
             none_below + draw_.number(0, 100000));
        line("probability = 0.{}1\nat-enqueue = {}", draw_.number(0, 9), draw_.one_in(3));
        line("[dcqcn]\nrules = \"{}\"", draw_.one_of({"2015", "hpcc"}));
        line("on = {}\ncnp-spacing = \"{}us\"\nalpha-period = \"{}us\"\nresets-at-line-rate = {}",
             !draw_.one_in(6), draw_.number(1, 100), draw_.number(1, 100), draw_.one_in(2));
        line("rate-period = \"{}us\"\nfast-stages = {}\nof-rate = \"{}Mb/s\"\nleast-rate = \"{}kb/s\"",
             draw_.number(10, 500), draw_.number(0, 6), draw_.number(100, 100000),
             std::min(draw_.number(100, 10000), usual_link() / 10'000));
    }

    /// Of most producers, in b/s; --scale may make it less.
    [[nodiscard]] std::int64_t usual_link() {
        const std::string link = draw_.value("producer-link");
        return link.empty() ? std::int64_t{100'000'000'000} : std::stoll(link);
    }

    void nics() {
        const std::string_view control = draw_.one_of({"dcqcn", "dcqcn", "swift", "credits"});
        line("[nic]\ncontrol = \"{}\"", control);
        line("ack-timeout = \"{}ms\"\nnak-spacing = \"{}us\"\npackets-per-ack = {}", draw_.number(5, 70),
             draw_.number(0, 50), draw_.number(1, 20));
        const bool window = draw_.one_in(3);
        line("window = \"{}B\"\nwindow-follows-rate = {}",
             window ? draw_.number(200000, 400000) : std::int64_t{0},
             window && control == "dcqcn" && draw_.one_in(2));
        line("selective-timeout-low = \"{}us\"\nselective-timeout-high = \"{}us\"", draw_.number(50, 1000),
             draw_.number(1000, 5000));
        line("reorder = \"{}B\"", draw_.one_in(2) ? draw_.number(4000, 200000) : std::int64_t{0});
        line("[balancing]\nkind = \"{}\"\ngap = \"{}us\"\nadaptive-gap = \"{}us\"\nhash-queue-pairs = {}",
             draw_.one_of({"ecmp", "flowlets", "spray", "adaptive"}), draw_.number(0, 50), draw_.number(0, 5),
             !draw_.one_in(4));
        line("[classes]\ndata = {}\ncontrol = \"{}\"\nack = \"{}\"\ncnp = \"{}\"", draw_.number(0, 6),
             draw_.one_of({"data", "own", "1"}), draw_.one_of({"data", "own", "0"}),
             draw_.one_of({"data", "own", "6"}));
    }

    void connections() {
        line("[tcp]\ncontrol = \"{}\"\nleast-timeout = \"{}ms\"\nmost-packets = {}",
             draw_.one_of({"newreno", "cubic", "dctcp"}), draw_.number(5, 200), draw_.number(4, 4096));
    }

    void failures() {
        line("[watchdog]\non = {}\naction = \"{}\"",
             !whole_links_ && draw_.one_in(3) && !draw_.value("pfc").empty(),
             draw_.one_of({"drop", "forward"}));
        line("detection = \"{}ms\"\nrestoration = \"{}ms\"", draw_.number(1, 200), draw_.number(1, 200));
        line("[failures]\nconvergence = \"{}us\"", draw_.number(0, 100000));
    }

    void controls() {
        line("[swift]\ntarget = \"{}us\"\nrange = \"{}us\"\nincrease = {}", draw_.number(1, 200),
             draw_.number(0, 500), draw_.number(1, 4));
        line("[credits]\nunasked = \"{}B\"\nof-rate = \"{}Mb/s\"\ngrant = \"{}B\"\nshare = 0.{}",
             draw_.one_in(4) ? std::int64_t{0} : draw_.number(1, 300'000), draw_.number(100, 100'000),
             draw_.number(100, 50'000), draw_.number(5, 9));
    }

    void classes() {
        if (!draw_.one_in(3)) {
            return;
        }
        const std::int64_t first = draw_.number(0, 5);
        const std::int64_t last = first + draw_.number(0, 2);
        for (std::int64_t priority = first; priority <= last; ++priority) {
            line("[class.c{}]\npriority = {}\nstrict = {}\nweight = {}", priority, priority, draw_.one_in(3),
                 draw_.number(1, 9));
            // The pool has headroom for one lossless priority.
            const bool lossless = !has_headroom_ && draw_.one_in(2);
            if (lossless || !whole_links_) {
                line("lossless = {}", lossless);
            }
            const std::int64_t none_below = draw_.number(0, 20000);
            line("ecn = {}\nnone-below = \"{}B\"\nall-above = \"{}B\"\nprobability = 0.{}1", !draw_.one_in(4),
                 none_below, none_below + draw_.number(0, 100000), draw_.number(0, 9));
            // So little that data has room, also where all of it goes to one host.
            line("rate = \"{}b/s\"\npacket = \"{}B\"\ntraffic = \"{}\"\nmessage = \"{}B\"",
                 draw_.number(0, least_link_ / 20 / hosts_), draw_.number(84, 1538),
                 draw_.one_of({"packets", "tcp", "rdma"}), draw_.number(1000, 20000));
        }
    }

    RandomDraw& draw_;
    bool whole_links_ = false;
    bool has_headroom_ = false;
    std::int64_t hosts_;
    std::int64_t least_link_;
    std::string text_;
};

/// The slowest of the links that are drawn, in b/s; 0: they are not all of one speed.
std::int64_t least_link(RandomDraw& draw) {
    std::int64_t least = 0;
    for (const char* option : {"producer-link", "consumer-link"}) {
        const std::string link = draw.value(option);
        if (link.empty() || link.find(',') != std::string::npos) {
            return 0;
        }
        least = least == 0 ? std::stoll(link) : std::min<std::int64_t>(least, std::stoll(link));
    }
    return least;
}

}  // namespace

void draw_switch_file(RandomDraw& draw, const FaultRange& range, const std::string& file) {
    if (draw.value("network") != "packet" || draw.value("switch") == "plain" || draw.one_in(2)) {
        return;
    }
    std::ofstream out(file);
    out << SwitchDraw(draw, 1 + range.producers + range.consumers, least_link(draw)).text();
    if (!out.flush()) {
        throw std::runtime_error(fmt::format("cannot write {}", file));
    }
    draw.remove("switch");
    draw.add("switch", "{}", file);
}

namespace {

/// Cables between leaves and spines, of which one may be cut for a while: what follows the section
/// [topology].
std::string fluid_fabric(RandomDraw& draw) {
    if (draw.one_in(3)) {
        return {};
    }
    if (draw.one_in(2)) {
        draw.add("fault", "cut:link=leaf-0:spine-0,at={}ms,for={}ms,disconnects", draw.number(0, 600),
                 draw.number(1, 400));
    }
    return fmt::format(
        "kind = \"leaf-spine\"\nleaves = {}\nspines = {}\nuplinks = {}\nuplink-rate = \"{}Mb/s\"\n"
        "[balancing]\nkind = \"{}\"\n[failures]\nconvergence = \"{}us\"\n",
        draw.number(1, 3), draw.number(1, 3), draw.number(1, 2), draw.number(10, 20000),
        draw.one_of({"ecmp", "spray", "adaptive"}), draw.number(0, 100000));
}

}  // namespace

void draw_placement(RandomDraw& draw, const std::string& file) {
    const std::string producers = draw.value("producer-link");
    const bool fluid = draw.value("network") == "fluid";
    if ((draw.value("network") != "packet" && !fluid) || producers.empty() ||
        producers.find(',') != std::string::npos || !draw.one_in(fluid ? 2 : 3)) {
        return;
    }
    const std::string consumers = draw.value("consumer-link");
    const std::string link = std::stoll(producers) > std::stoll(consumers) ? producers : consumers;
    draw.remove("producer-link");
    draw.remove("consumer-link");
    draw.add("producer-link", "{}", link);
    draw.add("consumer-link", "{}", link);
    const std::string name = draw.value("switch");
    const bool is_file = name.find('/') != std::string::npos;
    const std::string_view kind = draw.one_of({"rows", "by-worker", "by-rail", "random"});
    std::ofstream out(is_file ? name : file, is_file ? std::ios::app : std::ios::trunc);
    if (!is_file) {
        out << fmt::format("base = \"{}\"\n[topology]\nnics = {}\n", name.empty() ? "shallow" : name,
                           kind == "by-rail" ? 2 : draw.number(1, 2))
            << (fluid ? fluid_fabric(draw) : std::string{});
        draw.remove("switch");
        draw.add("switch", "{}", file);
    }
    out << fmt::format("[placement]\nkind = \"{}\"\nscheduler-shares = {}\nmemory-rate = \"{}Mb/s\"\n",
                       kind == "by-rail" && is_file ? "by-worker" : kind, draw.one_in(2),
                       draw.number(1, 10000));
    if (kind != "by-rail") {
        out << fmt::format("per-host = {}\n", draw.number(1, 3));
    }
}

}  // namespace weir::explorer
