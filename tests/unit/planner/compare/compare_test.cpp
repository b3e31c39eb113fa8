// A record that holds what a program says is equal to it; one byte more or less, anywhere, is found.

#include "planner/compare/compare.h"

#include "core/base/errors.h"
#include "planner/compare/sent_bytes.h"
#include "planner/pricing/evaluate.h"
#include "planner/question/fingerprint.h"
#include "tests/catch.h"
#include "tests/record_as_predicted.h"

namespace plumbline {
namespace {

/// nano-llama on four ranks that share nothing: TP 2 x PP 2.
struct Asked {
  Question question;
  Strategy strategy;
  Plan plan;
  SimulatedPlan simulated_plan;
};

Asked asked(const std::string& model = "nano-llama", std::int32_t expert_parallel = 1, Recompute recompute = {}) {
  QuestionText text;
  text.model = model;
  text.machine = "cpu";
  text.devices = 4;
  text.training.global_batch = 8;
  Question question(text);
  PartialStrategy partial;
  partial.strategy.expert_parallel = expert_parallel;
  partial.strategy.tensor_parallel = expert_parallel > 1 ? 1 : 2;
  partial.strategy.pipeline_stages = 2;
  partial.strategy.recompute = recompute;
  const Strategy strategy = completed(partial, question);
  Plan plan = evaluate(question, strategy);
  SimulationOptions as_run;
  as_run.granularity = Granularity::block;
  SimulatedPlan result = simulated(question, strategy, as_run);
  return {std::move(question), strategy, std::move(plan), std::move(result)};
}

RunRecord record_like(const Asked& a) { return record_as_predicted(a.plan, a.simulated_plan); }

const MemoryLine* unequal_memory(const Comparison& c) {
  for (const MemoryLine& line : c.memory)
    if (!line.is_equal()) return &line;
  return nullptr;
}

const SentLine* unequal_sent(const Comparison& c) {
  for (const SentLine& line : c.communication)
    if (!line.is_equal()) return &line;
  return nullptr;
}

}  // namespace

TEST_CASE("a record that holds what the program says is equal in every byte") {
  const Asked a = asked();
  const RunRecord record = record_like(a);
  require_same_plan(a.plan, a.question.graph(), record, "m.json");
  const Comparison c = compare(a.plan, a.question.graph(), a.simulated_plan, record);
  CHECK(c.bytes_are_equal());
  CHECK(c.memory.size() >= 8);
  CHECK(c.communication.size() == 4);  // tensor and pipeline on both stages
  REQUIRE(c.unplanned.size() == 1);
  CHECK(c.unplanned.front().group == "control");
  for (const ActionLine& line : c.actions) CHECK(line.measured.value() == Approx(line.predicted.value()).margin(1e-6));
  CHECK(c.measured_step_s == Approx(to_seconds(a.simulated_plan.simulation.step()).value()).epsilon(1e-6));
}

TEST_CASE("one byte of one class on one rank is found, with its stage and class") {
  const Asked a = asked();
  RunRecord record = record_like(a);
  record.ranks[3].memory.at_peak[MemoryClass::activations] -= Bytes(1);
  const Comparison c = compare(a.plan, a.question.graph(), a.simulated_plan, record);
  CHECK_FALSE(c.bytes_are_equal());
  const MemoryLine* line = unequal_memory(c);
  REQUIRE(line != nullptr);
  CHECK(line->stage == 1);
  CHECK(line->memory_class == "activations");
  CHECK(line->measured + Bytes(1) == line->predicted);
  CHECK_FALSE(line->cause.empty());
}

TEST_CASE("a collective left out, one too many, and a larger message are found and told apart") {
  const Asked a = asked();
  const auto cause_of = [&](const std::vector<SentRecord>& sent) -> std::string {
    RunRecord record = record_like(a);
    record.ranks[2].sent = sent;
    const Comparison c = compare(a.plan, a.question.graph(), a.simulated_plan, record);
    const SentLine* line = unequal_sent(c);
    return line == nullptr ? "" : line->group + ": " + line->cause;
  };
  const std::vector<SentRecord> right = record_like(a).ranks[2].sent;
  CHECK(cause_of(right).empty());
  auto dropped = right;
  dropped.erase(dropped.begin());
  CHECK(cause_of(dropped) == "tensor: a collective that the plan has and the run left out");
  auto enlarged = right;
  enlarged[1].bytes += Bytes(4);
  CHECK(cause_of(enlarged) == "pipeline: a message that is larger, or one too many");
  auto doubled = right;
  doubled[0].bytes = 2 * doubled[0].bytes.value() * Bytes(1);
  CHECK(cause_of(doubled) == "tensor: sent 2 times as often, or in a wider format");
  auto tied = right;
  tied.push_back({"pipeline_ends", "all-reduce", 1, Bytes(4)});
  CHECK(cause_of(tied) == "pipeline: a collective that the plan does not have");
  auto foreign = right;
  foreign.push_back({"gradient", "all-reduce", 1, Bytes(4)});
  CHECK(cause_of(foreign) == "data: a collective that the plan does not have");
}

/// What a record of a plan with experts would say of data-parallel gradients, which the records above do not have.
void add_reductions(const Asked& a, RunRecord& record) {
  for (RankRecord& rank : record.ranks) {
    const auto sums = sent_bytes(a.simulated_plan.program.ranks[static_cast<std::size_t>(rank.stage)]);
    if (sums.contains(SentPurpose::reduction))
      rank.sent.push_back({"gradient", "all-reduce", 1, sums.at(SentPurpose::reduction)});
  }
}

/// Each execution with experts exchanged as many rows as in balance: of 128 tokens and 2 choices half, with 2 ranks.
void add_balanced_rows(const Asked& a, RunRecord& record) {
  const std::int64_t rows = a.strategy.micro_batch * a.question.training().sequence_length;
  for (RankRecord& rank : record.ranks)
    for (const auto& segments : a.simulated_plan.program.ranks[static_cast<std::size_t>(rank.stage)].chunks)
      for (const Segment& segment : segments) {
        const auto id = a.question.graph().sequence()[static_cast<std::size_t>(segment.first)];
        if (a.question.graph().block(id).kind() != BlockKind::layer) continue;
        for (std::int32_t m = 0; m < a.strategy.micro_batches; ++m)
          rank.routed.push_back({segment.first, m, {rows, rows}, {rows, rows}});
      }
}

TEST_CASE("an all-to-all that is left out or larger is found, whatever rows were routed") {
  const Asked a = asked("nano-moe", 2);
  const auto cause_of = [&](bool has_rows, auto change) -> std::string {
    RunRecord record = record_like(a);
    add_reductions(a, record);
    if (has_rows) add_balanced_rows(a, record);
    change(record.ranks[2]);
    const Comparison c = compare(a.plan, a.question.graph(), a.simulated_plan, record);
    const SentLine* line = unequal_sent(c);
    if (c.bytes_are_equal()) return c.is_routed_unequally() ? "routed" : "";
    return line == nullptr ? unequal_memory(c)->memory_class : line->group + ": " + line->cause;
  };
  const auto all_to_all = [](RankRecord& rank) {
    return std::find_if(rank.sent.begin(), rank.sent.end(), [](const SentRecord& s) { return s.group == "expert"; });
  };
  for (const bool has_rows : {false, true}) {
    CHECK(cause_of(has_rows, [](RankRecord&) {}).empty());
    CHECK(cause_of(has_rows, [&](RankRecord& rank) { rank.sent.erase(all_to_all(rank)); }) ==
          "expert: a collective that the plan has and the run left out");
    CHECK(cause_of(has_rows, [&](RankRecord& rank) { all_to_all(rank)->bytes += Bytes(4); }) ==
          "expert: a message that is larger, or one too many");
  }
  // One row more came for every execution, and went back: it counts twice on the wire, and in memory.
  CHECK(cause_of(true, [&](RankRecord& rank) {
          for (RoutedRecord& r : rank.routed) ++r.all.came;
        }) == "expert: a message that is smaller, or one left out");
  CHECK(cause_of(true, [&](RankRecord& rank) { rank.routed.front().at_peak.came += 4; }) == "activations");
}

// A row of nano-moe keeps four tensors of 256 numbers in bf16 for its backward: what came to the expert, its gate, its
// projection, and their product: 2 048 bytes, which go to the host and come back. Over all steps more rows may have
// left than a step has.
TEST_CASE("copies of experts' rows to the host follow the rows that were routed") {
  const Asked a = asked("nano-moe", 2, {RecomputeMode::offloaded, 2});
  const RankProgram& program = a.simulated_plan.program.ranks.front();
  const auto is_copy = [](const Action& action) { return action.kind() == ActionKind::offload; };
  const auto out = std::find_if(program.actions.begin(), program.actions.end(), is_copy);
  REQUIRE(out != program.actions.end());
  const auto& segments = program.chunks[static_cast<std::size_t>(out->chunk)];
  const std::int32_t execution = segments[static_cast<std::size_t>(out->segment())].first;
  for (const std::int64_t more : {-3, 0, 5, -1001}) {
    RunRecord record = record_like(a);
    add_balanced_rows(a, record);
    for (RoutedRecord& r : record.ranks.front().routed)
      if (r.execution == execution && r.micro_batch == out->micro_batch) r.all.came += more;
    const Bytes extra(2 * more * 2048);
    const Bytes balanced = sent_bytes(program).at(SentPurpose::offload);
    record.ranks[0].sent.push_back({"host", "offload", 1, balanced + extra});
    record.ranks[1].sent.push_back({"host", "offload", 1, balanced});
    const Comparison c = compare(a.plan, a.question.graph(), a.simulated_plan, record);
    const auto line = std::find_if(c.communication.begin(), c.communication.end(),
                                   [](const SentLine& l) { return l.stage == 0 && l.group == "host"; });
    REQUIRE(line != c.communication.end());
    CHECK(line->routed - line->predicted == extra);
    CHECK(line->is_equal());
  }
}

TEST_CASE("a step outside of the interval names the kind of action that is most of it") {
  const Asked a = asked();
  RunRecord record = record_like(a);
  CHECK(compare(a.plan, a.question.graph(), a.simulated_plan, record).step_cause.empty());
  record.steps[0].time_ns *= 20;
  for (ActionRecord& action : record.ranks[2].actions)
    if (action.kind == ActionKind::backward) action.median_ns *= 20;
  const std::string cause = compare(a.plan, a.question.graph(), a.simulated_plan, record).step_cause;
  CHECK(cause.find("slower than predicted: most of it in backward of stage 1") == 0);
}

TEST_CASE("a record of another plan, or of other ranks, is refused") {
  const Asked a = asked();
  const auto refusal = [&](auto change) -> std::string {
    RunRecord record = record_like(a);
    change(record);
    try {
      require_same_plan(a.plan, a.question.graph(), record, "m.json");
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refusal([](RunRecord&) {}) == "accepted");
  CHECK(refusal([](RunRecord& r) {
          r.plan_fingerprint = std::string("x");
        }).find("m.json:/plan_fingerprint: \"x\" is of another plan") == 0);
  CHECK(refusal([](RunRecord& r) { r.ranks.pop_back(); }) == "m.json:/ranks: 3 ranks; expected the plan's 4");
  CHECK(refusal([](RunRecord& r) { r.ranks[1].stage = 2; }) ==
        "m.json:/ranks/1/stage: stage 2 does not exist; expected 0 to 1");
}

TEST_CASE("a plan's fingerprint is of what is run: not of the machine, the prediction or a token budget") {
  const Asked a = asked();
  Plan other = a.plan;
  other.machine.fingerprint = "elsewhere";
  other.prediction = {};
  other.training.token_budget = 1'000'000;
  CHECK(fingerprint(other) == fingerprint(a.plan));
  other.training.global_batch *= 2;
  CHECK(fingerprint(other) != fingerprint(a.plan));
  Plan strategy = a.plan;
  strategy.strategy.zero_stage = 1;
  CHECK(fingerprint(strategy) != fingerprint(a.plan));
  Plan model = a.plan;
  model.model.fingerprint = "another";
  CHECK(fingerprint(model) != fingerprint(a.plan));
}

}  // namespace plumbline
