#pragma once
/// \file random_strategies.h: what runtime tests draw: whole runs (network, recipe, strategy), or strategies of one
/// network. Degrees are any from 1 to 8, widths are odd as often as even.

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "core/cost/stack_features.h"
#include "core/plan/legality.h"
#include "core/plan/pipeline_schedule.h"
#include "core/training/adaptation.h"
#include "tests/networks.h"

namespace plumbline {

/// Random choices that are the same on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  /// From `first` to `last`.
  [[nodiscard]] std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(last - first + 1));
  }
  template <class T>
  [[nodiscard]] T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + bits_() % choices.size());
  }
  [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
  [[nodiscard]] std::int64_t divisor(std::int64_t n) {
    for (;;)
      if (const std::int64_t d = between(1, n); n % d == 0) return d;
  }

 private:
  std::mt19937_64 bits_;
};

inline constexpr std::int32_t most_random_ranks = 8;

/// Degrees whose product is between two and eight ranks, and everything that asks for no network.
[[nodiscard]] inline Strategy random_layout(Dice& dice) {
  Strategy s;
  std::int64_t left = dice.between(2, most_random_ranks);
  const std::array degrees{&s.pipeline_stages, &s.pipeline_stages,  &s.tensor_parallel,
                           &s.tensor_parallel, &s.context_parallel, &s.data_parallel};
  for (std::int64_t prime = 2; left > 1; ++prime)
    for (; left % prime == 0; left /= prime)
      *degrees[static_cast<std::size_t>(dice.between(0, std::ssize(degrees) - 1))] *= static_cast<std::int32_t>(prime);
  s.zero_stage = s.gradient_ranks() > 1 ? dice.one_of({0, 1, 2, 3}) : 0;
  if (s.zero_stage > 0) {
    s.shard_group = s.gradient_ranks();
    if (dice.one_in(3)) s.shard_group = static_cast<std::int32_t>(dice.divisor(s.gradient_ranks()));
  }
  s.micro_batch = dice.one_of({1, 1, 2, 3});
  s.micro_batches = dice.between(1, 5);
  if (s.tensor_parallel > 1 && dice.one_in(2)) s.sequence_parallel = SequenceParallel::on;
  if (dice.one_in(4)) s.flash_attention = FlashAttention::off;
  if (s.pipeline_stages > 1) {
    s.schedule = all_schedules[static_cast<std::size_t>(dice.between(1, std::ssize(all_schedules) - 1))];
    if (placement(s.schedule) == StagePlacement::v_shaped) s.virtual_stages = 2;
    if (s.schedule == Schedule::interleaved) {
      s.virtual_stages = dice.one_of({2, 2, 3});
      s.micro_batches = std::int64_t{s.pipeline_stages} * dice.one_of({1, 2});
    }
    if (s.schedule == Schedule::dualpipev) s.micro_batches += 2 * std::int64_t{s.pipeline_stages} - 1;
  }
  if (s.zero_stage == 3 && dice.one_in(3)) s.prefetch = ParameterPrefetch::off;
  return s;
}

[[nodiscard]] inline Recompute random_recompute(Dice& dice) {
  Recompute r;
  r.mode =
      dice.one_of({RecomputeMode::none, RecomputeMode::none, RecomputeMode::selective, RecomputeMode::full,
                   RecomputeMode::every_nth, RecomputeMode::by_operator, RecomputeMode::modules,
                   RecomputeMode::offloaded, RecomputeMode::uniform, RecomputeMode::block, RecomputeMode::square_root});
  if (r.mode == RecomputeMode::offloaded) r.n = static_cast<std::int32_t>(dice.between(1, 5));
  if (r.mode == RecomputeMode::block) r.n = static_cast<std::int32_t>(dice.between(1, 3));
  if (r.mode == RecomputeMode::every_nth || r.mode == RecomputeMode::uniform) r.n = dice.one_of({2, 3});
  if (r.mode == RecomputeMode::modules)
    for (const RecomputeModule module : all_recompute_modules)
      if (dice.one_in(3)) r.modules.add(module);
  if (r.mode == RecomputeMode::modules && r.modules.empty()) r.mode = RecomputeMode::none;
  return r;
}

