// Muon where ranks share or divide matrices: one rank's weights, and the bytes that gathering them is predicted to
// take.
#include "core/cost/matrix_gathers.h"

#include "kernels/muon.h"
#include "runtime/execution/parameter_init.h"
#include "tests/matrix_layouts.h"

namespace plumbline::matrix_update_test {
namespace {

TEST_CASE("Muon's first step on several ranks is that of one, with the bytes that were predicted") {
  for (const Net net : {Net::gpt, Net::llama}) {
    const Training training = recipe(Optimizer::muon);
    const LoweredPlan alone(network(net), single(), training);
    const Executed one = execute(alone.job(), options(1));
    for (const Strategy& strategy : sampled(matrix_layouts())) {
      INFO(to_text(strategy));
      const LoweredPlan plan(network(net), strategy, training);
      const Executed run = execute(plan.job(), options(1));
      require_bytes(plan, run.record);
      for (const RankRecord& rank : run.record.ranks) {
        const MemoryBreakdown& predicted = plan.simulation.memory[static_cast<std::size_t>(rank.stage)].memory;
        for (const MemoryClass c : {MemoryClass::weights, MemoryClass::optimizer_state})
          CHECK(rank.memory.highest[c].value() == predicted[c].value());
      }
      WholeTensors matrices;
      for (const auto& [name, shape] : one.matrices) matrices[name] = one.weights.at(name);
      WholeTensors moved;
      for (const auto& [name, shape] : one.matrices) moved[name] = run.weights.at(name);
      require_equal(moved, matrices, 2e-4);
    }
  }
}

TEST_CASE("Muon takes each expert's matrix by itself, wherever experts are and however they are divided") {
  Training training = recipe_of(Net::moe);
  training.optimizer = Optimizer::muon;
  const LoweredPlan alone(network(Net::moe), single(), training);
  const Executed one = execute(routed(alone, ExpertRouting::balanced), options(1));
  for (const Strategy& strategy : expert_layouts()) {
    INFO(to_text(strategy));
    const LoweredPlan plan(network(Net::moe), strategy, training);
    const Executed run = execute(routed(plan, ExpertRouting::balanced), options(1));
    require_bytes(plan, run.record);
    for (const auto& [name, shape] : one.matrices) {
      INFO(name);
      CHECK(relative_difference(run.weights.at(name), one.weights.at(name), 0) <= 2e-4);
    }
  }
}

// w (1 - rate * decay) - rate * sqrt(max(1, rows / columns)) * O(g): of the first step, whose direction is a multiple
// of the gradient, which O divides by its norm.
TEST_CASE("an expert's first step is that of its own matrix and gradient") {
  Training training = recipe_of(Net::moe);
  training.optimizer = Optimizer::muon;
  const LoweredPlan plan(network(Net::moe), single(), training);
  const Executed run = execute(routed(plan, ExpertRouting::balanced), options(1));
  const std::string name = "layers.1.experts.down.weight";
  const MatrixShape shape = run.matrices.at(name);
  REQUIRE((shape.experts == 8 && shape.rows == 32 && shape.columns == 16));
  const std::int64_t size = shape.rows * shape.columns;
  const double rate = run.record.steps[0].learning_rate;
  std::vector<float> expected;
  std::vector<float> scratch(static_cast<std::size_t>(reference::orthogonalise_scratch(shape.rows, shape.columns)));
  for (std::int64_t e = 0; e < shape.experts; ++e) {
    const auto first = run.gradients.at(name).begin() + e * size;
    std::vector<float> direction(first, first + size);
    reference::orthogonalise(direction.data(), shape.rows, shape.columns, 5, scratch.data());
    for (std::int64_t i = 0; i < size; ++i) {
      const double start = initial_value(InitialValues::normal, 0.02, options().seed, name, e * size + i);
      expected.push_back(static_cast<float>(start * (1 - rate * OptimizerSettings().weight_decay) -
                                            rate * std::sqrt(2.0) * direction[static_cast<std::size_t>(i)]));
    }
  }
  CHECK(relative_difference(run.weights.at(name), expected, 0) <= 1e-5);
}

TEST_CASE("two ranks that halve a matrix by rows or columns take its whole as one does, ten steps long") {
  const Training training = recipe(Optimizer::muon);
  const Executed one = execute(LoweredPlan(network(Net::llama), single(), training).job(), options(10));
  const Strategy halves = laid_out([](Strategy& s) { s.tensor_parallel = 2; });
  const Executed run = execute(LoweredPlan(network(Net::llama), halves, training).job(), options(10));
  for (std::size_t i = 0; i < 10; ++i)
    CHECK(run.record.steps[i].loss == Approx(one.record.steps[i].loss).epsilon(1e-3));
}

// Two layers of 10 elements each in sections padded to 12 for 4 ranks, fp32: a rank sends 3 of its parts of 3 elements
// for each, and holds 12. Of 6 elements of matrices, halves of two ranks, it sends its half, and holds the largest, 4,
// twice.
TEST_CASE("gathered matrices, worked by hand") {
  RankParameters p;
  UnitParameters unit;
  unit.count = 2;
  unit.dense_trained = 10;
  p.units = {unit};
  p.largest_matrix_unit = 10;
  p.divided_matrices = 6;
  p.largest_divided_matrix = 4;
  Strategy s;
  s.data_parallel = 4;
  s.zero_stage = 1;
  s.shard_group = 4;
  s.tensor_parallel = 2;
  const MatrixGathers gathers = matrix_gathers(p, s, Optimizer::muon);
  CHECK(gathers.shards == Bytes(std::int64_t{2} * 3 * 3 * 4));
  CHECK(gathers.slices == Bytes(std::int64_t{6} * 4));
  CHECK(gathers.buffer == Bytes(std::int64_t{4} * (12 + 2 * 4)));
  CHECK(matrix_gathers(p, s, Optimizer::adamw).buffer == Bytes(0));
  s.zero_stage = 0;
  s.tensor_parallel = 1;
  CHECK(matrix_gathers(p, s, Optimizer::muon).buffer == Bytes(0));
}

// A layer with 12 elements of experts, of which two ranks hold copies and divide the states: a rank sends its half, 6
// of fp32, and holds 12. A tensor of them has 8 on this rank, and three ranks divide it: it sends its 12 twice, and
// holds 24.
TEST_CASE("gathered matrices of experts, worked by hand") {
  RankParameters p;
  UnitParameters unit;
  unit.expert_trained = 12;
  p.units = {unit};
  p.expert_trained = {12, 0};
  p.largest_expert_unit = 12;
  p.largest_expert_matrix = 8;
  Strategy s;
  s.tensor_parallel = 6;
  s.expert_tensor_parallel = 3;
  s.zero_stage = 1;
  const MatrixGathers gathers = matrix_gathers(p, s, Optimizer::muon);
  CHECK(gathers.shards == Bytes(std::int64_t{4} * (6 + 2 * 12)));
  CHECK(gathers.buffer == Bytes(std::int64_t{4} * (12 + 3 * 8)));
}

}  // namespace
}  // namespace plumbline::matrix_update_test
