#include "planner/calibrate/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/errors.h"
#include "core/cost/communication_clock.h"
#include "core/cost/kernel_time.h"
#include "planner/validate/summary.h"

namespace plumbline {
namespace {

/// Which operator a kernel of the table belongs to, and its direction.
struct MeasuredOperator {
  std::string_view name;
  OpKind kind;
  Coefficient OperatorTraffic::*direction;
};

/// In the order of kinds; what dropout adds to attention comes last.
const std::vector<MeasuredOperator>& measured_operators() {
  static const std::vector<MeasuredOperator> all = [] {
    std::vector<MeasuredOperator> found;
    const auto append = [&](OpKind kind, KernelNames names) {
      if (!names.forward.empty()) found.push_back({names.forward, kind, &OperatorTraffic::forward});
      if (!names.backward.empty()) found.push_back({names.backward, kind, &OperatorTraffic::backward});
    };
    for (const OpRecord& record : op_records) append(record.kind, record.timed);
    append(OpKind::attention, {attention_dropout_forward, attention_dropout_backward});
    return found;
  }();
  return all;
}

const MeasuredOperator* operator_of(std::string_view kernel) {
  const auto& all = measured_operators();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const MeasuredOperator& each) { return each.name == kernel; });
  return found == all.end() ? nullptr : &*found;
}

class KernelFitter {
 public:
  KernelFitter(const KernelTable& table, const Cluster& cluster, const Calibration& shipped)
      : table_(table),
        cluster_(cluster),
        device_(with_device_count(cluster, 1).groups.front().node.device),
        measured_(table) {
    result_.device = shipped.device;
    result_.device.name = table.device;
    result_.device.devices = {device_.name};
    result_.device.products.clear();
    calibration_.stack = shipped.stack;
  }

