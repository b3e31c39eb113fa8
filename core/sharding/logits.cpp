#include "core/sharding/logits.h"

#include <algorithm>

namespace plumbline {

bool is_logits(const Block& block, TensorId tensor) {
  const auto& readers = block.consumers(tensor);
  return std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
    const Op& op = block.op(reader);
    return op.kind == OpKind::cross_entropy && op.inputs.front() == tensor;
  });
}

Bytes logit_bytes(const Tensor& logits, const Shard& shard) {
  const std::int64_t rows = local_rows(logits, shard);
  const std::int64_t classes = local_elements(logits, shard) / std::max<std::int64_t>(1, rows);
  return storage(rows * logit_stride(classes), storage_format(logits, shard.formats));
}

}  // namespace plumbline
