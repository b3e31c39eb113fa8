#include "kernels/attention.h"

#include <cmath>

#include "kernels/unfused_attention.h"
#include "tests/catch.h"
#include "tests/kernel_golden.h"

namespace plumbline::attention_test {
namespace {

constexpr double fp32_tolerance = 1e-5;

AttentionShape shape_of(const KernelGolden& g) {
  AttentionShape s;
  s.batch = g.whole("batch");
  s.heads = g.whole("heads");
  s.kv_heads = g.whole("kv_heads");
  s.queries = g.whole("queries");
  s.keys = g.whole("keys");
  s.qk_head_dim = g.whole("qk_head_dim");
  s.v_head_dim = g.whole("v_head_dim");
  s.scale = 1.0F / std::sqrt(static_cast<float>(s.qk_head_dim));
  s.mask = g.whole("causal") != 0 ? Mask::causal : Mask::none;
  s.window = g.whole("window");
  s.first_query = g.whole("first_query");
  return s;
}

/// Inputs of a shape and all that both passes compute.
struct Attention {
  Attention(const AttentionShape& shape, NumberFormat format)
      : s(shape),
        q(random_tensor(s.batch * s.queries, s.heads * s.qk_head_dim, 1, format)),
        k(random_tensor(s.batch * s.keys, s.kv_heads * s.qk_head_dim, 2, format)),
        v(random_tensor(s.batch * s.keys, s.kv_heads * s.v_head_dim, 3, format)),
        dy(random_tensor(s.batch * s.queries, s.heads * s.v_head_dim, 4, format)),
        y(s.batch * s.queries, s.heads * s.v_head_dim, format),
        dq(s.batch * s.queries, s.heads * s.qk_head_dim, format),
        dk(s.batch * s.keys, s.kv_heads * s.qk_head_dim, format),
        dv(s.batch * s.keys, s.kv_heads * s.v_head_dim, format),
        log_sum_exp(static_cast<std::size_t>(s.batch * s.heads * s.queries)) {}
  explicit Attention(const KernelGolden& g) : Attention(shape_of(g), NumberFormat::fp32) {
    q = g["q"];
    k = g["k"];
    v = g["v"];
    dy = g["do"];
  }

  void run(const AttentionDropout& dropout = {}) {
    AttentionForward forward{s, q, k, v, y, log_sum_exp.data(), dropout};
    WorkspaceMemory memory(reference::attention_workspace(forward));
    forward.workspace = memory;
    reference::attention_forward(forward);
    AttentionBackward backward{s, dy, q, k, v, y, log_sum_exp.data(), dq, dk, dv};
    backward.dropout = dropout;
    WorkspaceMemory more(reference::attention_workspace(backward));
    backward.workspace = more;
    reference::attention_backward(backward);
  }

  void run_unfused(NumberFormat format, const AttentionDropout& dropout = {}) {
    const std::int64_t rows = s.batch * s.heads * s.queries;
    KernelTensor kept(rows, s.keys, format);
    KernelTensor dropped(rows, s.keys, format);
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(rows * s.keys));
    UnfusedAttentionForward forward{s, q, k, v, y, kept, dropped, mask.data(), dropout};
    WorkspaceMemory memory(reference::unfused_attention_workspace(forward));
    forward.workspace = memory;
    reference::unfused_attention_forward(forward);
    UnfusedAttentionBackward backward{s, dy, q, k, v, kept, dropped, mask.data(), dq, dk, dv, dropout.draw.probability};
    WorkspaceMemory more(reference::unfused_attention_workspace(backward));
    backward.workspace = more;
    reference::unfused_attention_backward(backward);
  }

