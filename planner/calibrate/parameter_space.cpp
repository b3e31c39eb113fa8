#include "planner/calibrate/parameter_space.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/errors.h"
#include "core/cost/calibration_fields.h"
#include "models/calibration_numbers.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

/// How far a number is moved to see what it decides, and below which nothing has moved.
constexpr double probe = 0.02;
constexpr double unmoved = 1e-9;
/// How far a number is moved to see whether a run depends on it at all, beyond the kinks that a fit may cross.
constexpr double far_probe = 0.5;

std::vector<double> values(Calibration calibration) {
  std::vector<double> result;
  for (const Coefficient* coefficient : all_coefficients(calibration)) result.push_back(coefficient->value);
  return result;
}

}  // namespace

std::vector<Coefficient*> all_coefficients(Calibration& calibration) {
  std::vector<Coefficient*> result;
  for (ProductEfficiency& product : calibration.device.products) {
    result.push_back(&product.peak_fraction);
    result.push_back(&product.half_depth);
  }
  for (const auto& field : device_fields) result.push_back(&field.of(calibration.device));
  for (const auto& field : stack_fields) result.push_back(&field.of(calibration.stack));
  return result;
}

ParameterSpace::ParameterSpace(const CalibrationSet& set, const PriorTable& priors, std::span<const FitRun> runs)
    : base_(set), runs_(runs) {
  std::map<std::string, const FitRun*> kinds;
  for (const FitRun& run : runs) kinds.emplace(key(run), &run);
  for (const auto& [name, run] : kinds) give_own_numbers(priors, run->stack);
  std::set<ParameterId> wanted;
  for (const auto& [name, run] : kinds)
    for (const ParameterId& id : parameters_of(base_, run->device, run->stack)) add_with_centres(id, priors, wanted);
  for (const ParameterId& id : wanted) add_unknown(id, *prior_of(priors, id));
  add_terms(priors);
  for (std::size_t u = 0; u < ids_.size(); ++u) {
    Coefficient start = base_.at(ids_[u]);
    start.value = std::exp(unknowns_[u].start);
    base_.set(ids_[u], start);
  }
  for (const auto& [name, run] : kinds) bindings_.emplace(name, bound(run->device, run->stack));
  find_active(runs);
  runs_ = {};
}

void ParameterSpace::find_active(std::span<const FitRun> runs) {
  std::vector<std::vector<std::uint32_t>> found(runs.size());
  parallel_for(runs.size(), thread_count(0), [&](std::size_t i) { found[i] = active(runs[i]); });
  for (std::size_t i = 0; i < runs.size(); ++i) active_.emplace(name(runs[i]), std::move(found[i]));
}

std::vector<std::uint32_t> ParameterSpace::active(const FitRun& run) const {
  std::set<std::uint32_t> bound;
  for (const Effect& effect : bindings_.at(key(run)).effects) bound.insert(effect.unknown);
  std::vector<double> at;
  for (const FitUnknown& unknown : unknowns_) at.push_back(unknown.start);
  const double before = log_step(run, at);
  std::vector<std::uint32_t> result;
  for (const std::uint32_t u : bound) {
    const double start = at[u];
    const auto moves = [&](double by) {
      at[u] = start + by;
      const bool moved = log_step(run, at) != before;
      at[u] = start;
      return moved;
    };
    if (moves(far_probe) || moves(-far_probe)) result.push_back(u);
  }
  return result;
}

void ParameterSpace::give_own_numbers(const PriorTable& priors, const std::string& stack) {
  const std::string name = base_.software_stack(without_choices(stack)).name;
  for (const ParameterPrior& prior : priors) {
    if (!prior.around) continue;
    const ParameterId own = prior.around->with_stack(name);
    if (prior_of(priors, own) == &prior && !base_.has(own)) base_.set(own, base_.at(*prior.around));
  }
}

std::optional<ParameterId> ParameterSpace::centre_of(const ParameterId& id, const ParameterPrior& prior) const {
  if (!prior.around || *prior.around == id) return std::nullopt;
  if (id.kind != ParameterKind::stack) return prior.around;
  const std::string parent = base_.software_stack(id.owner).like;
  const ParameterId of_parent = id.with_stack(parent);
  return !parent.empty() && base_.has(of_parent) ? of_parent : prior.around;
}

void ParameterSpace::add_with_centres(const ParameterId& id, const PriorTable& priors,
                                      std::set<ParameterId>& wanted) const {
  if (base_.at(id).value <= 0) return;  // switched off: it has no logarithm
  const ParameterPrior* prior = prior_of(priors, id);
  if (prior == nullptr) return;
  wanted.insert(id);
  const auto centre = centre_of(id, *prior);
  if (!centre) return;
  if (prior_of(priors, *centre) == nullptr)
    throw InputError(
        {"priors", to_text(*centre) + " has none, but others lie around it", "an entry that matches it", ""});
  add_with_centres(*centre, priors, wanted);
}

