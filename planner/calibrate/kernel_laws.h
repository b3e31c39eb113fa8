#pragma once
/// \file kernel_laws.h: the laws of core/cost/kernel_time.h, inverted: coefficients from measured kernels.
///
/// Answers shares of a peak and half-lengths by straight lines through medians, which a few wild measurements do not
/// move (Theil, 1950; Sen, JASA 1968). A law rate = fraction * x / (x + half) is a line of 1 / rate over 1 / x.
/// Not modelled: interaction of the laws; each is fitted with the others held.
/// Checked against: tests/unit/planner/calibrate/kernel_fit_test.cpp.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/op_work.h"
#include "core/machine/device.h"
#include "core/measurement/kernel_table.h"

namespace plumbline {

/// 0 of none; the upper one of two.
[[nodiscard]] double median(std::vector<double> values);

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
  [[nodiscard]] std::vector<KernelResidual> list() const;
  /// One standard deviation of a normal distribution with the median of all errors.
  [[nodiscard]] double sigma() const;

 private:
  std::map<std::string, std::vector<double>> errors_;
};

}  // namespace plumbline
