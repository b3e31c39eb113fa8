#include "runtime/execution/gradient_reductions.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw InternalError(what + "; the weights would be wrong, and no step is taken");
}

}  // namespace

GradientReductions::GradientReductions(GradientSums& gradients, const RankProgram& rank, std::size_t executions)
    : gradients_(gradients),
      rank_(rank),
      trained_units_(rank.chunks.size()),
      chunk_of_(executions, -1),
      waits_for_reduction_(executions) {
  for (std::size_t chunk = 0; chunk < rank.chunks.size(); ++chunk)
    for (const Segment& segment : rank.chunks[chunk]) {
      const auto execution = static_cast<std::size_t>(segment.first);
      chunk_of_[execution] = static_cast<std::int32_t>(chunk);
      const bool names_unit = gradients.layout().unit_of[execution] == segment.first;
      if (names_unit && is_trained(segment.first)) trained_units_[chunk].push_back(segment.first);
    }
}

void GradientReductions::begin_step() {
  unscattered_.clear();
  std::fill(waits_for_reduction_.begin(), waits_for_reduction_.end(), false);
  has_summed_partial_ = has_summed_tied_ = false;
}

void GradientReductions::open(std::int32_t execution, UnitSlot slot) {
  if (slot == UnitSlot::of_chunk) {
    const auto chunk = static_cast<std::size_t>(chunk_of_[static_cast<std::size_t>(execution)]);
    return gradients_.open_chunk(trained_units_[chunk]);
  }
  const std::int32_t unit = gradients_.layout().unit_of[static_cast<std::size_t>(execution)];
  if (unscattered_.size() > 1) fail_unscattered();  // whose buffer this is
  gradients_.open(unit, slot);
}

void GradientReductions::run(const Action& action) {
  const bool is_of_step = std::get<GradientReduction>(action.what).of == GradientsOf::step;
  is_of_step ? reduce(action) : scatter(action);
}

void GradientReductions::run_tied() {
  gradients_.reduce_tied();
  has_summed_tied_ = true;
}

void GradientReductions::run_partial() {
  gradients_.reduce_partial();
  has_summed_partial_ = true;
}

void GradientReductions::scatter(const Action& action) {
  for (const std::int32_t unit : units_of(action, rank_)) {
    if (!is_trained(unit)) continue;
    const auto waiting = std::find(unscattered_.begin(), unscattered_.end(), unit);
    check(waiting != unscattered_.end(), "gradients are made before they are scattered");
    gradients_.scatter(unit);
    unscattered_.erase(waiting);
  }
  if (releases(action)) release(action);
}

void GradientReductions::release(const Action& action) {
  const std::vector<std::int32_t>& units = trained_units_[static_cast<std::size_t>(action.chunk)];
  const auto is_left = [&](std::int32_t unit) { return is_unscattered(unit); };
  const bool is_of_chunk = !units.empty() && gradients_.keeps_chunk(units);
  if (is_of_chunk ? std::any_of(units.begin(), units.end(), is_left) : !unscattered_.empty()) fail_unscattered();
  if (is_of_chunk)
    gradients_.release_chunk(units);
  else
    gradients_.release();
}

void GradientReductions::reduce(const Action& action) {
  for (const std::int32_t unit : units_of(action, rank_)) {
    check(waits(unit), "gradients are all made before they are reduced, once a step");
    gradients_.reduce(unit);
    waits(unit) = false;
  }
}

void GradientReductions::fail_unscattered() const {
  fail("no action scatters the gradients of " + name(unscattered_.front()) + " over the ranks that share them");
}

void GradientReductions::require_complete() const {
  if (!unscattered_.empty()) fail_unscattered();
  for (std::int32_t unit = 0; unit < std::ssize(waits_for_reduction_); ++unit)
    if (waits_for_reduction_[static_cast<std::size_t>(unit)] && gradients_.is_reduced(unit))
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
