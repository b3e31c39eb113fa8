// Strategy to launch files to strategy, for every target that can be read back: 500 random strategies each, with
// degrees of 3, 5 and 6 and uneven splits.

#include <random>

#include "core/base/errors.h"
#include "core/plan/legality.h"
#include "core/plan/stage_split.h"
#include "models/import/hugging_face.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/launch/merge_settings.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr int strategies_per_target = 500;

/// Widths that 3, 5, 6 and 8 divide.
Json network(bool has_experts) {
  return parse_json(std::string(R"({"model_type": ")") + (has_experts ? "mixtral" : "llama") +
                        R"(", "hidden_size": 3840, "intermediate_size": 7680, "num_hidden_layers": 60,
                      "num_attention_heads": 120, "num_key_value_heads": 120, "vocab_size": 30720,
                      "max_position_embeddings": 30720)" +
                        (has_experts ? R"(, "num_local_experts": 60, "num_experts_per_tok": 2})" : "}"),
                    "network");
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }
  std::int32_t degree() { return one_of<std::int32_t>({1, 1, 2, 3, 4, 5, 6, 8}); }
  std::int32_t below(std::int32_t end) { return std::uniform_int_distribution<std::int32_t>(0, end - 1)(random_); }

 private:
  std::mt19937 random_;
};

template <class Value>
Value value_of(Draw& draw, const std::vector<Launchable<Value>>& list, Value when_empty) {
  return list.empty() ? when_empty : draw.one_of(list).value;
}

Recompute recompute_of(Draw& draw, RecomputeMode mode) {
  Recompute recompute = of_chunks(Recompute{mode}, 9);  // an export counts the layers
  if (recompute.mode == RecomputeMode::every_nth || recompute.mode == RecomputeMode::uniform)
    recompute.n = 2 + draw.below(3);
  if (mode == RecomputeMode::offloaded || mode == RecomputeMode::block) recompute.n = 1 + draw.below(9);
  if (mode == RecomputeMode::modules) recompute.modules.add(RecomputeModule::layernorm);
  if (mode == RecomputeMode::modules && draw.below(2) == 0) recompute.modules.add(RecomputeModule::mlp);
  return recompute;
}

std::vector<std::int32_t> uneven_layers(Draw& draw, std::int32_t chunks) {
  std::vector<std::int32_t> layers(static_cast<std::size_t>(chunks), 1);
  for (std::int32_t left = 60 - chunks; left > 0; --left) ++layers[static_cast<std::size_t>(draw.below(chunks))];
  return layers;
}

Strategy drawn(Draw& draw, const FrameworkRecord& record, bool has_experts) {
  Strategy s;
  s.tensor_parallel = draw.degree();
  s.pipeline_stages = draw.degree();
  s.context_parallel = draw.below(3) == 0 ? draw.degree() : 1;
  s.data_parallel = draw.degree();
  if (has_experts) s.expert_parallel = draw.degree();
  if (has_experts && draw.below(2) == 0) s.expert_tensor_parallel = draw.one_of<std::int32_t>({1, s.tensor_parallel});
  if (s.pipeline_stages > 1) s.schedule = value_of(draw, record.schedules, Schedule::none);
  if (plumbline::record_of(s.schedule).chunks != RankChunks::one) s.virtual_stages = 2 + draw.below(2);
  s.micro_batch = 1 + draw.below(3);
  s.micro_batches = draw.one_of<std::int64_t>({1, 2, 3, 5, 6, 12}) * (draw.below(2) == 0 ? s.pipeline_stages : 1);
  if (s.context_parallel > 1 && s.micro_batches % 2 == 0) s.context_communication = ContextCommunication::all_to_all;
  s.zero_stage = value_of(draw, record.zero_stages, 0);
  if (s.gradient_ranks() == 1) s.zero_stage = 0;
  if (s.zero_stage > 0) s.shard_group = s.gradient_ranks() / (draw.below(3) == 0 ? draw.degree() : 1);
  if (s.zero_stage == 3 && draw.below(3) == 0) s.prefetch = ParameterPrefetch::off;
  if (s.zero_stage == 3 && draw.below(3) == 0) s.layers_per_unit = 2;
  if (s.zero_stage == 3 && s.shard_group % 2 == 0 && s.shard_group > 2 && draw.below(3) == 0)
    s.secondary_shard_group = 2;
  s.sequence_parallel = draw.below(2) == 0 && s.tensor_parallel > 1 ? SequenceParallel::on : SequenceParallel::off;
  s.flash_attention = draw.below(4) == 0 ? FlashAttention::off : FlashAttention::on;
  s.recompute = recompute_of(draw, value_of(draw, record.recompute, RecomputeMode::none));
  if (s.pipeline_stages > 1 && draw.below(3) == 0) s.layers_per_stage = uneven_layers(draw, s.chunks());
  return s;
}

