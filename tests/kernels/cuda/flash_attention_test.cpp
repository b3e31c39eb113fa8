#include "kernels/cuda/flash_attention.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline::flash_attention_test {
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
  // A tile that all see between those that the diagonal and the window cut, far from where the whole begins.
  AttentionShape far = longer;
  far.queries = 64;
  far.keys = 260;
  far.first_key = (std::int64_t{1} << 40) - 7;
  far.first_query = far.first_key + 196;
  far.window = 190;
  // All keys lie farther behind than 32 bits count.
  AttentionShape behind = unseen;
  behind.first_query = std::int64_t{1} << 33;
  behind.first_key = 0;
  result.insert(result.end(), {longer, windowed, unmasked, ring, unseen, far, behind});
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
    for (const std::size_t one : {0, 1, 3, 4, 5, 7}) check_flash(stream, shapes_of(96)[one], NumberFormat::bf16);
    check_flash(stream, shapes_of(96)[2], NumberFormat::fp16);
    check_flash(stream, shapes_of(128)[1], NumberFormat::fp16);
    check_flash(stream, shapes_of(128)[3], NumberFormat::bf16);
    check_flash(stream, shapes_of(64)[2], NumberFormat::fp16);
  });
}

/// Both passes; gradients of the device from the host's output and log-sum-exp.
struct Gradients {
  Gradients(const AttentionShape& shape, NumberFormat format, NumberFormat of_gradients)
      : s(shape),
        q(rows_of(s.batch * s.queries, s.heads * s.qk_head_dim, 1, format)),
        k(rows_of(s.batch * s.keys, s.kv_heads * s.qk_head_dim, 2, format)),
        v(rows_of(s.batch * s.keys, s.kv_heads * s.v_head_dim, 3, format)),
        dy(rows_of(s.batch * s.queries, s.heads * s.v_head_dim, 4, format)),
        y(rows_of(s.batch * s.queries, s.heads * s.v_head_dim, 5, format)),
        dq(rows_of(s.batch * s.queries, s.heads * s.qk_head_dim, 6, of_gradients)),
        dk(rows_of(s.batch * s.keys, s.kv_heads * s.qk_head_dim, 7, of_gradients)),
        dv(rows_of(s.batch * s.keys, s.kv_heads * s.v_head_dim, 8, of_gradients)),
        log_sum_exp(s.batch * s.heads * s.queries, -1.0F) {
    AttentionForward host{s, q.host(), k.host(), v.host(), y.host(), log_sum_exp.host()};
    WorkspaceMemory memory(reference::attention_workspace(host));
    host.workspace = memory;
    reference::attention_forward(host);
    AttentionForward device{s, q.device(), k.device(), v.device(), y.device(), log_sum_exp.device()};
    device_forward = device;
  }

  void run(cudaStream_t stream, Write write_query, Write write_key_value) {
    cuda::flash_attention_forward(device_forward, stream);
    AttentionBackward host{s,         dy.host(), q.host(),  k.host(),    v.host(),       y.host(), log_sum_exp.host(),
                           dq.host(), dk.host(), dv.host(), write_query, write_key_value};
    WorkspaceMemory memory(reference::attention_workspace(host));
    host.workspace = memory;
    reference::attention_backward(host);
    AttentionBackward device{s,           dy.device(), q.device(),           k.device(),
                             v.device(),  y.device(),  log_sum_exp.device(), dq.device(),
                             dk.device(), dv.device(), write_query,          write_key_value};
    device.workspace = device_workspace(cuda::attention_workspace(device));
    REQUIRE(cuda::takes_flash_attention(device));
    cuda::attention_backward(device, stream);
    finish(stream);
  }

  AttentionShape s;
  BothTensor q, k, v, dy, y, dq, dk, dv;
  BothArray<float> log_sum_exp;
  AttentionForward device_forward;
};

struct GradientCase {
  AttentionShape shape;
  NumberFormat format = NumberFormat::bf16;
  NumberFormat of_gradients = NumberFormat::bf16;
  Write write_query = Write::overwrite;
  Write write_key_value = Write::accumulate;
};

/// Probabilities and gradients of scores are rounded once each before they are multiplied, and so is the result; gaps
/// between rows stay as they were.
void check_gradients(cudaStream_t stream, const GradientCase& c) {
  Gradients g(c.shape, c.format, c.of_gradients);
  g.run(stream, c.write_query, c.write_key_value);
  for (BothTensor* gradient : {&g.dq, &g.dk, &g.dv}) CHECK(gradient->error() <= 4 * tolerance(c.format));
}

TEST_CASE("flash attention's gradients are the CPU's: causal, windowed, unmasked, shared key heads, blocks of a ring") {
  on_both([](cudaStream_t stream) {
    for (const AttentionShape& shape : shapes_of(64)) check_gradients(stream, {shape});
    const Write add = Write::accumulate;
    const NumberFormat fp16 = NumberFormat::fp16;
    check_gradients(stream, {shapes_of(96)[1], NumberFormat::bf16, NumberFormat::fp32, add, add});
    check_gradients(stream, {shapes_of(128)[1], fp16, fp16, add, Write::overwrite});
    check_gradients(stream, {shapes_of(128)[3], NumberFormat::bf16, NumberFormat::fp32});
    check_gradients(stream, {shapes_of(96)[5], fp16, fp16});
    // Not of a single query: its gradient is zero but for rounding.
    for (const std::size_t one : {2, 3, 4, 7, 8}) check_gradients(stream, {shapes_of(96)[one]});
    check_gradients(stream, {shapes_of(64)[2], fp16, NumberFormat::fp32});
  });
}

TEST_CASE("flash attention's gradients are the same bits at every run") {
  const auto bits_of = [](cuda_on_cpu::ThreadOrder order) {
    const cuda_on_cpu::TestDevice device;
    cuda_on_cpu::set_thread_order(order);
    const cuda_on_cpu::TestStream stream;
    Gradients g(shapes_of(64)[1], NumberFormat::bf16, NumberFormat::fp32);
    g.run(stream, Write::overwrite, Write::overwrite);
    return std::vector{g.dq.on_device(), g.dk.on_device(), g.dv.on_device()};
  };
  const auto first = bits_of(cuda_on_cpu::all_thread_orders[0]);
  for (const cuda_on_cpu::ThreadOrder order : cuda_on_cpu::all_thread_orders) CHECK(bits_of(order) == first);
}

TEST_CASE(
    "flash attention's gradients are left to the other kernels where a row begins in between or a format is fp8") {
  const cuda_on_cpu::TestDevice device;
  Gradients g(shape_of(5, 1, 1, 64), NumberFormat::bf16, NumberFormat::bf16);
  AttentionBackward args{g.s,          g.dy.device(),          g.q.device(),  g.k.device(),  g.v.device(),
                         g.y.device(), g.log_sum_exp.device(), g.dq.device(), g.dk.device(), g.dv.device()};
  CHECK(cuda::takes_flash_attention(args));
  AttentionBackward other = args;
  other.dropout.draw.probability = 0.1F;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.output_gradient.stride = 65;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.key_gradient.format = NumberFormat::fp16;
  CHECK(!cuda::takes_flash_attention(other));
  other = args;
  other.shape.v_head_dim = 96;
  CHECK(!cuda::takes_flash_attention(other));
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
}  // namespace plumbline::flash_attention_test
