// The chunked gated delta rule (arXiv:2412.06464, section 3.3) run product by product, against the recurrence that it
// stands for and against what is counted of it.

#include "core/sharding/delta_rule_work.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/sharding/op_work.h"
#include "core/sharding/saved_tensors.h"
#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;

  Matrix(std::int64_t r, std::int64_t c) : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}
  double& at(std::int64_t r, std::int64_t c) { return values[static_cast<std::size_t>(r * columns + c)]; }
  [[nodiscard]] double at(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * columns + c)];
  }
};

Matrix transposed(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

/// Products by shape {m, n, k}.
using Shapes = std::multiset<std::array<std::int64_t, 3>>;

Matrix multiplied(const Matrix& a, const Matrix& b, Shapes& shapes) {
  shapes.insert({a.rows, b.columns, a.columns});
  Matrix y(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) y.at(i, j) += a.at(i, k) * b.at(k, j);
  return y;
}

/// One value head over a sequence; rows are tokens.
struct Head {
  Matrix q, k, v;
  std::vector<double> beta, log_decay;
};

Head random_head(std::int64_t tokens, std::int64_t dk, std::int64_t dv, std::mt19937& random) {
  std::uniform_real_distribution<double> around(-1, 1);
  std::uniform_real_distribution<double> part(0, 1);
  Head h{Matrix(tokens, dk), Matrix(tokens, dk), Matrix(tokens, dv), {}, {}};
  for (Matrix* m : {&h.q, &h.k, &h.v})
    for (double& value : m->values) value = around(random) / std::sqrt(static_cast<double>(dk));
  for (std::int64_t t = 0; t < tokens; ++t) {
    h.beta.push_back(part(random));
    h.log_decay.push_back(-0.2 * part(random));
  }
  return h;
}

// S_t = a_t S_(t-1) + k_t (b_t (v_t - (a_t S_(t-1))^T k_t))^T, o_t = S_t^T q_t (equation 10).
Matrix recurrence(const Head& h) {
  Matrix state(h.k.columns, h.v.columns);
  Matrix y(h.v.rows, h.v.columns);
  for (std::int64_t t = 0; t < y.rows; ++t) {
    const auto i = static_cast<std::size_t>(t);
    for (double& s : state.values) s *= std::exp(h.log_decay[i]);
    for (std::int64_t c = 0; c < y.columns; ++c) {
      double held = 0;
      for (std::int64_t r = 0; r < state.rows; ++r) held += state.at(r, c) * h.k.at(t, r);
      const double written = h.beta[i] * (h.v.at(t, c) - held);
      for (std::int64_t r = 0; r < state.rows; ++r) {
        state.at(r, c) += h.k.at(t, r) * written;
        y.at(t, c) += state.at(r, c) * h.q.at(t, r);
      }
    }
  }
  return y;
}

/// Rows from `first`, each scaled by `scale(row of the chunk)`; rows behind the sequence are zero.
template <class Scale>
Matrix chunk_of(const Matrix& a, std::int64_t first, Scale scale) {
  Matrix y(delta_rule_chunk, a.columns);
  for (std::int64_t i = 0; i < y.rows && first + i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) y.at(i, j) = scale(i) * a.at(first + i, j);
  return y;
}

/// Solves (1 + lower) x = right for the inverse's columns.
Matrix inverse_of_unit_triangle(const Matrix& lower) {
  Matrix t(lower.rows, lower.rows);
  for (std::int64_t c = 0; c < t.rows; ++c)
    for (std::int64_t i = 0; i < t.rows; ++i) {
      double sum = i == c ? 1 : 0;
      for (std::int64_t j = 0; j < i; ++j) sum -= lower.at(i, j) * t.at(j, c);
      t.at(i, c) = sum;
    }
  return t;
}

Matrix chunked(const Head& h, Shapes& shapes) {
  constexpr std::int64_t size = delta_rule_chunk;
  Matrix state(h.k.columns, h.v.columns);
  Matrix y(h.v.rows, h.v.columns);
  for (std::int64_t first = 0; first < y.rows; first += size) {
    std::vector<double> sum;  // of log decays
    for (std::int64_t i = 0; i < size; ++i)
      sum.push_back((sum.empty() ? 0 : sum.back()) +
                    (first + i < y.rows ? h.log_decay[static_cast<std::size_t>(first + i)] : 0));
    const auto g = [&](std::int64_t i) { return sum[static_cast<std::size_t>(i)]; };
    const auto beta = [&](std::int64_t i) { return h.beta[static_cast<std::size_t>(first + i)]; };
    const auto one = [](std::int64_t) { return 1.0; };
    const Matrix k = chunk_of(h.k, first, one);
    Matrix lower = multiplied(chunk_of(h.k, first, beta), transposed(k), shapes);
    Matrix scores = multiplied(chunk_of(h.q, first, one), transposed(k), shapes);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) {
        lower.at(i, j) *= j < i ? std::exp(g(i) - g(j)) : 0;
        scores.at(i, j) *= j <= i ? std::exp(g(i) - g(j)) : 0;
      }
    const Matrix t = inverse_of_unit_triangle(lower);
    Matrix fresh = multiplied(t, chunk_of(h.v, first, beta), shapes);
    const Matrix w =
        multiplied(t, chunk_of(h.k, first, [&](std::int64_t i) { return beta(i) * std::exp(g(i)); }), shapes);
    const Matrix held = multiplied(w, state, shapes);
    for (std::size_t i = 0; i < fresh.values.size(); ++i) fresh.values[i] -= held.values[i];
    const Matrix before =
        multiplied(chunk_of(h.q, first, [&](std::int64_t i) { return std::exp(g(i)); }), state, shapes);
    const Matrix within = multiplied(scores, fresh, shapes);
    for (std::int64_t i = 0; i < size && first + i < y.rows; ++i)
      for (std::int64_t j = 0; j < y.columns; ++j) y.at(first + i, j) = before.at(i, j) + within.at(i, j);
    const auto to_end = [&](std::int64_t i) { return std::exp(g(size - 1) - g(i)); };
    const Matrix written = multiplied(transposed(chunk_of(h.k, first, to_end)), fresh, shapes);
    for (std::size_t i = 0; i < state.values.size(); ++i)
      state.values[i] = std::exp(g(size - 1)) * state.values[i] + written.values[i];
  }
  return y;
}

