// What a plan predicts of a device's memory is divided as records divide it, and its parts sum to the plan's total.

#include "planner/compare/device_memory.h"

#include "planner/compare/compare.h"
#include "planner/pricing/evaluate.h"
#include "planner/question/question.h"
#include "tests/catch.h"

namespace plumbline::device_memory_test {
namespace {

struct Asked {
  Question question;
  Plan plan;
};

/// Two stages on GPUs that share nothing, with a stack that has a context, workspaces and communicators.
Asked asked() {
  QuestionText text;
  text.model = "gpt2";
  text.machine = "dgx-h100";
  text.stack = "unknown";
  text.devices = 4;
  text.training.global_batch = 8;
  Question question(text);
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 2;
  partial.strategy.pipeline_stages = 2;
  Plan plan = evaluate(question, completed(partial, question));
  return {std::move(question), std::move(plan)};
}

RunRecord record_of(const std::array<Bytes, device_part_count>& parts) {
  RunRecord record;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    RankRecord& one = record.ranks.emplace_back();
    one.rank = rank;
    one.stage = rank / 2;
    one.memory.device.emplace().by_part = parts;
  }
  return record;
}

const DeviceLine& line_of(const std::vector<DeviceLine>& lines, std::int32_t stage, const std::string& part) {
  for (const DeviceLine& line : lines)
    if (line.stage == stage && line.part == part) return line;
  FAIL("there is no " << part << " of stage " << stage);
  return lines.front();
}

}  // namespace

TEST_CASE("predicted parts of a device are the stack's and the arena, and sum to the plan's total") {
  const Asked a = asked();
  const MemoryEfficiency& stack = a.question.calibration().stack.memory;
  const std::vector<DeviceLine> lines =
      device_lines(a.plan, a.question.calibration().stack, record_of({1_MiB, 2_MiB, 3_MiB, 4_MiB, 5_MiB, 6_MiB}));
  REQUIRE(lines.size() == 2 * (device_part_count + 1));
  for (const std::int32_t stage : {0, 1}) {
    CHECK(line_of(lines, stage, "context").predicted.value() == static_cast<std::int64_t>(stack.context_bytes));
    CHECK(line_of(lines, stage, "libraries").predicted.value() == static_cast<std::int64_t>(stack.workspace_bytes));
    // Groups of tensor and pipeline parallelism.
    CHECK(line_of(lines, stage, "communication").predicted.value() ==
          2 * static_cast<std::int64_t>(stack.communicator_bytes));
    const Bytes total = a.plan.prediction.stage_memory[static_cast<std::size_t>(stage)].device_total();
    CHECK(line_of(lines, stage, "total").predicted == total);
    CHECK(line_of(lines, stage, "total").measured == 21_MiB);
    Bytes sum(0);
    for (const DeviceLine& line : lines)
      if (line.stage == stage && line.part != "total") sum += line.predicted;
    CHECK(sum == total);
    CHECK(line_of(lines, stage, "arena").predicted > Bytes(0));
    CHECK(line_of(lines, stage, "arena").is_predicted());
    CHECK_FALSE(line_of(lines, stage, "modules").is_predicted());
    CHECK_FALSE(line_of(lines, stage, "other").is_predicted());
  }
}

// Records count tensors by class; a stack's context, workspaces and communicators are parts of the device.
TEST_CASE("bytes of a device are equal where its tensors are, whatever its stack takes beside them") {
  const Asked a = asked();
  const StackCalibration& stack = a.question.calibration().stack;
  REQUIRE(stack.memory.context_bytes > 0);
  SimulationOptions options;
  options.granularity = Granularity::block;
  const SimulatedPlan simulation = simulated(a.question, a.plan.strategy, options);
  RunRecord record = record_of({1_MiB, 2_MiB, 3_MiB, 4_MiB, 5_MiB, 6_MiB});
  for (RankRecord& rank : record.ranks) {
    const RankProgram& program = simulation.program.ranks[static_cast<std::size_t>(rank.stage)];
    rank.memory.at_peak = memory_peak(program, 0).memory;
    for (std::size_t c = 0; c < memory_class_count; ++c)
      rank.memory.at_peak.by_class[c] =
          rank.memory.at_peak.by_class[c] - apart_from_tensors(a.plan.strategy, stack, record).by_class[c];
    rank.sent.clear();
  }
  const auto equal = [&](const MemoryBreakdown& apart) {
    const Comparison c = compare(a.plan, a.question.graph(), simulation, record, apart);
    return std::all_of(c.memory.begin(), c.memory.end(), [](const MemoryLine& line) { return line.is_equal(); });
  };
  CHECK(equal(apart_from_tensors(a.plan.strategy, stack, record)));
  CHECK_FALSE(equal({}));
  record.ranks[0].memory.at_peak[MemoryClass::weights] += 1_MiB;
  CHECK_FALSE(equal(apart_from_tensors(a.plan.strategy, stack, record)));
  for (RankRecord& rank : record.ranks) rank.memory.device.reset();
  CHECK(apart_from_tensors(a.plan.strategy, stack, record).by_class == MemoryBreakdown{}.by_class);
}

TEST_CASE("the rank whose device differs most stands for its stage, and a record of a CPU has no such lines") {
  const Asked a = asked();
  RunRecord record = record_of({1_MiB, 2_MiB, 3_MiB, 4_MiB, 5_MiB, 6_MiB});
  (*record.ranks[1].memory.device)[DevicePart::other] = Bytes(0);  // less, and the plan predicts more
  const StackCalibration& stack = a.question.calibration().stack;
  CHECK(line_of(device_lines(a.plan, stack, record), 0, "total").measured == 15_MiB);
  CHECK(line_of(device_lines(a.plan, stack, record), 1, "total").measured == 21_MiB);
  for (RankRecord& rank : record.ranks) rank.memory.device.reset();
  CHECK(device_lines(a.plan, stack, record).empty());
}

}  // namespace plumbline::device_memory_test
