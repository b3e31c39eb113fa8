// A search finds what brute force finds, and accounts for every plan that brute force writes out.

#include "tests/catch.h"
#include "tests/changed_machine.h"
#include "tests/property/naive_search.h"

namespace plumbline {
namespace {

std::string small(const std::string& network) { return PLUMBLINE_TEST_DATA_DIR "/small_networks/" + network + ".json"; }

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
};

QuestionText text_of(const Asked& asked) {
  QuestionText text;
  text.model = asked.model;
  text.machine = asked.machine;
  text.devices = asked.devices;
  text.training.sequence_length = asked.sequence;
  text.training.global_batch = asked.batch;
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

void check_audit(const SearchResult& found, const NaiveAnswer& naive) {
  CHECK(found.complete);
  CHECK(found.audit.total == naive.total);
  CHECK(found.audit.illegal == naive.illegal);
  CHECK(found.audit.memory == naive.memory);
  CHECK(found.audit.accounted() == found.audit.total);
  CHECK(found.audit.unvisited == 0);
  CHECK(found.audit.bound + found.audit.dominated + found.audit.solved ==
        static_cast<std::int64_t>(naive.fitting.size()));
}

/// Searches for one objective against the naive answer of the same questions.
void check_objective(const std::vector<Question>& questions, const SearchSpace& space, const NaiveAnswer& naive,
                     Objective objective, bool pareto) {
  CAPTURE(to_text(objective), pareto);
  SearchOptions options;
  options.objective = objective;
  options.pareto = pareto;
  options.threads = 2;
  const SearchResult found = search(questions, space, options);
  CHECK(lines(found.best, options.top) == lines(ranked(naive.fitting, objective), options.top));
  CHECK(found.nearest_miss.has_value() == (naive.fitting.empty() && naive.memory > 0));
  if (found.nearest_miss) CHECK(found.nearest_miss->peak_memory == naive.smallest_too_large);
  check_audit(found, naive);
  if (pareto)
    CHECK(lines(found.pareto, found.pareto.size()) == lines(naive_front(naive.fitting), naive.fitting.size()));
}

/// The naive answer, after every objective was held against it.
NaiveAnswer check_against_brute_force(const Asked& asked) {
  CAPTURE(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch, asked.fixes);
  const SearchSpace space = space_from_text(asked.fixes);
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
      Asked{small("gpt2"), "gb200-nvl72", 16, 1024, 16, "micro-batch=1,recompute=none,zero=0|3"});
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
  const Asked asked{small("gpt2"), "rtx4090-pcie", 16, 128, 16, "tp=1,cp=1|2|4,micro-batch=1|2"};
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
