#pragma once
/// \file export.h: a plan as launch files of a training framework: what `plan export` answers.
///
/// Model: what the framework's record (planner/frameworks/framework.h) does not launch is changed one axis at a time:
/// of the legal values that leave fewer sentences, one that keeps the most degrees of parallelism, then one that leaves
/// the fewest sentences, then one that fits, then the fastest. Where what is launchable then does not fit, the fastest
/// of the fewest further steps that make it fit (planner/explain/changes.h). All by the stack of the framework's
/// current releases, where the plan's own stack is another framework's. A split that a plan found is written as the
/// layers that it found. Not modelled: precision, optimizer and adapters are never changed: a framework that lacks them
/// is refused. Checked against: tests/unit/planner/session/export/export_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "planner/frameworks/launch/launch_target.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// Of what is written in place of what the plan says.
struct Substitution {
  std::string sentence;  ///< what the framework lacks: "Megatron-LM has no schedule zbv; it has 1f1b and interleaved"
  std::string change;    ///< "schedule zbv -> 1f1b, virtual stages 2 -> 1"
};

struct ExportAnswer {
  std::string title;    ///< "Megatron-LM arguments"
  std::string release;  ///< whose keys are written
  LaunchFiles files;
  std::vector<Substitution> substitutions;
  std::optional<Plan> nearest;  ///< what is written, priced; empty: the plan itself
  Plan as_planned;              ///< the plan, priced by the same stack as `nearest`
};

/// What is written, priced.
[[nodiscard]] inline const Plan& written_plan(const ExportAnswer& answer) {
  return answer.nearest ? *answer.nearest : answer.as_planned;
}

/// What a target's files are written from. The steps are those of the token budget, where there is one.
[[nodiscard]] LaunchSettings launch_settings(const PricedQuestion& asked, const Strategy& strategy);
/// Numbers of the "recipe" of a plan file, which has been read as one (runtime/run/recipe.h).
[[nodiscard]] LaunchRecipe launch_recipe(const Json& plan_file);

/// Whether the files say the plan whole.
[[nodiscard]] inline bool is_exact(const ExportAnswer& answer) {
  return answer.substitutions.empty() && answer.files.unsaid.empty() && answer.files.missing.empty();
}

/// `release`: empty: the target's newest. `recipe`: what the plan file says beside the plan. Throws InputError for a
/// target or release that is not known, for a training that the framework lacks, and where no legal strategy near the
/// plan's can be launched.
[[nodiscard]] ExportAnswer export_plan(const PricedQuestion& asked, std::string_view target, std::string_view release,
                                       const LaunchRecipe& recipe = {});

/// Names of these files that are in the folder already and say something else: they may have been edited, or be
/// somebody's own. Throws as `read_text_file`.
[[nodiscard]] std::vector<std::string> other_files(const std::vector<LaunchFile>& files, const std::string& folder);

}  // namespace plumbline::session
