#include "kernels/attention.h"

#include "kernels/unfused_attention.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

struct AttentionCase {
  AttentionShape shape;
  NumberFormat format = NumberFormat::fp32;
  float dropout = 0;
};

AttentionShape shape_of(std::int64_t queries, std::int64_t heads, std::int64_t kv_heads, std::int64_t width) {
  return {.batch = 2,
          .heads = heads,
          .kv_heads = kv_heads,
          .queries = queries,
          .keys = queries,
          .qk_head_dim = width,
          .v_head_dim = width,
          .scale = 1.0F / std::sqrt(static_cast<float>(width))};
}

std::vector<AttentionShape> shapes() {
  std::vector<AttentionShape> result{shape_of(1, 1, 1, 1), shape_of(5, 4, 2, 3), shape_of(130, 2, 1, 8)};
  result.back().batch = 1;  // more queries than a block has threads
  AttentionShape windowed = shape_of(19, 2, 2, 5);
  windowed.window = 9;
  AttentionShape unmasked = shape_of(19, 2, 2, 5);
  unmasked.mask = Mask::none;
  unmasked.v_head_dim = 3;
  AttentionShape ring = shape_of(7, 2, 1, 4);
  ring.keys = 9;
  ring.first_query = 6;
  ring.first_key = 9;  // the first queries see no key
  result.insert(result.end(), {windowed, unmasked, ring});
  return result;
}

/// Both passes on both.
struct BothAttention {
  explicit BothAttention(const AttentionCase& c)
      : s(c.shape),
        q(random_both(s.batch * s.queries, s.heads * s.qk_head_dim, 1, c.format, 1)),
        k(random_both(s.batch * s.keys, s.kv_heads * s.qk_head_dim, 2, c.format)),
        v(random_both(s.batch * s.keys, s.kv_heads * s.v_head_dim, 3, c.format, 2)),
        dy(random_both(s.batch * s.queries, s.heads * s.v_head_dim, 4, c.format)),
        y(random_both(s.batch * s.queries, s.heads * s.v_head_dim, 5, c.format, 1)),
        dq(random_both(s.batch * s.queries, s.heads * s.qk_head_dim, 6, c.format)),
        dk(random_both(s.batch * s.keys, s.kv_heads * s.qk_head_dim, 7, c.format)),
        dv(random_both(s.batch * s.keys, s.kv_heads * s.v_head_dim, 8, c.format, 1)),
        log_sum_exp(s.batch * s.heads * s.queries, -1.0F) {
    if (c.dropout == 0.0F) return;
    dropout = {.draw = {c.dropout, {.seed = 99, .op = 4, .micro_batch = 2}},
               .first_sequence = 3,
               .first_head = 1,
               .whole_heads = 7,
               .whole_positions = 1000};
  }

  void run_forward(cudaStream_t stream) {
    AttentionForward host{s, q.host(), k.host(), v.host(), y.host(), log_sum_exp.host(), dropout};
    WorkspaceMemory memory(reference::attention_workspace(host));
    host.workspace = memory;
    reference::attention_forward(host);
    cuda::attention_forward({s, q.device(), k.device(), v.device(), y.device(), log_sum_exp.device(), dropout}, stream);
    finish(stream);
  }

  void run_backward(cudaStream_t stream, Write write_query, Write write_key_value) {
    AttentionBackward host{s,         dy.host(), q.host(),  k.host(),    v.host(),        y.host(), log_sum_exp.host(),
                           dq.host(), dk.host(), dv.host(), write_query, write_key_value, dropout};
    WorkspaceMemory memory(reference::attention_workspace(host));
    host.workspace = memory;
    reference::attention_backward(host);
    AttentionBackward device{s,           dy.device(),          q.device(),  k.device(),  v.device(),
                             y.device(),  log_sum_exp.device(), dq.device(), dk.device(), dv.device(),
                             write_query, write_key_value,      dropout};
    device.workspace = device_workspace(cuda::attention_workspace(device));
    cuda::attention_backward(device, stream);
    finish(stream);
  }

  [[nodiscard]] bool has_same_infinities() const {
    const std::vector<float> device = log_sum_exp.on_device();
    for (std::size_t i = 0; i < device.size(); ++i)
      if (std::isinf(device[i]) != std::isinf(log_sum_exp.on_host()[i])) return false;
    return true;
  }

  AttentionShape s;
  BothTensor q, k, v, dy, y, dq, dk, dv;
  BothArray<float> log_sum_exp;
  AttentionDropout dropout;
};

std::vector<float> finite(std::vector<float> values) {
  for (float& value : values)
    if (std::isinf(value)) value = 0;
  return values;
}

