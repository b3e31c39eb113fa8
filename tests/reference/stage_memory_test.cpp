// Memory of the first pipeline stage against the published analytic rows of Korthikanti et al., arXiv:2205.05198.

#include "core/cost/stage_memory.h"

#include "tests/catch.h"
#include "tests/machines.h"
#include "tests/networks.h"
#include "tests/test_rows.h"

namespace plumbline {
namespace {

struct Row {
  Graph graph;
  Strategy strategy;
  Training training;
};

Row read_row(JsonObject& row) {
  const std::int64_t sequence = count_at(row, "sequence_length");
  Row r{gpt({count_at(row, "layers"), count_at(row, "hidden"), count_at(row, "heads"), count_at(row, "vocabulary"),
             sequence, Dropout::yes}),
        {},
        {}};
  Strategy& s = r.strategy;
  s.tensor_parallel = static_cast<std::int32_t>(count_at(row, "tensor_parallel"));
  s.pipeline_stages = static_cast<std::int32_t>(count_at(row, "pipeline_stages"));
  s.virtual_stages = static_cast<std::int32_t>(count_at(row, "virtual_stages"));
  s.schedule = s.pipeline_stages == 1  ? Schedule::none
               : s.virtual_stages == 1 ? Schedule::one_f_one_b
                                       : Schedule::interleaved;
  s.micro_batch = count_at(row, "micro_batch");
  s.micro_batches = count_at(row, "global_batch") / s.micro_batch;
  s.flash_attention = FlashAttention::off;
  s.sequence_parallel = row.at("sequence_parallel").boolean() ? SequenceParallel::on : SequenceParallel::off;
  s.recompute = recompute_from_text(row.at("recompute").string()).value();
  r.training.sequence_length = sequence;
  r.training.global_batch = count_at(row, "global_batch");
  r.training.precision = PrecisionRecipe::fp16;
  r.training.gradient_format = NumberFormat::fp32;
  return r;
}

enum class Embedding : bool { left_out, counted };

MemoryBreakdown first_stage(const Row& r, Embedding embedding) {
  const BlockPricer pricer(round_cluster(1), round_calibration());
  std::vector<BlockCost> blocks;
  for (const Block& block : r.graph.blocks())
    blocks.push_back(pricer.price(block, shard_of(r.strategy, r.training), block_groups(r.strategy)));
  StageLayout layout = stage_layout(r.graph, split_into_chunks(r.graph, r.strategy.chunks()),
                                    r.strategy.pipeline_stages, r.strategy.recompute);
  if (embedding == Embedding::left_out) {
    for (RankContent& rank : layout.distinct)
      for (std::size_t b = 0; b < blocks.size(); ++b)
        if (r.graph.blocks()[b].kind() != BlockKind::layer) rank.executions[b] = 0;
  }
  const StageTable stages(r.graph, layout, blocks);
  return stage_memory(stages[0], r.strategy, r.training.formats(), Optimizer::adam, round_calibration().stack, 0);
}

Bytes states(const MemoryBreakdown& memory) {
  return memory[MemoryClass::weights] + memory[MemoryClass::gradients] + memory[MemoryClass::master_weights] +
         memory[MemoryClass::optimizer_state];
}

double gib(Bytes bytes) { return bytes / 1_GiB; }

// The published numbers are of the layers alone, 12 h^2 parameters each (biases and norms left out).
TEST_CASE("the layers of the first stage take the published activations and states within 2 %") {
  TestRows file("korthikanti_analytic.json");
  REQUIRE(file.rows().size() == 8);
  for (JsonObject& row : file.rows()) {
    const std::string id = row.at("id").string();
    const MemoryBreakdown memory = first_stage(read_row(row), Embedding::left_out);
    const double activations = gib(memory[MemoryClass::activations]);
    const double published_activations = number_at(row, "activations_gib");
    const double published_states = number_at(row, "states_gib");
    const double error_activations = activations / published_activations - 1;
    const double error_states = gib(states(memory)) / published_states - 1;
    INFO(id << ": activations predicted " << activations << " GiB, published " << published_activations << ", error "
            << error_activations << "; states predicted " << gib(states(memory)) << ", published " << published_states
            << ", error " << error_states);
    CHECK(std::abs(error_activations) < 0.02);
    CHECK(std::abs(error_states) < 0.02);
    const double total = activations + gib(states(memory));
    CHECK(std::abs(total / (published_activations + published_states) - 1) < 0.02);
    // What is left of the error: fp32 statistics of the norms above, biases and norms below. Both are real.
    CHECK(error_activations >= 0);
    CHECK(error_activations < 1e-3);
    CHECK(error_states > 0);
    CHECK(error_states < 1e-3);
  }
}

// V h / t of the embedding and s h of the positions, which every rank holds; 18 bytes each.
TEST_CASE("the first stage holds the embedding and the positions on top") {
  TestRows file("korthikanti_analytic.json");
  for (JsonObject& row : file.rows()) {
    const std::int64_t hidden = count_at(row, "hidden");
    const std::int64_t on_top = count_at(row, "vocabulary") * hidden / count_at(row, "tensor_parallel") +
                                count_at(row, "sequence_length") * hidden;
    Row question = read_row(row);
    // With one stage the final norm (2 h) is on it too; the head shares the embedding's storage.
    const std::int64_t final_norm = question.strategy.pipeline_stages == 1 ? 2 * hidden : 0;
    INFO(row.at("id").string());
    CHECK(states(first_stage(question, Embedding::counted)) - states(first_stage(question, Embedding::left_out)) ==
          Bytes(18 * (on_top + final_norm)));
  }
}

}  // namespace
}  // namespace plumbline
