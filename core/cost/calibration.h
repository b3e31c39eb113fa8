#pragma once
/// \file calibration.h: how far from its datasheet a device and a software stack work, number by number with source.
///
/// A device calibration holds kernel efficiencies; a stack holds what a framework does with them (fusion, overlap,
/// overheads), composed of what it shares with others (software_stack.h): features, which are choices, and
/// efficiencies, which are numbers with an uncertainty. Both are data (models/calibrations/*.json); estimators read
/// them and hold no constant of their own.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/residuals.h"
#include "core/cost/stack_features.h"
#include "core/graph/op.h"
#include "core/quantity/number_format.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// A coefficient under the key that it has in files.
struct NamedCoefficient {
  std::string name;
  Coefficient coefficient;
};

/// Matrix products of one format reach peak * fraction * K / (K + half_depth) before quantisation and alignment.
struct ProductEfficiency {
  NumberFormat format = NumberFormat::bf16;
  Coefficient peak_fraction;
  Coefficient half_depth;  ///< K0: the inner dimension at which half of it is reached
};

/// What memory-bound kernels of one kind of operator take, over plain streaming of their bytes. Of `attention`: what
/// dropout adds to a fused kernel, over a byte for each score that it computes.
struct OperatorTraffic {
  OpKind kind = OpKind::add;
  Coefficient forward;
  Coefficient backward;
};

struct DeviceCalibration {
  std::string name;
  std::vector<std::string> devices;  ///< catalogue names of the devices it was made for
  std::vector<ProductEfficiency> products;
  Coefficient wave_exponent;           ///< how strongly tile and wave quantisation is felt
  Coefficient batched_product_factor;  ///< batched over plain products
  Coefficient grouped_product_factor;  ///< experts' grouped products over plain ones
  Coefficient flash_forward_fraction;  ///< FlashAttention forward over peak, long sequences
  Coefficient flash_backward_factor;   ///< its backward over its forward efficiency
  Coefficient flash_half_sequence;     ///< sequence at which half the efficiency is reached
  Coefficient bandwidth_fraction;      ///< memory-bound kernels over the datasheet's bandwidth
  Coefficient kernel_gap_s;            ///< between two kernels
  /// Of kinds that were measured one by one; for all others the stack's memory_bound_factor applies.
  std::vector<OperatorTraffic> operators;
  std::optional<Residuals> residuals;  ///< absent in a file: CalibrationSet puts the unknown device's

  /// The efficiency of a format; of the nearest one (16-bit) when it was never fitted.
  [[nodiscard]] const ProductEfficiency& product(NumberFormat format) const;
  /// None: it was not measured.
  [[nodiscard]] const OperatorTraffic* traffic(OpKind kind) const;
};

struct StackCalibration {
  std::string name;
  std::string description;
  StackFeatures features;
  Coefficient step_factor;          ///< everything that no other term explains, multiplies the step
  Coefficient memory_bound_factor;  ///< fused (below 1) or not (above 1)
  Coefficient ring_bytes_forward;   ///< per element of the queries and step of a ring: merging what was attended to
  Coefficient ring_bytes_backward;
  Coefficient loss_factor;   ///< bytes of the loss over the model's
  Coefficient flash_factor;  ///< attention kernels over the device's FlashAttention 2 efficiency
  Coefficient tensor_parallel_exposure;
  Coefficient tensor_parallel_backward_factor;  ///< backward collectives over forward ones (contention)
  Coefficient pipeline_exposure;
  Coefficient data_parallel_exposure;  ///< of a gradient reduction, what a long backward leaves in the step
  Coefficient context_parallel_exposure;
  Coefficient expert_parallel_exposure;
  Coefficient overlap_slowdown;  ///< by how much compute and collectives alongside it take longer: 0 to 1 (one by one)
  Coefficient bucket_bytes;      ///< of gradients that are reduced at once
  Coefficient host_time_per_kernel_s;      ///< until the host has launched one kernel, with its views and bookkeeping
  Coefficient host_time_per_collective_s;  ///< the same for one collective
  Coefficient kernels_per_operator;        ///< of operators other than products and attention, over one fused kernel
  Coefficient kernels_per_expert;          ///< of a product of experts: 0 one for all, 1 one each
  Coefficient expert_synchronisation;      ///< 1 where the host waits for the tokens per expert, else 0
  Coefficient routing_factor;              ///< bytes that dispatch and combine move over those of one kernel per step
  Coefficient gather_copy_bytes;           ///< per parameter and pass: copies of gathered units into their tensors
  Coefficient scatter_copy_bytes;          ///< per trained parameter: copies of gradients into what is reduced
  Coefficient network_card_share;          ///< of a node's network cards, what sharing states makes use of
  Coefficient gathered_from_elements;      ///< ZeRO-3 gathers tensors of so many one by one; 0: unit by unit, all
  Coefficient host_time_per_piece_s;       ///< of a tensor gathered or reduced alone, for every rank's segment of it
  Coefficient step_overhead_s;
  Coefficient accumulation_bytes;  ///< per parameter and micro-batch, for adding gradients
  Coefficient optimizer_traffic_factor;
  Coefficient score_bytes_forward;  ///< unfused attention: bytes per score alongside the two products
  Coefficient score_bytes_backward;
  Coefficient logit_bytes;             ///< live bytes per logit at the peak of the loss
  Coefficient copied_gradient_bytes;   ///< per trained parameter, kept alongside gradients that are summed in 32 bits
  Coefficient updated_gradient_bytes;  ///< per parameter that a rank updates, alongside gradients kept in 16 bits
  Coefficient gathered_parameters;     ///< under ZeRO-3: the most that are gathered at once, whatever a block has
  Coefficient gathered_gradients;      ///< under ZeRO-2 and 3: the most that wait whole for their reduction
  Coefficient context_bytes;           ///< device context and loaded kernels
  Coefficient communicator_bytes;      ///< buffers of one communicator
  Coefficient workspace_bytes;         ///< matrix-product workspaces
  Coefficient fragmentation_fraction;  ///< of live bytes, lost in the allocator
  Coefficient expert_imbalance;        ///< busiest expert rank over the mean
  Coefficient host_bytes_per_rank;     ///< host memory of one rank's process
  Coefficient shared_time_sigma;       ///< what the residuals of device and stack both contain (extrapolation.h)
  Coefficient sigma_per_doubling;      ///< added to step times' residual outside of what was measured
  Coefficient sigma_per_novelty;       ///< added for a device, number format or kind of network never measured
  Residuals residuals;
};

struct Calibration {
  DeviceCalibration device;
  StackCalibration stack;
};

}  // namespace plumbline
