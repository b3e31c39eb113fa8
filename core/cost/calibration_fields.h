#pragma once
/// \file calibration_fields.h: the coefficients of a calibration as one table: name, member, and the range that physics
/// leaves it. Readers, writers and sensitivities walk it.

#include <array>
#include <string_view>

#include "core/cost/calibration.h"

namespace plumbline {

/// Key in the file, member it fills, and the range that physics leaves it.
template <class Owner>
struct CoefficientField {
  std::string_view key;
  Coefficient Owner::*member;
  double smallest;
  double largest;
};

inline constexpr std::array device_fields{
    CoefficientField<DeviceCalibration>{"wave_exponent", &DeviceCalibration::wave_exponent, 0, 4},
    CoefficientField<DeviceCalibration>{"batched_product_factor", &DeviceCalibration::batched_product_factor, 0.01, 2},
    CoefficientField<DeviceCalibration>{"grouped_product_factor", &DeviceCalibration::grouped_product_factor, 0.01, 2},
    CoefficientField<DeviceCalibration>{"flash_forward_fraction", &DeviceCalibration::flash_forward_fraction, 0.001, 1},
    CoefficientField<DeviceCalibration>{"flash_backward_factor", &DeviceCalibration::flash_backward_factor, 0.01, 2},
    CoefficientField<DeviceCalibration>{"flash_half_sequence", &DeviceCalibration::flash_half_sequence, 0, 1e6},
    CoefficientField<DeviceCalibration>{"bandwidth_fraction", &DeviceCalibration::bandwidth_fraction, 0.01, 1},
    CoefficientField<DeviceCalibration>{"kernel_gap_s", &DeviceCalibration::kernel_gap_s, 0, 1},
    CoefficientField<DeviceCalibration>{"residual_sigma", &DeviceCalibration::residual_sigma, 0, 2},
};

inline constexpr std::array stack_fields{
    CoefficientField<StackCalibration>{"step_factor", &StackCalibration::step_factor, 0.1, 10},
    CoefficientField<StackCalibration>{"memory_bound_factor", &StackCalibration::memory_bound_factor, 0.01, 100},
    CoefficientField<StackCalibration>{"loss_factor", &StackCalibration::loss_factor, 0.01, 100},
    CoefficientField<StackCalibration>{"flash_factor", &StackCalibration::flash_factor, 0.01, 10},
    CoefficientField<StackCalibration>{"tensor_parallel_exposure", &StackCalibration::tensor_parallel_exposure, 0, 10},
    CoefficientField<StackCalibration>{"tensor_parallel_backward_factor",
                                       &StackCalibration::tensor_parallel_backward_factor, 0, 10},
    CoefficientField<StackCalibration>{"pipeline_exposure", &StackCalibration::pipeline_exposure, 0, 10},
    CoefficientField<StackCalibration>{"data_parallel_exposure", &StackCalibration::data_parallel_exposure, 0, 10},
    CoefficientField<StackCalibration>{"context_parallel_exposure", &StackCalibration::context_parallel_exposure, 0,
                                       10},
    CoefficientField<StackCalibration>{"expert_parallel_exposure", &StackCalibration::expert_parallel_exposure, 0, 10},
    CoefficientField<StackCalibration>{"shard_overlap_norm", &StackCalibration::shard_overlap_norm, 1, 64},
    CoefficientField<StackCalibration>{"host_time_per_kernel_s", &StackCalibration::host_time_per_kernel_s, 0, 1},
    CoefficientField<StackCalibration>{"step_overhead_s", &StackCalibration::step_overhead_s, 0, 1e4},
    CoefficientField<StackCalibration>{"accumulation_bytes", &StackCalibration::accumulation_bytes, 0, 100},
    CoefficientField<StackCalibration>{"optimizer_traffic_factor", &StackCalibration::optimizer_traffic_factor, 0, 100},
    CoefficientField<StackCalibration>{"score_bytes_forward", &StackCalibration::score_bytes_forward, 0, 1000},
    CoefficientField<StackCalibration>{"score_bytes_backward", &StackCalibration::score_bytes_backward, 0, 1000},
    CoefficientField<StackCalibration>{"logit_bytes", &StackCalibration::logit_bytes, 0, 100},
    CoefficientField<StackCalibration>{"context_bytes", &StackCalibration::context_bytes, 0, 1e12},
    CoefficientField<StackCalibration>{"communicator_bytes", &StackCalibration::communicator_bytes, 0, 1e12},
    CoefficientField<StackCalibration>{"workspace_bytes", &StackCalibration::workspace_bytes, 0, 1e12},
    CoefficientField<StackCalibration>{"fragmentation_fraction", &StackCalibration::fragmentation_fraction, 0, 1},
    CoefficientField<StackCalibration>{"expert_imbalance", &StackCalibration::expert_imbalance, 1, 1000},
    CoefficientField<StackCalibration>{"host_bytes_per_rank", &StackCalibration::host_bytes_per_rank, 0, 1e13},
    CoefficientField<StackCalibration>{"residual_sigma", &StackCalibration::residual_sigma, 0, 2},
    CoefficientField<StackCalibration>{"memory_sigma", &StackCalibration::memory_sigma, 0, 2},
};

}  // namespace plumbline
