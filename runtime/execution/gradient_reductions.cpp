#include "runtime/execution/gradient_reductions.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Of one micro-batch's gradients, in its pass or, where a long backward leaves a part, at the step's end.
bool is_scatter(const Action& a) {
  return a.kind == ActionKind::reduce_gradients && (a.pass != Pass::step || a.micro_batch >= 0);
}

[[noreturn]] void fail(const std::string& what) {
  throw InternalError(what + "; the weights would be wrong, and no step is taken");
}

}  // namespace

GradientReductions::GradientReductions(GradientSums& gradients, const RankProgram& rank, std::size_t executions)
    : gradients_(gradients), rank_(rank), units_(executions) {}

void GradientReductions::begin_step() {
  unscattered_.clear();
  std::fill(units_.begin(), units_.end(), OfUnit{});
  has_summed_partial_ = has_summed_tied_ = false;
  for (const Action& a : rank_.actions)
    if (is_scatter(a))
      for (const std::int32_t unit : units_of(a, rank_)) ++of(unit).scatters_to_come;
}

/// Whole gradients have two buffers: this unit's, and that of one unit whose reduction has not run yet. The head of a
/// tied embedding adds to the embedding's gradients, of which there is one buffer; what an earlier pass left there is
/// reduced first.
void GradientReductions::open(std::int32_t unit, UnitSlot slot) {
  scatter_early(unit == gradients_.layout().staying_for ? 0 : 1);
  gradients_.open(unit, slot);
}

void GradientReductions::run(const Action& action) {
  if (action.barrier == Barrier::gradients) {
    gradients_.reduce_tied();
    has_summed_tied_ = true;
  } else if (is_scatter(action)) {
    scatter(action);
  } else {
    reduce(action);
  }
}

void GradientReductions::run_partial() {
  gradients_.reduce_partial();
  has_summed_partial_ = true;
}

void GradientReductions::scatter_waiting(std::vector<std::int32_t>::iterator unit) {
  gradients_.scatter(*unit);
  unscattered_.erase(unit);
}

void GradientReductions::scatter_early(std::size_t most_waiting) {
  while (unscattered_.size() > most_waiting) scatter_early(unscattered_.begin());
}

void GradientReductions::scatter_early(std::vector<std::int32_t>::iterator unit) {
  if (of(*unit).scatters_to_come <= of(*unit).scattered_early)
    fail("no action scatters the gradients of " + name(*unit) + " over the ranks that share them");
  ++of(*unit).scattered_early;
  gradients_.wait_for_passes();
  scatter_waiting(unit);
}

void GradientReductions::scatter(const Action& action) {
  for (const std::int32_t unit : units_of(action, rank_)) {
    --of(unit).scatters_to_come;
    if (of(unit).scattered_early > 0) {
      --of(unit).scattered_early;
      continue;
    }
    const auto waiting = std::find(unscattered_.begin(), unscattered_.end(), unit);
    check(waiting != unscattered_.end(), "gradients are made before they are scattered");
    scatter_waiting(waiting);
  }
  if (!releases(action)) return;
  scatter_early(0);
  gradients_.release();
}

void GradientReductions::reduce(const Action& action) {
  for (const std::int32_t unit : units_of(action, rank_)) {
    check(of(unit).waits_for_reduction, "gradients are all made before they are reduced, once a step");
    const auto waiting = std::find(unscattered_.begin(), unscattered_.end(), unit);
    if (waiting != unscattered_.end()) scatter_early(waiting);
    gradients_.reduce(unit);
    of(unit).waits_for_reduction = false;
  }
}

void GradientReductions::require_complete() const {
  if (!unscattered_.empty())
    fail("no action scatters the gradients of " + name(unscattered_.front()) + " over the ranks that share them");
  for (std::int32_t unit = 0; unit < std::ssize(units_); ++unit)
    if (units_[static_cast<std::size_t>(unit)].waits_for_reduction && gradients_.is_reduced(unit))
      fail("no action sums the gradients of " + name(unit) + " over data-parallel ranks");
  if (gradients_.has_partial() && !has_summed_partial_)
    fail("no action sums the gradients that each tensor-parallel rank makes from its own tokens");
  if (gradients_.has_tied_copy() && !has_summed_tied_)
    fail("no action sums the gradients of the tied embedding over both ends of the pipeline");
}

bool GradientReductions::releases(const Action& action) const {
  const std::span<const BufferUse> uses = uses_of(action, rank_);
  return std::any_of(uses.begin(), uses.end(), [](const BufferUse& use) { return use.access == Access::release; });
}

std::string GradientReductions::name(std::int32_t unit) const {
  return gradients_.layout().unit_names[static_cast<std::size_t>(unit)];
}

}  // namespace plumbline
