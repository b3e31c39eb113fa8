#pragma once
/// \file random_questions.h: what a user may ask: a catalogued model and machine, any degrees, any schedule.

#include <array>
#include <optional>
#include <random>

#include "core/plan/pipeline_schedule.h"
#include "tests/questions.h"

namespace plumbline {

struct RandomQuestion {
  Question question;
  Strategy strategy;  ///< legal, recompute none
};

/// The same in every run. Degrees are any numbers from 1 to 8; devices of little memory come as often as large ones.
class RandomQuestions {
 public:
  explicit RandomQuestions(std::uint64_t seed) : bits_(seed) {}

  RandomQuestion next() {
    for (;;)
      if (auto asked = any()) return std::move(*asked);
  }
  template <class T, std::size_t n>
  T one_of(const std::array<T, n>& choices) {
    return choices[bits_() % n];
  }
  std::int32_t between(std::int32_t least, std::int32_t most) {
    return least + static_cast<std::int32_t>(bits_() % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::optional<RandomQuestion> any() {
    static constexpr std::array models{"llama-2-7b", "gpt2-xl",   "opt-2.7b",     "t5-large",    "llama-3-8b",
                                       "opt-13b",    "gpt3-175b", "mixtral-8x7b", "llama-2-70b", "bert-large"};
    static constexpr std::array machines{"dgx-h100",  "rtx4090-pcie", "l40s-pcie",   "dgx-a100-80g",
                                         "dgx1-v100", "gcp-a3-high",  "dgx-a100-40g"};
    Strategy s = any_strategy();
    const std::int64_t batch = std::int64_t{s.data_parallel} * s.micro_batch * s.micro_batches;
    const std::int64_t sequence = std::int64_t{512} * between(1, 16);
    std::optional<Question> question;
    try {
      question.emplace(question_of(one_of(models), one_of(machines), s.devices(), sequence, batch));
    } catch (const InputError&) {
      return std::nullopt;  // a number of devices that no such machine has
    }
    // A device without fused attention comes as often as others.
    if (question->facts().head_features > question->limits().flash_head) s.flash_attention = FlashAttention::off;
    if (first_violation(s, question->training(), question->facts(), question->limits())) return std::nullopt;
    return RandomQuestion{*question, with_head_exchange(*question, with_larger_units(*question, s))};
  }

  /// Of every third plan of ZeRO-3 that may have them; nothing is drawn for it.
  static Strategy with_larger_units(const Question& question, Strategy s) {
    if (s.zero_stage < 3 || s.micro_batches % 3 != 0) return s;
    const Strategy single = s;
    s.layers_per_unit = static_cast<std::int32_t>(2 + s.micro_batches / 3 % 4);
    return first_violation(s, question.training(), question.facts(), question.limits()) ? single : s;
  }

  /// Of every second plan whose heads divide among the ranks; nothing is drawn for it.
  static Strategy with_head_exchange(const Question& question, Strategy s) {
    const Strategy ring = s;
    s.context_communication = ContextCommunication::all_to_all;
    const bool is_legal = !first_violation(s, question.training(), question.facts(), question.limits());
    return s.micro_batches % 2 == 0 && is_legal ? s : ring;
  }

  Strategy any_strategy() {
    Strategy s;
    s.tensor_parallel = between(1, 8);
    s.pipeline_stages = between(1, 8);
    s.context_parallel = between(1, 4) == 1 ? between(2, 3) : 1;
    s.data_parallel = between(1, 7);
    s.zero_stage = s.data_parallel > 1 ? between(0, 3) : 0;
    s.shard_group = s.zero_stage > 0 ? static_cast<std::int32_t>(s.gradient_ranks()) : 1;
    if (s.zero_stage == 3 && between(0, 2) == 0) s.prefetch = ParameterPrefetch::off;
    s.micro_batch = between(1, 6);
    s.micro_batches = between(1, 24);
    s.sequence_parallel = s.tensor_parallel > 1 && between(0, 1) == 1 ? SequenceParallel::on : SequenceParallel::off;
    s.flash_attention = s.context_parallel == 1 && between(0, 2) == 0 ? FlashAttention::off : FlashAttention::on;
    if (s.pipeline_stages > 1) {
      s.schedule = all_schedules[1 + bits_() % (all_schedules.size() - 1)];
      if (placement(s.schedule) == StagePlacement::v_shaped) s.virtual_stages = 2;
      if (s.schedule == Schedule::interleaved) {
        s.virtual_stages = between(2, 4);
        s.micro_batches = std::int64_t{s.pipeline_stages} * between(1, 4);
      }
    }
    return s;
  }

  std::mt19937_64 bits_;
};

}  // namespace plumbline
