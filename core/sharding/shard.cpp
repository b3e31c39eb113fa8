#include "core/sharding/shard.h"

#include <algorithm>

namespace plumbline {
namespace {

/// Elements after context parallelism has divided the first sequence dimension.
std::int64_t context_elements(const Shape& shape, const Shard& shard, std::size_t dimensions) {
  std::int64_t count = 1;
  bool divides = true;
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::int64_t size = size_of(shape[i], shard.lengths);
    if (divides && shape[i].symbol == Symbol::sequence) {
      size = divided(size, shard.context_parallel);
      divides = false;
    }
    count *= size;
  }
  return count;
}

std::int64_t parameter_elements(const Tensor& tensor, const Shard& shard) {
  const std::int64_t count = element_count(tensor.shape, shard.lengths);
  switch (tensor.partition) {
    case Partition::tensor:
      return tensor.partition_units > 0
                 ? count / tensor.partition_units * divided(tensor.partition_units, shard.tensor_parallel)
                 : divided(count, shard.tensor_parallel);
    case Partition::expert: return divided(count, std::int64_t{shard.expert_parallel} * shard.expert_tensor_parallel);
    default: return count;
  }
}

}  // namespace

Shard shard_of(const Strategy& s, const Training& training) {
  return {{s.micro_batch, training.sequence_length},
          s.tensor_parallel,
          s.context_parallel,
          s.expert_parallel,
          s.expert_tensor_parallel,
          s.sequence_parallel,
          s.flash_attention,
          training.formats(),
          0,
          {},
          facts(training.optimizer).orthogonalises_matrices,
          s.recompute.modules,
          s.context_communication,
          joins_layers(s.recompute) ? JoinedLayers::some : JoinedLayers::none};
}

std::int64_t local_width(std::int64_t size, std::int64_t units, std::int64_t ranks) {
  if (units <= 0) return divided(size, ranks);
  return size / units * divided(units, ranks);
}

std::int64_t local_elements(const Tensor& tensor, const Shard& shard) {
  if (tensor.role == TensorRole::parameter) return parameter_elements(tensor, shard);
  const std::int64_t count = context_elements(tensor.shape, shard, tensor.shape.size());
  const std::int64_t width = size_of(tensor.shape.back(), shard.lengths);
  switch (tensor.partition) {
    case Partition::replicated:
    case Partition::expert: return count;
    case Partition::sequence:
      return depends_on(tensor.shape, Symbol::sequence) ? divided(count, shard.sequence_ranks()) : count;
    case Partition::tensor: return count / width * local_width(width, tensor.partition_units, shard.tensor_parallel);
    case Partition::routed:
      return divided(count * shard.expert_tensor_parallel, shard.sequence_ranks()) + shard.extra_rows * width;
    case Partition::routed_tensor:
      return divided(count, shard.sequence_ranks()) + shard.extra_rows * divided(width, shard.expert_tensor_parallel);
  }
  return count;
}

std::int64_t local_rows(const Tensor& tensor, const Shard& shard) {
  const std::int64_t rows = context_elements(tensor.shape, shard, tensor.shape.size() - 1);
  switch (tensor.partition) {
    case Partition::sequence:
      return depends_on(tensor.shape, Symbol::sequence) ? divided(rows, shard.sequence_ranks()) : rows;
    case Partition::routed:
    case Partition::routed_tensor:
      return divided(rows * shard.expert_tensor_parallel, shard.sequence_ranks()) + shard.extra_rows;
    default: return rows;
  }
}

NumberFormat storage_format(const Tensor& tensor, const PrecisionFormats& formats) {
  if (tensor.element == ElementKind::fp32) return NumberFormat::fp32;
  if (tensor.element == ElementKind::index) return NumberFormat::int64;
  return tensor.role == TensorRole::parameter ? formats.weight : formats.activation;
}

Bytes local_bytes(const Tensor& tensor, const Shard& shard) {
  return storage(local_elements(tensor, shard), storage_format(tensor, shard.formats));
}

bool is_sliced(const Tensor& tensor, const Shard& shard) {
  return shard.sequence_ranks() > 1 && tensor.partition == Partition::sequence;
}

Bytes gathered_bytes(const Tensor& tensor, const Shard& shard) {
  return local_bytes(tensor, shard) * shard.sequence_ranks();
}

Bytes chosen_bytes(const Tensor& routed, const Shard& shard) {
  Shard in_balance = shard;
  in_balance.extra_rows = 0;
  return local_bytes(routed, in_balance) / std::int64_t{shard.expert_tensor_parallel};
}

}  // namespace plumbline
