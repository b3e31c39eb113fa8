#pragma once
/// \file question_options.h: the flags of a question: model, machine, recipe.

#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.h"
#include "planner/session/estimate.h"

namespace CLI {
class App;
}

namespace plumbline {

/// A search may try several precisions, optimizers and ranks of adapters.
enum class Recipes : std::uint8_t { one, several };
/// A run may be sized for several numbers of GPUs.
enum class DeviceCounts : std::uint8_t { one, several };
/// `some`: model and global batch may be absent. `none`: the machine too.
enum class QuestionParts : std::uint8_t { all, some, none };

class QuestionOptions {
 public:
  void declare(CLI::App& app, Recipes recipes, DeviceCounts counts = DeviceCounts::one);
  /// Throws InputError naming the flag. The first recipe; of several numbers of GPUs none.
  [[nodiscard]] QuestionText question(QuestionParts parts = QuestionParts::all) const;
  /// Of `DeviceCounts::several`; empty: none was given.
  [[nodiscard]] std::vector<std::int64_t> device_counts() const;
  [[nodiscard]] bool has_global_batch() const { return global_batch_.has_value(); }
  /// What is asked for, once each; a choice that no flag names is empty. Of `Recipes::one` at most one value each.
  [[nodiscard]] RecipeChoices recipes() const;
  /// A flag that was given and says what a plan file says too; empty: none was.
  [[nodiscard]] std::string given_beside_plan() const;
  /// The same of what launch files say too: precision, optimizer and what is trained.
  [[nodiscard]] std::string given_beside_import() const;
  /// Flags that may be given with a plan file: tokens, samples, price, stack, headroom.
  void apply_to_plan(session::PlanRequest& request) const;

 private:
  [[nodiscard]] Adaptation adaptation() const;
  [[nodiscard]] std::vector<std::string> values_of(const char* flag, const std::optional<std::string>& text) const;
  [[nodiscard]] std::optional<std::int64_t> sample_budget() const;
  [[nodiscard]] std::optional<Dollars> price() const;

  std::optional<std::string> model_, machine_, gpus_, sequence_length_, global_batch_, tokens_, samples_, price_,
      precision_, gradient_precision_, optimizer_precision_, optimizer_, freeze_, lora_rank_, stack_, headroom_;
  bool tensor_parallel_across_nodes_ = false;
  Recipes recipes_ = Recipes::one;
  DeviceCounts counts_ = DeviceCounts::one;
};

}  // namespace plumbline
