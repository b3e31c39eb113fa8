#pragma once
/// \file calibration_fields.h: the coefficients of a calibration as one table: name, member, and the range that physics
/// leaves it. Readers, writers and sensitivities walk it. Choices of a stack have a table of their own
/// (stack_feature_table.h).
///
/// Ranges are limits of what makes sense, not measurements, and no answer depends on them. A fraction or a share of a
/// peak lies in (0, 1]; an exposure, a copy or a factor is at least 0 (above 0 where it divides); a time is at most a
/// second for one launch and an hour or two for a step's overhead; bytes are at most what no computer holds. Upper
/// limits beyond that are powers of ten that catch a wrong unit: a second for a microsecond, bytes for gibibytes.

#include <array>
#include <string_view>

#include "core/base/errors.h"
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

/// Of a relative error, as a logarithm: beyond it nothing was predicted.
inline constexpr double largest_sigma = 2;

inline constexpr std::array product_fields{
    CoefficientField<ProductEfficiency>{"peak_fraction", &ProductEfficiency::peak_fraction, 0.001, 1},
    CoefficientField<ProductEfficiency>{"half_depth", &ProductEfficiency::half_depth, 0, 1e6},
};

inline constexpr std::array operator_fields{
    CoefficientField<OperatorTraffic>{"forward", &OperatorTraffic::forward, 0, 1e4},
    CoefficientField<OperatorTraffic>{"backward", &OperatorTraffic::backward, 0, 1e4},
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
};

inline constexpr std::array stack_fields{
    CoefficientField<StackCalibration>{"step_factor", &StackCalibration::step_factor, 0.1, 10},
    CoefficientField<StackCalibration>{"memory_bound_factor", &StackCalibration::memory_bound_factor, 0.01, 100},
    CoefficientField<StackCalibration>{"ring_bytes_forward", &StackCalibration::ring_bytes_forward, 0, 1000},
    CoefficientField<StackCalibration>{"ring_bytes_backward", &StackCalibration::ring_bytes_backward, 0, 1000},
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
    CoefficientField<StackCalibration>{"overlap_slowdown", &StackCalibration::overlap_slowdown, 0, 1},
    CoefficientField<StackCalibration>{"bucket_bytes", &StackCalibration::bucket_bytes, 1, 1e13},
    CoefficientField<StackCalibration>{"host_time_per_kernel_s", &StackCalibration::host_time_per_kernel_s, 0, 1},
    CoefficientField<StackCalibration>{"host_time_per_collective_s", &StackCalibration::host_time_per_collective_s, 0,
                                       1},
    CoefficientField<StackCalibration>{"kernels_per_operator", &StackCalibration::kernels_per_operator, 0, 100},
    CoefficientField<StackCalibration>{"kernels_per_expert", &StackCalibration::kernels_per_expert, 0, 10},
    CoefficientField<StackCalibration>{"expert_synchronisation", &StackCalibration::expert_synchronisation, 0, 1},
    CoefficientField<StackCalibration>{"routing_factor", &StackCalibration::routing_factor, 0.01, 100},
    CoefficientField<StackCalibration>{"gather_copy_bytes", &StackCalibration::gather_copy_bytes, 0, 100},
    CoefficientField<StackCalibration>{"scatter_copy_bytes", &StackCalibration::scatter_copy_bytes, 0, 100},
    CoefficientField<StackCalibration>{"network_card_share", &StackCalibration::network_card_share, 0.01, 1},
    CoefficientField<StackCalibration>{"gathered_from_elements", &StackCalibration::gathered_from_elements, 0, 1e12},
    CoefficientField<StackCalibration>{"host_time_per_piece_s", &StackCalibration::host_time_per_piece_s, 0, 1},
    CoefficientField<StackCalibration>{"step_overhead_s", &StackCalibration::step_overhead_s, 0, 1e4},
    CoefficientField<StackCalibration>{"accumulation_bytes", &StackCalibration::accumulation_bytes, 0, 100},
    CoefficientField<StackCalibration>{"optimizer_traffic_factor", &StackCalibration::optimizer_traffic_factor, 0, 100},
    CoefficientField<StackCalibration>{"score_bytes_forward", &StackCalibration::score_bytes_forward, 0, 1000},
    CoefficientField<StackCalibration>{"score_bytes_backward", &StackCalibration::score_bytes_backward, 0, 1000},
    CoefficientField<StackCalibration>{"logit_bytes", &StackCalibration::logit_bytes, 0, 100},
    CoefficientField<StackCalibration>{"copied_gradient_bytes", &StackCalibration::copied_gradient_bytes, 0, 8},
    CoefficientField<StackCalibration>{"updated_gradient_bytes", &StackCalibration::updated_gradient_bytes, 0, 8},
    CoefficientField<StackCalibration>{"gathered_parameters", &StackCalibration::gathered_parameters, 0, 1e15},
    CoefficientField<StackCalibration>{"gathered_gradients", &StackCalibration::gathered_gradients, 0, 1e15},
    CoefficientField<StackCalibration>{"context_bytes", &StackCalibration::context_bytes, 0, 1e12},
    CoefficientField<StackCalibration>{"communicator_bytes", &StackCalibration::communicator_bytes, 0, 1e12},
    CoefficientField<StackCalibration>{"workspace_bytes", &StackCalibration::workspace_bytes, 0, 1e12},
    CoefficientField<StackCalibration>{"fragmentation_fraction", &StackCalibration::fragmentation_fraction, 0, 1},
    CoefficientField<StackCalibration>{"expert_imbalance", &StackCalibration::expert_imbalance, 1, 1000},
    CoefficientField<StackCalibration>{"host_bytes_per_rank", &StackCalibration::host_bytes_per_rank, 0, 1e13},
    CoefficientField<StackCalibration>{"shared_time_sigma", &StackCalibration::shared_time_sigma, 0, largest_sigma},
    CoefficientField<StackCalibration>{"sigma_per_doubling", &StackCalibration::sigma_per_doubling, 0, largest_sigma},
    CoefficientField<StackCalibration>{"sigma_per_novelty", &StackCalibration::sigma_per_novelty, 0, largest_sigma},
};

/// The field with a key, or null.
template <class Owner, std::size_t N>
[[nodiscard]] constexpr const CoefficientField<Owner>* find_field(const std::array<CoefficientField<Owner>, N>& fields,
                                                                  std::string_view key) {
  for (const CoefficientField<Owner>& field : fields)
    if (field.key == key) return &field;
  return nullptr;
}
/// The field that fills a member; every coefficient has one.
template <class Owner, std::size_t N>
[[nodiscard]] constexpr const CoefficientField<Owner>& field_of(const std::array<CoefficientField<Owner>, N>& fields,
                                                                Coefficient Owner::*member) {
  for (const CoefficientField<Owner>& field : fields)
    if (field.member == member) return field;
  check(false, "every coefficient is in the table of fields");
  return fields.front();
}

}  // namespace plumbline
