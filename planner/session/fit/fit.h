#pragma once
/// \file fit.h: what would make a plan fit: what `plan fit` answers alongside the priced plan.
///
/// Whether it fits, and why not, is the plan's own verdict (estimate.h). Changes of the strategy are those of a search
/// around it (around.h): the best within two choices that the framework launches, and where none of them fits the best
/// with any number. Where no plan at all fits, remedies change the question instead, each alone: adapters in place of
/// full training, Adam's states in 8 bits, twice as many GPUs, or half the sequence, until a plan fits in 95 of 100
/// cases. Model: of each the best plan, by closed form. Not looked for: several remedies at once, another precision,
/// other optimizers, another model. Checked against: tests/unit/planner/session/fit/fit_test.cpp.

#include <optional>
#include <string>
#include <vector>

#include "planner/session/search/around.h"
#include "planner/session/use_case/answer.h"

namespace plumbline::session {

/// As many changes as somebody reads.
inline constexpr std::size_t usual_offers = 5;
/// LoRA's rank in the examples of PEFT's and torchtune's recipes lies between 8 and 64; memory hardly depends on it.
inline constexpr std::int64_t usual_adapter_rank = 16;
/// GPUs are doubled, and sequences halved, at most so often.
inline constexpr int most_doublings = 10;

/// What else could be asked, of which a plan fits.
struct Remedy {
  std::string flags;  ///< "--gpus 32"
  std::string words;  ///< "on 32 GPUs"
  Plan plan;          ///< the best; it surely fits
};

/// What `fit` is asked for.
struct FitOptions {
  std::optional<Framework> framework = {};  ///< only changes that it can launch; none: that of the stack (launchable.h)
  std::optional<Framework> read_from =
      {};                          ///< whose launch files were read: in place of the stack's where it can launch
  std::size_t top = usual_offers;  ///< how many changes
  bool has_remedies = true;        ///< where no plan fits, also what else could be asked
};

struct FitAnswer {
  bool fits = false;
  FrameworkChoice framework;     ///< that launches the changes
  std::vector<Change> changes;   ///< that make it fit, the fastest that surely fits first; none where it fits
  std::vector<Remedy> remedies;  ///< where no plan of the question fits
  bool complete = true;          ///< whether all were looked at that are to be
};

/// Phases: those of `search_around`, and "remedies". Throws InputError where the framework that was asked for cannot
/// launch the network or the recipe.
[[nodiscard]] FitAnswer fit(const PricedQuestion& asked, const Task& task = {}, const FitOptions& options = {});

/// The same of a plan that was priced, as JSON, a table and the plans that the changes make.
[[nodiscard]] Answer shown_changes(const PricedPlan& plan, const FitOptions& options, const Task& task);

/// Of a question of which no plan fits; none where nothing that is looked for helps.
[[nodiscard]] std::vector<Remedy> remedies(const Question& question, std::optional<Framework> framework,
                                           const Task& task = {});

}  // namespace plumbline::session
