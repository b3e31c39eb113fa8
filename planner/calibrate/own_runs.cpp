#include "planner/calibrate/own_runs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/errors.h"
#include "planner/question/question.h"

namespace plumbline {
namespace {

/// The shipped interval counts as this many runs alongside those that were left out.
constexpr double runs_of_shipped_interval = 4;
/// Numbers that ship without uncertainty.
constexpr double least_residual_sigma = 0.01;
constexpr double shipped_sigma_unknown = 0.1;

/// One device kind and stack, else the first other.
void require_one_kind(const std::vector<FitRun>& runs) {
  if (runs.empty()) throw InputError({"--rows", "no run has a step time that can be predicted", "at least one", ""});
  for (const FitRun& run : runs) {
    if (run.device.name != runs.front().device.name)
      throw InputError({"--rows",
                        "run " + run.id + " is of " + run.device.name + ", run " + runs.front().id + " of " +
                            runs.front().device.name,
                        "runs of one device; --device chooses", ""});
    if (run.stack != runs.front().stack)
      throw InputError(
          {"--rows",
           "run " + run.id + " is of stack " + run.stack + ", run " + runs.front().id + " of " + runs.front().stack,
           "runs of one stack; --stack or --like says which", ""});
  }
}

bool is_shipped(const SoftwareStack& stack) {
  const std::vector<std::string> names = CalibrationSet::shipped().stack_names();
  return std::find(names.begin(), names.end(), stack.name) != names.end();
}

/// The shipped set with a stack like `like`. One of the user's own files is not in the set: what it says becomes the
/// new stack's, and the device that it brings the set's.
CalibrationSet set_with(const OwnRunsOptions& options, const std::string& like) {
  CalibrationSet set = CalibrationSet::shipped();
  const SoftwareStack parent = set.software_stack(like);
  SoftwareStack own;
  if (is_shipped(parent))
    own.like = parent.name;
  else
    own = parent;
  own.name = options.name;
  own.framework = parent.framework;
  own.description = "as " + parent.name + ", calibrated on own runs";
  if (own.device) set.add(*own.device);
  set.add(own);
  return set;
}

Knowledge shipped_knowledge(const ParameterSpace& space, const CalibrationSet& set, const OwnRunsOptions& options) {
  Knowledge known;
  const ParameterId factor = ParameterId::of_stack(options.name, "step_factor");
  for (const ParameterId& id : space.ids()) {
    const bool is_factor = id == factor;
    const Coefficient& coefficient = is_factor ? set.stack(options.name).compute.step_factor : set.at(id);
    known.unknowns.push_back(std::log(coefficient.value));
    known.sigmas.push_back(is_factor ? options.stack_sigma
                                     : std::max(least_residual_sigma, coefficient.relative_sigma));
  }
  return with_devices_held(std::move(known), space);
}

std::vector<std::vector<std::size_t>> groups_of(const std::vector<FitRun>& runs, bool& by_group) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) groups[runs[i].group].push_back(i);
  by_group = groups.size() > 1;
  std::vector<std::vector<std::size_t>> result;
  if (by_group)
    for (const auto& [name, members] : groups) result.push_back(members);
  else
    for (std::size_t i = 0; i < runs.size(); ++i) result.push_back({i});
  return result;
}

class Calibrator {
 public:
  Calibrator(const std::vector<FitRun>& runs, const OwnRunsOptions& options, const std::string& like)
      : options_(options),
        set_(set_with(options, like)),
        runs_(with_stack(runs, options.name)),
        space_(set_, shipped_priors(), runs_) {
    const SoftwareStack parent = CalibrationSet::shipped().software_stack(like);
    result_.like = is_shipped(parent) ? parent.name : like;
    shipped_sigma_ = shipped_sigma();
    known_ = shipped_knowledge(space_, set_, options);
  }