/// An even split that is also written out says the same: the shorter form is kept.
bool is_written_out_even(const Strategy& s) {
  const std::vector<std::int64_t> even = layers_per_chunk(60, s.chunks(), true, true);
  return std::equal(even.begin(), even.end(), s.layers_per_stage.begin(), s.layers_per_stage.end());
}

/// Of the others the model's own code says it, not a launch file.
bool says_flash_attention(Framework framework) {
  return framework == Framework::megatron_lm || framework == Framework::megatron_bridge;
}

struct Case {
  Strategy strategy;
  Training training;
};

/// Adam is AdamW to frameworks that name no other.
void draw_states(Draw& draw, const FrameworkRecord& record, Training& training) {
  training.optimizer = value_of(draw, record.optimizers, Optimizer::adamw);
  if (training.optimizer == Optimizer::adam) training.optimizer = Optimizer::adamw;
  const bool has_choice = training.precision == PrecisionRecipe::bf16 || is_fp8(training.precision);
  if (has_choice) training.gradient_format = draw.one_of<NumberFormat>({NumberFormat::bf16, NumberFormat::fp32});
}

std::vector<Case> cases(const LaunchTarget& target, bool has_experts, int count) {
  const FrameworkRecord& record = plumbline::record_of(target.framework);
  const Json config = network(has_experts);
  const Divisibility facts = divisibility(import_hugging_face(JsonPlace(config, "network"), "network").graph);
  Draw draw(has_experts ? 2 : 1);
  std::vector<Case> all;
  for (int i = 0; i < 2'000'000 && static_cast<int>(all.size()) < count; ++i) {
    Case one{drawn(draw, record, has_experts), {}};
    const Strategy& s = one.strategy;
    one.training.sequence_length = 7680;
    one.training.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
    one.training.precision = value_of(draw, record.precisions, PrecisionRecipe::bf16);
    draw_states(draw, record, one.training);
    NetworkFacts network;
    network.has_experts = has_experts;
    network.optimizer = one.training.optimizer;
    network.precision = one.training.precision;
    if (network_problem(target.framework, network) || !launches(record, s, network) || is_written_out_even(s)) continue;
    if (!first_violation(s, one.training, facts, {s.devices(), 8, true})) all.push_back(one);
  }
  return all;
}

LaunchSettings read_back(const LaunchTarget& target, const std::vector<LaunchFile>& files, std::int64_t devices) {
  LaunchSettings settings = target.read(files.front().text, files.front().name).settings;
  for (const LaunchFile& file : files) {
    if (file.name != "launch.sh" || &file == &files.front()) continue;
    try {
      fill_missing(settings, target.read(file.text, file.name).settings);
    } catch (const InputError&) {
      continue;  // a target whose first file says all, and which does not read scripts
    }
  }
  if (!settings.devices && !(settings.nodes && settings.devices_per_node)) settings.devices = devices;
  if (!settings.flash_attention) settings.flash_attention = FlashAttention::on;
  derive_missing(settings);
  return settings;
}

void check_round_trip(const LaunchTarget& target, const Case& one, bool has_experts) {
  LaunchSettings settings = settings_of(one.strategy, one.training);
  settings.network_config = network(has_experts);
  const LaunchFiles files = target.write(settings, target.releases.empty() ? "" : target.releases.back());
  REQUIRE(!files.files.empty());
  INFO(files.files.front().text);
  const LaunchSettings back = read_back(target, files.files, one.strategy.devices());
  Strategy expected = one.strategy;
  if (back.flash_attention == FlashAttention::on && !says_flash_attention(target.framework))
    expected.flash_attention = FlashAttention::on;
  const Strategy found = strategy_of(back);
  INFO(to_text(expected) << " / " << to_text(found));
  CHECK((found == expected));
  CHECK(back.global_batch == one.training.global_batch);
  CHECK(back.sequence_length.value_or(one.training.sequence_length) == one.training.sequence_length);
  CHECK(back.precision.value_or(one.training.precision) == one.training.precision);
  CHECK(back.optimizer.value_or(one.training.optimizer) == one.training.optimizer);
  // What a target cannot say of gradients it says that it does not.
  const NumberFormat gradient = back.gradient_format.value_or(precision_formats(one.training.precision).gradient);
  CHECK((gradient == *settings.gradient_format || !files.unsaid.empty()));
  CHECK((!files.unsaid.empty() || training_of(back).formats().gradient == *settings.gradient_format));
}

TEST_CASE("launch files give back the strategy that they were written from, for every target") {
  for (const LaunchTarget& target : launch_targets()) {
    if (target.read == nullptr) continue;
    INFO(target.title);
    for (const bool has_experts : {false, true}) {
      const std::vector<Case> all = cases(target, has_experts, strategies_per_target / 2);
      CHECK(static_cast<int>(all.size()) == strategies_per_target / 2);
      for (const Case& one : all) check_round_trip(target, one, has_experts);
    }
  }
}

}  // namespace
}  // namespace plumbline
