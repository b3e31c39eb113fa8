// A search finds what brute force finds, and accounts for every plan that brute force writes out.

#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/changed_machine.h"
#include "tests/property/naive_search.h"
#include "tests/questions.h"
#include "tests/search_audit.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

std::string small(const std::string& network) { return test_data_folder() + "/small_networks/" + network + ".json"; }

struct Asked {
  std::string model;
  std::string machine;
  std::int64_t devices;
  std::int64_t sequence;
  std::int64_t batch;
  std::string fixes = {};
  std::vector<PrecisionRecipe> precisions = {PrecisionRecipe::bf16};
  Adaptation adaptation = {};
  Optimizer optimizer = Optimizer::adamw;
  bool has_level_splits = false;
};

QuestionText text_of(const Asked& asked) {
  QuestionText text = question_text(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch);
  text.training.adaptation = asked.adaptation;
  text.training.optimizer = asked.optimizer;
  return text;
}

template <class Ranking>
std::vector<std::string> lines(const Ranking& ranking, std::size_t most) {
  std::vector<std::string> result;
  for (const auto& r : ranking) {
    if (result.size() == most) break;
    std::ostringstream line;
    line << to_text(r.strategy) << " / shard " << r.strategy.shard_group << ": " << r.step_time.value() << " ps, "
         << r.peak_memory.value() << " B, question " << r.question;
    result.push_back(line.str());
  }
  return result;
}

bool places(const SearchSpace& space) {
  return space.recompute.empty() ||
         std::count(space.recompute.begin(), space.recompute.end(), Recompute{RecomputeMode::placed, 1}) > 0;
}

void check_audit(const SearchResult& found, const NaiveAnswer& naive, const SearchSpace& space) {
  CHECK(found.complete);
  CHECK(found.audit.total == naive.total);
  CHECK(found.audit.illegal == naive.illegal);
  CHECK(accounted(found.audit) == found.audit.total);
  CHECK(found.audit.unvisited == 0);
  const std::int64_t refused = found.audit.memory + found.audit.infeasible;
  const std::int64_t left = found.audit.bound + found.audit.dominated + found.audit.solved;
  const auto fitting = static_cast<std::int64_t>(naive.fitting.size());
  CHECK(refused + left == naive.memory + naive.repeated + fitting);
  if (places(space)) {
    // A placement that bounds cut off need never be found not to fit, nor to replay nothing.
    CHECK(refused <= naive.memory);
    CHECK(found.audit.dominated + found.audit.bound >= naive.repeated);
  } else {
    CHECK(found.audit.infeasible == 0);
    CHECK(refused == naive.memory);
    CHECK(left == fitting);
  }
}

/// Searches for one objective against the naive answer of the same questions.
void check_objective(const std::vector<Question>& questions, const SearchSpace& space, const NaiveAnswer& naive,
                     Objective objective, bool pareto) {
  CAPTURE(to_text(objective), pareto);
  SearchOptions options;
  options.objective = objective;
  options.pareto = pareto;
  options.threads = 2;
  options.finalists = Finalists::closed_form;
  const SearchResult found = search(questions, space, options);
  CHECK(lines(found.best, options.top) == lines(ranked(naive.fitting, objective), options.top));
  CHECK(found.nearest_miss.has_value() == (naive.fitting.empty() && naive.memory > 0));
  if (found.nearest_miss) CHECK(found.nearest_miss->peak_memory == naive.smallest_too_large);
  check_audit(found, naive, space);
  if (pareto)
    CHECK(lines(found.pareto, found.pareto.size()) == lines(naive_front(naive.fitting), naive.fitting.size()));
}

/// The naive answer, after every objective was held against it.
NaiveAnswer check_against_brute_force(const Asked& asked) {
  CAPTURE(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch, asked.fixes);
  SearchSpace space = space_from_text(asked.fixes);
  space.has_level_splits = asked.has_level_splits;
  const std::vector<Question> questions = search_questions(text_of(asked), asked.precisions, Objective::step_time);
  const NaiveAnswer naive = NaiveSearch(questions, space).answer();
  CHECK(naive.total > 0);
  for (const Objective objective : all_objectives) check_objective(questions, space, naive, objective, false);
  check_objective(questions, space, naive, Objective::step_time, true);
  check_objective(questions, space, naive, Objective::least_memory, true);
  return naive;
}

