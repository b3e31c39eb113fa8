#include "planner/calibrate/device_fit.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/cost/kernel_time.h"
#include "core/quantity/text.h"
#include "planner/validate/summary.h"

namespace plumbline {
namespace {

/// A tensor that is read again from the cache says nothing about memory: the sum's three must be several times as
/// large.
constexpr std::int64_t caches_of_a_stream = 4;
/// Shapes whose traffic alone takes this share of their time are bound by memory.
constexpr double most_memory_share = 0.6;
/// 0: quantisation is not felt, 1: as the count of waves says; beyond what fits of any device have asked for.
constexpr double largest_exponent = 1;
constexpr int exponent_steps = 30;
/// Shares of a datasheet's peak that a table of this very device can show, boost clocks above the nominal one included.
constexpr double least_share = 0.05;
constexpr double most_share = 1.05;

class DeviceFitter {
 public:
  DeviceFitter(const KernelTable& table, const Device& device, const Calibration& shipped, const StackAxisTable& axes)
      : table_(table), device_(device), axis_table_(axes), fitted_(shipped), measured_(table) {
    fitted_.device.name = device.name;
    fitted_.device.devices = {device.name};
  }

  DeviceFit run() {
    fit_memory();
    fit_products();
    fit_grouped();
    fit_attention();
    note_residuals();
    return {std::move(fitted_.device), errors_.list()};
  }

 private:
  void set(Coefficient DeviceCalibration::*member, double value) { measured_.set(fitted_.device, member, value); }
  void require_share(double share, const std::string& where, const std::string& of_what) const {
    if (share >= least_share && share <= most_share) return;
    throw InputError({where, "reaches " + fixed(100 * share, 1) + " % of the " + of_what + " of " + device_.name,
                      "5 to 105 %: seconds, of this device", ""});
  }
  [[nodiscard]] double stream_rate() const {
    return device_.memory_bandwidth.value.value() * fitted_.device.bandwidth_fraction;
  }

  void fit_memory() {
    std::vector<double> large;
    std::vector<double> all;
    for (const MemoryTiming& entry : table_.memory_bound) {
      if (entry.op == tiny_kernel) set(&DeviceCalibration::kernel_gap_s, entry.median_s);
      if (entry.op != streaming_kernel) continue;
      all.push_back(static_cast<double>(entry.bytes.value()) / entry.median_s / device_.memory_bandwidth.value.value());
      if (entry.bytes > caches_of_a_stream * device_.l2_cache.value) large.push_back(all.back());
    }
    if (all.empty()) throw InputError({"memory_bound", "holds no entry \"add\"", "sums of two tensors", ""});
    const double share = median(large.empty() ? all : large);
    require_share(share, "memory_bound", "memory bandwidth");
    set(&DeviceCalibration::bandwidth_fraction, share);
  }

  [[nodiscard]] bool is_bound_by_arithmetic(const ProductTiming& p) const {
    const auto m = static_cast<double>(p.m);
    const auto n = static_cast<double>(p.n);
    const auto k = static_cast<double>(p.k);
    const double bytes = static_cast<double>(bits(p.format)) / 8 * (m * k + k * n + m * n);
    return bytes / stream_rate() < most_memory_share * p.median_s;
  }
  /// Seconds over what the product would take at the peak, alignment and waves included: (1 + K0 / k) / fraction.
  [[nodiscard]] double slowness(const ProductTiming& p, double exponent) const {
    const double waves =
        std::pow(tile_efficiency(shape_of(p), device_.streaming_multiprocessors, *fitted_.device.shapes), exponent);
    const double ideal = shape_of(p).flops().value() / device_.product_peak(p.format).value() /
                         alignment_factor(shape_of(p), *fitted_.device.shapes) / waves;
    return without_gap(p.median_s, Seconds(fitted_.device.kernel_gap_s)) / ideal;
  }

