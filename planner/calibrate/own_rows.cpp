#include "planner/calibrate/own_rows.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/errors.h"
#include "planner/question/question.h"

namespace plumbline {
namespace {

/// The shipped interval counts as this many rows alongside those that were left out.
constexpr double rows_of_shipped_interval = 4;
/// Numbers that ship without uncertainty.
constexpr double least_sigma = 0.01;
constexpr double shipped_sigma_unknown = 0.1;

/// One device kind and stack, else the first other.
void require_one_kind(const std::vector<FitRow>& rows) {
  if (rows.empty()) throw InputError({"--rows", "no row has a step time that can be predicted", "at least one", ""});
  for (const FitRow& row : rows) {
    if (row.device.name != rows.front().device.name)
      throw InputError({"--rows",
                        "row " + row.id + " is of " + row.device.name + ", row " + rows.front().id + " of " +
                            rows.front().device.name,
                        "rows of one device; --device chooses", ""});
    if (row.stack != rows.front().stack)
      throw InputError(
          {"--rows",
           "row " + row.id + " is of stack " + row.stack + ", row " + rows.front().id + " of " + rows.front().stack,
           "rows of one stack; --stack or --like says which", ""});
  }
}

bool is_shipped(const SoftwareStack& stack) {
  const std::vector<std::string> names = CalibrationSet::shipped().stack_names();
  return std::find(names.begin(), names.end(), stack.name) != names.end();
}

/// The shipped set with a stack like `like`. One of the user's own files is not in the set: what it says becomes the
/// new stack's, and the device that it brings the set's.
CalibrationSet set_with(const OwnRowsOptions& options, const std::string& like) {
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

Knowledge shipped_knowledge(const ParameterSpace& space, const CalibrationSet& set, const OwnRowsOptions& options) {
  Knowledge known;
  const ParameterId factor = ParameterId::of_stack(options.name, "step_factor");
  for (const ParameterId& id : space.ids()) {
    const bool is_factor = id == factor;
    const Coefficient& coefficient = is_factor ? set.stack(options.name).compute.step_factor : set.at(id);
    known.unknowns.push_back(std::log(coefficient.value));
    known.sigmas.push_back(is_factor ? options.stack_sigma : std::max(least_sigma, coefficient.relative_sigma));
  }
  return with_devices_held(std::move(known), space);
}

std::vector<std::vector<std::size_t>> groups_of(const std::vector<FitRow>& rows, bool& by_group) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) groups[rows[i].group].push_back(i);
  by_group = groups.size() > 1;
  std::vector<std::vector<std::size_t>> result;
  if (by_group)
    for (const auto& [name, members] : groups) result.push_back(members);
  else
    for (std::size_t i = 0; i < rows.size(); ++i) result.push_back({i});
  return result;
}

class Calibrator {
 public:
  Calibrator(const std::vector<FitRow>& rows, const OwnRowsOptions& options, const std::string& like)
      : options_(options),
        set_(set_with(options, like)),
        rows_(with_stack(rows, options.name)),
        space_(set_, shipped_priors(), rows_) {
    const SoftwareStack parent = CalibrationSet::shipped().software_stack(like);
    result_.like = is_shipped(parent) ? parent.name : like;
    shipped_sigma_ = shipped_sigma();
    known_ = shipped_knowledge(space_, set_, options);
  }

