// FLOPs of a training step against the closed forms of the literature and against PyTorch's own counter.

#include "core/graph/parameter_count.h"
#include "core/io/json_file.h"
#include "core/sharding/op_work.h"
#include "core/training/adaptation.h"
#include "models/import/hugging_face.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

Shard one_rank(std::int64_t batch, std::int64_t sequence) {
  Shard shard;
  shard.lengths = {batch, sequence};
  return shard;
}

/// Forward FLOPs of everything that full recompute repeats: the layers.
Flops layers_forward(const Graph& graph, const Shard& shard) {
  Flops sum(0);
  for (const BlockRun& run : graph.runs())
    if (graph.block(run.block).kind() == BlockKind::layer)
      sum += static_cast<double>(run.count) * block_flops(graph.block(run.block), shard).forward;
  return sum;
}

struct Letters {
  std::int64_t B, L, s, h, a, V;
};
constexpr Letters small[] = {{1, 1, 8, 16, 2, 32},
                             {2, 3, 32, 64, 4, 512},
                             {5, 2, 7, 48, 6, 101},
                             {4, 12, 128, 768, 12, 50257},
                             {3, 24, 512, 1024, 16, 30522}};
constexpr Letters large[] = {
    {1536, 96, 2048, 12288, 96, 51200}, {2048, 105, 2048, 20480, 128, 51200}, {3072, 128, 8192, 25600, 160, 256000}};

Graph gpt_of(const Letters& l) { return gpt({l.L, l.h, l.a, l.V, l.s, Dropout::no}); }

// Per layer forward 24 B s h^2 + 4 B s^2 h, the head 2 B s h V, backward twice that (arXiv:2104.04473, appendix):
// 72 B L s h^2 (1 + s/6h + V/12hL) = 72 B L s h^2 + 12 B L s^2 h + 6 B s h V.
TEST_CASE("a GPT step takes 72 B L s h^2 (1 + s/6h + V/12Lh) FLOPs, to the integer") {
  for (const Letters& l : small) {
    const std::int64_t published =
        72 * l.B * l.L * l.s * l.h * l.h + 12 * l.B * l.L * l.s * l.s * l.h + 6 * l.B * l.s * l.h * l.V;
    REQUIRE(published < std::int64_t{1} << 53);
    const BlockFlops predicted = graph_flops(gpt_of(l), one_rank(l.B, l.s));
    INFO("predicted " << predicted.total().value() << ", published " << published);
    CHECK(static_cast<std::int64_t>(predicted.total().value()) == published);
    CHECK(predicted.backward().value() == 2 * predicted.forward.value());
  }
}

// The layers' forward again: 24 B L s h^2 + 4 B L s^2 h more; the head is not repeated.
TEST_CASE("with full recompute it takes 96 B L s h^2 (1 + s/6h + V/16Lh)") {
  for (const Letters& l : small) {
    const std::int64_t published =
        96 * l.B * l.L * l.s * l.h * l.h + 16 * l.B * l.L * l.s * l.s * l.h + 6 * l.B * l.s * l.h * l.V;
    const Graph graph = gpt_of(l);
    const Shard shard = one_rank(l.B, l.s);
    const Flops predicted = graph_flops(graph, shard).total() + layers_forward(graph, shard);
    INFO("predicted " << predicted.value() << ", published " << published);
    CHECK(static_cast<std::int64_t>(predicted.value()) == published);
  }
}

TEST_CASE("the closed forms hold to 1e-12 where they exceed 2^64") {
  for (const Letters& l : large) {
    const auto [B, L, s, h, a, V] =
        std::array{static_cast<double>(l.B), static_cast<double>(l.L), static_cast<double>(l.s),
                   static_cast<double>(l.h), static_cast<double>(l.a), static_cast<double>(l.V)};
    const double work = B * L * s * h * h;
    const double plain = 72 * work * (1 + s / (6 * h) + V / (12 * L * h));
    const double recomputed = 96 * work * (1 + s / (6 * h) + V / (16 * L * h));
    const Graph graph = gpt_of(l);
    const Shard shard = one_rank(l.B, l.s);
    const Flops total = graph_flops(graph, shard).total();
    INFO("predicted " << total.value() << ", published " << plain << ", error " << total.value() / plain - 1);
    CHECK(std::abs(total.value() / plain - 1) < 1e-12);
    CHECK(std::abs((total + layers_forward(graph, shard)).value() / recomputed - 1) < 1e-12);
  }
}

