#pragma once
/// \file kernel_laws.h: the laws of core/cost/kernel_time.h, inverted: coefficients from measured kernels.
///
/// Answers shares of a peak and half-lengths by straight lines through medians, which a few wild measurements do not
/// move (Theil, 1950; Sen, JASA 1968). A law rate = fraction * x / (x + half) is a line of 1 / rate over 1 / x.
/// Not modelled: interaction of the laws; each is fitted with the others held.
/// Checked against: tests/unit/planner/calibrate/kernel_fit_test.cpp and device_fit_test.cpp alongside it.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/calibration.h"
#include "core/cost/kernel_time.h"
#include "core/machine/device.h"
#include "core/measurement/kernel_table.h"
#include "core/sharding/op_work.h"

namespace plumbline {

/// y = intercept + slope x by medians; with one distinct x, slope 0.
struct MedianLine {
  double intercept = 0;
  double slope = 0;
};
[[nodiscard]] MedianLine median_line(const std::vector<std::pair<double, double>>& points);

/// What a kernel itself took: at least half of what was measured.
[[nodiscard]] double without_gap(double seconds, Seconds kernel_gap);

/// A rate of `fraction` of the peak that falls to half of it at `half`.
struct SaturationLaw {
  double fraction = 0;
  double half = 0;
};
/// From points (1 / x, peak / rate); nothing from fewer than three.
[[nodiscard]] std::optional<SaturationLaw> saturation_law(const std::vector<std::pair<double, double>>& points);

/// FlashAttention: forward over sequence length, and how much of that efficiency the backward pass has.
struct AttentionLaw {
  SaturationLaw forward;
  double backward_factor = 1;
};
[[nodiscard]] AttentionWork work_of(const AttentionTiming& timing);
[[nodiscard]] std::optional<AttentionLaw> attention_law(const std::vector<AttentionTiming>& timings,
                                                        const Device& device, Seconds kernel_gap);

/// [m, k] x [k, n]; of a grouped product, `batch` of them.
[[nodiscard]] MatrixProduct shape_of(const ProductTiming& timing);

/// Coefficients as the kernels of one table give them: of kind "measured", within the ranges of
/// core/cost/calibration_fields.h.
class MeasuredCoefficients {
 public:
  explicit MeasuredCoefficients(const KernelTable& table);
  void set(ProductEfficiency& product, Coefficient ProductEfficiency::*member, double value) const;
  void set(DeviceCalibration& device, Coefficient DeviceCalibration::*member, double value) const;
  void set(OperatorTraffic& traffic, Coefficient OperatorTraffic::*member, double value) const;
  /// With the name that a coefficient of `stack` has in files.
  [[nodiscard]] NamedCoefficient of_stack(const StackCalibration& stack, const Coefficient& coefficient,
                                          double value) const;
  [[nodiscard]] Coefficient sigma(double value) const;

 private:
  [[nodiscard]] Coefficient within(double smallest, double value, double largest) const;
  std::string source_;
};

/// How far a fitted law is from one kind of entry: |priced / measured - 1|.
struct KernelResidual {
  std::string kind;  ///< "gemm fp32", "attention forward", ...
  std::int64_t entries = 0;
  double median = 0;
  double worst = 0;
};
/// Collects residuals kind by kind.
class KernelResiduals {
 public:
  void note(const std::string& kind, double priced, double measured);
  /// Every product and every attention of the table.
  void note_products(const KernelTable& table, const KernelClock& clock);
  void note_attention(const KernelTable& table, const KernelClock& clock);
  [[nodiscard]] std::vector<KernelResidual> list() const;
  /// One standard deviation of a normal distribution with the median of all errors.
  [[nodiscard]] double sigma() const;

 private:
  std::map<std::string, std::vector<double>> errors_;
};

}  // namespace plumbline