Adaptation frozen(bool embeddings, std::vector<LayerRange> layers) {
  Adaptation adaptation;
  adaptation.freeze_embeddings = embeddings;
  adaptation.frozen_layers = std::move(layers);
  return adaptation;
}
Adaptation lora(std::int64_t rank) {
  Adaptation adaptation;
  adaptation.lora_rank = rank;
  return adaptation;
}

constexpr PrecisionRecipe bf16 = PrecisionRecipe::bf16;
constexpr PrecisionRecipe fp8 = PrecisionRecipe::fp8;

TEST_CASE("search equals brute force: one device and a few") {
  const Asked asked =
      GENERATE(Asked{small("llama"), "rtx4090-pcie", 1, 1024, 8}, Asked{small("llama"), "dgx-h100", 2, 2048, 4},  //
               Asked{small("gpt2"), "t4-pcie", 1, 1024, 16},                                                      //
               Asked{small("gpt2"), "rtx3090-pcie", 2, 512, 6},  // 3 micro-batches
               Asked{small("mixtral"), "l40s-pcie", 2, 1024, 8}, Asked{small("wide_llama"), "dgx-a100-80g", 1, 4096, 4},
               Asked{small("llama"), "cpu", 1, 128, 2});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: part of a node") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "dgx-h100", 4, 1024, 16, "recompute=none|full"},
      Asked{small("gpt2"), "dgx-a100-80g", 4, 1024, 8, "micro-batch=1|2"},
      Asked{small("gpt2"), "t4-pcie", 4, 1024, 32, "cp=1,micro-batch=1|4"},
      Asked{small("mixtral"), "dgx-h100", 4, 2048, 8, "micro-batch=1|2,recompute=none|selective|full"},
      Asked{"vit-base-patch16-224", "rtx4090-pcie", 4, 1, 64, "micro-batch=4|16,recompute=none|full"},
      Asked{"resnet-18", "l4-pcie", 4, 1, 64, "micro-batch=4|8|16"},
      Asked{"t5-small", "dgx1-v100", 4, 512, 16, "micro-batch=2|4,recompute=none|full", {PrecisionRecipe::fp16}},
      Asked{"bert-base", "a6000-pcie", 4, 512, 24, "micro-batch=2|6,recompute=none|selective"});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: a node") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "dgx-h100", 8, 2048, 32, "cp=1,recompute=none|full,micro-batch=1|2"},
      Asked{small("llama"), "h100-nvl-pcie", 8, 2048, 16, "micro-batch=2,recompute=every:2|none|every:3"},
      Asked{small("gpt2"), "rtx4090-pcie", 8, 1024, 48, "zero=0|2,micro-batch=1|2|6,recompute=none|selective"},
      Asked{small("mixtral"), "dgx-a100-80g", 8, 1024, 16, "cp=1,micro-batch=1,recompute=none|selective"},
      Asked{small("wide_llama"), "dgx-h100", 8, 4096, 16, "tp=2|4|8,micro-batch=1|2,recompute=none|full"},
      Asked{small("gpt2"), "mi300x", 8, 1024, 8, "schedule=gpipe|interleaved,micro-batch=1,recompute=none|full"});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: two nodes") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "dgx-h100", 16, 2048, 32, "cp=1|2,micro-batch=1,recompute=none|full,zero=0|1|3"},
      Asked{small("mixtral"), "dgx-h100", 16, 2048, 16, "cp=1,micro-batch=1,recompute=none,sequence-parallel=on"},
      Asked{small("wide_llama"), "rtx4090-pcie", 16, 1024, 16, "cp=1,micro-batch=1,recompute=none|full"},
      Asked{small("gpt2"), "a100-80g-ethernet-100g", 16, 1024, 16, "micro-batch=1,recompute=none,zero=1|2|3,tp=1|2"},
      Asked{small("gpt2"), "gb200-nvl72", 16, 1024, 16, "micro-batch=1,recompute=none,zero=0|3"},
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "micro-batch=1|2,recompute=none|full,zero=1|3,prefetch=on|off"},
      Asked{small("llama"), "dgx-h100", 8, 1024, 16,
            "micro-batch=1|2,recompute=none|full,zero=2|3,layers-per-unit=1|2"},
      Asked{small("llama"), "dgx-h100", 16, 1024, 16,
            "micro-batch=1,recompute=none|full,zero=3,cp=1,tp=1|2,secondary-shard-group=1|2|8"});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: schedules that split the backward, among each other and alongside the usual") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "schedule=zb-h1|zb-h2|zbv|v-half|dualpipev,micro-batch=1,cp=1"},
      Asked{small("gpt2"), "rtx4090-pcie", 8, 1024, 32, "schedule=zbv|interleaved|1f1b,micro-batch=1|2,cp=1,tp=1|2"},
      Asked{small("mixtral"), "dgx-a100-80g", 8, 1024, 16, "schedule=zb-h2|dualpipev,micro-batch=1,recompute=every:2"},
      Asked{small("wide_llama"), "dgx-h100", 4, 4096, 16, "schedule=v-half|none,micro-batch=1|2,virtual-stages=1|2"});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: axes fixed, whole shard groups or parts") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "tp=2,pp=2"},
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "dp=8"},
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "shard-group=2|4,micro-batch=1|2,recompute=none|full,cp=1"},
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "virtual-stages=3,pp=2,micro-batch=1|2"},
      Asked{small("mixtral"), "dgx-h100", 8, 1024, 16, "ep=2|4,tp=2,etp=2,micro-batch=1,recompute=none"},
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "zero=2,recompute=selective,micro-batch=3|1|2"});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: context parallelism by a ring and by all-to-all") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "dgx-h100", 8, 1024, 16, "cp-comm=ring|all-to-all,micro-batch=1|2,recompute=none|full"},
      Asked{small("gpt2"), "rtx4090-pcie", 4, 1024, 8, "cp=2,cp-comm=all-to-all,micro-batch=1"});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force: frozen parameters, adapters and other optimizers") {
  const Asked asked = GENERATE(
      Asked{small("llama"), "rtx4090-pcie", 4, 1024, 8, "micro-batch=1|2,recompute=none|full", {bf16}, lora(8)},
      Asked{small("llama"), "dgx-h100", 4, 1024, 8, "micro-batch=1|2", {bf16}, frozen(true, {{0, 2}})},
      Asked{small("gpt2"), "dgx-h100", 4, 1024, 8, "micro-batch=1,recompute=none|every:2", {bf16}, frozen(true, {})},
      Asked{small("mixtral"), "dgx-h100", 4, 1024, 8, "micro-batch=1,recompute=none|full", {bf16}, {}, Optimizer::muon},
      Asked{small("gpt2"),
            "dgx1-v100",
            4,
            1024,
            8,
            "micro-batch=1,recompute=none",
            {PrecisionRecipe::fp32},
            {},
            Optimizer::sgd});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force over two precisions at once") {
  const Asked asked =
      GENERATE(Asked{small("wide_llama"), "dgx-h100", 4, 2048, 8, "micro-batch=1|2,recompute=none|full", {bf16, fp8}},
               Asked{small("llama"), "dgx-h200", 2, 1024, 8, "recompute=none", {fp8, PrecisionRecipe::fp32, bf16}});
  check_against_brute_force(asked);
}

