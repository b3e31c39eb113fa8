#pragma once
/// \file kernel_fit.h: a processor core's calibration from a table of its kernels, and what of the runtime's own stack
/// the table decides. Of a GPU: device_fit.h.
///
/// Answers: coefficients of kind "measured" by closed formulas, with the residuals they leave: half-lengths by lines
/// through medians, rates by means, since a step's time is a sum.
/// Model: the laws of core/cost/kernel_time.h, inverted (kernel_laws.h); a core has no waves. Memory-bound kernels of
/// fp32: the rate of a sum of two tensors, and how much slower each kind of kernel is, in the mean over shapes (of
/// kinds that the table does not hold: the mean of all); dropout inside of attention by what it adds; optimizer and
/// loss each by their own sum. Collectives: the median of measured over priced. Not modelled: caches; that 16-bit
/// formats are emulated in memory-bound kernels (their residual says by how much); shapes far outside of the table;
/// crowds, which are reported and not fitted. Checked against: tests/unit/planner/calibrate/kernel_fit_test.cpp (tables
/// made from known coefficients).

#include <string>
#include <vector>

#include "core/cost/calibration.h"
#include "core/machine/cluster.h"
#include "core/measurement/kernel_table.h"
#include "planner/calibrate/kernel_laws.h"

namespace plumbline {

struct KernelFit {
  DeviceCalibration device;
  std::vector<NamedCoefficient> stack;  ///< own numbers of a stack that is like the runtime's
  std::vector<KernelResidual> residuals;
};

/// `shipped`: what holds where the table says nothing. `cluster`: one rank of the machine measured, and more for its
/// collectives (with_device_count). Throws InputError when the table holds no fp32 product or no memory-bound kernel.
[[nodiscard]] KernelFit fit_kernels(const KernelTable& table, const Cluster& cluster, const Calibration& shipped);

}  // namespace plumbline