/// Of every second legal strategy that divides sequences, where heads divide too; nothing is drawn for it.
[[nodiscard]] inline Strategy with_head_exchange(const Strategy& s, const Training& training,
                                                 const Divisibility& facts) {
  Strategy exchanging = s;
  exchanging.context_communication = ContextCommunication::all_to_all;
  const bool is_legal = !first_violation(exchanging, training, facts, {s.devices(), most_random_ranks, true});
  return s.micro_batches % 2 == 0 && is_legal ? exchanging : s;
}

/// Of every second strategy whose shard group is no prime, with the smallest secondary group; nothing is drawn for it.
[[nodiscard]] inline Strategy with_secondary_group(Strategy s) {
  if (s.zero_stage < 3 || s.micro_batches % 2 == 0) return s;
  for (std::int32_t ranks = 2; ranks < s.shard_group && s.secondary_shard_group == 1; ++ranks)
    if (s.shard_group % ranks == 0) s.secondary_shard_group = ranks;
  return s;
}

/// Legal strategies of one network and recipe.
class RandomStrategies {
 public:
  RandomStrategies(const Graph& graph, const Training& training) : facts_(divisibility(graph)), training_(training) {}

  Strategy next() {
    for (;;) {
      Strategy s = random_layout(dice_);
      const std::int64_t at_once = s.data_parallel * s.micro_batch;
      s.micro_batches = std::max<std::int64_t>(1, training_.global_batch / at_once);
      if (!facts_.experts.empty()) {
        s.expert_parallel = dice_.one_of({1, 2, 2, 4});
        s.expert_tensor_parallel = static_cast<std::int32_t>(dice_.divisor(s.tensor_parallel));
      }
      s.recompute = random_recompute(dice_);
      if (!first_violation(s, training_, facts_, {s.devices(), most_random_ranks, true}))
        return with_secondary_group(with_head_exchange(s, training_, facts_));
    }
  }

 private:
  Divisibility facts_;
  Training training_;
  Dice dice_{20261122};
};

/// A network, a recipe and a strategy that is legal for them.
struct RandomRun {
  std::string network;  ///< as text
  Graph graph;          ///< as trained
  Training training;
  Strategy strategy;
  bool has_experts = false;
  std::int32_t vocabulary = 0;

  /// Of every other network, gradients that pipelines divide wait for their chunk's last backward.
  [[nodiscard]] ShardedGradients scatters() const {
    const bool waits = vocabulary / strategy.tensor_parallel % 2 == 0;
    return waits ? ShardedGradients::last_backward : ShardedGradients::every_backward;
  }
};

[[nodiscard]] inline std::string text_of(const RandomRun& run) {
  std::string text = run.network + "; " + to_text(run.strategy) + ", " + std::string(to_text(run.training.precision)) +
                     ", " + std::string(to_text(run.training.optimizer)) + ", sequence " +
                     std::to_string(run.training.sequence_length);
  if (run.training.gradient_format) text += ", gradients in " + std::string(to_text(*run.training.gradient_format));
  if (run.training.optimizer_format) text += ", moments in " + std::string(to_text(*run.training.optimizer_format));
  const Adaptation& a = run.training.adaptation;
  if (!run.strategy.layers_per_stage.empty()) text += ", layers " + layers_text(run.strategy.layers_per_stage);
  if (a.lora_rank > 0) text += ", LoRA of rank " + std::to_string(a.lora_rank);
  if (a.lora_rank > 0 && a.lora_targets == LoraTargets::queries_keys_values) text += " on queries, keys and values";
  if (a.freeze_embeddings) text += ", frozen embeddings";
  for (const LayerRange& range : a.frozen_layers)
    text += ", frozen layers " + std::to_string(range.first) + "-" + std::to_string(range.last);
  return text;
}

/// Numbers without digits, so that sentences of one kind are counted as one.
[[nodiscard]] inline std::string without_numbers(std::string sentence) {
  std::string kind;
  for (const char c : sentence) {
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit && !kind.empty() && kind.back() == '#') continue;
    kind += is_digit ? '#' : c;
  }
  return kind;
}

