#pragma once
/// \file cudnn_attention.h: attention by cuDNN, looked for while the program runs.
///
/// Answers: a graph that was built for one call's shape, or that there is none. Model: one translation unit
/// (cudnn_of_system.cpp) knows cuDNN, through its frontend's headers; nothing of ours is linked with it. Tensors are
/// [batch, heads, positions, features] in rows of positions. Source: cuDNN 9, "Graph API, fused flash attention".
/// Checked against: tests/cuda/attention_kernels_test.cpp (a stand-in that checks what is asked for).

#include <cuda_runtime_api.h>

#include <compare>
#include <memory>
#include <string>

#include "core/quantity/number_format.h"
#include "core/quantity/quantity.h"

namespace plumbline {

enum class AttentionDirection : std::uint8_t { forward, backward };

/// All tensors but the log-sum-exp have this format; a row holds the features of all heads.
struct AttentionGraph {
  AttentionDirection direction = AttentionDirection::forward;
  NumberFormat format = NumberFormat::bf16;
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t head_dim = 0;
  float scale = 1;
  bool is_causal = false;
  std::int64_t window = 0;  ///< with a causal mask: positions that a query sees, its own included; 0: all
  // Elements from a row to the next one.
  std::int64_t query_stride = 0;
  std::int64_t key_stride = 0;
  std::int64_t value_stride = 0;
  std::int64_t output_stride = 0;
  std::int64_t output_gradient_stride = 0;
  std::int64_t query_gradient_stride = 0;
  std::int64_t key_gradient_stride = 0;
  std::int64_t value_gradient_stride = 0;

  auto operator<=>(const AttentionGraph&) const = default;
};

/// In the device's memory. What is written: forward, output and log_sum_exp [batch, heads, queries] fp32; backward, the
/// three gradients.
struct AttentionOperands {
  const void* query = nullptr;
  const void* key = nullptr;
  const void* value = nullptr;
  void* output = nullptr;
  float* log_sum_exp = nullptr;
  const void* output_gradient = nullptr;
  void* query_gradient = nullptr;
  void* key_gradient = nullptr;
  void* value_gradient = nullptr;
};

/// Of one device, used by its thread.
class BuiltAttention {
 public:
  BuiltAttention() = default;
  BuiltAttention(const BuiltAttention&) = delete;
  BuiltAttention& operator=(const BuiltAttention&) = delete;
  virtual ~BuiltAttention() = default;

  [[nodiscard]] virtual Bytes workspace() const = 0;
  /// Throws CudaError that names the call.
  virtual void run(const AttentionOperands& operands, void* workspace, cudaStream_t stream) = 0;
};

struct FoundCudnn {
  /// For the calling thread's device. Null where the library has no such graph.
  std::unique_ptr<BuiltAttention> (*build)(const AttentionGraph& graph) = nullptr;
  std::string problem;  ///< empty: it was found
};

/// Of this program; looked for once.
[[nodiscard]] const FoundCudnn& cudnn();

}  // namespace plumbline
