// What ranks hand in at the end, against arbitrary bytes: accounts, and the text of a host's counters.
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz_input.hpp"
#include "participant/rank_node.hpp"
#include "record/host_counters.hpp"

using namespace weir;

namespace {

void read_host(std::string_view text) {
    if (const auto host = record::decode_host(text)) {
        const auto json = record::host_json(*host);
        const auto again = record::decode_host(record::encode_host(*host));
        fuzz::demand(again.has_value() && record::host_json(*again).dump() == json.dump(),
                     "a host that reads as another than was written");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::FuzzInput input(data, size);
    const bool host = input.below(2) == 1;
    const auto bytes = input.take_rest();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (host) {
        read_host(text);
    } else if (const auto account = participant::decode_account(bytes)) {
        fuzz::demand(participant::encode_account(*account).size() == bytes.size(),
                     "an account that is another when written again");
        for (const show::FaultRecord& fault : account->faults) {
            fuzz::demand(!show::fault_text(fault).empty(), "a fault of which nothing can be said");
        }
        (void)record::digest(account->latencies);
        read_host(account->host_counters);
    }
    return 0;
}
