#include "cli/flags/question_options.h"

#include "cli/flags/declare_options.h"

namespace plumbline {

void QuestionOptions::declare(CLI::App& app, Recipes recipes, DeviceCounts counts) {
  flags_.recipes = recipes;
  flags_.counts = counts;
  declare_options(app, session::question_options(recipes, counts), flags_, "Question");
}

}  // namespace plumbline
