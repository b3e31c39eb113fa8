#pragma once
/// \file asked_plan.h: one case of a campaign: a question with a legal strategy, and the command that asks it.

#include <filesystem>
#include <string>

#include "planner/question/question.h"
#include "tests/campaign/random_machine.h"
#include "tests/campaign/random_network.h"

namespace plumbline {

struct AskedPlan {
  DrawnNetwork network;
  DrawnMachine machine;
  Training training;
  std::string stack;     ///< empty: the usual one
  StackChoices choices;  ///< of it
  bool tensor_parallel_across_nodes = false;
  Strategy strategy;
};

/// The question as the command line would ask it. Throws what Question throws.
[[nodiscard]] QuestionText question_text(const AskedPlan& asked);
[[nodiscard]] Question question_of(const AskedPlan& asked);
/// The same on another machine or of another network.
[[nodiscard]] Question question_of(const AskedPlan& asked, const Cluster& cluster);
[[nodiscard]] Question question_of(const AskedPlan& asked, const Network& network);

/// "plan estimate --model ..."; models and machines that were made up are in files of `folder`.
[[nodiscard]] std::string command(const AskedPlan& asked, const std::filesystem::path& folder);
/// Writes those files.
void write_files(const AskedPlan& asked, const std::filesystem::path& folder);

}  // namespace plumbline
