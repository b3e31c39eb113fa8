#include "planner/calibrate/kernel_laws.h"

#include <algorithm>
#include <cmath>

#include "core/cost/calibration_fields.h"
#include "core/cost/exponentials.h"
#include "planner/validate/summary.h"

namespace plumbline {
namespace {

/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double deviations = 1.4826;
constexpr double flash_backward_products = 2.5;  // arXiv:2307.08691, section 3: five products for two
constexpr std::size_t fewest_points = 3;

}  // namespace

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
    const auto head = static_cast<double>(a.head_dim);
    const double slower = softmax_factor_forward(device, head);
    points.emplace_back(
        1.0 / static_cast<double>(a.sequence),
        without_gap(a.forward_s, kernel_gap) * device.product_peak(a.format).value() / (slower * flops));
    backward.push_back(flash_backward_products * softmax_factor_backward(device, head) / slower * a.forward_s /
                       a.backward_s);
  }
  const auto forward = saturation_law(points);
  if (!forward) return std::nullopt;
  return AttentionLaw{*forward, median(backward)};
}

MatrixProduct shape_of(const ProductTiming& p) { return {p.batch, p.m, p.n, p.k}; }

MeasuredCoefficients::MeasuredCoefficients(const KernelTable& table)
    : source_("kernels of " + table.machine + ", " + table.library) {}

Coefficient MeasuredCoefficients::within(double smallest, double value, double largest) const {
  return {std::clamp(value, smallest, largest), 0, "measured", source_};
}

void MeasuredCoefficients::set(ProductEfficiency& product, Coefficient ProductEfficiency::*member, double value) const {
  const auto& field = field_of(product_fields, product, product.*member);
  product.*member = within(field.smallest, value, field.largest);
}

void MeasuredCoefficients::set(DeviceCalibration& device, Coefficient DeviceCalibration::*member, double value) const {
  const auto& field = field_of(device_fields, device, device.*member);
  device.*member = within(field.smallest, value, field.largest);
}

void MeasuredCoefficients::set(OperatorTraffic& traffic, Coefficient OperatorTraffic::*member, double value) const {
  const auto& field = field_of(operator_fields, traffic, traffic.*member);
  traffic.*member = within(field.smallest, value, field.largest);
}

NamedCoefficient MeasuredCoefficients::of_stack(const StackCalibration& stack, const Coefficient& coefficient,
                                                double value) const {
  const auto& field = field_of(stack_fields, stack, coefficient);
  return {std::string(field.key), within(field.smallest, value, field.largest)};
}

Coefficient MeasuredCoefficients::sigma(double value) const { return within(0, value, largest_sigma); }

void KernelResiduals::note(const std::string& kind, double priced, double measured) {
  errors_[kind].push_back(std::abs(priced / measured - 1));
}

void KernelResiduals::note_products(const KernelTable& table, const KernelClock& clock) {
  for (const ProductTiming& p : table.products) {
    const std::string format(to_text(p.format));
    if (p.kind == grouped_kernel)
      note("grouped gemm " + format, clock.grouped_product(shape_of(p), p.format).value(), p.median_s);
    else
      note("gemm " + format, clock.product(shape_of(p), p.format).value(), p.median_s);
  }
}

void KernelResiduals::note_attention(const KernelTable& table, const KernelClock& clock) {
  for (const AttentionTiming& a : table.attention) {
    const AttentionWork work = work_of(a);
    note("attention forward", clock.attention_forward(work, FlashAttention::on, a.format).value(), a.forward_s);
    note("attention backward", clock.attention_backward(work, FlashAttention::on, a.format).value(), a.backward_s);
  }
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
