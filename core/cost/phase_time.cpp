// Sums of what blocks take.
#include "core/cost/block_cost.h"
#include "core/cost/time_limits.h"

namespace plumbline {

PhaseTime& PhaseTime::operator+=(const PhaseTime& other) {
  add_phase(compute, other.compute);
  add_phase(tensor_parallel, other.tensor_parallel);
  add_phase(context_parallel, other.context_parallel);
  add_phase(expert_parallel, other.expert_parallel);
  return *this;
}

}  // namespace plumbline
