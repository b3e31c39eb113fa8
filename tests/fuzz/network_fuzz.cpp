// Whatever the bytes: a network file is refused with a one-line InputError, or becomes a graph that can be counted.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "models/network_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const plumbline::Json json = plumbline::parse_json(text, "input");
    const plumbline::Network network = plumbline::read_network(plumbline::JsonPlace(json, "input"), "network");
    const std::int64_t parameters = plumbline::parameter_count(network.graph);
    require(parameters > 0 && plumbline::active_parameter_count(network.graph) <= parameters);
  } catch (const plumbline::InputError& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos && message.size() < 10'000);
  }
  return 0;
}
