#include "planner/frameworks/launch/network_layers.h"

#include "core/base/errors.h"
#include "core/plan/stage_split.h"
#include "models/network_catalog.h"

namespace plumbline {

std::optional<std::int64_t> known_layers(const LaunchSettings& settings) {
  if (const Json* const layers = settings.network_config.find("num_hidden_layers"))
    if (layers->if_integer() != nullptr) return *layers->if_integer();
  if (settings.model.empty()) return std::nullopt;
  try {
    return find_network(settings.model).graph.layer_count();
  } catch (const InputError&) {
    return std::nullopt;  // a name that only its framework knows
  }
}

std::vector<std::int32_t> even_split(std::int64_t layers, std::int64_t chunks) {
  std::vector<std::int32_t> result;
  for (const std::int64_t count : layers_per_chunk(layers, chunks, true, true))
    result.push_back(static_cast<std::int32_t>(count));
  return result;
}

}  // namespace plumbline