TEST_CASE("search equals brute force where memory refuses most plans") {
  const Asked asked =
      GENERATE(Asked{small("wide_llama"), "rtx4090-pcie", 4, 4096, 32, "cp=1,micro-batch=2|8|16"},
               Asked{"llama-3-8b", "a6000-pcie", 8, 8192, 32, "cp=1,micro-batch=2|8"},
               Asked{"qwen1.5-moe-a2.7b", "l40s-pcie", 8, 2048, 16, "cp=1,micro-batch=1|2,recompute=none|full"});
  const NaiveAnswer naive = check_against_brute_force(asked);
  CHECK(naive.memory > static_cast<std::int64_t>(naive.fitting.size()));
  CHECK(!naive.fitting.empty());
}

TEST_CASE("search equals brute force where recompute has to be placed") {
  const Asked asked = GENERATE(
      Asked{small("wide_llama"), "rtx4090-pcie", 4, 4096, 16, "cp=1,micro-batch=2|4,recompute=optimal"},
      Asked{small("wide_llama"), "rtx4090-pcie", 8, 4096, 32,
            "cp=1,dp=1|2,micro-batch=4|8,recompute=none|full|optimal"},
      Asked{"gpt2-large", "rtx4090-pcie", 8, 1024, 32, "cp=1,tp=1|2,micro-batch=2|4,recompute=full|optimal"},
      Asked{small("wide_llama"), "rtx4090-pcie", 4, 4096, 32, "cp=1,micro-batch=8,recompute=none|optimal|every:2"});
  const NaiveAnswer naive = check_against_brute_force(asked);
  const auto placed = [](const NaivePlan& plan) { return plan.strategy.recompute.mode == RecomputeMode::placed; };
  CHECK(std::any_of(naive.fitting.begin(), naive.fitting.end(), placed));
}