Shapes shapes_of(const DeltaRuleWork& work) {
  Shapes shapes;
  for (const MatrixProduct& p : work.products())
    for (std::int64_t i = 0; i < p.batch; ++i) shapes.insert({p.m, p.n, p.k});
  return shapes;
}

const Block& delta_net_layer(const Graph& graph) {
  const auto layer = std::find_if(graph.blocks().begin(), graph.blocks().end(),
                                  [](const Block& b) { return b.name() == "layer_delta_net"; });
  REQUIRE(layer != graph.blocks().end());
  return *layer;
}

Shard shard(std::int64_t batch, std::int64_t tokens, std::int32_t tensor_parallel = 1) {
  Shard shard;
  shard.lengths = {batch, tokens};
  shard.tensor_parallel = tensor_parallel;
  return shard;
}

/// Bytes kept beside tensors by the layer's delta rule, by name.
std::map<std::string, std::int64_t> kept_by_rule(const Shard& of) {
  std::map<std::string, std::int64_t> kept;
  const Network network = find_network("qwen3-next-80b-a3b");
  for (const SavedTensor& s : saved_tensors(delta_net_layer(network.graph), of))
    if (s.op.is_valid() && s.name.starts_with("delta_net.rule.")) kept[s.name.substr(15)] = s.bytes.value();
  return kept;
}

}  // namespace

TEST_CASE("the counted products, run, give what the recurrence gives") {
  std::mt19937 random(7);
  for (const auto [tokens, dk, dv] : std::vector<std::array<std::int64_t, 3>>{
           {1, 1, 1}, {3, 5, 2}, {64, 3, 5}, {65, 8, 3}, {130, 4, 9}, {192, 6, 6}, {201, 7, 1}}) {
    const Head head = random_head(tokens, dk, dv, random);
    Shapes run;
    const Matrix fast = chunked(head, run);
    const Matrix slow = recurrence(head);
    double largest = 0;
    for (std::size_t i = 0; i < slow.values.size(); ++i)
      largest = std::max(largest, std::abs(slow.values[i] - fast.values[i]));
    INFO(tokens << " tokens, " << dk << " x " << dv);
    CHECK(largest < 1e-12);
    CHECK(run == shapes_of({1, tokens, 1, 1, dk, dv}));
  }
}

// A token of a value head: 6 C dk + 4 C dv + 6 dk dv = 6 * 64 * 128 + 4 * 64 * 128 + 6 * 128 * 128 = 180 224.
// Projections of a token: 2 * 2048 * (2 * 2048 + 2 * 4096 + 64) in, 2 * 4096 * 2048 out. Megatron-LM
// (megatron/training/training.py) counts the same projections, 8 dk dv = 131 072 for the rule, as a recurrence.
TEST_CASE("a Gated DeltaNet of Qwen3-Next takes the FLOPs counted by hand") {
  const Network network = find_network("qwen3-next-80b-a3b");
  const Block& layer = delta_net_layer(network.graph);
  constexpr double tokens = 2 * 4096;
  double rule = 0;
  double projections = 0;
  for (const Op& op : layer.ops()) {
    if (!op.name.starts_with("delta_net.")) continue;
    const OpWork work = op_work(layer, op, shard(2, 4096));
    (op.kind == OpKind::delta_rule ? rule : projections) += work.forward.value();
    CHECK((work.backward_input + work.backward_weight).value() == 2 * work.forward.value());
  }
  CHECK(rule == tokens * 32 * 180'224);
  CHECK(projections == tokens * (2.0 * 2048 * (2 * 2048 + 2 * 4096 + 64) + 2.0 * 4096 * 2048));
}

TEST_CASE("a part of a chunk is computed as a whole one") {
  const auto flops = [](std::int64_t tokens) { return DeltaRuleWork{3, tokens, 5, 5, 16, 24}.flops().value(); };
  CHECK(flops(1) == flops(64));
  CHECK(flops(65) == 2 * flops(64));
}

// 100 tokens: queries and keys of 32 heads and values, 3 * 4096 * 2 bytes; T, 32 * 64 * 2; four numbers in fp32 a head.
TEST_CASE("kernels keep repeated queries and keys, values, inverses and decays; heads divide over ranks") {
  using Kept = std::map<std::string, std::int64_t>;
  CHECK(kept_by_rule(shard(1, 100)) ==
        Kept{{"vectors", 100 * 3 * 4096 * 2}, {"inverses", 100 * 32 * 64 * 2}, {"statistics", 100 * 32 * 4 * 4}});
  for (const auto& [name, bytes] : kept_by_rule(shard(3, 100)))
    CHECK(kept_by_rule(shard(3, 100, 4)).at(name) * 4 == bytes);
}

}  // namespace plumbline