TEST_CASE("tensor parallelism divides a step's FLOPs exactly where it divides every width") {
  const Letters l{2, 3, 32, 64, 4, 512};
  const Graph graph = gpt_of(l);
  const double whole = graph_flops(graph, one_rank(l.B, l.s)).total().value();
  for (const std::int32_t ranks : {2, 4}) {
    Shard shard = one_rank(l.B, l.s);
    shard.tensor_parallel = ranks;
    CHECK(graph_flops(graph, shard).total().value() == whole / ranks);
  }
}

/// One case of tests/data/pytorch_flops, with what it counted.
struct Counted {
  std::string name;
  const Json* config;
  std::int64_t batch;
  std::int64_t sequence;
  std::vector<std::string> frozen;
  double forward;
  double backward;
  std::int64_t parameters;
};

std::int64_t integer_at(const Json& value, std::string_view key) {
  const Json* found = value.find(key);
  REQUIRE(found != nullptr);
  return found->is_null() ? 0 : *found->if_integer();
}

std::vector<Counted> counted_cases(const Json& document) {
  std::vector<Counted> cases;
  for (const Json& value : *document.find("cases")->if_array()) {
    std::vector<std::string> frozen;
    for (const Json& prefix : *value.find("frozen")->if_array()) frozen.push_back(*prefix.if_string());
    cases.push_back({*value.find("name")->if_string(), value.find("config"), integer_at(value, "batch"),
                     std::max<std::int64_t>(1, integer_at(value, "seq")), frozen,
                     static_cast<double>(integer_at(value, "forward_flops")),
                     static_cast<double>(integer_at(value, "backward_flops")), integer_at(value, "parameters")});
  }
  return cases;
}

/// The adaptation that freezes the parameters whose names begin with these prefixes.
Adaptation frozen_as(const std::vector<std::string>& prefixes) {
  constexpr std::string_view layers = "model.layers.";
  Adaptation adaptation;
  for (const std::string& prefix : prefixes) {
    if (prefix == "model.embed_tokens.") {
      adaptation.freeze_embeddings = true;
    } else {
      REQUIRE(prefix.starts_with(layers));
      const std::int64_t layer = std::stoll(prefix.substr(layers.size()));
      adaptation.frozen_layers.push_back({layer, layer});
    }
  }
  return adaptation;
}

TEST_CASE("forward and backward FLOPs are those that PyTorch counts") {
  const Json document = read_json_file(test_data_folder() + "/pytorch_flops/pytorch_flops.json");
  const std::vector<Counted> cases = counted_cases(document);
  CHECK(cases.size() == 14);
  for (const Counted& counted : cases) {
    if (counted.name == "bert-2l-mlm") continue;  // another head: the next test
    const Network network = import_hugging_face(JsonPlace(*counted.config, counted.name), counted.name);
    const Graph graph = adapted(network.graph, frozen_as(counted.frozen));
    const BlockFlops predicted = graph_flops(graph, one_rank(counted.batch, counted.sequence));
    INFO(counted.name << ": forward predicted " << predicted.forward.value() << ", counted " << counted.forward
                      << "; backward predicted " << predicted.backward().value() << ", counted " << counted.backward);
    CHECK(predicted.forward.value() == counted.forward);
    CHECK(predicted.backward().value() == counted.backward);
    CHECK(predicted.total().value() == counted.forward + counted.backward);
    CHECK(parameter_count(graph) == counted.parameters);
  }
}

// PyTorch's masked-language-model head has a product of its own on every token, 2 b s h^2 forward, and no pooler; the
// network here has the pooler on the first token, 2 b h^2 forward. b 2, s 32, h 64.
TEST_CASE("BERT's FLOPs are PyTorch's but for the transform in its head and the pooler") {
  const Json document = read_json_file(test_data_folder() + "/pytorch_flops/pytorch_flops.json");
  const std::vector<Counted> cases = counted_cases(document);
  const auto bert = std::find_if(cases.begin(), cases.end(), [](const Counted& c) { return c.name == "bert-2l-mlm"; });
  REQUIRE(bert != cases.end());
  const double transform = 2.0 * 2 * 32 * 64 * 64;
  const double pooler = 2.0 * 2 * 64 * 64;
  const Network network = import_hugging_face(JsonPlace(*bert->config, bert->name), bert->name);
  const BlockFlops predicted = graph_flops(network.graph, one_rank(bert->batch, bert->sequence));
  CHECK(predicted.forward.value() - pooler == bert->forward - transform);
  CHECK(predicted.backward().value() - 2 * pooler == bert->backward - 2 * transform);
}

}  // namespace
}  // namespace plumbline