Asked levelled(Asked asked) {
  asked.has_level_splits = true;
  return asked;
}

// Heads over 128 000 tokens and more, which other ranks wait for.
TEST_CASE("search equals brute force where layers move off slow ranks, under split backwards and placed recompute") {
  const Asked asked = levelled(GENERATE(
      Asked{"llama-3.2-1b", "rtx4090-pcie", 4, 4096, 24, "cp=1,dp=1,tp=1|2,micro-batch=2|3,recompute=none|optimal"},
      Asked{"llama-3.2-1b", "a6000-pcie", 3, 8192, 15, "pp=3,micro-batch=5|3,schedule=zb-h1|1f1b,recompute=optimal"},
      Asked{"gemma-3-1b", "rtx4090-pcie", 6, 4096, 12, "cp=1,pp=3|6,micro-batch=1|2,schedule=zbv|zb-h2|dualpipev"},
      Asked{"llama-3.2-1b", "dgx-h100", 5, 4096, 20,
            "pp=5,micro-batch=4,schedule=interleaved|v-half,virtual-stages=2|3"}));
  const NaiveAnswer naive = check_against_brute_force(asked);
  const auto is_levelled = [](const NaivePlan& plan) { return !plan.strategy.layers_per_stage.empty(); };
  CHECK(is_levelled(ranked(naive.fitting, Objective::step_time).front()));
}

/// Closed form first, then the run of the first few times as many as are asked for, and of those behind them that the
/// largest disagreement could bring forward.
std::vector<std::string> simulated_by_hand(const std::vector<Question>& questions, const NaiveAnswer& naive,
                                           std::size_t top) {
  std::vector<NaivePlan> plans = ranked(naive.fitting, Objective::step_time);
  plans.resize(std::min<std::size_t>(plans.size(), 48));
  const std::size_t first = std::min(plans.size(), 3 * top);
  std::vector<std::pair<Picoseconds, std::size_t>> steps;
  const auto run = [&](std::size_t i) {
    steps.emplace_back(simulated(questions[plans[i].question], plans[i].strategy).simulation.step(), i);
    return steps.back().first / plans[i].step_time;
  };
  double largest = 0;
  for (std::size_t i = 0; i < first; ++i) largest = std::max(largest, std::abs(run(i) - 1));
  for (std::size_t i = first; i < plans.size(); ++i)
    if (plans[i].step_time / plans[first - 1].step_time <= 1 + largest)
      run(i);
    else
      steps.emplace_back(plans[i].step_time, i);
  std::stable_sort(steps.begin(), steps.end(), [&](const auto& a, const auto& b) {
    const NaivePlan& one = plans[a.second];
    const NaivePlan& other = plans[b.second];
    return std::tuple(one.may_not_fit, a.first, one.peak_memory) <
           std::tuple(other.may_not_fit, b.first, other.peak_memory);
  });
  std::vector<NaivePlan> best;
  for (const auto& step : steps) best.push_back(plans[step.second]);
  return lines(best, top);
}

TEST_CASE("finalists are ranked by their simulation") {
  const Asked asked = GENERATE(Asked{small("llama"), "dgx-h100", 8, 2048, 32, "pp=2|4,micro-batch=1|2"},
                               Asked{small("wide_llama"), "rtx4090-pcie", 8, 4096, 32, "cp=1,pp=2|4,micro-batch=1|4"});
  const SearchSpace space = space_from_text(asked.fixes);
  const std::vector<Question> questions = search_questions(text_of(asked), asked.precisions, Objective::step_time);
  const NaiveAnswer naive = NaiveSearch(questions, space).answer();
  SearchOptions options;
  options.top = 5;
  const SearchResult found = search(questions, space, options);
  CHECK(lines(found.best, options.top) == simulated_by_hand(questions, naive, options.top));
  CHECK(found.complete);
  for (const RankedStrategy& plan : found.best) CHECK(plan.simulated.has_value());
}

