// The instructions of optimizer steps: what they gather and hold is what core/cost/matrix_gathers.h predicts, and over
// all ranks they update every trained element exactly once.
#include "core/program/update_program.h"

#include "core/plan/rank_group.h"
#include "core/program/parameter_copies.h"
#include "tests/catch.h"
#include "tests/parameter_layouts.h"
#include "tests/random_strategies.h"
#include "tests/update_totals.h"

namespace plumbline {
namespace {

struct RankUpdate {
  ParameterLayout layout;
  UpdateProgram program;
};

RankUpdate update_of(const LoweredPlan& plan, ParameterLayout layout, std::int32_t rank) {
  UpdateProgram program = lower_update(layout, plan.strategy, plan.training.optimizer, rank);
  return {std::move(layout), std::move(program)};
}

/// What ranks send to gather slices of experts' matrices, or of others'.
Bytes slices(const RankUpdate& update, bool of_experts) {
  UpdateProgram program;
  for (const UpdateInstruction& i : update.program.instructions)
    if ((i.kind == UpdateKind::gather || i.kind == UpdateKind::reduce) &&
        update.layout.sections[static_cast<std::size_t>(i.section)].is_expert == of_experts)
      program.instructions.push_back(i);
  return gathered_bytes(program, GatherGroup::slices);
}

/// Elements of parameters that a rank updates and answers for, by name and place in the whole tensor.
using Updated = std::map<std::string, std::map<std::int64_t, int>>;

void count_updated(const LoweredPlan& plan, const RankUpdate& update, std::int32_t rank, Updated& updated) {
  for (const UpdateInstruction& i : update.program.instructions) {
    if (i.kind != UpdateKind::update && i.kind != UpdateKind::update_matrix && i.kind != UpdateKind::apply &&
        i.kind != UpdateKind::take_update)
      continue;
    const OwnedRange& owned = update.layout.owned[static_cast<std::size_t>(i.owned)];
    const LocalParameter& p = update.layout.parameters[static_cast<std::size_t>(owned.parameter)];
    CHECK(i.elements.first >= 0);
    CHECK(i.elements.first + i.elements.count <= p.elements());
    if (!answers_for(plan.strategy, p, rank)) continue;
    for (std::int64_t e = 0; e < i.elements.count; ++e) ++updated[p.name][p.box.whole_index(i.elements.first + e)];
  }
}

std::int64_t trained_elements(const ParameterLayout& layout) {
  std::int64_t sum = 0;
  for (const LocalParameter& p : layout.parameters) sum += p.is_trained ? p.elements() : 0;
  return sum;
}

}  // namespace

TEST_CASE("Optimizer steps gather what is predicted and update every trained element once") {
  const std::int64_t runs = environment_number("PLUMBLINE_RUNS", 120);
  int checked = 0;
  int gathering = 0;
  int summing = 0;
  for (std::int64_t n = 0; n < runs; ++n) {
    RandomRun run = random_run(20261125, n);
    if (n % 2 == 0) run.training.optimizer = Optimizer::muon;
    if (n % 4 == 1) run.training.optimizer = Optimizer::adafactor;
    CAPTURE(n, text_of(run));
    const LoweredPlan plan(run.graph, run.strategy, run.training);
    const auto layouts = parameter_layouts(plan);
    if (!layouts) continue;
    ++checked;
    Updated updated;
    for (std::int32_t rank = 0; rank < run.strategy.devices(); ++rank) {
      CAPTURE(rank);
      const RankUpdate update = update_of(plan, (*layouts)[static_cast<std::size_t>(rank)], rank);
      const auto stage = static_cast<std::size_t>(coordinate(run.strategy, Axis::pipeline, rank));
      const RankSizes& predicted = plan.sizes.ranks[stage];
      CHECK(gathered_bytes(update.program, GatherGroup::states) + slices(update, true) == predicted.matrices.shards);
      CHECK(slices(update, false) == predicted.matrices.slices);
      CHECK(buffer_bytes(update.program) == predicted.matrices.buffer);
      const bool sums = run.training.optimizer == Optimizer::adafactor;
      if (!sums && predicted.matrices.buffer > Bytes(0)) ++gathering;
      if (sums && predicted.matrices.shards + predicted.matrices.slices > Bytes(0)) ++summing;
      count_updated(plan, update, rank, updated);
    }
    const LoweredPlan alone(run.graph, Strategy(), run.training);
    std::int64_t elements = 0;
    for (const auto& [name, of_parameter] : updated)
      for (const auto& [element, times] : of_parameter) {
        if (times != 1) FAIL_CHECK(name << " element " << element << " is updated " << times << " times");
        ++elements;
      }
    CHECK(elements == trained_elements(parameter_layouts(alone).value().front()));
  }
  CHECK(checked >= runs / 2);
  CHECK(gathering >= runs / 5);
  CHECK(summing >= runs / 10);
}

}  // namespace plumbline
