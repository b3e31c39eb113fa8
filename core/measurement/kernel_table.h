#pragma once
/// \file kernel_table.h: how long single kernels and collectives took on one device: what device calibrations are
/// fitted from.
///
/// Answers: medians in seconds of one call each. Bytes of memory-bound kernels are those that core/sharding/op_work.h
/// counts, so that fit and price speak of the same traffic. Not modelled: kernels that run alongside others, but for
/// `crowds`.
/// Checked against: tests/unit/core/io/kernel_table_json_test.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/op_kind.h"
#include "core/quantity/number_format.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// Kinds of kernels that fits look for by name.
inline constexpr std::string_view grouped_kernel = "grouped";  ///< of experts, several in one call
inline constexpr std::string_view tiny_kernel = "tiny_add";    ///< so small that its time is the call's
inline constexpr std::string_view streaming_kernel =
    record_of(OpKind::add).timed.forward;  ///< of two tensors: memory and nothing else
inline constexpr std::string_view optimizer_kernel = "adamw";
inline constexpr std::string_view loss_kernel = "cross_entropy";
/// What dropout of its probabilities adds to fused attention; its bytes are one for each score that is computed.
inline constexpr std::string_view attention_dropout_forward = "attention_dropout_forward";
inline constexpr std::string_view attention_dropout_backward = "attention_dropout_backward";

/// [m, k] x [k, n]; what it is of a linear layer: "forward", "input_gradient", "weight_gradient", or grouped_kernel
/// (`batch` of them in one call).
struct ProductTiming {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  NumberFormat format = NumberFormat::fp32;
  std::string kind;
  double median_s = 0;
  bool operator==(const ProductTiming&) const = default;
};

/// Causal attention in tiles.
struct AttentionTiming {
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  NumberFormat format = NumberFormat::fp32;
  double forward_s = 0;
  double backward_s = 0;
  std::string kernel = "flash-2";  ///< a value of the axis `attention`
  bool operator==(const AttentionTiming&) const = default;
};

/// `op`: a name of an operator (OpRecord::timed, core/graph/op_kind.h), or one of those above.
struct MemoryTiming {
  std::string op;
  NumberFormat format = NumberFormat::fp32;
  Bytes bytes{0};
  double median_s = 0;
  bool operator==(const MemoryTiming&) const = default;
};

/// `bytes` as collective_cost takes them: of the whole buffer.
struct CollectiveTiming {
  std::string collective;  ///< core/sharding/collective.h
  std::int32_t ranks = 0;
  Bytes bytes{0};
  double median_s = 0;
  bool operator==(const CollectiveTiming&) const = default;
};

/// The same work on several threads at once, over one alone.
struct CrowdTiming {
  std::int32_t threads = 1;
  double slowdown = 1;
  bool operator==(const CrowdTiming&) const = default;
};

struct KernelTable {
  std::string device;   ///< catalogue name of the device
  std::string machine;  ///< what the computer calls itself
  std::string library;  ///< that multiplies matrices
  std::int32_t cores = 1;
  std::vector<ProductTiming> products;
  std::vector<AttentionTiming> attention;
  std::vector<MemoryTiming> memory_bound;
  std::vector<CollectiveTiming> collectives;
  std::vector<CrowdTiming> crowds;
  double core_share = 1;  ///< of a core that single kernels had while they were timed; less: others used it too
  bool operator==(const KernelTable&) const = default;
};

}  // namespace plumbline