  KernelFit run() {
    set(&DeviceCalibration::wave_exponent, 0);
    set_gap();
    for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}) fit_products(format);
    if (result_.device.products.empty())
      throw InputError({"gemm", "holds no product of fp32, bf16 or fp16", "at least three of one format", ""});
    fit_grouped();
    fit_memory();
    fit_attention();
    fit_collectives();
    note_residuals();
    return std::move(result_);
  }

 private:
  void set(Coefficient DeviceCalibration::*member, double value) { measured_.set(result_.device, member, value); }
  /// `coefficient`: of `calibration_`.
  void set_stack(Coefficient& coefficient, double value) {
    result_.stack.push_back(measured_.of_stack(calibration_.stack, coefficient, value));
    coefficient = result_.stack.back().coefficient;
  }
  [[nodiscard]] KernelClock clock() const { return {device_, {result_.device, calibration_.stack}}; }
  [[nodiscard]] double rate() const { return device_.memory_bandwidth.value.value(); }

  void set_gap() {
    for (const MemoryTiming& entry : table_.memory_bound)
      if (entry.op == tiny_kernel) set(&DeviceCalibration::kernel_gap_s, entry.median_s);
  }

  /// Seconds over what the product would take at the peak, alignment included: (1 + K0 / k) / fraction.
  [[nodiscard]] double slowness(const ProductTiming& p) const {
    const double ideal = shape_of(p).flops().value() / device_.product_peak(p.format).value() /
                         alignment_factor(shape_of(p), *result_.device.shapes);
    return without_gap(p.median_s, Seconds(result_.device.kernel_gap_s)) / ideal;
  }

  void fit_products(NumberFormat format) {
    std::vector<std::pair<double, double>> points;
    for (const ProductTiming& p : table_.products)
      if (p.format == format && p.kind != grouped_kernel)
        points.emplace_back(1.0 / static_cast<double>(p.k), slowness(p));
    const auto law = saturation_law(points);
    if (!law) return;
    ProductEfficiency product;
    product.format = format;
    measured_.set(product, &ProductEfficiency::half_depth, law->half);
    // A step's time is a sum: what counts is the mean of what products take, where medians leave out the slow ones.
    std::vector<double> above;
    for (const auto& [depth, slowness] : points) above.push_back(slowness / (1 + law->half * depth));
    measured_.set(product, &ProductEfficiency::peak_fraction, 1 / mean(above));
    result_.device.products.push_back(product);
  }

  void fit_grouped() {
    std::vector<double> factors;
    for (const ProductTiming& p : table_.products)
      if (p.kind == grouped_kernel)
        factors.push_back(static_cast<double>(p.batch) * clock().product({1, p.m, p.n, p.k}, p.format).value() /
                          p.median_s);
    if (!factors.empty()) set(&DeviceCalibration::grouped_product_factor, median(factors));
  }

  /// Seconds over bytes of the entries that `chosen` chooses, over those of plain streaming.
  template <class Chosen>
  [[nodiscard]] double traffic_factor(Chosen chosen) const {
    double seconds = 0;
    double priced = 0;
    for (const MemoryTiming& entry : table_.memory_bound)
      if (chosen(entry)) {
        seconds += entry.median_s;
        priced += static_cast<double>(entry.bytes.value()) / (rate() * result_.device.bandwidth_fraction);
      }
    return priced > 0 ? seconds / priced : 0;
  }

  static bool is_of_layers(const MemoryTiming& e) {
    return e.op != tiny_kernel && e.op != optimizer_kernel && e.op != loss_kernel &&
           e.op != attention_dropout_forward && e.op != attention_dropout_backward;
  }
  [[nodiscard]] double slowness(const MemoryTiming& e) const {
    return e.median_s * rate() * result_.device.bandwidth_fraction / static_cast<double>(e.bytes.value());
  }
  /// The mean over kinds of kernels of their median slowness over plain streaming, in fp32.
  [[nodiscard]] double layer_factor() const {
    std::map<std::string, std::vector<double>> by_op;
    for (const MemoryTiming& entry : table_.memory_bound)
      if (is_of_layers(entry) && entry.format == NumberFormat::fp32) by_op[entry.op].push_back(slowness(entry));
    double sum = 0;
    for (const auto& [op, values] : by_op) sum += median(values);
    return sum / static_cast<double>(std::max<std::size_t>(1, by_op.size()));
  }

  /// Kind by kind, the mean over shapes: a step's time is a sum.
  void fit_operators() {
    for (const MeasuredOperator& each : measured_operators()) {
      std::vector<double> values;
      for (const MemoryTiming& entry : table_.memory_bound)
        if (entry.op == each.name && entry.format == NumberFormat::fp32) values.push_back(slowness(entry));
      if (values.empty()) continue;
      auto& all = result_.device.operators;
      const auto known = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.kind == each.kind; });
      OperatorTraffic& traffic = known == all.end() ? all.emplace_back(unmeasured(each.kind)) : *known;
      measured_.set(traffic, each.direction, mean(values));
    }
  }
  /// A direction that the table does not hold is as all kernels together.
  [[nodiscard]] OperatorTraffic unmeasured(OpKind kind) const {
    OperatorTraffic traffic{kind, {}, {}};
    const double factor = kind == OpKind::attention ? 0 : calibration_.stack.compute.memory_bound_factor.value;
    measured_.set(traffic, &OperatorTraffic::forward, factor);
    measured_.set(traffic, &OperatorTraffic::backward, factor);
    return traffic;
  }

  void fit_memory() {
    std::vector<double> fractions;
    for (const MemoryTiming& entry : table_.memory_bound)
      if (entry.op == streaming_kernel && entry.format == NumberFormat::fp32)
        fractions.push_back(static_cast<double>(entry.bytes.value()) / entry.median_s / rate());
    if (fractions.empty())
      throw InputError({"memory_bound", "holds no entry \"add\"", "kernels that are bound by memory", ""});
    set(&DeviceCalibration::bandwidth_fraction, median(fractions));
    const auto is = [](std::string_view name) { return [name](const MemoryTiming& e) { return e.op == name; }; };
    set_stack(calibration_.stack.compute.memory_bound_factor, layer_factor());
    fit_operators();
    if (const double factor = traffic_factor(is(loss_kernel)); factor > 0)
      set_stack(calibration_.stack.compute.loss_factor, factor);
    if (const double factor = traffic_factor(is(optimizer_kernel)); factor > 0)
      set_stack(calibration_.stack.optimizer.optimizer_traffic_factor, factor);
  }

  void fit_attention() {
    const auto law = attention_law(table_.attention, device_, Seconds(result_.device.kernel_gap_s));
    if (!law) return;
    set_stack(calibration_.stack.compute.flash_factor, 1);
    set(&DeviceCalibration::flash_forward_fraction, law->forward.fraction);
    set(&DeviceCalibration::flash_half_sequence, law->forward.half);
    set(&DeviceCalibration::flash_backward_factor, law->backward_factor);
    // As of products: means instead of the medians that the law is drawn through.
    std::vector<double> forward;
    std::vector<double> backward;
    for (const AttentionTiming& a : table_.attention) {
      forward.push_back(a.forward_s / clock().attention_forward(work_of(a), FlashAttention::on, a.format).value());
      backward.push_back(a.backward_s / clock().attention_backward(work_of(a), FlashAttention::on, a.format).value());
    }
    set(&DeviceCalibration::flash_forward_fraction, law->forward.fraction / mean(forward));
    set(&DeviceCalibration::flash_backward_factor, law->backward_factor * mean(forward) / mean(backward));
  }

  /// What ranks of their own cores take, over what the model of links says.
  void fit_collectives() {
    std::vector<double> ratios;
    for (const CollectiveTiming& c : table_.collectives) {
      if (c.ranks > table_.cores) continue;
      for (const Collective kind : all_collectives)
        if (to_text(kind) == c.collective)
          ratios.push_back(c.median_s / CommunicationClock(with_device_count(cluster_, c.ranks))
                                            .time(kind, c.bytes, RankGroup{c.ranks, 1})
                                            .value());
    }
    if (ratios.empty()) return;
    const double ratio = median(ratios);
    set_stack(calibration_.stack.communication.tensor_parallel_exposure, ratio);
    set_stack(calibration_.stack.communication.pipeline_exposure, ratio);
    set_stack(calibration_.stack.communication.context_parallel_exposure, ratio);
    set_stack(calibration_.stack.communication.expert_parallel_exposure, ratio);
  }

  static Seconds priced_memory(const KernelClock& clock, const MemoryTiming& m) {
    const MeasuredOperator* known = operator_of(m.op);
    if (known == nullptr) return clock.memory(m.bytes);
    return known->direction == &OperatorTraffic::forward ? clock.memory_forward(known->kind, m.bytes)
                                                         : clock.memory_backward(known->kind, m.bytes);
  }
  void note_residuals() {
    const KernelClock priced = clock();
    errors_.note_products(table_, priced);
    errors_.note_attention(table_, priced);
    for (const MemoryTiming& m : table_.memory_bound)
      if (is_of_layers(m))
        errors_.note("memory-bound kernels " + std::string(to_text(m.format)), priced_memory(priced, m).value(),
                     m.median_s);
    result_.residuals = errors_.list();
    Residuals residuals;
    residuals.regime = CalibrationRegime::few_runs;  // kernels were measured, whole steps were not
    residuals.time.sigma = measured_.sigma(errors_.sigma());
    residuals.measured.devices = {device_.name};
    result_.device.residuals = residuals;
  }

  const KernelTable& table_;
  const Cluster& cluster_;
  Device device_;
  MeasuredCoefficients measured_;
  Calibration calibration_;  ///< its stack alone, as far as it is fitted
  KernelFit result_;
  KernelResiduals errors_;
};

}  // namespace

KernelFit fit_kernels(const KernelTable& table, const Cluster& cluster, const Calibration& shipped) {
  return KernelFitter(table, cluster, shipped).run();
}

}  // namespace plumbline
