#pragma once
/// \file tensor.h: a value that flows between operators, or a parameter that one of them holds.

#include <cstdint>
#include <string>

#include "core/base/strong_id.h"
#include "core/graph/shape.h"

namespace plumbline {

using TensorId = StrongId<struct TensorTag>;

enum class TensorRole : std::uint8_t { input, parameter, activation };

/// How one element is stored. `compute` follows the precision recipe (2 bytes in bf16); the others do not.
enum class ElementKind : std::uint8_t { compute, fp32, index };

/// What the tensor- and expert-parallel ranks hold of a tensor. Context parallelism divides whatever has a sequence
/// dimension on top of this. Source of the regions: Korthikanti et al., arXiv:2205.05198, figures 4 and 5.
enum class Partition : std::uint8_t {
  replicated,     ///< whole on every tensor-parallel rank
  sequence,       ///< whole, but a slice of the sequence when sequence parallelism is on
  tensor,         ///< a slice of the last dimension (heads, ffn, vocabulary) per tensor-parallel rank
  expert,         ///< parameters of routed experts: experts over expert-parallel ranks, ffn over expert-tensor ranks
  routed,         ///< tokens as dispatched to experts: their number does not shrink with expert parallelism
  routed_tensor,  ///< as routed, the last dimension divided over the expert-tensor-parallel ranks
};

struct Tensor {
  std::string name;
  Shape shape;
  TensorRole role = TensorRole::activation;
  ElementKind element = ElementKind::compute;
  Partition partition = Partition::sequence;
  /// How many indivisible units (heads, kv heads) the partitioned dimension has; 0: any division. More ranks than
  /// units replicate a unit.
  std::int64_t partition_units = 0;
  /// Parameters only: whether training changes it.
  bool trainable = true;
  /// Parameters only: shares the storage of a parameter of the embedding block (tied embeddings), so it counts once.
  bool tied = false;
};

}  // namespace plumbline
