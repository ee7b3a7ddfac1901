// The least code that sends and receives UDP datagrams over the loopback interface as fast as sendmmsg and
// recvmmsg do: two processes, one socket each, nothing in the datagrams, nothing counted but datagrams and
// bytes. What weir's transport `datagram` is measured against.
//
// Like weir: datagrams come out of memory of --buffer bytes, used in turn; they are received into a ring of a
// batch; sockets are not connected; who waits for the other or for its rate yields. Equal datagrams are
// handed over as one message (UDP_SEGMENT) unless --segment 0; with --gro 1 the kernel may give them to the
// receiver as one, too (UDP_GRO), which weir does not use.
//
//   datagrams --size 1472 --seconds 3 [--rate DATAGRAMS/S] [--batch 64] [--buffer BYTES] [--socket-buffer
//   BYTES]
//             [--segment 0|1] [--gro 0|1] [--window DATAGRAMS]
//
// With --window the sender waits while so many are sent and not received (by memory that both see, so at no
// cost to speak of), as weir's producers wait for credit. Without it a receiver that is slower, or has to
// share its core, is overrun, and much of the time goes into datagrams that are dropped.
//
// Prints one JSON object.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t message_most_bytes = 65507;
constexpr std::size_t segments_limit = 64;
/// So long after the last datagram nothing more can be on its way.
constexpr std::chrono::milliseconds silence{100};

struct Options {
    std::size_t size = 0;
    std::size_t batch = 0;
    std::size_t buffer = 0;
    std::size_t socket_buffer = 0;
    std::uint64_t window = 0;  ///< 0: none
    double seconds = 0;
    double rate = 0;
    bool segment = false;
    bool gro = false;
};

struct Counts {
    std::uint64_t datagrams = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;
    double cpu_seconds = 0;
};

/// What the two processes share.
struct Shared {
    std::atomic<bool> receiving = false;
    std::atomic<bool> sent_all = false;
    std::atomic<std::uint64_t> received = 0;
    Counts sender;
    Counts receiver;
};

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

Options parse(int argc, char** argv) {
    std::map<std::string, double> values{{"--size", 1472},       {"--batch", 64},  {"--buffer", 64 << 20},
                                         {"--socket-buffer", 0}, {"--seconds", 3}, {"--rate", 0},
                                         {"--segment", 1},       {"--window", 0},  {"--gro", 0}};
    bool understood = argc % 2 == 1;
    for (int i = 1; understood && i < argc; i += 2) {
        understood = values.contains(argv[i]);
        values[argv[i]] = std::strtod(argv[i + 1], nullptr);
    }
    const auto count = [&values](const char* name) { return static_cast<std::size_t>(values[name]); };
    const Options options{.size = count("--size"),
                          .batch = count("--batch"),
                          .buffer = count("--buffer"),
                          .socket_buffer = count("--socket-buffer"),
                          .window = count("--window"),
                          .seconds = values["--seconds"],
                          .rate = values["--rate"],
                          .segment = count("--segment") != 0,
                          .gro = count("--gro") != 0};
    if (!understood || options.size == 0 || options.size > message_most_bytes || options.batch == 0) {
        std::fputs("datagrams: options come with a number each; see the head of datagrams.cpp\n", stderr);
        std::exit(2);
    }
    return options;
}

int open_socket(const Options& options, sockaddr_in& name) {
    const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP);
    socklen_t length = sizeof(name);
    name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (descriptor < 0 || bind(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 ||
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &length) != 0) {
        fail("opening a UDP socket");
    }
    const int asked = static_cast<int>(options.socket_buffer);
    if (asked > 0 && (setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &asked, sizeof(asked)) != 0 ||
                      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &asked, sizeof(asked)) != 0)) {
        fail("setting the socket's buffers");
    }
    return descriptor;
}

double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double to_seconds(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

/// The kernel makes datagrams of this size out of the message.
void let_it_be_cut(msghdr& message, std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))>& control,
                   std::uint16_t bytes) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const segment = CMSG_FIRSTHDR(&message);
    segment->cmsg_level = SOL_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof(bytes));
    std::memcpy(CMSG_DATA(segment), &bytes, sizeof(bytes));
}

/// Datagrams that the window lets go. What has not come for so long is lost.
std::uint64_t room(const Options& options, const Counts& sent, const Shared& shared) {
    static std::uint64_t lost = 0;
    static std::uint64_t latest = 0;
    static double latest_at = 0;
    const std::uint64_t received = shared.received.load(std::memory_order_relaxed);
    if (received != latest) {
        latest = received;
        latest_at = sent.seconds;
    } else if (sent.seconds - latest_at > to_seconds(silence)) {
        lost = sent.datagrams - received;
        latest_at = sent.seconds;
    }
    const std::uint64_t under_way = sent.datagrams - std::min(sent.datagrams, received + lost);
    return options.window - std::min(options.window, under_way);
}

