#include "runtime/execution/gradient_reductions.h"

#include <algorithm>

namespace plumbline {
namespace {

/// Of one micro-batch's gradients, in its pass or, where a long backward leaves a part, at the step's end.
bool is_scatter(const Action& a) {
  return a.kind == ActionKind::reduce_gradients && (a.pass != Pass::step || a.micro_batch >= 0);
}

}  // namespace

void GradientReductions::begin_step() {
  unscattered_.clear();
  unreduced_.clear();
  scatter_credit_ = reduce_credit_ = scatters_to_come_ = Bytes(0);
  for (const Action& a : rank_.actions)
    if (is_scatter(a)) scatters_to_come_ += a.bytes;
}

/// There are two buffers for whole gradients: this unit's and one that waits.
void GradientReductions::open(std::int32_t unit) {
  scatter_early(1);
  parameters_.open_gradients(unit);
}

void GradientReductions::run(const Action& action) {
  if (action.barrier == Barrier::gradients) return parameters_.reduce_tied();
  is_scatter(action) ? scatter(action) : reduce(action);
}

void GradientReductions::scatter_first() {
  const std::int32_t unit = unscattered_.front();
  scatter_credit_ -= parameters_.scatter_bytes(unit);
  parameters_.scatter(unit);
  unscattered_.erase(unscattered_.begin());
}

void GradientReductions::scatter_early(std::size_t most_waiting) {
  while (unscattered_.size() > most_waiting &&
         parameters_.scatter_bytes(unscattered_.front()) <= scatter_credit_ + scatters_to_come_ + rounding_)
    scatter_first();
}

void GradientReductions::scatter(const Action& action) {
  scatter_credit_ += action.bytes;
  scatters_to_come_ -= action.bytes;
  while (!unscattered_.empty() && parameters_.scatter_bytes(unscattered_.front()) <= scatter_credit_ + rounding_)
    scatter_first();
  if (!releases(action)) return;
  scatter_early(0);
  parameters_.release_gradients();
  unscattered_.clear();
  scatter_credit_ = std::min(Bytes(0), scatter_credit_);
}

void GradientReductions::reduce(const Action& action) {
  reduce_credit_ += action.bytes;
  while (!unreduced_.empty()) {
    const std::int32_t unit = unreduced_.front();
    const Bytes needs = parameters_.reduce_bytes(unit);
    if (needs > reduce_credit_ + rounding_) return;
    reduce_credit_ -= needs;
    parameters_.reduce(unit);
    unreduced_.erase(unreduced_.begin());
  }
}

bool GradientReductions::releases(const Action& action) const {
  for (std::int32_t u = action.first_use; u < action.first_use + action.uses; ++u)
    if (rank_.uses[static_cast<std::size_t>(u)].access == Access::release) return true;
  return false;
}

}  // namespace plumbline
