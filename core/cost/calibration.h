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

#include "core/cost/product_shapes.h"
#include "core/cost/residuals.h"
#include "core/cost/stack_efficiencies.h"
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
  std::optional<ProductShapes> shapes;  ///< absent in a file: CalibrationSet puts the generic GPU's
  std::optional<Residuals> residuals;   ///< absent in a file: CalibrationSet puts the unknown device's

  /// The efficiency of a format; of the nearest one (16-bit) when it was never fitted.
  [[nodiscard]] const ProductEfficiency& product(NumberFormat format) const;
  /// None: it was not measured.
  [[nodiscard]] const OperatorTraffic* traffic(OpKind kind) const;
};

struct StackCalibration {
  std::string name;
  std::string description;
  StackFeatures features;
  ComputeEfficiency compute;
  CommunicationEfficiency communication;
  ShardingEfficiency sharding;
  HostEfficiency host;
  ExpertEfficiency experts;
  OptimizerEfficiency optimizer;
  MemoryEfficiency memory;
  UncertaintySlopes uncertainty;
  Residuals residuals;
};

struct Calibration {
  DeviceCalibration device;
  StackCalibration stack;
};

}  // namespace plumbline
