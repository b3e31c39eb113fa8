// Whatever the bytes: a network file is refused with a one-line InputError, or becomes a graph that can be counted.
#include "core/graph/parameter_count.h"
#include "models/network_file.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_accepted_or_refused([&] {
    const Json json = parse_json(text_of(data, size), "input");
    const Network network = read_network(JsonPlace(json, "input"), "network");
    const std::int64_t parameters = parameter_count(network.graph);
    require(parameters > 0 && active_parameter_count(network.graph) <= parameters);
  });
  return 0;
}
