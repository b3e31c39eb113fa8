#pragma once
/// \file op_work.h: what one operator computes and moves on one rank, forward and backward, before any clock.
///
/// Answers FLOPs and bytes per micro-batch. Model: a multiply-add is two FLOPs; only matrix products (linear, batched
/// matmul, attention, delta rule, convolution, experts, router) count; attention counts the full square, as the
/// published formulas do, whatever the kernel skips (kernel_time.h prices the skipped half). A product's backward is
/// one product for the gradient of each operand that carries one. Batch norm in training reads its input twice, for
/// statistics and to normalise, and backward input and output gradient twice. Source: Narayanan et al.,
/// arXiv:2104.04473, appendix; Korthikanti et al., arXiv:2205.05198, appendix A. Not modelled: FLOPs of element-wise
/// work; it is priced by the bytes it moves. Checked against: tests/reference/training_flops_test.cpp (closed forms and
/// PyTorch's counter, exact).

#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/sharding/delta_rule_work.h"
#include "core/sharding/matrix_product.h"
#include "core/sharding/shard.h"

namespace plumbline {

/// What a backward pass must produce for an operator.
struct GradientNeed {
  bool input = true;
  bool weight = true;
};

/// The attention core on one rank.
struct AttentionWork {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t queries = 0;  ///< tokens of this rank
  std::int64_t keys = 0;     ///< tokens attended to, all context-parallel ranks together
  std::int64_t qk_head_dim = 0;
  std::int64_t v_head_dim = 0;
  bool causal = true;
  bool dropout = false;
  /// Entries of the score matrices that the formulas count (the window bounds the keys).
  [[nodiscard]] double scores() const {
    return static_cast<double>(batch) * static_cast<double>(heads) * static_cast<double>(queries) *
           static_cast<double>(keys);
  }
};

enum class WorkKind : std::uint8_t { product, grouped_product, attention, delta_rule, memory };

/// What a convolution reads and writes, in elements, and how its input gradient is computed. Its implicit product
/// (cuDNN, arXiv:1410.0759, section 3) makes the rows of patches on chip: of the input each element that a patch covers
/// is read once, not once for each patch.
struct ConvolutionWork {
  std::int64_t covered = 0;  ///< of the input, by any patch
  std::int64_t input = 0;    ///< all of it, whose gradient is written
  std::int64_t weight = 0;
  std::int64_t output = 0;
  MatrixProduct
      input_gradient;  ///< as a convolution of the output gradient: what reaches an input element is its depth
};

struct OpWork {
  WorkKind kind = WorkKind::memory;
  std::optional<MatrixProduct> product;        ///< forward, for (grouped) products
  std::optional<ConvolutionWork> convolution;  ///< where the product is one
  std::optional<AttentionWork> attention;
  std::optional<DeltaRuleWork> delta_rule;
  GradientNeed needs;
  Flops forward{0};
  Flops backward_input{0};
  Flops backward_weight{0};
  Bytes forward_traffic{0};  ///< of memory-bound operators, and around a delta rule: bytes read and written
  Bytes backward_traffic{0};
};

[[nodiscard]] OpWork op_work(const Block& block, const Op& op, const Shard& shard);

/// Sums over the operators of a block.
struct BlockFlops {
  Flops forward{0};
  Flops backward_input{0};
  Flops backward_weight{0};
  [[nodiscard]] Flops backward() const { return backward_input + backward_weight; }
  [[nodiscard]] Flops total() const { return forward + backward(); }
};
[[nodiscard]] BlockFlops block_flops(const Block& block, const Shard& shard);
/// The model FLOPs of one micro-batch of a whole network on one rank: no recompute. Shard of degrees 1: the network's.
[[nodiscard]] BlockFlops graph_flops(const Graph& graph, const Shard& shard);

}  // namespace plumbline