  OwnCalibration run() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < rows_.size(); ++i) all.push_back(i);
    const Recalibrated fitted(known_, space_, rows_, all, options_.fit);
    for (const std::size_t i : all)
      result_.rows.push_back({i, step(rows_[i], known_.unknowns), step(rows_[i], fitted.result().unknowns), 0});
    leave_groups_out();
    describe(fitted.result());
    find_sigma();
    write_stack();
    return std::move(result_);
  }

 private:
  static std::vector<FitRow> with_stack(std::vector<FitRow> rows, const std::string& stack) {
    for (FitRow& row : rows) row.stack = stack;
    return rows;
  }
  [[nodiscard]] double step(const FitRow& row, std::span<const double> unknowns) const {
    return std::exp(space_.log_step(row, unknowns));
  }
  [[nodiscard]] double shipped_sigma() const {
    const double sigma = uncertainty(set_.of(rows_.front().device, result_.like), rows_.front().run).time_sigma;
    const double shipped = sigma > 0 ? sigma : shipped_sigma_unknown;
    if (options_.stack_sigma < sigma_of_like_stack) return shipped;
    // Runs of another framework than `like` are as far off as frameworks are after a few rows.
    const double few = set_.traits().regimes[static_cast<std::size_t>(CalibrationRegime::few_rows)].time;
    return std::max(shipped, few);
  }

  void leave_groups_out() {
    const auto groups = groups_of(rows_, result_.by_group);
    if (rows_.size() < 2) return;
    for (const std::vector<std::size_t>& group : groups) {
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (std::find(group.begin(), group.end(), i) == group.end()) others.push_back(i);
      const Recalibrated without(known_, space_, rows_, others, options_.fit);
      for (const std::size_t i : group) result_.rows[i].left_out_s = step(rows_[i], without.result().unknowns);
    }
  }

  void describe(const FitResult& fitted) {
    std::set<std::uint32_t> felt;
    for (const FitRow& row : rows_)
      for (const std::uint32_t u : space_.unknowns_of(row)) felt.insert(u);
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
    if (!silent.empty()) result_.warnings.push_back("these rows say next to nothing about " + silent);
    const auto no_row = [&](auto has, const std::string& what) {
      if (std::none_of(rows_.begin(), rows_.end(), [&](const FitRow& row) { return has(row.pricer.strategy()); }))
        result_.warnings.push_back("no row has " + what + ": plans that have it rest on shipped numbers");
    };
    no_row([](const Strategy& s) { return s.tensor_parallel > 1; }, "tensor parallelism");
    no_row([](const Strategy& s) { return s.pipeline_stages > 1; }, "a pipeline");
    no_row([](const Strategy& s) { return s.gradient_ranks() > 1; }, "data parallelism");
    no_row([](const Strategy& s) { return s.recompute.mode != RecomputeMode::none; }, "recompute");
  }

  void find_sigma() {
    double squares = rows_of_shipped_interval * shipped_sigma_ * shipped_sigma_;
    double count = rows_of_shipped_interval;
    for (const OwnRow& row : result_.rows) {
      if (row.left_out_s <= 0) continue;
      const double error = std::log(row.left_out_s / rows_[row.row].measured_s);
      squares += error * error;
      count += 1;
    }
    result_.sigma = std::sqrt(squares / count);
  }

  /// Every number that is no device's and that the rows moved, as a number of the new stack.
  void write_stack() {
    const std::string source = "plan calibrate over " + std::to_string(rows_.size()) + " own rows";
    result_.stack = set_.software_stack(options_.name);
    for (const OwnNumber& number : result_.numbers) {
      if (std::abs(std::log(number.after / number.before)) < unmoved) continue;
      put(number.id.field, {number.after, number.sigma_after, "fitted", source});
    }
    Residuals residuals = set_.stack(result_.like).residuals;
    residuals.regime = rows_.size() < rows_of_calibrated ? CalibrationRegime::few_rows : CalibrationRegime::calibrated;
    residuals.time = {{result_.sigma, 0, "fitted", source + ", each predicted without its group"},
                      static_cast<std::int64_t>(rows_.size())};
    for (const FitRow& row : rows_) residuals.measured.include(row.run);
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
  const OwnRowsOptions& options_;
  CalibrationSet set_;
  std::vector<FitRow> rows_;
  ParameterSpace space_;
  double shipped_sigma_ = 0;
  Knowledge known_;
  OwnCalibration result_;
};

}  // namespace

OwnCalibration calibrate_on(const std::vector<FitRow>& rows, const OwnRowsOptions& options) {
  std::vector<FitRow> same = rows;
  if (!options.like.empty())
    for (FitRow& row : same) row.stack = options.like;
  require_one_kind(same);
  return Calibrator(same, options, same.front().stack).run();
}

MeanErrors mean_errors(const OwnCalibration& found, const std::vector<FitRow>& rows) {
  MeanErrors mean;
  const auto n = static_cast<double>(found.rows.size());
  for (const OwnRow& row : found.rows) {
    const double measured = rows[row.row].measured_s;
    mean.shipped += std::abs(row.shipped_s / measured - 1) / n;
    mean.fitted += std::abs(row.fitted_s / measured - 1) / n;
    if (row.left_out_s > 0) mean.left_out += std::abs(row.left_out_s / measured - 1) / n;
  }
  return mean;
}

}  // namespace plumbline
