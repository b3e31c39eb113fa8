// Every flag, attribute and name of PyTorch that exports write is one of tests/data/launch/names.json, which says where
// each is defined; check_megatron.py holds those of Megatron against megatron-core itself.

#include <set>

#include "core/io/json.h"
#include "core/io/json_file.h"
#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

bool is_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// Words of the text that begin so, up to the first character of no name.
void add_names(const std::string& text, std::string_view beginning, std::set<std::string>& names) {
  for (std::size_t at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at + 1)) {
    if (at > 0 && is_part(text[at - 1])) continue;
    std::size_t end = at + beginning.size();
    while (end < text.size() && is_part(text[end])) ++end;
    while (text[end - 1] == '.') --end;
    names.insert(text.substr(at, end - at));
  }
}

Json network(bool has_experts) {
  return parse_json(std::string(R"({"model_type": ")") + (has_experts ? "deepseek_v3" : "llama") +
                        R"(", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
          "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256)" +
                        (has_experts ? R"(, "n_routed_experts": 64, "num_experts_per_tok": 8, "n_shared_experts": 1,
          "moe_intermediate_size": 2048, "first_k_dense_replace": 2, "q_lora_rank": 1536})"
                                     : "}"),
                    "network");
}

std::set<std::string> names_of(const LaunchTarget& target, std::string_view beginning) {
  std::set<std::string> names;
  Dice dice(31);
  for (int i = 0; i < 400; ++i) {
    const Strategy strategy = launchable_strategy(dice, target.framework);
    Training training;
    training.sequence_length = 4096;
    training.precision = dice.one_of({PrecisionRecipe::bf16, PrecisionRecipe::fp16, PrecisionRecipe::fp8});
    training.optimizer = dice.one_of({Optimizer::adamw, Optimizer::sgd, Optimizer::lion, Optimizer::muon});
    if (dice.one_in(2)) training.optimizer_format = NumberFormat::bf16;
    if (!inexpressible(target.framework, training).empty()) training = {};
    LaunchSettings settings = settings_for(strategy, training);
    settings.recipe.steps = 2000;
    settings.recipe.seed = 7;
    settings.recipe.learning_rate = 3e-4;
    settings.recipe.final_learning_rate = 3e-5;
    settings.recipe.lr_schedule = LearningRateShape::cosine;
    settings.recipe.schedule_steps = 2500;
    settings.recipe.warmup_steps = 100;
    settings.recipe.clip = 0.5;
    settings.recipe.beta1 = settings.recipe.beta2 = 0.9;
    settings.recipe.epsilon = 1e-7;
    settings.recipe.weight_decay = 0.1;
    settings.recipe.checkpoint_every = 250;
    settings.network_config = network(strategy.expert_parallel > 1);
    add_names(target.write(settings, target.releases.empty() ? "" : target.releases.back()).files.front().text,
              beginning, names);
  }
  return names;
}

TEST_CASE("every name that is written is one whose definition was read") {
  const Json known = read_json_file(source_folder() + "/tests/data/launch/names.json");
  const auto check = [&](const LaunchTarget& target, std::string_view beginning) {
    const Json* const own = known.find(to_text(target.framework));
    REQUIRE(own != nullptr);
    const std::set<std::string> names = names_of(target, beginning);
    CHECK(names.size() > 10);
    for (const std::string& name : names) {
      INFO(target.title << ": " << name);
      CHECK(own->find(name) != nullptr);
    }
  };
  check(megatron_lm_target(), "--");
  check(megatron_bridge_target(), "cfg.");
  check(pytorch_target(), "torch.");
}

}  // namespace
}  // namespace plumbline
