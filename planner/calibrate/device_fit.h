#pragma once
/// \file device_fit.h: a GPU's calibration from a table of its kernels.
///
/// Answers: coefficients of kind "measured" with the residuals that the laws leave; what the table does not hold stays
/// as it ships. Model: the laws of core/cost/kernel_time.h, inverted (kernel_laws.h). Bandwidth: the median of sums of
/// tensors larger than the cache. Products: for every exponent of wave quantisation on a grid, efficiency over 1 / k of
/// the shapes that arithmetic bounds; the exponent of the least median error is taken. Attention: over the kernel that
/// the table names, by the factor that its axis value has over FlashAttention 2.
/// A table says nothing about a software stack: fusion, overlap and the host stay those of the stack that is chosen.
/// Not modelled: clocks that fall under a longer load than that of one kernel; collectives.
/// Checked against: tests/unit/planner/calibrate/device_fit_test.cpp (tables made from the laws of A100 and H100).

#include <vector>

#include "core/cost/software_stack.h"
#include "core/machine/device.h"
#include "core/measurement/kernel_table.h"
#include "planner/calibrate/kernel_laws.h"

namespace plumbline {

struct DeviceFit {
  DeviceCalibration device;  ///< made for `device` alone
  std::vector<KernelResidual> residuals;
};

/// `shipped`: what the device's calibration was so far; `axes`: of attention kernels and of regimes. Throws
/// InputError where the table has no 16-bit product or no sum of tensors, or names an attention kernel that there is
/// not.
[[nodiscard]] DeviceFit fit_device(const KernelTable& table, const Device& device, const Calibration& shipped,
                                   const StackAxisTable& axes);

}  // namespace plumbline
