#include "planner/checkpointing/named_modes.h"

namespace plumbline {

std::vector<Recompute> named_modes(std::int64_t layers) {
  std::vector<Recompute> modes{{RecomputeMode::none, 1},
                               {RecomputeMode::selective, 1},
                               {RecomputeMode::by_operator, 1},
                               {RecomputeMode::full, 1}};
  for (std::int32_t n = 2; n <= layers; ++n) modes.push_back({RecomputeMode::every_nth, n});
  return modes;
}

}  // namespace plumbline