void check_attention(cudaStream_t stream, const AttentionCase& c, Write write_query, Write write_key_value) {
  BothAttention a(c);
  a.run_forward(stream);
  CHECK(a.y.error() <= 2 * tolerance(c.format));
  CHECK(a.has_same_infinities());
  CHECK(relative_error(finite(a.log_sum_exp.on_device()), finite(a.log_sum_exp.on_host())) <= 1e-5);
  a.run_backward(stream, write_query, write_key_value);
  for (BothTensor* gradient : {&a.dq, &a.dk, &a.dv}) CHECK(gradient->error() <= 4 * tolerance(c.format));
}

TEST_CASE("attention and its gradients are the CPU's: causal, windowed, unmasked, shared key heads, blocks of a ring") {
  on_both([](cudaStream_t stream) {
    for (const AttentionShape& shape : shapes())
      for (const NumberFormat format : float_formats)
        check_attention(stream, {shape, format}, Write::overwrite, Write::accumulate);
    check_attention(stream, {shapes()[1], NumberFormat::fp32, 0.3F}, Write::accumulate, Write::overwrite);
    check_attention(stream, {shapes()[4], NumberFormat::bf16, 0.3F}, Write::accumulate, Write::overwrite);
  });
}

TEST_CASE("a block's attention is merged with those before as on the CPU") {
  on_both([](cudaStream_t stream) {
    BothTensor output = random_both(2 * 5, 3 * 67, 1);
    BothTensor block = random_both(2 * 5, 3 * 67, 2, NumberFormat::bf16, 1);
    std::vector<float> logs = random_values(2 * 3 * 5, 3);
    logs[4] = -std::numeric_limits<float>::infinity();
    BothArray<float> old_logs(logs);
    logs[7] = -std::numeric_limits<float>::infinity();
    BothArray<float> block_logs(logs);
    reference::attention_merge({2, 3, 5, output.host(), old_logs.host(), block.host(), block_logs.host()});
    cuda::attention_merge({2, 3, 5, output.device(), old_logs.device(), block.device(), block_logs.device()}, stream);
    finish(stream);
    CHECK(output.error() <= 1e-5);
    CHECK(std::isinf(old_logs.on_device()[4]));
    CHECK(relative_error(finite(old_logs.on_device()), finite(old_logs.on_host())) <= 1e-5);
  });
}

/// With probabilities that are kept.
void check_unfused(cudaStream_t stream, const AttentionCase& c) {
  BothAttention a(c);
  const AttentionShape& s = c.shape;
  const std::int64_t rows = s.batch * s.heads * s.queries;
  BothTensor p = random_both(rows, s.keys, 9, c.format);
  BothTensor dropped = random_both(rows, s.keys, 10, c.format, 1);
  BothArray<std::uint8_t> mask(rows * s.keys, std::uint8_t{7});
  UnfusedAttentionForward host{s,        a.q.host(),     a.k.host(),  a.v.host(), a.y.host(),
                               p.host(), dropped.host(), mask.host(), a.dropout};
  WorkspaceMemory memory(reference::unfused_attention_workspace(host));
  host.workspace = memory;
  reference::unfused_attention_forward(host);
  cuda::unfused_attention_forward({s, a.q.device(), a.k.device(), a.v.device(), a.y.device(), p.device(),
                                   dropped.device(), mask.device(), a.dropout},
                                  stream);
  UnfusedAttentionBackward back{s,           a.dy.host(), a.q.host(),     a.k.host(),
                                a.v.host(),  p.host(),    dropped.host(), mask.host(),
                                a.dq.host(), a.dk.host(), a.dv.host(),    c.dropout};
  WorkspaceMemory more(reference::unfused_attention_workspace(back));
  back.workspace = more;
  reference::unfused_attention_backward(back);
  UnfusedAttentionBackward device{s,
                                  a.dy.device(),
                                  a.q.device(),
                                  a.k.device(),
                                  a.v.device(),
                                  p.device(),
                                  dropped.device(),
                                  mask.device(),
                                  a.dq.device(),
                                  a.dk.device(),
                                  a.dv.device(),
                                  c.dropout};
  device.workspace = device_workspace(cuda::unfused_attention_workspace(device));
  cuda::unfused_attention_backward(device, stream);
  finish(stream);
  CHECK(mask.is_same());
  CHECK(p.error() <= tolerance(c.format));
  for (BothTensor* tensor : {&a.y, &a.dq, &a.dk, &a.dv}) CHECK(tensor->error() <= 8 * tolerance(c.format));
}

TEST_CASE("attention that keeps its probabilities, and its gradients, are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const AttentionShape& shape : shapes())
      for (const NumberFormat format : float_formats)
        if (shape.first_key == 0) check_unfused(stream, {shape, format});
    check_unfused(stream, {shapes()[1], NumberFormat::fp32, 0.3F});
    check_unfused(stream, {shapes()[4], NumberFormat::bf16, 0.3F});
  });
}

}  // namespace
}  // namespace plumbline
