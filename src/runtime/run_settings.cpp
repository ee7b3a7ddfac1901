#include "runtime/run_settings.hpp"

#include <utility>

namespace weir::runtime {

void RunSettings::set_places(std::vector<Place> by_rank) {
    places = std::move(by_rank);
    rank_places.clear();
    for (const Place& place : places) {
        rank_places.push_back({place.host, place.pid, cpu_list_text(place.cpus)});
    }
}

}  // namespace weir::runtime
