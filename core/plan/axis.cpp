#include "core/plan/axis.h"

namespace plumbline {

std::string_view to_text(Axis axis) {
  switch (axis) {
    case Axis::tensor: return "tensor";
    case Axis::context: return "context";
    case Axis::data: return "data";
    case Axis::gradient: return "gradient";
    case Axis::shard: return "shard";
    case Axis::replicate: return "replicate";
    case Axis::pipeline: return "pipeline";
    case Axis::expert: return "expert";
    case Axis::expert_tensor: return "expert_tensor";
    case Axis::expert_gradient: return "expert_gradient";
    case Axis::secondary_shard: return "secondary_shard";
  }
  return "";
}

}  // namespace plumbline
