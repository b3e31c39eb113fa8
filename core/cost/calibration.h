#pragma once
/// \file calibration.h: how far from its datasheet a device and a software stack work, number by number with source.
///
/// A device calibration holds kernel efficiencies; a stack holds what a framework does with them (fusion, overlap,
/// overheads). Both are data (models/calibrations/*.json); estimators read them and hold no constant of their own.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/quantity/number_format.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// One fitted, measured or assumed number. `relative_sigma`: one standard deviation over the value; 0 when unknown.
struct Coefficient {
  double value = 0;
  double relative_sigma = 0;
  std::string kind;  ///< "fitted", "measured" or "assumed"
  std::string source;
  /// Reads like the number that it is.
  operator double() const { return value; }
};

/// Matrix products of one format reach peak * fraction * K / (K + half_depth) before quantisation and alignment.
struct ProductEfficiency {
  NumberFormat format = NumberFormat::bf16;
  Coefficient peak_fraction;
  Coefficient half_depth;  ///< K0: the inner dimension at which half of it is reached
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
  Coefficient residual_sigma;          ///< of step times on runs that calibration never saw

  /// The efficiency of a format; of the nearest one (16-bit) when it was never fitted.
  [[nodiscard]] const ProductEfficiency& product(NumberFormat format) const;
};

struct StackCalibration {
  std::string name;
  std::string description;
  Coefficient step_factor;          ///< everything that no other term explains, multiplies the step
  Coefficient memory_bound_factor;  ///< fused (below 1) or not (above 1)
  Coefficient loss_factor;          ///< bytes of the loss over the model's
  Coefficient flash_factor;         ///< attention kernels over the device's FlashAttention 2 efficiency
  Coefficient tensor_parallel_exposure;
  Coefficient tensor_parallel_backward_factor;  ///< backward collectives over forward ones (contention)
  Coefficient pipeline_exposure;
  Coefficient data_parallel_exposure;
  Coefficient context_parallel_exposure;
  Coefficient expert_parallel_exposure;
  Coefficient shard_overlap_norm;  ///< p of (compute^p + communication^p)^(1/p) for gathered parameters
  Coefficient host_time_per_kernel_s;
  Coefficient step_overhead_s;
  Coefficient accumulation_bytes;  ///< per parameter and micro-batch, for adding gradients
  Coefficient optimizer_traffic_factor;
  Coefficient score_bytes_forward;  ///< unfused attention: bytes per score beside the two products
  Coefficient score_bytes_backward;
  Coefficient logit_bytes;             ///< live bytes per logit at the peak of the loss
  Coefficient context_bytes;           ///< device context and loaded kernels
  Coefficient communicator_bytes;      ///< buffers of one communicator
  Coefficient workspace_bytes;         ///< matrix-product workspaces
  Coefficient fragmentation_fraction;  ///< of live bytes, lost in the allocator
  Coefficient expert_imbalance;        ///< busiest expert rank over the mean
  Coefficient host_bytes_per_rank;     ///< host memory of one rank's process
  Coefficient residual_sigma;          ///< of step times of this stack
  Coefficient memory_sigma;            ///< of peak memory, relative
};

struct Calibration {
  DeviceCalibration device;
  StackCalibration stack;
};

}  // namespace plumbline