  AttentionShape s;
  KernelTensor q, k, v, dy, y, dq, dk, dv;
  std::vector<float> log_sum_exp;
};

void check_same(const Attention& a, const Attention& b, double tolerance) {
  CHECK(relative_error(a.y.values(), b.y.values()) < tolerance);
  CHECK(relative_error(a.dq.values(), b.dq.values()) < tolerance);
  CHECK(relative_error(a.dk.values(), b.dk.values()) < tolerance);
  CHECK(relative_error(a.dv.values(), b.dv.values()) < tolerance);
}

void check_golden(const Attention& a, const KernelGolden& g) {
  CHECK(relative_error(a.y.values(), g["o"].values()) < fp32_tolerance);
  CHECK(relative_error(a.dq.values(), g["dq"].values()) < fp32_tolerance);
  CHECK(relative_error(a.dk.values(), g["dk"].values()) < fp32_tolerance);
  CHECK(relative_error(a.dv.values(), g["dv"].values()) < fp32_tolerance);
}

TEST_CASE("Attention in tiles, its log-sum-exp and its gradients equal PyTorch's") {
  for (const KernelGolden& g : kernel_goldens("attention")) {
    INFO(g.name);
    Attention a(g);
    a.run();
    check_golden(a, g);
    CHECK(relative_error(a.log_sum_exp, g["lse"].values()) < fp32_tolerance);
  }
}

TEST_CASE("Attention with its probabilities kept equals PyTorch's too") {
  for (const KernelGolden& g : kernel_goldens("attention")) {
    INFO(g.name);
    Attention a(g);
    a.run_unfused(NumberFormat::fp32);
    check_golden(a, g);
  }
}

AttentionShape causal_shape(std::int64_t positions) {
  AttentionShape s;
  s.batch = 2;
  s.heads = 4;
  s.kv_heads = 2;
  s.queries = positions;
  s.keys = positions;
  s.qk_head_dim = 8;
  s.v_head_dim = 8;
  s.scale = 0.35F;
  return s;
}

const AttentionDropout some_dropout{{0.3F, {1, 2, 3}}, 5, 2, 8, 300};

TEST_CASE("Dropped probabilities are the same in tiles, kept, and change with nothing but their index") {
  Attention fused(causal_shape(150), NumberFormat::fp32);
  Attention kept(causal_shape(150), NumberFormat::fp32);
  Attention none(causal_shape(150), NumberFormat::fp32);
  fused.run(some_dropout);
  kept.run_unfused(NumberFormat::fp32, some_dropout);
  none.run();
  check_same(fused, kept, fp32_tolerance);
  CHECK(relative_error(fused.y.values(), none.y.values()) > 0.1);
}

/// A copy of rows [first, first + count) of every sequence.
KernelTensor slice_positions(const KernelTensor& x, std::int64_t batch, std::int64_t first, std::int64_t count) {
  const ConstTensorView all = x;
  KernelTensor result(batch * count, all.columns);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < count; ++i)
      reference::load_to(all, b * (all.rows / batch) + first + i, 0, all.columns,
                         result.data() + (b * count + i) * all.columns);
  return result;
}