void send_datagrams(const Options& options, int descriptor, sockaddr_in to, Shared& shared) {
    // Each datagram begins a cache line, as in weir.
    const std::size_t stride = (options.size + 63) / 64 * 64;
    const std::size_t slots = std::max(options.buffer / stride, options.batch);
    std::vector<std::byte> memory(slots * stride, std::byte{0x5a});
    const std::size_t joined =
        options.segment ? std::clamp(message_most_bytes / options.size, std::size_t{1}, segments_limit) : 1;
    std::vector<iovec> parts(options.batch);
    std::vector<mmsghdr> messages(options.batch);
    std::vector<std::array<std::byte, CMSG_SPACE(sizeof(std::uint16_t))>> controls(options.batch);

    while (!shared.receiving) {
        if (waitpid(-1, nullptr, WNOHANG) != 0) {
            fail("waiting for the receiver");
        }
        usleep(1000);
    }
    Counts& counts = shared.sender;
    const double cpu_before = cpu_seconds();
    const auto start = Clock::now();
    std::size_t slot = 0;
    for (; counts.seconds < options.seconds; counts.seconds = to_seconds(Clock::now() - start)) {
        std::size_t wanted = options.batch;
        if (options.rate > 0) {
            const auto due = static_cast<std::uint64_t>(options.rate * counts.seconds);
            wanted = std::min(wanted, due - std::min(due, counts.datagrams));
        }
        if (options.window > 0) {
            wanted = std::min<std::uint64_t>(wanted, room(options, counts, shared));
        }
        if (wanted == 0) {
            sched_yield();
            continue;
        }
        std::size_t count = 0;
        for (std::size_t first = 0; first < wanted; first += joined, ++count) {
            const std::size_t here = std::min(joined, wanted - first);
            for (std::size_t i = first; i < first + here; ++i) {
                parts[i] = {memory.data() + (slot + i) % slots * stride, options.size};
            }
            msghdr& header = messages[count].msg_hdr;
            header = {};
            header.msg_name = &to;
            header.msg_namelen = sizeof(to);
            header.msg_iov = &parts[first];
            header.msg_iovlen = here;
            if (here > 1) {
                let_it_be_cut(header, controls[count], static_cast<std::uint16_t>(options.size));
            }
        }
        const int taken = sendmmsg(descriptor, messages.data(), static_cast<unsigned>(count), 0);
        if (taken < 0 && errno != EAGAIN && errno != ENOBUFS) {
            fail("sendmmsg");
        }
        for (int message = 0; message < taken; ++message) {
            const std::size_t datagrams = messages[static_cast<std::size_t>(message)].msg_hdr.msg_iovlen;
            counts.datagrams += datagrams;
            slot = (slot + datagrams) % slots;
        }
    }
    counts.bytes = counts.datagrams * options.size;
    counts.cpu_seconds = cpu_seconds() - cpu_before;
    shared.sent_all = true;
}

void receive_datagrams(const Options& options, int descriptor, Shared& shared) {
    const std::size_t stride = options.gro ? 65536 : (options.size + 64) / 64 * 64;
    std::vector<std::byte> memory(options.batch * stride, std::byte{1});
    std::vector<sockaddr_in> names(options.batch);
    std::vector<iovec> parts(options.batch);
    std::vector<mmsghdr> messages(options.batch);
    Counts& counts = shared.receiver;
    const double cpu_before = cpu_seconds();
    const auto start = Clock::now();
    auto latest = start;
    shared.receiving = true;
    while (true) {
        for (std::size_t i = 0; i < options.batch; ++i) {
            parts[i] = {memory.data() + i * stride, stride};
            messages[i].msg_hdr = {};
            messages[i].msg_hdr.msg_name = &names[i];
            messages[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
            messages[i].msg_hdr.msg_iov = &parts[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        const int taken =
            recvmmsg(descriptor, messages.data(), static_cast<unsigned>(options.batch), 0, nullptr);
        if (taken > 0) {
            latest = Clock::now();
            for (int i = 0; i < taken; ++i) {
                const std::size_t bytes = messages[static_cast<std::size_t>(i)].msg_len;
                counts.bytes += bytes;
                counts.datagrams += (bytes + options.size - 1) / options.size;
            }
            shared.received.store(counts.datagrams, std::memory_order_relaxed);
        } else if (errno != EAGAIN) {
            fail("recvmmsg");
        } else if (shared.sent_all && Clock::now() - latest > silence) {
            break;
        } else {
            sched_yield();
        }
    }
    counts.seconds = std::max(to_seconds(latest - start), 1e-9);
    counts.cpu_seconds = cpu_seconds() - cpu_before;
}

void print(const char* name, const Counts& counts) {
    const auto datagrams = static_cast<double>(counts.datagrams);
    const auto bytes = static_cast<double>(counts.bytes);
    std::printf(
        "\"%s\": {\"datagrams\": %.0f, \"bytes\": %.0f, \"seconds\": %.6f, \"datagrams_per_s\": %.1f, "
        "\"bytes_per_s\": %.1f, \"cpu_seconds\": %.3f}, ",
        name, datagrams, bytes, counts.seconds, datagrams / counts.seconds, bytes / counts.seconds,
        counts.cpu_seconds);
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fail("mmap");
    }
    auto* const shared = new (memory) Shared;
    sockaddr_in from{};
    sockaddr_in to{};
    const int sender = open_socket(options, from);
    const int receiver = open_socket(options, to);
    const int on = 1;
    if (options.gro && setsockopt(receiver, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) != 0) {
        fail("setting UDP_GRO");
    }
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        receive_datagrams(options, receiver, *shared);
        std::_Exit(0);
    }
    if (child < 0) {
        fail("fork");
    }
    send_datagrams(options, sender, to, *shared);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        std::fputs("datagrams: the receiver failed\n", stderr);
        return 1;
    }
    std::printf("{\"size\": %zu, ", options.size);
    print("sender", shared->sender);
    print("receiver", shared->receiver);
    std::printf("\"lost\": %llu}\n",
                static_cast<unsigned long long>(shared->sender.datagrams - shared->receiver.datagrams));
    return 0;
}
