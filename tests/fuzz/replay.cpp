// Runs a harness without a fuzzer, so that tests/run needs no clang: every kept input, then mutations of them
// for some seconds. The same seed gives the same inputs, in the same order, on every machine. An input at
// which the process ends is left in the current directory, as `crash`.
//
//     fuzz_scheduler [--seconds 2] [--seed 1] FILE|DIRECTORY...
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "fuzz_input.hpp"

// The sanitizers have it, where the harness is built with them.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t longest_input = 131072;

Input running;
std::string running_name;

/// The process ends anyway: what allocates here does no further harm.
void keep_running_input() {
    std::ofstream("crash", std::ios::binary)
        .write(reinterpret_cast<const char*>(running.data()), static_cast<std::streamsize>(running.size()));
    std::fprintf(stderr, "ended at %s, which is kept as ./crash\n", running_name.c_str());
}

void run(const Input& input, const std::string& name) {
    running = input;
    running_name = name;
    LLVMFuzzerTestOneInput(running.data(), running.size());
}

Input read_input(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_in(const std::vector<std::string>& places) {
    std::vector<std::filesystem::path> files;
    for (const std::string& place : places) {
        if (std::filesystem::is_directory(place)) {
            for (const auto& entry : std::filesystem::directory_iterator(place)) {
                files.push_back(entry.path());
            }
        } else {
            files.emplace_back(place);
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

class Mutator {
  public:
    Mutator(const std::vector<Input>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed, 0) {}

    Input next() {
        Input input = corpus_[random_.below(corpus_.size())];
        for (std::uint64_t left = 1 + random_.below(8); left > 0; --left) {
            change(input);
        }
        input.resize(std::min(input.size(), longest_input));
        return input;
    }

  private:
    using Place = Input::const_iterator;

    Place place_in(const Input& input) {
        return input.begin() + static_cast<std::ptrdiff_t>(random_.below(input.size() + 1));
    }
    /// Up to `most` bytes behind `from`.
    Place up_to(std::uint64_t most, Place from, const Input& input) {
        const auto rest = static_cast<std::uint64_t>(input.end() - from);
        return from + static_cast<std::ptrdiff_t>(random_.below(std::min(rest, most) + 1));
    }

    /// A number at which arithmetic goes wrong.
    std::uint64_t telling_number() {
        const std::uint64_t power = std::uint64_t{1} << random_.below(64);
        switch (random_.below(4)) {
            case 0:
                return power;
            case 1:
                return power - 1;
            case 2:
                return ~power;
            default:
                return random_.below(8);
        }
    }

    void change(Input& input) {
        const Place at = place_in(input);
        switch (random_.below(6)) {
            case 0:
                overwrite(input, at, random_.next(), 1);
                break;
            case 1:
            case 2:
                overwrite(input, at, telling_number(), std::size_t{1} << random_.below(4));
                break;
            case 3:
                input.erase(at, up_to(64, at, input));
                break;
            case 4: {  // a part of another input
                const Input& other = corpus_[random_.below(corpus_.size())];
                const Place from = place_in(other);
                input.insert(at, from, up_to(256, from, other));
                break;
            }
            default: {  // a part of its own once more
                const Input again(at, up_to(64, at, input));
                input.insert(at, again.begin(), again.end());
            }
        }
    }

    static void overwrite(Input& input, Place at, std::uint64_t number, std::size_t bytes) {
        const auto rest = static_cast<std::size_t>(input.end() - at);
        if (const std::size_t length = std::min(rest, bytes); length > 0) {
            std::memcpy(input.data() + (at - input.begin()), &number, length);
        }
    }

    const std::vector<Input>& corpus_;
    weir::core::Random random_;
};

struct Wish {
    double seconds = 2;
    std::uint64_t seed = 1;
    std::vector<std::string> places;
};

Wish read_arguments(int argc, char** argv) {
    Wish wish;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--seconds" && i + 1 < argc) {
            wish.seconds = std::strtod(argv[++i], nullptr);
        } else if (argument == "--seed" && i + 1 < argc) {
            wish.seed = std::strtoull(argv[++i], nullptr, 10);
        } else {
            wish.places.push_back(argument);
        }
    }
    return wish;
}

}  // namespace

int main(int argc, char** argv) {
    using Clock = std::chrono::steady_clock;
    LLVMFuzzerInitialize(&argc, &argv);
    std::signal(SIGABRT, [](int) { keep_running_input(); });
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(keep_running_input);
    }
    const Wish wish = read_arguments(argc, argv);
    std::vector<Input> corpus;
    for (const auto& file : files_in(wish.places)) {
        corpus.push_back(read_input(file));
        run(corpus.back(), file.string());
    }
    if (corpus.empty()) {
        std::fprintf(stderr, "usage: %s [--seconds S] [--seed N] FILE|DIRECTORY...: no inputs found\n",
                     argv[0]);
        return 2;
    }
    Mutator mutator(corpus, wish.seed);
    std::uint64_t mutations = 0;
    const auto end = Clock::now() + std::chrono::duration<double>(wish.seconds);
    while (Clock::now() < end) {
        ++mutations;
        run(mutator.next(),
            "mutation " + std::to_string(mutations) + " of seed " + std::to_string(wish.seed));
    }
    std::printf("%zu kept inputs and %llu mutations of them\n", corpus.size(),
                static_cast<unsigned long long>(mutations));
    return 0;
}
