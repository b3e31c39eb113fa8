#include "planner/calibrate/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/cost/communication_clock.h"
#include "core/cost/kernel_time.h"

namespace plumbline {
namespace {

constexpr std::string_view grouped = "grouped";
constexpr std::string_view tiny = "tiny_add";
constexpr std::string_view streaming = "add";
constexpr std::string_view optimizer = "adamw";
constexpr std::string_view loss = "cross_entropy";

class Fit {
 public:
  Fit(const KernelTable& table, const Cluster& cluster, const Calibration& shipped)
      : table_(table),
        cluster_(cluster),
        device_(with_device_count(cluster, 1).groups.front().node.device),
        source_("kernels of " + table.machine + ", " + table.library) {
    result_.device = shipped.device;
    result_.device.name = table.device;
    result_.device.devices = {device_.name};
    result_.device.products.clear();
    calibration_.stack = shipped.stack;
  }

  KernelFit run() {
    set(result_.device.wave_exponent, 0, 0, 4, 0);
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
  void set(Coefficient& c, double value, double smallest, double largest, double sigma) const {
    c = {std::clamp(value, smallest, largest), sigma, "measured", source_};
  }
  void set_stack(const std::string& name, Coefficient StackCalibration::*member, double value, double smallest,
                 double largest) {
    Coefficient c;
    set(c, value, smallest, largest, 0);
    calibration_.stack.*member = c;
    result_.stack.push_back({name, c});
  }
  [[nodiscard]] KernelClock clock() const { return {device_, {result_.device, calibration_.stack}}; }
  [[nodiscard]] double rate() const { return device_.memory_bandwidth.value.value(); }

  void set_gap() {
    for (const MemoryTiming& entry : table_.memory_bound)
      if (entry.op == tiny) set(result_.device.kernel_gap_s, entry.median_s, 0, 1, 0);
  }

  static MatrixProduct shape(const ProductTiming& p) { return {1, p.m, p.n, p.k}; }

  /// Seconds over what the product would take at the peak, alignment included: (1 + K0 / k) / fraction.
  [[nodiscard]] double slowness(const ProductTiming& p) const {
    const double ideal = shape(p).flops().value() / device_.product_peak(p.format).value() / alignment_factor(shape(p));
    return without_gap(p.median_s, Seconds(result_.device.kernel_gap_s)) / ideal;
  }

  void fit_products(NumberFormat format) {
    std::vector<std::pair<double, double>> points;
    for (const ProductTiming& p : table_.products)
      if (p.format == format && p.kind != grouped) points.emplace_back(1.0 / static_cast<double>(p.k), slowness(p));
    const auto law = saturation_law(points);
    if (!law) return;
    ProductEfficiency product;
    product.format = format;
    set(product.peak_fraction, law->fraction, 0.001, 1, 0);
    set(product.half_depth, law->half, 0, 1e6, 0);
    result_.device.products.push_back(product);
  }

  void fit_grouped() {
    std::vector<double> factors;
    for (const ProductTiming& p : table_.products)
      if (p.kind == grouped)
        factors.push_back(static_cast<double>(p.batch) * clock().product(shape(p), p.format).value() / p.median_s);
    if (!factors.empty()) set(result_.device.grouped_product_factor, median(factors), 0.01, 2, 0);
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

  static bool is_of_layers(const MemoryTiming& e) { return e.op != tiny && e.op != optimizer && e.op != loss; }
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

  void fit_memory() {
    std::vector<double> fractions;
    for (const MemoryTiming& entry : table_.memory_bound)
      if (entry.op == streaming && entry.format == NumberFormat::fp32)
        fractions.push_back(static_cast<double>(entry.bytes.value()) / entry.median_s / rate());
    if (fractions.empty())
      throw InputError({"memory_bound", "holds no entry \"add\"", "kernels that are bound by memory", ""});
    set(result_.device.bandwidth_fraction, median(fractions), 0.01, 1, 0);
    const auto is = [](std::string_view name) { return [name](const MemoryTiming& e) { return e.op == name; }; };
    set_stack("memory_bound_factor", &StackCalibration::memory_bound_factor, layer_factor(), 0.01, 100);
    if (const double factor = traffic_factor(is(loss)); factor > 0)
      set_stack("loss_factor", &StackCalibration::loss_factor, factor, 0.01, 100);
    if (const double factor = traffic_factor(is(optimizer)); factor > 0)
      set_stack("optimizer_traffic_factor", &StackCalibration::optimizer_traffic_factor, factor, 0.01, 100);
  }

  void fit_attention() {
    const auto law = attention_law(table_.attention, device_, Seconds(result_.device.kernel_gap_s));
    if (!law) return;
    set_stack("flash_factor", &StackCalibration::flash_factor, 1, 0.01, 10);
    set(result_.device.flash_forward_fraction, law->forward.fraction, 0.001, 1, 0);
    set(result_.device.flash_half_sequence, law->forward.half, 0, 1e6, 0);
    set(result_.device.flash_backward_factor, law->backward_factor, 0.01, 2, 0);
  }

  /// What ranks of their own cores take, over what the model of links says.
  void fit_collectives() {
    std::vector<double> ratios;
    for (const CollectiveTiming& c : table_.collectives) {
      if (c.ranks > table_.cores) continue;
      for (const Collective kind : all_collectives)
        if (to_text(kind) == c.collective)
          ratios.push_back(
              c.median_s /
              CommunicationClock(with_device_count(cluster_, c.ranks)).time(kind, c.bytes, {c.ranks, 1}).value());
    }
    if (ratios.empty()) return;
    const double ratio = median(ratios);
    set_stack("tensor_parallel_exposure", &StackCalibration::tensor_parallel_exposure, ratio, 0, 10);
    set_stack("pipeline_exposure", &StackCalibration::pipeline_exposure, ratio, 0, 10);
    set_stack("context_parallel_exposure", &StackCalibration::context_parallel_exposure, ratio, 0, 10);
    set_stack("expert_parallel_exposure", &StackCalibration::expert_parallel_exposure, ratio, 0, 10);
  }

  void note_residuals() {
    const KernelClock priced = clock();
    for (const ProductTiming& p : table_.products) {
      const std::string name = (p.kind == grouped ? "grouped gemm " : "gemm ") + std::string(to_text(p.format));
      errors_.note(name,
                   p.kind == grouped ? priced.grouped_product({p.batch, p.m, p.n, p.k}, p.format).value()
                                     : priced.product(shape(p), p.format).value(),
                   p.median_s);
    }
    for (const AttentionTiming& a : table_.attention) {
      errors_.note("attention forward", priced.attention_forward(work_of(a), FlashAttention::on, a.format).value(),
                   a.forward_s);
      errors_.note("attention backward", priced.attention_backward(work_of(a), FlashAttention::on, a.format).value(),
                   a.backward_s);
    }
    for (const MemoryTiming& m : table_.memory_bound)
      if (is_of_layers(m))
        errors_.note("memory-bound kernels " + std::string(to_text(m.format)), priced.memory(m.bytes).value(),
                     m.median_s);
    result_.residuals = errors_.list();
    Residuals residuals;
    residuals.regime = CalibrationRegime::few_rows;  // kernels were measured, whole steps were not
    set(residuals.time.sigma, errors_.sigma(), 0, 2, 0);
    residuals.measured.devices = {device_.name};
    result_.device.residuals = residuals;
  }

  const KernelTable& table_;
  const Cluster& cluster_;
  Device device_;
  std::string source_;
  Calibration calibration_;  ///< its stack alone, as far as it is fitted
  KernelFit result_;
  KernelResiduals errors_;
};

}  // namespace

KernelFit fit_kernels(const KernelTable& table, const Cluster& cluster, const Calibration& shipped) {
  return Fit(table, cluster, shipped).run();
}

}  // namespace plumbline