TEST_CASE("where nothing fits, search says what came nearest") {
  const Asked asked{"llama-3-8b", "t4-pcie", 1, 2048, 2, "", {PrecisionRecipe::fp16}};
  const NaiveAnswer naive = check_against_brute_force(asked);
  CHECK(naive.fitting.empty());
  CHECK(naive.memory > 0);
}

TEST_CASE("search equals brute force where the host cannot hold its ranks") {
  const ChangedMachine crowded([](Node& node) { node.host_memory.value = 16_GiB; });
  const std::vector<Question> questions{Question(crowded.of(text_of({small("llama"), "dgx-h100", 8, 1024, 8})))};
  const SearchSpace space = space_from_text("cp=1,micro-batch=1,recompute=none");
  const NaiveAnswer naive = NaiveSearch(questions, space).answer();
  CHECK(naive.fitting.empty());
  CHECK(naive.memory > 0);
  check_objective(questions, space, naive, Objective::step_time, false);
}

TEST_CASE("search equals brute force where the host cannot hold every plan's checkpoints") {
  // 8 GB of each of eight processes, and checkpoints of some of the plans that recompute everything.
  const ChangedMachine tight([](Node& node) { node.host_memory.value = Bytes(64'400'000'000); });
  QuestionText text = text_of({small("llama"), "dgx-h100", 8, 4096, 64});
  text.stack = "deepspeed-2021-host-checkpoints";
  const std::vector<Question> questions{Question(tight.of(text))};
  const SearchSpace space = space_from_text("cp=1,recompute=none|full");
  const NaiveAnswer naive = NaiveSearch(questions, space).answer();
  const auto recomputes = [](const NaivePlan& plan) { return plan.strategy.recompute.mode == RecomputeMode::full; };
  CHECK(std::any_of(naive.fitting.begin(), naive.fitting.end(), recomputes));
  CHECK(naive.memory > 0);
  check_objective(questions, space, naive, Objective::step_time, false);
  check_objective(questions, space, naive, Objective::least_memory, true);
}

TEST_CASE("search equals brute force where fewer devices may answer") {
  Asked asked{small("wide_llama"), "rtx4090-pcie", 8, 1024, 8, "cp=1,micro-batch=1,recompute=none|full"};
  const Objective objective = GENERATE(Objective::fewest_gpus, Objective::tokens_per_dollar);
  const SearchSpace space = space_from_text(asked.fixes);
  const std::vector<Question> questions = search_questions(text_of(asked), asked.precisions, objective);
  REQUIRE(questions.size() == 4);  // 8, 4, 2 and 1
  const NaiveAnswer naive = NaiveSearch(questions, space).answer();
  check_objective(questions, space, naive, objective, false);
  check_objective(questions, space, naive, objective, true);
}

// Bounds know nothing of reductions, gathers and transfers: over Ethernet, with one tiny micro-batch per rank, plans
// that all look alike differ by just those.
TEST_CASE("search equals brute force where bounds say least", "[long]") {
  const Asked asked{small("gpt2"),
                    "rtx4090-pcie",
                    16,
                    128,
                    16,
                    "tp=1,cp=1|2|4,micro-batch=1|2,recompute=none|selective|full|every:2|every:3|every:4|optimal"};
  const SearchSpace space = space_from_text(asked.fixes);
  const std::vector<Question> questions = search_questions(text_of(asked), asked.precisions, Objective::step_time);
  const NaiveAnswer naive = check_against_brute_force(asked);
  REQUIRE(naive.fitting.size() > 1024);  // more than two batches of prices
  SearchOptions options;
  options.top = 1;
  const SearchResult found = search(questions, space, options);
  REQUIRE(!found.best.empty());
  // Half of what fits had to be priced before one plan was known to be the best.
  CHECK(2 * found.audit.solved > static_cast<std::int64_t>(naive.fitting.size()));
}

TEST_CASE("search equals brute force in whole spaces", "[long]") {
  const Asked asked =
      GENERATE(Asked{small("llama"), "dgx-h100", 8, 2048, 64}, Asked{small("gpt2"), "t4-pcie", 8, 1024, 64},
               Asked{small("mixtral"), "dgx-h100", 8, 2048, 32, "cp=1|2"});
  const NaiveAnswer naive = check_against_brute_force(asked);
  CHECK(naive.fitting.size() > 1000);
}

}  // namespace
}  // namespace plumbline
