#pragma once
/// \file question_options.h: the flags of a question: model, machine, recipe.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/estimate.h"

namespace CLI {
class App;
}

namespace plumbline {

/// A search may try several precisions.
enum class Precisions : std::uint8_t { one, several };

class QuestionOptions {
 public:
  void declare(CLI::App& app, Precisions precisions);
  /// Throws InputError naming the flag. The first precision.
  [[nodiscard]] QuestionText question() const;
  [[nodiscard]] std::vector<PrecisionRecipe> precisions() const;
  /// A flag that was given and says what a plan file says too; empty: none was.
  [[nodiscard]] std::string given_beside_plan() const;
  /// Flags that may be given with a plan file: tokens, stack, headroom.
  void apply_to_plan(session::PlanRequest& request) const;

 private:
  [[nodiscard]] Adaptation adaptation() const;

  std::optional<std::string> model_, machine_, gpus_, sequence_length_, global_batch_, tokens_, precision_,
      gradient_precision_, optimizer_precision_, optimizer_, freeze_, lora_rank_, stack_, headroom_;
  bool tensor_parallel_across_nodes_ = false;
};

}  // namespace plumbline
