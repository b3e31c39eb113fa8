#pragma once
/// \file kernel_fit.h: a device's calibration from a table of its kernels, and what of a stack the table decides.
///
/// Answers: coefficients of kind "measured" by closed formulas and medians, with the residuals they leave.
/// Model: the laws of core/cost/kernel_time.h, inverted. Products: 1 / efficiency is a straight line over 1 / k, drawn
/// by the median of the slopes between pairs (Theil, 1950; Sen, JASA 1968); attention likewise over 1 / sequence; a
/// core has no waves. Memory-bound kernels of fp32: the rate of a sum of two tensors, and the mean over the kinds of
/// kernels of how much slower they are; optimizer and loss each by their own sum. Collectives: the median of measured
/// over priced. Not modelled: caches; that 16-bit formats are emulated in memory-bound kernels (their residual says by
/// how much); shapes far outside of the table; crowds, which are reported and not fitted.
/// Checked against: tests/unit/planner/calibrate/kernel_fit_test.cpp (tables made from known coefficients).

#include <string>
#include <vector>

#include "core/cost/calibration.h"
#include "core/machine/cluster.h"
#include "core/measurement/kernel_table.h"

namespace plumbline {

/// How far the fitted law is from one kind of entry: |priced / measured - 1|.
struct KernelResidual {
  std::string kind;  ///< "gemm fp32", "attention forward", ...
  std::int64_t entries = 0;
  double median = 0;
  double worst = 0;
};

struct KernelFit {
  DeviceCalibration device;
  std::vector<NamedCoefficient> stack;  ///< own numbers of a stack that is like the runtime's
  std::vector<KernelResidual> residuals;
};

/// `shipped`: what holds where the table says nothing. `cluster`: one rank of the machine measured, and more for its
/// collectives (with_device_count). Throws InputError when the table holds no fp32 product or no memory-bound kernel.
[[nodiscard]] KernelFit fit_kernels(const KernelTable& table, const Cluster& cluster, const Calibration& shipped);

/// y = intercept + slope x by medians; with one distinct x, slope 0.
struct MedianLine {
  double intercept = 0;
  double slope = 0;
};
[[nodiscard]] MedianLine median_line(const std::vector<std::pair<double, double>>& points);

}  // namespace plumbline