  OwnCalibration run() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < runs_.size(); ++i) all.push_back(i);
    const Recalibrated fitted(known_, space_, runs_, all, options_.fit);
    for (const std::size_t i : all)
      result_.runs.push_back({i, step(runs_[i], known_.unknowns), step(runs_[i], fitted.result().unknowns), 0});
    leave_groups_out();
    describe(fitted.result());
    find_sigma();
    write_stack();
    return std::move(result_);
  }

 private:
  static std::vector<FitRun> with_stack(std::vector<FitRun> runs, const std::string& stack) {
    for (FitRun& run : runs) run.stack = stack;
    return runs;
  }
  [[nodiscard]] double step(const FitRun& run, std::span<const double> unknowns) const {
    return std::exp(space_.log_step(run, unknowns));
  }
  [[nodiscard]] double shipped_sigma() const {
    const double sigma = uncertainty(set_.of(runs_.front().device, result_.like), runs_.front().features).time_sigma;
    const double shipped = sigma > 0 ? sigma : shipped_sigma_unknown;
    if (options_.stack_sigma < sigma_of_like_stack) return shipped;
    // Runs of another framework than `like` are as far off as frameworks are after a few runs.
    const double few = set_.axis_table().regimes[static_cast<std::size_t>(CalibrationRegime::few_runs)].time;
    return std::max(shipped, few);
  }

  void leave_groups_out() {
    const auto groups = groups_of(runs_, result_.by_group);
    if (runs_.size() < 2) return;
    for (const std::vector<std::size_t>& group : groups) {
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < runs_.size(); ++i)
        if (std::find(group.begin(), group.end(), i) == group.end()) others.push_back(i);
      const Recalibrated without(known_, space_, runs_, others, options_.fit);
      for (const std::size_t i : group) result_.runs[i].left_out_s = step(runs_[i], without.result().unknowns);
    }
  }

  void describe(const FitResult& fitted) {
    std::set<std::uint32_t> felt;
    for (const FitRun& run : runs_)
      for (const std::uint32_t u : space_.unknowns_of(run)) felt.insert(u);
    for (const std::uint32_t u : felt) {
      if (known_.sigmas[u] <= 0) continue;
      result_.numbers.push_back({space_.ids()[u], std::exp(known_.unknowns[u]), std::exp(fitted.unknowns[u]),
                                 known_.sigmas[u], fitted.sigma(u)});
    }
    const auto moved = [](const OwnNumber& n) { return std::abs(std::log(n.after / n.before)) / n.sigma_before; };
    std::stable_sort(result_.numbers.begin(), result_.numbers.end(),
                     [&](const OwnNumber& a, const OwnNumber& b) { return moved(a) > moved(b); });
    warn();
  }

  void warn() {
    constexpr double barely = 0.95;
    std::string silent;
    for (const OwnNumber& number : result_.numbers)
      if (number.sigma_after > barely * number.sigma_before) silent += (silent.empty() ? "" : ", ") + number.id.field;
    if (!silent.empty()) result_.warnings.push_back("these runs say next to nothing about " + silent);
    const auto no_run = [&](auto has, const std::string& what) {
      if (std::none_of(runs_.begin(), runs_.end(), [&](const FitRun& run) { return has(run.pricer.strategy()); }))
        result_.warnings.push_back("no run has " + what + ": plans that have it rest on shipped numbers");
    };
    no_run([](const Strategy& s) { return s.tensor_parallel > 1; }, "tensor parallelism");
    no_run([](const Strategy& s) { return s.pipeline_stages > 1; }, "a pipeline");
    no_run([](const Strategy& s) { return s.gradient_ranks() > 1; }, "data parallelism");
    no_run([](const Strategy& s) { return s.recompute.mode != RecomputeMode::none; }, "recompute");
  }

  void find_sigma() {
    double squares = runs_of_shipped_interval * shipped_sigma_ * shipped_sigma_;
    double count = runs_of_shipped_interval;
    for (const OwnRun& run : result_.runs) {
      if (run.left_out_s <= 0) continue;
      const double error = std::log(run.left_out_s / runs_[run.run].measured_s);
      squares += error * error;
      count += 1;
    }
    result_.sigma = std::sqrt(squares / count);
  }

  /// Every number that is no device's and that the runs moved, as a number of the new stack.
  void write_stack() {
    const std::string source = "plan calibrate over " + std::to_string(runs_.size()) + " own runs";
    result_.stack = set_.software_stack(options_.name);
    for (const OwnNumber& number : result_.numbers) {
      if (std::abs(std::log(number.after / number.before)) < unmoved) continue;
      put(number.id.field, {number.after, number.sigma_after, "fitted", source});
    }
    Residuals residuals = set_.stack(result_.like).residuals;
    residuals.regime = runs_.size() < runs_of_calibrated ? CalibrationRegime::few_runs : CalibrationRegime::calibrated;
    residuals.time = {{result_.sigma, 0, "fitted", source + ", each predicted without its group"},
                      static_cast<std::int64_t>(runs_.size())};
    residuals.time_by_network.clear();  // those are of the stack that it is like
    for (const FitRun& run : runs_) residuals.measured.include(run.features);
    result_.stack.residuals = residuals;
  }
  void put(const std::string& name, const Coefficient& coefficient) {
    for (NamedCoefficient& held : result_.stack.coefficients)
      if (held.name == name) {
        held.coefficient = coefficient;
        return;
      }
    result_.stack.coefficients.push_back({name, coefficient});
  }

  static constexpr double unmoved = 1e-4;
  const OwnRunsOptions& options_;
  CalibrationSet set_;
  std::vector<FitRun> runs_;
  ParameterSpace space_;
  double shipped_sigma_ = 0;
  Knowledge known_;
  OwnCalibration result_;
};

}  // namespace

OwnCalibration calibrate_on(const std::vector<FitRun>& runs, const OwnRunsOptions& options) {
  std::vector<FitRun> same = runs;
  if (!options.like.empty())
    for (FitRun& run : same) run.stack = options.like;
  require_one_kind(same);
  return Calibrator(same, options, same.front().stack).run();
}

MeanErrors mean_errors(const OwnCalibration& found, const std::vector<FitRun>& runs) {
  MeanErrors mean;
  const auto n = static_cast<double>(found.runs.size());
  for (const OwnRun& run : found.runs) {
    const double measured = runs[run.run].measured_s;
    mean.shipped += std::abs(run.shipped_s / measured - 1) / n;
    mean.fitted += std::abs(run.fitted_s / measured - 1) / n;
    if (run.left_out_s > 0) mean.left_out += std::abs(run.left_out_s / measured - 1) / n;
  }
  return mean;
}

}  // namespace plumbline
