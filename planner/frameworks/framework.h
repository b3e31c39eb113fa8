#pragma once
/// \file framework.h: what training frameworks can launch, how they spell it, and what of a strategy they cannot.
///
/// Model: a record of allow-lists for each framework (schedules, recompute modes, ZeRO stages, features, precisions,
/// optimizers) and of rules on combinations, each with where it is read; what is in no list is refused with a sentence.
/// All of them number ranks as plans do: tensor innermost, then context, data, pipeline.
/// Source: the frameworks' own files at the revisions that the records name.
/// Not modelled: which architectures a framework has (but for `plan run`), limits of kernels and of hardware; flags
/// that change no price. Checked against: tests/unit/planner/frameworks/framework_test.cpp.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/execution_rules.h"
#include "core/plan/strategy.h"
#include "core/training/training.h"
#include "planner/frameworks/feature.h"
#include "planner/frameworks/framework_list.h"

namespace plumbline {

#define ROW(ID, NAME) ID,
enum class Framework : std::uint8_t { any, PLUMBLINE_FRAMEWORKS(ROW) };
#undef ROW
#define ROW(ID, NAME) Framework::ID,
inline constexpr std::array all_frameworks{Framework::any, PLUMBLINE_FRAMEWORKS(ROW)};
#undef ROW
/// "any", "megatron-lm", ...
[[nodiscard]] std::string_view to_text(Framework framework);
[[nodiscard]] std::optional<Framework> framework_from_text(std::string_view text);

/// As flags name it: "full", "every:N", "selective:MODULE+...".
[[nodiscard]] std::string mode_text(RecomputeMode mode);

/// Something that a framework can launch.
template <class Value>
struct Launchable {
  Value value;
  std::string_view spelling;  ///< flags, keys or a sentence
  std::string_view source;    ///< file of the framework, or what else says so
};

/// A combination that a framework refuses.
struct FrameworkRule {
  std::string_view sentence;  ///< behind the framework's name: "cannot shard gradients in a pipeline"
  std::string_view source;
  bool (*is_broken)(const Strategy& strategy, const NetworkFacts& network);
};

/// What is launched where nothing is said.
struct FrameworkDefaults {
  NumberFormat gradient =
      NumberFormat::fp32;  ///< of gradients as they are accumulated and reduced, with 16-bit weights
  std::string_view gradient_source;
  std::string_view buckets;  ///< how gradients are put together for a reduction
  std::string_view bucket_source;
  /// What is not told to shard runs under torch.autocast, whose gradients have 32 bits (launch/launch_settings.h).
  bool replicates_under_autocast = false;
};

/// What its releases are made for, apart from recipes and strategies: whether somebody who names no framework would
/// take it.
struct FrameworkScope {
  bool has_every_network = false;  ///< images and encoders too, not only networks that predict the next token
  bool is_last_resort = false;     ///< taken where no framework has the recipe
  bool needs_nvidia = false;
  bool needs_bf16_units = false;
  bool needs_joined_devices = false;  ///< by NVLink or its like: its gains are in tensor parallelism
  std::int64_t least_parameters = 0;  ///< of the smallest network that it has a recipe for
  std::string_view source;
};

struct FrameworkRecord {
  Framework framework = Framework::any;
  std::string_view title;                      ///< "Megatron-LM"
  std::string_view revision;                   ///< that was read; empty: this program's own
  std::vector<std::string_view> stacks;        ///< frameworks of software stacks that it drives (`plan stacks`)
  std::string_view current_stack = "unknown";  ///< what prices its current releases; "unknown": no run of it is known
  std::vector<Launchable<Schedule>> schedules;
  std::vector<Launchable<RecomputeMode>> recompute;
  std::vector<Launchable<std::int32_t>> zero_stages;
  std::vector<Launchable<Feature>> features;
  std::vector<Feature> missing;  ///< all others: `record_of` lists them, since searches ask of every strategy
  std::vector<Launchable<PrecisionRecipe>> precisions;
  std::vector<Launchable<Optimizer>> optimizers;  ///< empty: what the training script makes
  std::string_view adapters;  ///< how adapters (LoRA) alongside frozen linears are asked for; empty: it trains none
  std::string_view adapters_source;
  bool is_usual_of_adapters = false;  ///< what launches them where nobody says otherwise
  std::vector<FrameworkRule> rules;
  /// What of a network or its recipe it does not have, whatever the strategy; empty: networks are not looked at.
  std::optional<InputProblem> (*network_problem)(const NetworkFacts&) = nullptr;
  FrameworkDefaults defaults;
  std::optional<FrameworkScope> scope = std::nullopt;  ///< none: it is used where it is named
};

/// Not of Framework::any, which has no limits.
[[nodiscard]] const FrameworkRecord& record_of(Framework framework);

/// The framework that drives a software stack, by the name that the stack gives; `any` where there is no record of it.
[[nodiscard]] Framework framework_of_stack(std::string_view name);

/// This program's own runtime.
[[nodiscard]] Framework own_framework();
/// The framework that launches adapters where nobody says otherwise, or where the stack's own trains none.
[[nodiscard]] Framework usual_of_adapters();
/// The one taken where no framework has the recipe.
[[nodiscard]] Framework last_resort();

/// What of a network it does not have, as a sentence that begins with the framework's name; none where its networks are
/// not looked at.
[[nodiscard]] std::optional<InputProblem> network_problem(Framework framework, const NetworkFacts& network);
/// What of a strategy the framework cannot launch, a sentence each, that of a combination with where it is read; none
/// for Framework::any.
[[nodiscard]] std::vector<std::string> inexpressible(Framework framework, const Strategy& strategy,
                                                     const NetworkFacts& network);
/// The same of the precision, the optimizer and adapters.
[[nodiscard]] std::vector<std::string> inexpressible(Framework framework, const Training& training);
/// Whether the first is empty, in less time.
[[nodiscard]] bool launches(const FrameworkRecord& record, const Strategy& strategy, const NetworkFacts& network);

/// Each framework's own file.
#define ROW(ID, NAME) [[nodiscard]] FrameworkRecord ID##_record();
PLUMBLINE_FRAMEWORKS(ROW)
#undef ROW

}  // namespace plumbline