  struct FormatLaw {
    NumberFormat format;
    SaturationLaw law;
  };
  struct Products {
    std::vector<FormatLaw> laws;
    std::vector<double> errors;  ///< of every product that a law was drawn through
  };
  [[nodiscard]] Products products(double exponent) const {
    Products found;
    for (const NumberFormat format : all_number_formats) {
      std::vector<std::pair<double, double>> points;
      for (const ProductTiming& p : table_.products)
        if (p.format == format && p.kind != grouped_kernel && is_bound_by_arithmetic(p))
          points.emplace_back(1.0 / static_cast<double>(p.k), slowness(p, exponent));
      const auto law = saturation_law(points);
      if (!law) continue;
      found.laws.push_back({format, *law});
      for (const auto& [x, y] : points) found.errors.push_back(std::abs((1 + law->half * x) / law->fraction / y - 1));
    }
    return found;
  }
  void fit_products() {
    double exponent = 0;
    Products best = products(0);
    for (int step = 1; step <= exponent_steps; ++step) {
      const double tried = largest_exponent * step / exponent_steps;
      Products found = products(tried);
      if (median(found.errors) >= median(best.errors)) continue;
      best = std::move(found);
      exponent = tried;
    }
    const bool has_main = std::any_of(best.laws.begin(), best.laws.end(), [](const FormatLaw& l) {
      return l.format == NumberFormat::bf16 || l.format == NumberFormat::fp16;
    });
    if (!has_main)
      throw InputError({"gemm", "holds fewer than three products of bf16 or fp16 that arithmetic bounds",
                        "matrix products of a layer's shapes", ""});
    set(&DeviceCalibration::wave_exponent, exponent);
    for (const FormatLaw& found : best.laws) {
      std::vector<ProductEfficiency>& all = fitted_.device.products;
      auto at =
          std::find_if(all.begin(), all.end(), [&](const ProductEfficiency& p) { return p.format == found.format; });
      if (at == all.end()) at = all.insert(all.end(), ProductEfficiency{found.format, {}, {}});
      require_share(found.law.fraction, "gemm", "dense " + std::string(to_text(found.format)) + " peak");
      measured_.set(*at, &ProductEfficiency::peak_fraction, found.law.fraction);
      measured_.set(*at, &ProductEfficiency::half_depth, found.law.half);
    }
  }

  void fit_grouped() {
    const double shipped = fitted_.device.grouped_product_factor;
    std::vector<double> factors;
    for (const ProductTiming& p : table_.products)
      if (p.kind == grouped_kernel)
        factors.push_back(shipped * clock().grouped_product(shape_of(p), p.format).value() / p.median_s);
    if (!factors.empty()) set(&DeviceCalibration::grouped_product_factor, median(factors));
  }
  [[nodiscard]] KernelClock clock() const { return {device_, fitted_}; }

  /// How fast the kernel that the table measured is over the device's FlashAttention 2.
  [[nodiscard]] double attention_factor() const {
    const std::string& kernel = table_.attention.front().kernel;
    for (const AttentionTiming& a : table_.attention)
      if (a.kernel != kernel)
        throw InputError({"attention",
                          "holds two kernels, \"" + kernel.substr(0, 40) + "\" and \"" + a.kernel.substr(0, 40) + "\"",
                          "one", ""});
    const StackAxis* axis = axis_table_.find("attention");
    const AxisValue* value = axis == nullptr ? nullptr : axis->find(kernel);
    if (value == nullptr)
      throw InputError({"attention", "names the kernel \"" + kernel.substr(0, 40) + "\"",
                        "a value of the axis attention",
                        axis == nullptr ? "" : nearest_text(kernel.substr(0, 40), axis->value_names())});
    for (const NamedCoefficient& c : value->coefficients)
      if (c.name == "flash_factor") return c.coefficient.value;
    return 1;
  }
  void fit_attention() {
    if (table_.attention.empty()) return;
    fitted_.stack.compute.flash_factor.value = attention_factor();
    const auto law = attention_law(table_.attention, device_, Seconds(fitted_.device.kernel_gap_s));
    if (!law) return;
    require_share(law->forward.fraction, "attention", "dense peak");
    set(&DeviceCalibration::flash_forward_fraction, law->forward.fraction / fitted_.stack.compute.flash_factor);
    set(&DeviceCalibration::flash_half_sequence, law->forward.half);
    set(&DeviceCalibration::flash_backward_factor, law->backward_factor);
  }

  void note_residuals() {
    const KernelClock priced = clock();
    errors_.note_products(table_, priced);
    errors_.note_attention(table_, priced);
    for (const MemoryTiming& m : table_.memory_bound)
      if (m.op == streaming_kernel && m.bytes > caches_of_a_stream * device_.l2_cache.value)
        errors_.note("sums of tensors", priced.stream(static_cast<double>(m.bytes.value())).value(), m.median_s);
    // Kernels were measured, whole steps were not: no surer than a device that a few runs are known of.
    const Coefficient& few = axis_table_.regimes[static_cast<std::size_t>(CalibrationRegime::few_runs)].time;
    Residuals residuals;
    residuals.regime = CalibrationRegime::few_runs;
    residuals.time.sigma = measured_.sigma(std::max(errors_.sigma(), few.value));
    residuals.measured.devices = {device_.name};
    fitted_.device.residuals = residuals;
  }

  const KernelTable& table_;
  const Device& device_;
  const StackAxisTable& axis_table_;
  Calibration fitted_;  ///< its device, as far as it is fitted
  MeasuredCoefficients measured_;
  KernelResiduals errors_;
};

}  // namespace

DeviceFit fit_device(const KernelTable& table, const Device& device, const Calibration& shipped,
                     const StackAxisTable& axes) {
  return DeviceFitter(table, device, shipped, axes).run();
}

}  // namespace plumbline
