// Optimizer steps, written out.
#include "core/program/update_program.h"

#include <algorithm>

#include "core/program/program.h"
#include "tests/catch.h"
#include "tests/networks.h"
#include "tests/update_totals.h"

namespace plumbline {
namespace {

struct Step {
  Strategy strategy;
  Training training;
  ParameterLayout layout;
  UpdateProgram program;

  [[nodiscard]] std::int64_t count(UpdateKind kind) const {
    return std::count_if(program.instructions.begin(), program.instructions.end(),
                         [&](const UpdateInstruction& i) { return i.kind == kind; });
  }
  [[nodiscard]] std::string text() const { return to_text(program, layout); }
};

/// The optimizer step of a rank that holds one transformer layer of width 8 and no other unit.
Step step(Optimizer optimizer, Strategy strategy, std::int32_t rank = 0) {
  const Graph graph =
      llama({.layers = 1, .hidden = 8, .heads = 2, .kv_heads = 2, .head_dim = 4, .width = 12, .vocabulary = 16});
  Step step;
  step.strategy = strategy;
  step.training.optimizer = optimizer;
  step.training.precision = PrecisionRecipe::fp32;
  step.layout = parameter_layout(graph, strategy, step.training, {{1, 2}}, rank);
  step.program = lower_update(step.layout, strategy, optimizer, rank);
  return step;
}

Strategy ranks(std::int32_t data, std::int32_t tensor, std::int32_t zero) {
  Strategy s;
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.zero_stage = zero;
  if (zero > 0) s.shard_group = data;
  return s;
}

TEST_CASE("one rank sums all gradients, decides, and updates every parameter") {
  const Step adamw = step(Optimizer::adamw, {});
  const auto parameters = std::ssize(adamw.layout.parameters);
  REQUIRE(adamw.program.instructions.size() == static_cast<std::size_t>(2 * parameters + 1));
  CHECK(adamw.count(UpdateKind::sum_gradients) == parameters);
  CHECK(adamw.program.instructions[static_cast<std::size_t>(parameters)].kind == UpdateKind::decide);
  CHECK(adamw.count(UpdateKind::update) == parameters);
  CHECK(adamw.text().find("update layers.0.") != std::string::npos);
  CHECK(adamw.program.buffers.empty());
}

TEST_CASE("a rank that holds a copy updates it, and leaves its gradients' norm to the first") {
  const Step first = step(Optimizer::adamw, ranks(2, 1, 0), 0);
  const Step second = step(Optimizer::adamw, ranks(2, 1, 0), 1);
  CHECK(first.count(UpdateKind::sum_gradients) == std::ssize(first.layout.parameters));
  CHECK(second.count(UpdateKind::sum_gradients) == 0);
  CHECK(updated_elements(second.program) == updated_elements(first.program));
}

TEST_CASE("ranks that share states update equal parts, the last one what is left") {
  for (const std::int32_t sharing : {2, 3, 5}) {
    INFO(sharing << " ranks");
    const Step first = step(Optimizer::adamw, ranks(sharing, 1, 1), 0);
    std::int64_t all = 0;
    for (const LocalParameter& p : first.layout.parameters) all += p.elements();
    const std::int64_t part = (all + sharing - 1) / sharing;
    CHECK(updated_elements(first.program) == part);
    const Step last = step(Optimizer::adamw, ranks(sharing, 1, 1), sharing - 1);
    CHECK(updated_elements(last.program) == all - (sharing - 1) * part);
  }
}

TEST_CASE("Muon takes matrices whole, and gathers nothing on one rank") {
  const Step alone = step(Optimizer::muon, {});
  const auto is_matrix = [](const LocalParameter& p) { return p.is_layer_matrix; };
  const auto matrices = std::count_if(alone.layout.parameters.begin(), alone.layout.parameters.end(), is_matrix);
  CHECK(alone.count(UpdateKind::update_matrix) == matrices);
  CHECK(alone.count(UpdateKind::update) == std::ssize(alone.layout.parameters) - matrices);
  CHECK(alone.count(UpdateKind::gather) == 0);
}

TEST_CASE("Muon's ranks that share states gather directions once a section") {
  const Step shared = step(Optimizer::muon, ranks(2, 1, 1));
  INFO(shared.text());
  REQUIRE(shared.layout.sections.size() == 1);
  CHECK(shared.count(UpdateKind::gather) == 1);
  // fp32, of which each of two ranks sends its half once.
  CHECK(gathered_bytes(shared.program, GatherGroup::states) == Bytes(4 * shared.layout.sections[0].padded / 2));
  CHECK(buffer_bytes(shared.program) == Bytes(4 * shared.layout.sections[0].padded));
  CHECK(gathered_bytes(shared.program, GatherGroup::slices) == Bytes(0));
}

TEST_CASE("Muon's ranks that divide a matrix gather its slices, matrix by matrix") {
  const Step divided = step(Optimizer::muon, ranks(1, 2, 0));
  INFO(divided.text());
  std::int64_t halves = 0;
  std::int64_t largest = 0;
  std::int64_t matrices = 0;
  for (const LocalParameter& p : divided.layout.parameters) {
    if (!p.is_layer_matrix) continue;
    ++matrices;
    halves += p.elements();
    largest = std::max(largest, 2 * p.elements());
  }
  CHECK(divided.count(UpdateKind::gather) == matrices);
  CHECK(gathered_bytes(divided.program, GatherGroup::slices) == Bytes(4 * halves));
  CHECK(buffer_bytes(divided.program) == Bytes(4 * largest));
  CHECK(divided.count(UpdateKind::orthogonalise) == matrices);
}

// A layer of width 8 and 12 inside: four matrices of 8 x 8, two of 12 x 8 and one of 8 x 12, two norms of 8.
// They keep 4 (8 + 8) + 3 (8 + 12) + 2 * 8 = 140 values; nine weights' sums, nine updates' and nine means beside.
TEST_CASE("Adafactor sums, keeps means and updates section by section, on one rank without sending") {
  const Step alone = step(Optimizer::adafactor, {});
  INFO(alone.text());
  const auto parameters = std::ssize(alone.layout.parameters);
  REQUIRE(parameters == 9);
  CHECK(alone.layout.moments == 140);
  for (const UpdateKind kind :
       {UpdateKind::add_squares, UpdateKind::keep_means, UpdateKind::add_updates, UpdateKind::take_update})
    CHECK(alone.count(kind) == parameters);
  CHECK(alone.count(UpdateKind::reduce) == 0);
  CHECK(buffer_bytes(alone.program) == Bytes(std::int64_t{4} * (140 + 3 * 9)));
}

// 140 and 9 sums fill up to 150 for three ranks, 9 need no filling: an all-reduce sends 2/3 twice.
TEST_CASE("Adafactor's ranks that share states add sums up twice a section, and keep the same means") {
  const Step shared = step(Optimizer::adafactor, ranks(3, 1, 2), 1);
  INFO(shared.text());
  CHECK(shared.count(UpdateKind::reduce) == 2);
  CHECK(shared.count(UpdateKind::keep_means) == 9);
  CHECK(gathered_bytes(shared.program, GatherGroup::states) == Bytes(2 * 2 * 4 * (150 + 9) / 3));
  CHECK(shared.layout.moments == 140);
}

// q, k, v, up and gate divide their rows, and share 8 columns each; the output and down divide their columns, and share
// 8 rows: 56 and seven weights' sums fill up to 64 for two ranks, seven updates' to 8.
TEST_CASE("Adafactor's ranks that divide matrices add up what their slices share") {
  const Step divided = step(Optimizer::adafactor, ranks(1, 2, 0));
  INFO(divided.text());
  CHECK(divided.count(UpdateKind::reduce) == 2);
  CHECK(gathered_bytes(divided.program, GatherGroup::slices) == Bytes(2 * 4 * (64 + 8) / 2));
  CHECK(gathered_bytes(divided.program, GatherGroup::states) == Bytes(0));
  CHECK(divided.layout.moments == 56 + 4 * 4 + 3 * 6 + 2 * 8);
}

}  // namespace
}  // namespace plumbline
