// Which layers `uniform:N`, `block:N` and `sqrt` run again, as Megatron-Core's TransformerBlock._checkpointed_forward
// walks the layers of a pipeline chunk, and what that holds.

#include "core/base/errors.h"
#include "core/cost/ruled_variants.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/pricing.h"

namespace plumbline::replayed_layers_test {
namespace {

Graph gpt_of(std::int64_t layers) {
  return gpt({.layers = layers, .hidden = 768, .heads = 12, .vocabulary = 1000, .positions = 1024});
}

/// Layers as letters: k kept, f full, and of a group its first, inner and last layers: < - >.
std::string layers_text(const Graph& graph, const char* recompute, std::int64_t chunks) {
  const auto variants = ruled_variants(graph, recompute_from_text(recompute).value(), split_into_chunks(graph, chunks));
  std::string text;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (graph.block(graph.sequence()[i]).kind() != BlockKind::layer) continue;
    const std::int32_t v = variants[i];
    text += v == Variant::full              ? 'f'
            : v == Variant::replayed_first  ? '<'
            : v == Variant::replayed_middle ? '-'
            : v == Variant::replayed_last   ? '>'
                                            : 'k';
  }
  return text;
}

struct Priced {
  Bytes kept;     ///< activations at the peak
  Bytes working;  ///< next to them
  Bytes total;
  Picoseconds step{0};
  Picoseconds recompute{0};
};

class OneRank {
 public:
  explicit OneRank(std::int64_t layers) : pricing_(gpt_of(layers), training()) {}
  [[nodiscard]] Priced of(const char* recompute) const {
    Strategy s;
    s.micro_batches = 4;
    s.recompute = recompute_from_text(recompute).value();
    const MemoryBreakdown memory = pricing_.memory(s).front();
    const auto step = pricing_.step(s);
    return {memory[MemoryClass::activations], memory[MemoryClass::working_buffers], memory.device_total(), step.total(),
            step.breakdown[TimeCause::recompute]};
  }

 private:
  static Training training() {
    Training training;
    training.sequence_length = 1024;
    training.global_batch = 4;
    return training;
  }
  Pricing pricing_;
};

}  // namespace

TEST_CASE("groups and first layers are those of each pipeline chunk") {
  const Graph graph = gpt_of(12);
  CHECK(layers_text(graph, "uniform:1", 1) == "ffffffffffff");
  CHECK(layers_text(graph, "uniform:2", 1) == "<><><><><><>");
  CHECK(layers_text(graph, "uniform:5", 1) ==
        "<---><--->"
        "<>");
  CHECK(layers_text(graph, "uniform:12", 1) == "<---------->");
  CHECK(layers_text(graph, "uniform:2", 4) == "<>f<>f<>f<>f");
  CHECK(layers_text(graph, "uniform:4", 2) == "<--><><--><>");
  CHECK(layers_text(graph, "block:1", 4) == "fkkfkkfkkfkk");
  CHECK(layers_text(graph, "block:2", 2) == "ffkkkkffkkkk");
  CHECK(layers_text(graph, "block:12", 1) == "ffffffffffff");
  CHECK(layers_text(graph, "sqrt", 1) == layers_text(graph, "uniform:3", 1));  // 3.46
  CHECK(layers_text(graph, "sqrt", 2) == layers_text(graph, "uniform:2", 2));  // 2.45
  CHECK(layers_text(graph, "sqrt", 6) == layers_text(graph, "full", 6));       // 1.41
}

// Megatron-Core: while l < layers: checkpoint(l, min(l + N, layers)); l += N.
TEST_CASE("uniform and block are Megatron-Core's loops over the layers of a chunk") {
  for (std::int64_t layers = 1; layers <= 9; ++layers)
    for (std::int64_t n = 1; n <= layers; ++n) {
      std::string uniform;
      for (std::int64_t l = 0; l < layers; l += n) {
        const auto size = static_cast<std::size_t>(std::min(n, layers - l));
        uniform += size == 1 ? "f" : "<" + std::string(size - 2, '-') + ">";
      }
      std::string block;
      for (std::int64_t l = 0; l < layers; ++l) block += l < n ? 'f' : 'k';
      CHECK(layers_text(gpt_of(layers), ("uniform:" + std::to_string(n)).c_str(), 1) == uniform);
      CHECK(layers_text(gpt_of(layers), ("block:" + std::to_string(n)).c_str(), 1) == block);
    }
}

// 12 layers of 1024 x 768 inputs in 2 bytes: 1.5 MiB for each group.
TEST_CASE("a group keeps one input, and its backward holds what its layers restore") {
  const OneRank rank(12);
  const Bytes input(1024LL * 768 * 2);
  const Priced full = rank.of("full");
  Priced before = full;
  for (const std::int64_t n : {2, 3, 4, 6, 12}) {
    INFO("uniform:" << n);
    const Priced grouped = rank.of(("uniform:" + std::to_string(n)).c_str());
    CHECK(full.kept - grouped.kept == (12 - 12 / n) * input);
    CHECK(grouped.working > before.working);
    CHECK(grouped.recompute == full.recompute);
    CHECK(grouped.step == full.step);
    before = grouped;
  }
  // One group of all layers restores what a plan without recompute keeps, next to what it keeps itself.
  CHECK(before.total > full.total);
  CHECK(rank.of("uniform:1").total == full.total);
}

TEST_CASE("every layer more that block recomputes holds less and takes longer, until all are full") {
  const OneRank rank(12);
  const Priced none = rank.of("none");
  const Priced full = rank.of("full");
  Priced before = none;
  for (std::int64_t n = 1; n <= 12; ++n) {
    INFO("block:" << n);
    const Priced part = rank.of(("block:" + std::to_string(n)).c_str());
    CHECK(part.recompute == n * (full.recompute / 12.0));
    CHECK(part.step > before.step);
    CHECK(part.kept < before.kept);
    before = part;
  }
  CHECK(before.total == full.total);
  CHECK(before.step == full.step);
}

TEST_CASE("names of recompute are read as they are printed, and nothing else is") {
  for (const char* const text : {"none", "selective", "full", "every:2", "uniform:2", "uniform:64", "block:1",
                                 "block:12", "sqrt", "by-operator", "offload:1", "optimal", "selective:layernorm+mlp"})
    CHECK(to_text(recompute_from_text(text).value()) == text);
  CHECK(to_text(recompute_from_text("uniform:1").value()) == "full");
  for (const char* const text : {"uniform", "uniform:", "uniform:0", "uniform:-1", "uniform:2x", "block:0",
                                 "block:", "block", "sqrt:2", "uniform:N", "every:N", "uniform:99999999999"})
    CHECK(!recompute_from_text(text));
}

}  // namespace plumbline::replayed_layers_test
