#include "kernels/cuda/flash_attention.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

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

/// Single queries, part of a tile, several tiles; windows, no mask, shared key heads, blocks of a ring.
std::vector<AttentionShape> shapes_of(std::int64_t width) {
  std::vector<AttentionShape> result{shape_of(1, 1, 1, width), shape_of(67, 4, 2, width)};
  AttentionShape longer = shape_of(130, 1, 1, width);
  longer.batch = 1;
  AttentionShape windowed = longer;
  windowed.window = 9;
  AttentionShape unmasked = shape_of(5, 1, 1, width);
  unmasked.mask = Mask::none;
  unmasked.keys = 70;
  AttentionShape ring = shape_of(70, 1, 1, width);
  ring.keys = 35;
  ring.first_query = 6;
  ring.first_key = 9;  // the first queries see no key
  AttentionShape unseen = ring;
  unseen.first_key = 1000;
  result.insert(result.end(), {longer, windowed, unmasked, ring, unseen});
  return result;
}

/// Rows lie 16 bytes farther apart than they are long.
BothTensor rows_of(std::int64_t rows, std::int64_t columns, std::uint32_t seed, NumberFormat format) {
  return random_both(rows, columns, seed, format, 8);
}

std::vector<float> finite(std::vector<float> values) {
  for (float& value : values)
    if (std::isinf(value)) value = 0;
  return values;
}

void check_flash(cudaStream_t stream, const AttentionShape& s, NumberFormat format) {
  BothTensor q = rows_of(s.batch * s.queries, s.heads * s.qk_head_dim, 1, format);
  BothTensor k = rows_of(s.batch * s.keys, s.kv_heads * s.qk_head_dim, 2, format);
  BothTensor v = rows_of(s.batch * s.keys, s.kv_heads * s.v_head_dim, 3, format);
  BothTensor y = rows_of(s.batch * s.queries, s.heads * s.v_head_dim, 4, format);
  BothArray<float> log_sum_exp(s.batch * s.heads * s.queries, -1.0F);
  AttentionForward host{s, q.host(), k.host(), v.host(), y.host(), log_sum_exp.host()};
  WorkspaceMemory memory(reference::attention_workspace(host));
  host.workspace = memory;
  reference::attention_forward(host);
  const AttentionForward device{s, q.device(), k.device(), v.device(), y.device(), log_sum_exp.device()};
  REQUIRE(cuda::takes_flash_attention(device));
  cuda::flash_attention_forward(device, stream);
  finish(stream);
  CHECK(y.error() <= 2 * tolerance(format));
  const std::vector<float> logs = log_sum_exp.on_device();
  for (std::size_t i = 0; i < logs.size(); ++i) CHECK(std::isinf(logs[i]) == std::isinf(log_sum_exp.on_host()[i]));
  CHECK(relative_error(finite(logs), finite(log_sum_exp.on_host())) <= 1e-5);
}

TEST_CASE("flash attention is the CPU's: causal, windowed, unmasked, shared key heads, blocks of a ring") {
  on_both([](cudaStream_t stream) {
    for (const AttentionShape& shape : shapes_of(64)) check_flash(stream, shape, NumberFormat::bf16);
    check_flash(stream, shapes_of(96)[1], NumberFormat::bf16);
    check_flash(stream, shapes_of(128)[1], NumberFormat::fp16);
    check_flash(stream, shapes_of(128)[3], NumberFormat::bf16);
    check_flash(stream, shapes_of(64)[2], NumberFormat::fp16);
  });
}

TEST_CASE("flash attention leaves other calls to the kernels for any format and head size") {
  const cuda_on_cpu::TestDevice device;
  AttentionShape s = shape_of(5, 1, 1, 64);
  BothTensor x = rows_of(10, 64, 1, NumberFormat::bf16);
  AttentionForward args{s, x.device(), x.device(), x.device(), x.device(), nullptr};
  CHECK(cuda::takes_flash_attention(args));
  AttentionForward other = args;
  other.dropout.draw.probability = 0.1F;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.shape.qk_head_dim = 32;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.key.format = NumberFormat::fp16;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.value.data = static_cast<const std::byte*>(other.value.data) + 2;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.query.stride = 65;
  CHECK(!cuda::takes_flash_attention(other));
  BothTensor y = random_both(10, 64, 2);
  other = args;
  other.output = y.device();
  CHECK(!cuda::takes_flash_attention(other));
}

}  // namespace
}  // namespace plumbline