/// A number from the environment.
[[nodiscard]] inline std::int64_t environment_number(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// Draws a network that a layout's degrees divide, mostly into odd parts.
class RandomRuns {
 public:
  explicit RandomRuns(std::uint64_t seed) : dice_(seed) {}

  RandomRun next() {
    for (;;) {
      Strategy s = random_layout(dice_);
      s.recompute = random_recompute(dice_);
      RandomRun run = dice_.one_in(3) ? of_gpt(s) : of_llama(s);
      run.training = recipe(s, run.graph.layer_count());
      run.graph = adapted(run.graph, run.training.adaptation);
      if (run.has_experts) s.expert_parallel = expert_parallel_;
      if (run.has_experts) s.expert_tensor_parallel = expert_tensor_parallel_;
      if (run.has_experts && s.tensor_parallel > 1) s.sequence_parallel = SequenceParallel::on;
      if (dice_.one_in(5)) s.layers_per_stage = layers_by_hand(s, run.graph.layer_count());
      if (s.zero_stage == 3 && dice_.one_in(2)) s.layers_per_unit = static_cast<std::int32_t>(dice_.between(1, 4));
      const Divisibility facts = divisibility(run.graph);
      if (first_violation(s, run.training, facts, {s.devices(), most_random_ranks, true})) continue;
      run.strategy = with_secondary_group(with_head_exchange(s, run.training, facts));
      return run;
    }
  }

 private:
  [[nodiscard]] std::int64_t layers(const Strategy& s) {
    return dice_.between(std::max<std::int64_t>(1, s.chunks() - 2), std::max<std::int64_t>(5, s.chunks() + 1));
  }
  [[nodiscard]] std::int64_t vocabulary(const Strategy& s) {
    return dice_.one_in(12) ? 61 : s.tensor_parallel * dice_.one_of<std::int64_t>({11, 13, 16, 24});
  }
  /// Context parallelism divides it twice over, sequence parallelism once.
  [[nodiscard]] std::int64_t sequence_length(const Strategy& s) {
    const std::int64_t context = s.context_parallel;
    const std::int64_t parts = std::lcm(context > 1 ? 2 * context : 1, context * s.tensor_parallel);
    return parts * dice_.between(1, std::max<std::int64_t>(1, 30 / parts));
  }

  RandomRun of_gpt(const Strategy& s) {
    GptShape shape;
    shape.layers = layers(s);
    shape.heads = std::int64_t{s.tensor_parallel} * dice_.one_of({1, 2, 3});
    shape.hidden = shape.heads * dice_.one_of<std::int64_t>({3, 4, 5, 8, 14});
    shape.vocabulary = vocabulary(s);
    shape.positions = most_tokens;
    if (dice_.one_in(4)) shape.dropout = Dropout::yes;
    return {std::string(shape.dropout == Dropout::yes ? "gpt with dropout of " : "gpt of ") +
                std::to_string(shape.layers) + " layers, hidden " + std::to_string(shape.hidden) + ", heads " +
                std::to_string(shape.heads) + ", vocabulary " + std::to_string(shape.vocabulary),
            gpt(shape),
            {},
            {},
            false,
            static_cast<std::int32_t>(shape.vocabulary)};
  }

  RandomRun of_llama(const Strategy& s) {
    LlamaShape shape;
    shape.layers = layers(s);
    shape.hidden = dice_.one_of<std::int64_t>({12, 20, 30, 33, 42, 84});
    shape.kv_heads = std::int64_t{s.tensor_parallel} * dice_.one_of({1, 1, 2});
    if (dice_.one_in(15)) shape.kv_heads = 1;
    shape.heads = std::lcm<std::int64_t>(shape.kv_heads, s.tensor_parallel) * dice_.one_of({1, 2, 3});
    shape.head_dim = dice_.one_of<std::int64_t>({2, 4, 6});
    shape.width = s.tensor_parallel * dice_.one_of<std::int64_t>({5, 7, 12, 25});
    shape.vocabulary = vocabulary(s);
    shape.tied = dice_.one_in(3);
    std::string name = shape.tied ? "tied llama" : "llama";
    if (dice_.one_in(s.tensor_parallel > 1 ? 2 : 3)) {
      const auto parts = std::max(dice_.divisor(s.tensor_parallel), dice_.divisor(s.tensor_parallel));
      expert_tensor_parallel_ = static_cast<std::int32_t>(parts);
      expert_parallel_ =
          static_cast<std::int32_t>(dice_.divisor(std::int64_t{s.gradient_ranks()} * s.tensor_parallel / parts));
      shape.experts = std::max<std::int64_t>(2, std::int64_t{expert_parallel_} * dice_.one_of({1, 2, 3}));
      shape.chosen = dice_.between(1, std::min<std::int64_t>(3, shape.experts));
      shape.expert_width = parts * dice_.one_of<std::int64_t>({5, 8, 11});
      shape.shared_width = dice_.one_in(2) ? shape.width : 0;
      shape.dense_layers = dice_.between(0, shape.layers - 1);
      name += " with " + std::to_string(shape.chosen) + " of " + std::to_string(shape.experts) + " experts of " +
              std::to_string(shape.expert_width) + " behind " + std::to_string(shape.dense_layers) + " dense layers";
    }
    return {name + " of " + std::to_string(shape.layers) + " layers, hidden " + std::to_string(shape.hidden) +
                ", heads " + std::to_string(shape.heads) + " / " + std::to_string(shape.kv_heads) + " x " +
                std::to_string(shape.head_dim) + ", width " + std::to_string(shape.width) + ", vocabulary " +
                std::to_string(shape.vocabulary),
            llama(shape),
            {},
            {},
            shape.experts > 0,
            static_cast<std::int32_t>(shape.vocabulary)};
  }

  Training recipe(const Strategy& s, std::int64_t layer_count) {
    Training t;
    t.sequence_length = sequence_length(s);
    t.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
    t.precision = PrecisionRecipe::fp32;
    if (dice_.one_in(3)) t.precision = all_precision_recipes[static_cast<std::size_t>(dice_.between(1, 6))];
    t.optimizer = dice_.one_of({Optimizer::sgd, Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw,
                                Optimizer::lion, Optimizer::muon, Optimizer::adagrad, Optimizer::rmsprop});
    if (dice_.one_in(4)) t.adaptation = adaptation(layer_count);
    const auto format = [&] { return dice_.one_of({NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}); };
    if (dice_.one_in(8)) t.gradient_format = format();
    if (dice_.one_in(8) && facts(t.optimizer).keeps_states()) t.optimizer_format = format();
    return t;
  }
  Adaptation adaptation(std::int64_t layer_count) {
    Adaptation a;
    const std::int64_t kind = dice_.between(0, 3);
    if (kind == 0) a.lora_rank = dice_.between(1, 5);
    if (kind == 0 && dice_.one_in(2)) a.lora_targets = LoraTargets::queries_keys_values;
    if (kind == 1 || kind == 3) a.freeze_embeddings = true;
    if (kind >= 2) {
      const std::int64_t first = dice_.between(0, layer_count - 1);
      a.frozen_layers = {{first, dice_.between(first, layer_count - 1)}};
      if (dice_.one_in(3)) a.frozen_layers.push_back({0, 0});
    }
    return a;
  }

  /// A layer for each chunk, or none for those with the embedding or the head; the rest anywhere.
  std::vector<std::int32_t> layers_by_hand(const Strategy& s, std::int64_t count) {
    std::vector<std::int32_t> layers(static_cast<std::size_t>(s.chunks()), 1);
    if (s.chunks() > 1 && dice_.one_in(3)) layers.front() = 0;
    if (s.chunks() > 1 && dice_.one_in(3)) layers.back() = 0;
    for (std::int64_t left = count - std::accumulate(layers.begin(), layers.end(), std::int64_t{0}); left > 0; --left)
      ++layers[static_cast<std::size_t>(dice_.between(0, s.chunks() - 1))];
    return layers;
  }

  static constexpr std::int64_t most_tokens = 128;
  Dice dice_;
  std::int32_t expert_parallel_ = 1;
  std::int32_t expert_tensor_parallel_ = 1;
};

/// Of a campaign: drawn from its seed and the run's own number, so that each run can be repeated alone.
inline RandomRun random_run(std::int64_t seed, std::int64_t number) {
  constexpr std::int64_t most_runs = 1'000'000;
  return RandomRuns(static_cast<std::uint64_t>(seed * most_runs + number)).next();
}

}  // namespace plumbline
