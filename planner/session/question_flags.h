#pragma once
/// \file question_flags.h: a question as the texts of its flags, read and refused in the same words by whoever asks:
/// the command line, a window.
///
/// Checked against: tests/unit/planner/session/question_flags_test.cpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/option.h"
#include "planner/question/question.h"
#include "planner/search/search.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// A search may try several precisions, optimizers and ranks of adapters.
enum class Recipes : std::uint8_t { one, several };
/// A run may be sized for several numbers of GPUs.
enum class DeviceCounts : std::uint8_t { one, several };
/// `some`: model and global batch may be absent. `none`: the machine too.
enum class QuestionParts : std::uint8_t { all, some, none };

/// Of gradients and moments.
inline constexpr std::array state_formats{NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32};
[[nodiscard]] std::vector<std::string> optimizer_names();

/// As they were given; what is absent follows from the rest.
struct QuestionFlags {
  std::optional<std::string> model, machine, gpus, sequence_length, global_batch, tokens, samples, price, precision,
      gradient_precision, optimizer_precision, optimizer, freeze, lora_rank, lora_targets, stack, headroom;
  std::array<std::optional<std::string>, stack_choice_count> of_stack;  ///< in the order of stack_choice_fields
  std::vector<std::string> dimensions;                                  ///< of an ONNX model: each "NAME=N"
  bool tensor_parallel_across_nodes = false;
  Recipes recipes = Recipes::one;
  DeviceCounts counts = DeviceCounts::one;

  /// Throws InputError naming the flag. The first recipe; of several numbers of GPUs none.
  [[nodiscard]] QuestionText question(QuestionParts parts = QuestionParts::all) const;
  /// Of `DeviceCounts::several`; empty: none was given.
  [[nodiscard]] std::vector<std::int64_t> device_counts() const;
  /// What is asked for, once each; a choice that no flag names is empty. Of `Recipes::one` at most one value each.
  [[nodiscard]] RecipeChoices recipe_choices() const;
  [[nodiscard]] std::optional<std::int64_t> sample_budget() const;
  [[nodiscard]] std::optional<Dollars> price_per_device_hour() const;
  /// A flag that was given and says what a plan file says too; empty: none was.
  [[nodiscard]] std::string given_with_plan() const;
  /// The same of what launch files say too: precision, optimizer and what is trained.
  [[nodiscard]] std::string given_with_import() const;
  /// Flags that may be given with a plan file: tokens, samples, price, stack and what is chosen of it, headroom.
  void apply_to_plan(PlanRequest& request) const;

 private:
  [[nodiscard]] Adaptation adaptation() const;
  [[nodiscard]] StackChoices stack_choices() const;
  [[nodiscard]] std::vector<std::string> values_of(const char* flag, const std::optional<std::string>& text) const;
};

/// In the order of help. Several recipes and numbers of GPUs are said to be searched where they may be given.
[[nodiscard]] const Options<QuestionFlags>& question_options(Recipes recipes, DeviceCounts counts);

}  // namespace plumbline::session
