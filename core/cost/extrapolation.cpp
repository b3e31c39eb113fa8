#include "core/cost/extrapolation.h"

#include <algorithm>
#include <cmath>

#include "core/cost/host_share.h"

namespace plumbline {
namespace {

struct ScaleWords {
  std::string_view one;
  std::string_view many;
};
constexpr std::array<ScaleWords, run_scale_count> scale_words{
    {{"GPU", "GPUs"},
     {"hidden feature", "hidden features"},
     {"token in a sequence", "tokens in a sequence"},
     {"token in a rank's micro-batch", "tokens in a rank's micro-batch"},
     {"tensor-parallel rank", "tensor-parallel ranks"},
     {"pipeline stage", "pipeline stages"},
     {"context-parallel rank", "context-parallel ranks"},
     {"expert-parallel rank", "expert-parallel ranks"}}};

double doublings_past(const MeasuredRange& range, std::int64_t value) {
  const auto ratio = [](std::int64_t a, std::int64_t b) {
    return std::log2(static_cast<double>(a) / static_cast<double>(std::max<std::int64_t>(1, b)));
  };
  if (value > range.most) return ratio(value, range.most);
  if (value < range.least) return ratio(range.least, value);
  return 0;
}

Beyond past(const std::optional<MeasuredRange>& range, std::int64_t value, std::size_t scale) {
  Beyond beyond;
  if (!range || value == 0) return beyond;
  beyond.doublings = doublings_past(*range, value);
  const bool above = value > range->most;
  const std::int64_t limit = above ? range->most : range->least;
  const ScaleWords& words = scale_words[scale];
  beyond.what = std::to_string(value) + " " + std::string(value == 1 ? words.one : words.many) + " where at " +
                (above ? "most " : "least ") + std::to_string(limit) +
                (limit == 1 ? " was measured" : " were measured");
  return beyond;
}

void add_scales(const RunRanges& device, const RunRanges& stack, const RunFeatures& run, std::vector<Beyond>& all) {
  for (std::size_t i = 0; i < run_scale_count; ++i) {
    Beyond farther = past(stack.scales[i], run.scales[i], i);
    if (Beyond other = past(device.scales[i], run.scales[i], i); other.doublings > farther.doublings)
      farther = std::move(other);
    if (farther.doublings > 0) all.push_back(std::move(farther));
  }
}

bool is_new(const std::vector<std::string>& measured, const std::string& name) {
  return !measured.empty() && std::find(measured.begin(), measured.end(), name) == measured.end();
}

void add_novelty(const std::vector<std::string>& measured, const std::string& name, const std::string& what,
                 std::vector<Beyond>& all) {
  if (!is_new(measured, name)) return;
  std::string known;
  for (const std::string& one : measured) known += (known.empty() ? "" : ", ") + one;
  all.push_back({what + " " + name + " where " + known + " was measured", 0});
}

/// In the words of the catalogue (RunFeatures::network).
std::string networks_of_kind(const std::string& kind) {
  if (kind == "dense") return "dense transformers";
  if (kind == "moe") return "mixtures of experts";
  if (kind == "image") return "image networks";
  return "networks of kind " + kind;
}

void add_network(const std::vector<std::string>& measured, const std::string& kind, std::vector<Beyond>& all) {
  if (!is_new(measured, kind)) return;
  std::string known;
  for (std::size_t i = 0; i < measured.size(); ++i)
    known += (i == 0 ? "" : i + 1 == measured.size() ? " and " : ", ") + networks_of_kind(measured[i]);
  all.push_back({networks_of_kind(kind) + " where " + known + " were measured", 0, true});
}

double square(double x) { return x * x; }

double variance_of(const std::vector<Beyond>& all, const UncertaintySlopes& slopes) {
  double variance = 0;
  for (const Beyond& beyond : all)
    variance +=
        beyond.doublings > 0 ? square(slopes.sigma_per_doubling * beyond.doublings) : square(slopes.sigma_per_novelty);
  return variance;
}

}  // namespace

Uncertainty uncertainty(const Calibration& calibration, const RunFeatures& run) {
  const Residuals device = calibration.device.residuals.value_or(Residuals{});
  const StackCalibration& stack = calibration.stack;
  Uncertainty result;
  result.regime = std::max(device.regime, stack.residuals.regime);
  result.memory_sigma = stack.residuals.memory.sigma;
  add_scales(device.measured, stack.residuals.measured, run, result.beyond);
  add_novelty(device.measured.devices, run.device, "device", result.beyond);
  add_novelty(device.measured.formats, run.format, "number format", result.beyond);
  add_network(stack.residuals.measured.networks, run.network, result.beyond);
  const double of_device = device.time_of(run.network).sigma;
  const double of_stack = stack.residuals.time_of(run.network).sigma;
  const double shared = std::min({stack.uncertainty.shared_time_sigma.value, of_device, of_stack});
  // Both were taken on runs that the device held up: they move what the host does not.
  double variance = square(1 - run.host_share) * (square(of_device) + square(of_stack) - square(shared));
  variance += variance_of(result.beyond, stack.uncertainty);
  const bool is_calibrated = stack.residuals.regime == CalibrationRegime::calibrated;
  const double of_host = is_calibrated ? stack.uncertainty.host_sigma : stack.uncertainty.unmeasured_host_sigma;
  variance += square(moved_by_host(run.host_share, of_host));
  variance += square(stack.uncertainty.unstated_network_sigma * run.network_share);
  result.time_sigma = std::sqrt(variance);
  return result;
}

double stack_time_sigma(const StackCalibration& stack, const RunFeatures& run) {
  const RunRanges& measured = stack.residuals.measured;
  std::vector<Beyond> beyond;
  add_scales({}, measured, run, beyond);
  add_novelty(measured.devices, run.device, "device", beyond);
  add_novelty(measured.formats, run.format, "number format", beyond);
  add_network(measured.networks, run.network, beyond);
  double variance = square(stack.residuals.time_of(run.network).sigma) + variance_of(beyond, stack.uncertainty);
  const std::optional<MeasuredRange>& gpus = measured.scales[static_cast<std::size_t>(RunScale::gpus)];
  if (gpus && gpus->most == 1 && run[RunScale::gpus] > 1) variance += square(stack.uncertainty.sigma_per_novelty);
  return std::sqrt(variance);
}

}  // namespace plumbline