void ParameterSpace::add_unknown(const ParameterId& id, const ParameterPrior& prior) {
  index_.emplace(id, static_cast<std::uint32_t>(ids_.size()));
  ids_.push_back(id);
  const auto [least, most] = range_of(id).value();
  FitUnknown unknown;
  unknown.start = std::log(prior.value);
  const double smallest = std::max(least, prior.smallest.value_or(0));
  if (smallest > 0) unknown.smallest = std::log(smallest);
  unknown.largest = std::log(std::min(most, prior.largest.value_or(most)));
  unknowns_.push_back(unknown);
}

void ParameterSpace::add_terms(const PriorTable& priors) {
  for (std::uint32_t u = 0; u < ids_.size(); ++u) {
    const ParameterPrior& prior = *prior_of(priors, ids_[u]);
    PriorTerm term{u, std::nullopt, std::log(prior.value), prior.relative_sigma};
    if (const auto centre = centre_of(ids_[u], prior)) term.centre = index_.at(*centre);
    terms_.push_back(term);
  }
  for (const PriorTerm& term : terms_) {
    double start = term.mean;
    for (auto centre = term.centre; centre; centre = terms_[*centre].centre) start += terms_[*centre].mean;
    FitUnknown& unknown = unknowns_[term.unknown];
    unknown.start = std::clamp(start, unknown.smallest, unknown.largest);
  }
}

double ParameterSpace::prior_sigma(std::size_t unknown) const {
  double sigma = terms_[unknown].sigma;
  for (auto centre = terms_[unknown].centre; centre; centre = terms_[*centre].centre)
    sigma = std::hypot(sigma, terms_[*centre].sigma);
  return sigma;
}

void ParameterSpace::require_no_leak(const ParameterId& id, const Device& device, const std::string& stack) const {
  Coefficient coefficient = base_.at(id);
  if (coefficient.kind != "fitted" || coefficient.value <= 0) return;
  CalibrationSet moved = base_;
  coefficient.value *= 1 - probe;
  moved.set(id, coefficient);
  const Calibration before = base_.of(device, stack);
  const Calibration after = moved.of(device, stack);
  for (const FitRun& run : runs_)
    if (run.device.name == device.name && run.stack == stack && run.pricer.step_s(before) != run.pricer.step_s(after))
      throw InputError({"priors", to_text(id) + " was fitted before, decides run " + run.id + " and has no prior",
                        "an entry that matches it", ""});
}

ParameterSpace::Binding ParameterSpace::bound(const Device& device, const std::string& stack) const {
  Binding binding{without_sources(base_.of(device, stack)), {}};
  const std::vector<double> before = values(binding.calibration);
  for (const ParameterId& id : parameters_of(base_, device, stack)) {
    const auto found = index_.find(id);
    if (found == index_.end()) {
      require_no_leak(id, device, stack);
      continue;
    }
    const FitUnknown& unknown = unknowns_[found->second];
    const double move = unknown.start + probe <= unknown.largest ? probe : -probe;
    CalibrationSet moved = base_;
    Coefficient coefficient = base_.at(id);
    coefficient.value = std::exp(unknown.start + move);
    moved.set(id, coefficient);
    const std::vector<double> after = values(moved.of(device, stack));
    for (std::size_t c = 0; c < before.size(); ++c)
      if (before[c] > 0 && std::abs(after[c] / before[c] - 1) > unmoved)
        binding.effects.push_back({found->second, c, std::log(after[c] / before[c]) / move});
  }
  return binding;
}

std::vector<std::uint32_t> ParameterSpace::unknowns_of(const FitRun& run) const {
  const auto found = active_.find(name(run));
  return found == active_.end() ? active(run) : found->second;
}

Calibration ParameterSpace::calibration(const FitRun& run, std::span<const double> unknowns) const {
  const Binding& binding = bindings_.at(key(run));
  Calibration calibration = binding.calibration;
  const std::vector<Coefficient*> coefficients = all_coefficients(calibration);
  for (const Effect& effect : binding.effects)
    coefficients[effect.coefficient]->value *=
        std::exp(effect.elasticity * (unknowns[effect.unknown] - unknowns_[effect.unknown].start));
  return calibration;
}

double ParameterSpace::log_step(const FitRun& run, std::span<const double> unknowns) const {
  return std::log(run.pricer.step_s(calibration(run, unknowns)));
}

}  // namespace plumbline