/// What ring attention does on each of `ranks`: own queries against every rank's keys in turn.
void run_ring(const Attention& whole, std::int64_t ranks, const AttentionDropout& dropout) {
  const AttentionShape& s = whole.s;
  const std::int64_t slice = s.queries / ranks;
  AttentionShape part = s;
  part.queries = slice;
  part.keys = slice;
  const std::int64_t kv_width = s.kv_heads * s.qk_head_dim;
  std::vector<KernelTensor> dk(static_cast<std::size_t>(ranks), KernelTensor(s.batch * slice, kv_width));
  std::vector<KernelTensor> dv = dk;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    part.first_query = rank * slice;
    Attention own(part, NumberFormat::fp32);
    own.q = slice_positions(whole.q, s.batch, part.first_query, slice);
    own.dy = slice_positions(whole.dy, s.batch, part.first_query, slice);
    std::fill(own.log_sum_exp.begin(), own.log_sum_exp.end(), -std::numeric_limits<float>::infinity());
    for (std::int64_t step = 0; step < ranks; ++step) {
      part.first_key = (rank + ranks - step) % ranks * slice;
      const KernelTensor k = slice_positions(whole.k, s.batch, part.first_key, slice);
      const KernelTensor v = slice_positions(whole.v, s.batch, part.first_key, slice);
      Attention block(part, NumberFormat::fp32);
      AttentionForward forward{part, own.q, k, v, block.y, block.log_sum_exp.data(), dropout};
      WorkspaceMemory memory(reference::attention_workspace(forward));
      forward.workspace = memory;
      reference::attention_forward(forward);
      reference::attention_merge(
          {s.batch, s.heads, slice, own.y, own.log_sum_exp.data(), block.y, block.log_sum_exp.data()});
    }
    for (std::int64_t other = 0; other < ranks; ++other) {
      part.first_key = other * slice;
      const KernelTensor k = slice_positions(whole.k, s.batch, part.first_key, slice);
      const KernelTensor v = slice_positions(whole.v, s.batch, part.first_key, slice);
      const auto at = static_cast<std::size_t>(other);
      AttentionBackward backward{part,
                                 own.dy,
                                 own.q,
                                 k,
                                 v,
                                 own.y,
                                 own.log_sum_exp.data(),
                                 own.dq,
                                 dk[at],
                                 dv[at],
                                 Write::accumulate,
                                 Write::accumulate,
                                 dropout};
      WorkspaceMemory memory(reference::attention_workspace(backward));
      backward.workspace = memory;
      reference::attention_backward(backward);
    }
    CHECK(relative_error(own.y.values(), slice_positions(whole.y, s.batch, rank * slice, slice).values()) < 1e-5);
    CHECK(relative_error(own.dq.values(), slice_positions(whole.dq, s.batch, rank * slice, slice).values()) < 1e-5);
  }
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    CHECK(relative_error(dk[at].values(), slice_positions(whole.dk, s.batch, rank * slice, slice).values()) < 1e-5);
    CHECK(relative_error(dv[at].values(), slice_positions(whole.dv, s.batch, rank * slice, slice).values()) < 1e-5);
  }
}

TEST_CASE("Ring pieces merged are the whole attention, forward and backward, with dropout or not") {
  for (const std::int64_t ranks : {2, 4})
    for (const AttentionDropout& dropout : {AttentionDropout{}, some_dropout}) {
      Attention whole(causal_shape(200), NumberFormat::fp32);
      whole.run(dropout);
      run_ring(whole, ranks, dropout);
    }
}

TEST_CASE("Attention on 16-bit tensors is that of the same numbers in fp32, rounded once") {
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16}) {
    Attention narrow(causal_shape(140), format);
    narrow.run();
    Attention wide(causal_shape(140), NumberFormat::fp32);
    const auto widen = [](const KernelTensor& x) {
      return KernelTensor(x.values(), ConstTensorView(x).rows, ConstTensorView(x).columns);
    };
    wide.q = widen(narrow.q);
    wide.k = widen(narrow.k);
    wide.v = widen(narrow.v);
    wide.dy = widen(narrow.dy);
    wide.run();
    // Products on other addresses may sum in another order, so a result on a rounding boundary may fall either way.
    const double step = format == NumberFormat::bf16 ? 0x1p-8 : 0x1p-11;
    CHECK(relative_error(narrow.y.values(), wide.y.values()) <= step);
    CHECK(relative_error(narrow.dv.values(), wide.dv.values()) <= step);
    // Backward also reads the rounded output.
    CHECK(relative_error(narrow.dq.values(), wide.dq.values()) <= 4 * step);
    CHECK(relative_error(narrow.dk.values(), wide.dk.values()) <= 4 * step);
  }
}

TEST_CASE("Two runs of attention give the same bits") {
  Attention first(causal_shape(150), NumberFormat::bf16);
  Attention second(causal_shape(150), NumberFormat::bf16);
  first.run(some_dropout);
  second.run(some_dropout);
  CHECK(first.y.bytes() == second.y.bytes());
  CHECK(first.dq.bytes() == second.dq.bytes());
  CHECK(first.dk.bytes() == second.dk.bytes());
  CHECK(first.dv.bytes() == second.dv.bytes());
}

TEST_CASE("Keys that no query sees give zeros and a log-sum-exp of minus infinity") {
  AttentionShape s = causal_shape(5);
  s.first_key = 5;
  Attention a(s, NumberFormat::fp32);
  a.run();
  for (const float y : a.y.values()) REQUIRE(y == 0.0F);
  for (const float d : a.dk.values()) REQUIRE(d == 0.0F);
  for (const float l : a.log_sum_exp) REQUIRE(l == -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace plumbline::attention_test
