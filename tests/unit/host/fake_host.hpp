// A host for the tests: a tree of files that stand for the kernel's, and answers that stand for its calls.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "host/kernel_calls.hpp"
#include "temporary_directory.hpp"

namespace weir::host::test {

class FakeTree {
  public:
    [[nodiscard]] std::string root() const { return root_.path().string(); }

    void write(const std::string& path, const std::string& text) const { root_.write(path, text); }
    void remove(const std::string& path) const { std::filesystem::remove_all(root_ / path); }

    void interface(const std::string& name, const std::string& state = "up", int type = 1) const {
        write("sys/class/net/" + name + "/operstate", state + "\n");
        write("sys/class/net/" + name + "/type", std::to_string(type) + "\n");
    }
    void statistic(const std::string& interface, const std::string& name, std::uint64_t value) const {
        write("sys/class/net/" + interface + "/statistics/" + name, std::to_string(value) + "\n");
    }
    void port(const std::string& device, const std::string& number = "1",
              const std::string& state = "4: ACTIVE") const {
        write("sys/class/infiniband/" + device + "/ports/" + number + "/state", state + "\n");
    }
    /// `file`: "hw_counters/np_cnp_sent"
    void port_counter(const std::string& device, const std::string& file, const std::string& value,
                      const std::string& number = "1") const {
        write("sys/class/infiniband/" + device + "/ports/" + number + "/" + file, value + "\n");
    }
    void driver(const std::string& device, const std::string& name) const {
        link_driver("sys/class/infiniband/" + device, name);
    }
    void driver_of_interface(const std::string& interface, const std::string& name) const {
        link_driver("sys/class/net/" + interface, name);
    }

  private:
    void link_driver(const std::string& directory, const std::string& name) const {
        const auto link = root_ / directory / "device";
        std::filesystem::create_directories(link);
        std::filesystem::create_directory_symlink("../../../../bus/pci/drivers/" + name, link / "driver");
    }

    TemporaryDirectory root_;
};

class FakeCalls final : public KernelCalls {
  public:
    std::map<std::string, std::vector<std::string>> names;
    std::map<std::string, std::vector<std::uint64_t>> values;
    std::vector<QueueStatistics> queues;

    std::vector<std::string> driver_counter_names(const std::string& interface) override {
        return names[interface];
    }
    std::vector<std::uint64_t> driver_counters(const std::string& interface) override {
        return values[interface];
    }
    std::vector<QueueStatistics> root_queues() override { return queues; }
};

}  // namespace weir::host::test
