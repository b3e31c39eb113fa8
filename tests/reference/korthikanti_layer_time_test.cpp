// Milliseconds of one layer of the 22B model, Korthikanti et al., arXiv:2205.05198, table 4: tensor parallel 8 on
// A100, micro-batch 4, sequence 2048; the backward pass with its recompute. Agreement, not prediction: the starting
// constants come from a study whose rows include whole steps of the same paper (docs/calibrations.md).

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

struct Row {
  SequenceParallel sequence_parallel;
  std::int32_t variant;
  double forward_ms;
  double backward_ms;
};
constexpr std::array rows{
    Row{SequenceParallel::off, Variant::kept, 7.7, 11.9}, Row{SequenceParallel::on, Variant::kept, 7.2, 11.8},
    Row{SequenceParallel::off, Variant::full, 7.7, 19.5}, Row{SequenceParallel::off, Variant::selective, 7.7, 13.2},
    Row{SequenceParallel::on, Variant::selective, 7.2, 13.1}};

double milliseconds(Picoseconds time) { return 1e3 * to_seconds(time).value(); }

BlockCost layer_of(const Row& row) {
  QuestionText text;
  text.model = "megatron-22b";
  text.machine = "dgx-a100-80g";
  text.devices = 8;
  text.training.sequence_length = 2048;
  text.training.global_batch = 4;
  text.training.precision = PrecisionRecipe::fp16;
  text.training.gradient_format = NumberFormat::fp32;
  text.stack = "megatron-lm-2021";
  const Question question(text);
  Strategy s;
  s.tensor_parallel = 8;
  s.micro_batch = 4;
  s.flash_attention = FlashAttention::off;
  s.sequence_parallel = row.sequence_parallel;
  const std::vector<BlockCost> costs = block_costs(question, s);
  const std::vector<Block>& blocks = question.graph().blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].kind() == BlockKind::layer) return costs[b];
  throw std::logic_error("the network has layers");
}

}  // namespace

TEST_CASE("a layer's forward and backward passes of Korthikanti's table 4 are met within 6 %") {
  for (const Row& row : rows) {
    const BlockCost cost = layer_of(row);
    const double forward = milliseconds(cost.forward.total());
    const double backward = milliseconds(cost.backward.total() + cost.times(row.variant).recompute.total());
    CAPTURE(row.variant, row.sequence_parallel == SequenceParallel::on, forward, row.forward_ms, backward,
            row.backward_ms);
    CHECK(std::abs(forward / row.forward_ms - 1) < 0.06);
    CHECK(std::abs(backward / row.backward_ms - 1) < 0.06);
    CHECK(std::abs((forward + backward) / (row.forward_ms + row.backward_ms) - 1) < 0.06);
  }
}

}  // namespace plumbline
