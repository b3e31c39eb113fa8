#pragma once
/// \file question_options.h: the flags of a question: model, machine, recipe.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/estimate.h"
#include "planner/session/question_flags.h"

namespace CLI {
class App;
}

namespace plumbline {

using session::DeviceCounts;
using session::QuestionParts;
using session::Recipes;

class QuestionOptions {
 public:
  void declare(CLI::App& app, Recipes recipes, DeviceCounts counts = DeviceCounts::one);
  /// As QuestionFlags answers.
  [[nodiscard]] QuestionText question(QuestionParts parts = QuestionParts::all) const { return flags_.question(parts); }
  [[nodiscard]] std::vector<std::int64_t> device_counts() const { return flags_.device_counts(); }
  [[nodiscard]] RecipeChoices recipes() const { return flags_.recipe_choices(); }
  [[nodiscard]] bool has_global_batch() const { return flags_.global_batch.has_value(); }
  [[nodiscard]] const session::QuestionFlags& flags() const { return flags_; }
  /// As QuestionFlags answers.
  [[nodiscard]] std::string given_with_plan() const { return flags_.given_with_plan(); }
  [[nodiscard]] std::string given_with_import() const { return flags_.given_with_import(); }
  void apply_to_plan(session::PlanRequest& request) const { flags_.apply_to_plan(request); }

 private:
  session::QuestionFlags flags_;
};

}  // namespace plumbline
