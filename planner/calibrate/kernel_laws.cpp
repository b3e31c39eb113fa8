#include "planner/calibrate/kernel_laws.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double deviations = 1.4826;
constexpr double flash_backward_products = 2.5;  // arXiv:2307.08691, section 3: five products for two
constexpr std::size_t fewest_points = 3;

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

MedianLine median_line(const std::vector<std::pair<double, double>>& points) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (points[i].first != points[j].first)
        slopes.push_back((points[i].second - points[j].second) / (points[i].first - points[j].first));
  MedianLine line;
  line.slope = median(slopes);
  std::vector<double> intercepts;
  for (const auto& [x, y] : points) intercepts.push_back(y - line.slope * x);
  line.intercept = median(intercepts);
  return line;
}

double without_gap(double seconds, Seconds kernel_gap) { return std::max(seconds - kernel_gap.value(), seconds / 2); }

std::optional<SaturationLaw> saturation_law(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < fewest_points) return std::nullopt;
  const MedianLine line = median_line(points);
  const double intercept = std::max(line.intercept, 1e-6);
  return SaturationLaw{1 / intercept, std::max(0.0, line.slope) / intercept};
}

AttentionWork work_of(const AttentionTiming& a) {
  return {a.batch, a.heads, a.kv_heads, a.sequence, a.sequence, a.head_dim, a.head_dim, true, false};
}

std::optional<AttentionLaw> attention_law(const std::vector<AttentionTiming>& timings, const Device& device,
                                          Seconds kernel_gap) {
  std::vector<std::pair<double, double>> points;
  std::vector<double> backward;
  for (const AttentionTiming& a : timings) {
    const double flops = 2.0 * work_of(a).scores() * static_cast<double>(2 * a.head_dim) / 2;
    points.emplace_back(1.0 / static_cast<double>(a.sequence),
                        without_gap(a.forward_s, kernel_gap) * device.product_peak(a.format).value() / flops);
    backward.push_back(flash_backward_products * a.forward_s / a.backward_s);
  }
  const auto forward = saturation_law(points);
  if (!forward) return std::nullopt;
  return AttentionLaw{*forward, median(backward)};
}

void KernelResiduals::note(const std::string& kind, double priced, double measured) {
  errors_[kind].push_back(std::abs(priced / measured - 1));
}

std::vector<KernelResidual> KernelResiduals::list() const {
  std::vector<KernelResidual> all;
  for (const auto& [kind, errors] : errors_)
    all.push_back({kind, std::ssize(errors), median(errors), *std::max_element(errors.begin(), errors.end())});
  return all;
}

double KernelResiduals::sigma() const {
  std::vector<double> all;
  for (const auto& [kind, errors] : errors_) all.insert(all.end(), errors.begin(), errors.end());
  return deviations * median(all);
}

}  // namespace plumbline
