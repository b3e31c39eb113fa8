#pragma once
/// \file kernel_tables.h: what kernels would take if the laws of core/cost/kernel_time.h were true, as a table that
/// calibrations are fitted to.

#include "core/cost/kernel_time.h"
#include "core/measurement/kernel_table.h"

namespace plumbline {

/// Every product of these sizes.
struct ProductSizes {
  std::vector<std::int64_t> m;
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
};
inline void add_products(KernelTable& table, const KernelClock& clock, const ProductSizes& sizes, NumberFormat format) {
  for (const std::int64_t m : sizes.m)
    for (const std::int64_t n : sizes.n)
      for (const std::int64_t k : sizes.k)
        table.products.push_back({1, m, n, k, format, "forward", clock.product({1, m, n, k}, format).value()});
}

/// Causal attention of these heads at each sequence length. `heads`: the sequence is set here.
inline void add_attention(KernelTable& table, const KernelClock& clock, AttentionTiming heads,
                          const std::vector<std::int64_t>& sequences) {
  for (const std::int64_t sequence : sequences) {
    const AttentionWork work{heads.batch,    heads.heads,    heads.kv_heads, sequence, sequence,
                             heads.head_dim, heads.head_dim, true,           false};
    heads.sequence = sequence;
    heads.forward_s = clock.attention_forward(work, FlashAttention::on, heads.format).value();
    heads.backward_s = clock.attention_backward(work, FlashAttention::on, heads.format).value();
    table.attention.push_back(heads);
  }
}

}  // namespace plumbline
