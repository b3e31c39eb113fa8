#include "core/sharding/delta_rule_work.h"

namespace plumbline {

std::array<MatrixProduct, 8> DeltaRuleWork::products() const {
  constexpr std::int64_t c = delta_rule_chunk;
  const std::int64_t chunks = batch * value_heads * divided(tokens, c);
  const std::int64_t dk = key_head_dim;
  const std::int64_t dv = value_head_dim;
  return {{{chunks, c, dv, c},    // U = T V
           {chunks, c, dk, c},    // W = T K
           {chunks, c, dv, dk},   // W S
           {chunks, dk, dv, c},   // S += K^T (U - W S)
           {chunks, c, c, dk},    // K K^T
           {chunks, c, c, dk},    // Q K^T
           {chunks, c, dv, dk},   // Q S
           {chunks, c, dv, c}}};  // (Q K^T) (U - W S)
}

Flops DeltaRuleWork::flops() const {
  Flops sum(0);
  for (const MatrixProduct& product : products()) sum += product.flops();
  return sum;
}

std::int64_t DeltaRuleWork::kept_vectors() const { return all_tokens() * (2 * repeated_keys() + values()); }
std::int64_t DeltaRuleWork::kept_inverses() const { return all_tokens() * value_heads * delta_rule_chunk; }
std::int64_t DeltaRuleWork::kept_statistics() const {
  constexpr std::int64_t of_a_head = 4;  // the sum of decays and what it was made from, the norms of query and key
  return all_tokens() * value_heads * of_a_head;
}

std::int64_t DeltaRuleWork::moved_forward() const {
  const std::int64_t repeating = 2 * keys() + 2 * repeated_keys();
  const std::int64_t norms = 4 * repeated_keys();
  const std::int64_t copy_of_values = 2 * values();
  return all_tokens() * (repeating + norms + copy_of_values);
}

std::int64_t DeltaRuleWork::moved_backward() const {
  const std::int64_t norms = 6 * repeated_keys();  // a gradient and what was kept read, a gradient written
  const std::int64_t summing = 2 * repeated_keys() + 2 * keys();
  const std::int64_t joining = 2 * (2 * keys() + values());
  return all_tokens() * (norms + summing + joining);
}

DeltaRuleWork delta_rule_work(const DeltaRuleAttributes& a, const Tensor& qkv, const Shard& shard) {
  const Dimension& length = qkv.shape[1];
  const std::int64_t tokens = size_of(length, shard.lengths);
  return {size_of(qkv.shape[0], shard.lengths),
          length.symbol == Symbol::sequence ? divided(tokens, shard.context_parallel) : tokens,
          divided(a.key_heads, shard.tensor_parallel),
          divided(a.value_heads, shard.tensor_parallel),
          a.key_head_dim,
          a.value_head_dim};
}

}  // namespace plumbline
